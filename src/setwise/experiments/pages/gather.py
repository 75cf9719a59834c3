"""A folder of results as facts: what was run, for which tables, and how it compares."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any

from setwise.experiments.entry import Entry
from setwise.experiments.pages.compare import SECONDS, WORDS, contrasts, pivots
from setwise.experiments.records import Results
from setwise.experiments.registry import PLACES, differences_of
from setwise.experiments.runner import experiments, find, told
from setwise.experiments.sources import is_path, shown
from setwise.experiments.study import Study
from setwise.experiments.summary import spread
from setwise.experiments.unit import Experiment, unit_of

Record = dict[str, Any]


def gathered(results: Results) -> dict[str, Any]:
    """All facts of a page."""
    by_name: dict[str, list[Record]] = {}
    for record in results.records():
        by_name.setdefault(record["unit"]["experiment"], []).append(record)
    told_all: dict[str, dict[str, Any]] = {}
    used: list[Record] = []
    for name in experiments():
        experiment, records, is_quick = current(name, by_name.get(name, []))
        if records:
            told_all[name] = _facts(experiment, records, is_quick)
            used += records
    return {
        "made": time.strftime("%Y-%m-%d", time.gmtime()),
        "finished": _span(record["finished"][:10] for record in used),
        "versions": _all_of(used, "versions"),
        "machine": _all_of(used, "machine"),
        "threads": _span(record.get("threads", "") for record in used),
        "n_units": len(used),
        "n_failed": sum(record["status"] == "failed" for record in used),
        "hours": sum(record.get("seconds", 0.0) for record in used) / 3600,
        "places": [_place(place, told_all) for place in PLACES],
        "experiments": told_all,
    }


def current(name: str, records: list[Record]) -> tuple[Experiment, list[Record], bool]:
    """The records that belong to the settings of today: of full runs, or else of quick ones.

    A data set that was run in full and in quick form is told in full.
    """
    full, quick = find(name), find(name, quick=True)
    of_full = [record for record in records if _fits(full, record)]
    if of_full:
        return full, _in_order(full, of_full), False
    return quick, _in_order(quick, [r for r in records if _fits(quick, r)]), True


def _fits(experiment: Experiment, record: Record) -> bool:
    """Whether a record is of these very settings, and of a data set that belongs to them."""
    unit = record["unit"]
    dataset = unit["dataset"]
    if dataset not in experiment.datasets and not is_path(dataset):
        return False
    try:
        same = unit_of(experiment, dataset, unit["model"], unit["seed"], unit["fold"])
    except (StopIteration, OSError):  # a model, or a user's file, that is there no more
        return False
    return bool(same.fingerprint == unit["fingerprint"])


def _in_order(experiment: Experiment, records: list[Record]) -> list[Record]:
    names = list(experiment.datasets)
    parts = list(experiment.parts) if isinstance(experiment, Study) else []
    return sorted(
        records,
        key=lambda record: (
            names.index(record["unit"]["dataset"]) if record["unit"]["dataset"] in names else 99,
            record["unit"]["dataset"],
            parts.index(record["unit"]["model"]) if record["unit"]["model"] in parts else 0,
            record["unit"]["seed"],
            record["unit"]["fold"] or 0,
        ),
    )


def _facts(experiment: Experiment, records: list[Record], is_quick: bool) -> dict[str, Any]:
    datasets = list(dict.fromkeys(record["unit"]["dataset"] for record in records))
    done = {record["unit"]["dataset"] for record in records if record["status"] == "done"}
    summary = told(experiment, records)
    facts: dict[str, Any] = {
        "title": experiment.title,
        "quick": is_quick,
        "failed": _failures(summary["failed"]),
        "differences": differences_of(experiment.name, datasets),
        "origin": {
            "finished": _span(record["finished"][:10] for record in records),
            "n_units": len(records),
            "seconds": sum(record.get("seconds", 0.0) for record in records),
            "source": _span(record["versions"].get("source", "unknown") for record in records),
        },
        "processors": _processors(records, _has_seconds(experiment, summary)),
        "seeds": sorted({record["unit"]["seed"] for record in records}),
        "warnings": _warnings(records),
        "absent": [name for name in experiment.datasets if name not in datasets],
        "undone": [name for name in experiment.datasets if name not in done],
    }
    if isinstance(experiment, Study):
        return facts | {"kind": "study", "tables": summary["tables"], "notes": "", "protocol": ""}
    return facts | {
        "kind": "entry",
        "pivots": pivots(experiment, records),
        "contrasts": contrasts(experiment, records),
        "certified": _certificates(summary["rows"]),
        "reference": _references(experiment, summary["rows"]),
        "notes": experiment.notes,
        "protocol": str(experiment.protocol),
    }


def _references(entry: Entry, rows: list[dict[str, Any]]) -> list[list[Any]]:
    """Beside the authors' own program, where it was run on the same split."""
    return [
        [
            shown(row["dataset"]),
            row["model"],
            WORDS.get(measure, "log-likelihood"),
            row["mean"][measure],
            spread(row, measure),
            value,
        ]
        for row in rows
        for measure, value in row["reference"].items()
        if measure in row["mean"]
        and (measure != "log_prob" or row["decision"] == entry.decisions[0])
    ]


def _certificates(rows: list[dict[str, Any]]) -> list[str]:
    return [
        f"{row['model']} on {row['dataset']}: {row['certified']['proven']:.1%} of the modes are "
        f"proven best; others may fall short by {row['certified']['largest_gap']:.3g} in log "
        f"probability at most, {row['certified']['mean_gap']:.3g} in the mean of all rows."
        for row in rows
        if row["certified"] and row["decision"] == "set_accuracy"
    ]


def _failures(failed: list[dict[str, Any]]) -> list[str]:
    """One sentence for each model and reason, with the data sets it failed on."""
    return _by_model((one["unit"], one["reason"]) for one in failed)


def _warnings(records: list[Record]) -> list[str]:
    """One sentence for each model and what its fits warned of, with the data sets.

    Warnings that differ in their numbers are told once, with those of the first.
    """
    first: dict[tuple[str, str], str] = {}
    said = []
    for record in records:
        for line in record.get("warnings", ()):
            text = re.sub(r"^\d+ of \d+", "some", line.split(";")[0])
            alike = (record["unit"]["model"], re.sub(r"\d+(\.\d+)?", "#", text))
            said.append((record["unit"], first.setdefault(alike, text)))
    return _by_model(said)


def _by_model(said: Iterable[tuple[dict[str, Any], str]]) -> list[str]:
    """What was said of units, once for each model, with the data sets."""
    where: dict[tuple[str, str], list[str]] = {}
    for unit, text in said:
        where.setdefault((unit["model"], text), []).append(shown(unit["dataset"]))
    return [
        f"{model or 'the study'} on {', '.join(dict.fromkeys(names))}: {text}"
        for (model, text), names in where.items()
    ]


def _processors(records: list[Record], has_seconds: bool) -> dict[str, list[str]]:
    """Processor -> what was run on it, most of it first; nothing where no seconds are told."""
    if not has_seconds:
        return {}
    models: dict[str, list[str]] = {}
    for record in records:
        name = record["machine"].get("processor", "unknown")
        models.setdefault(name, []).append(record["unit"]["model"] or "all of it")
    most_first = sorted(models, key=lambda name: -len(models[name]))
    return {name: list(dict.fromkeys(models[name])) for name in most_first}


def _has_seconds(experiment: Experiment, summary: dict[str, Any]) -> bool:
    if isinstance(experiment, Study):
        return any(
            "seconds" in column for table in summary["tables"] for column in table["columns"]
        )
    return bool(set(experiment.also) & set(SECONDS))


def _place(place: Any, told_all: dict[str, Any]) -> dict[str, Any]:
    return {
        "paper": place.paper,
        "table": place.table,
        "about": place.about,
        "missing": place.missing,
        "wanted": list(place.experiments),
        "experiments": [name for name in place.experiments if name in told_all],
        "not_run": [name for name in place.experiments if name not in told_all],
    }


def _all_of(records: list[Record], key: str) -> dict[str, str]:
    """Each version, or all there are of it where records differ."""
    names = dict.fromkeys(name for record in records for name in record[key])
    found = {
        name: _span(record[key][name] for record in records if name in record[key])
        for name in names
    }
    sources = {record[key].get("source") for record in records} if "source" in found else set()
    if len(sources) > 1:
        earlier = ", some of before they were told apart" if None in sources else ""
        found["source"] = f"in {len(sources - {None})} states{earlier}"
    return found


def _span(values: Iterable[Any]) -> str:
    return ", ".join(sorted({str(value) for value in values}))
