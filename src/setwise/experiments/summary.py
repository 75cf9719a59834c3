"""Records of an entry's units as rows of a table: means and deviations, published values beside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from setwise.experiments.entry import Entry, Value

#: The measure that each decision is made for, and whether more of it is better.
OWN_MEASURE = {
    "set_accuracy": ("set_accuracy", True),
    "f1": ("instance_f1", True),
    "f1_calibrated": ("instance_f1", True),
    "hamming": ("hamming_loss", False),
    "micro_f1": ("micro_f1", True),
    "macro_f1": ("label_f1", True),
    "f1_threshold": ("instance_f1", True),
    "jaccard": ("instance_jaccard", True),
}
LESS_IS_BETTER = ("hamming_loss", "cll_loss", "fit_seconds", "predict_seconds")


def measures_of(entry: Entry) -> list[str]:
    """What an entry compares: what its decisions are made for, and what else it shows."""
    own = [OWN_MEASURE[decision][0] for decision in entry.decisions]
    return list(dict.fromkeys([*own, *entry.also]))


def summarised(entry: Entry, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each data set, model and decision of the units that are done."""
    rows = []
    for dataset in _in_order(record["unit"]["dataset"] for record in records):
        for spec in entry.models:
            runs = [
                record["result"]
                for record in records
                if record["status"] == "done"
                and (record["unit"]["dataset"], record["unit"]["model"]) == (dataset, spec.name)
            ]
            if runs:
                rows += _rows(entry, spec.name, dataset, runs)
    return rows


def published_of(entry: Entry, dataset: str, model: str, decision: str) -> dict[str, Value]:
    """Measure -> published value that belongs beside a row."""
    found = {}
    for key, value in entry.published.items():
        if key[:2] != (dataset, model):
            continue
        measure = key[-1]
        if (key[2] == decision) if len(key) == 4 else (decision == _owner(entry, measure)):
            found[measure] = value
    return found


def wins(entry: Entry, rows: list[dict[str, Any]]) -> dict[str, int]:
    """On how many data sets each decision is the best, or as good, on its own measure."""
    count = dict.fromkeys(entry.decisions, 0)
    for decision in entry.decisions:
        measure, more_is_better = OWN_MEASURE[decision]
        sign = 1 if more_is_better else -1
        for dataset, model in {(row["dataset"], row["model"]) for row in rows}:
            rivals = {
                row["decision"]: sign * row["mean"][measure]
                for row in rows
                if (row["dataset"], row["model"]) == (dataset, model)
            }
            count[decision] += decision in rivals and rivals[decision] >= max(rivals.values())
    return count


def deviation(values: Sequence[float]) -> float:
    """The standard deviation over runs; 0 where there is one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def spread(row: dict[str, Any], measure: str) -> float | None:
    """The deviation over runs of a row's measure; None where there is one run."""
    told: float = row["deviation"][measure]
    return told if len(row["runs"][measure]) > 1 else None


def _owner(entry: Entry, measure: str) -> str:
    """The decision whose row shows a measure: the one that is made for it, or the first."""
    for decision in entry.decisions:
        if OWN_MEASURE[decision][0] == measure:
            return decision
    return entry.decisions[0]


def _rows(
    entry: Entry, model: str, dataset: str, runs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    rows = []
    for decision in (name for name in entry.decisions if name in runs[0]["measured"]):
        values = {
            measure: [run["measured"][decision][measure] for run in runs]
            for measure in runs[0]["measured"][decision]
        }
        known = {name: v for name, v in values.items() if None not in v}
        log_prob = known.get("log_prob")
        rows.append(
            {
                "dataset": dataset,
                "model": model,
                "decision": decision,
                "settings": [run["setting"] for run in runs],
                "seconds": float(np.mean([run["seconds"] for run in runs])),
                "predict_seconds": float(np.mean([run["predict_seconds"] for run in runs])),
                "log_prob": float(np.mean(log_prob)) if log_prob else None,
                "certified": runs[0]["certified"],
                "mean": {measure: float(np.mean(v)) for measure, v in known.items()},
                "deviation": {measure: deviation(v) for measure, v in known.items()},
                "runs": known,
                "error": {
                    measure: float(np.mean([run["errors"][decision][measure] for run in runs]))
                    for measure in runs[0]["errors"][decision]
                },
                "published": published_of(entry, dataset, model, decision),
                "reference": {
                    measure: value
                    for (data, measure), value in entry.reference.items()
                    if data == dataset and measure in (OWN_MEASURE[decision][0], "log_prob")
                },
            }
        )
    return rows


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
