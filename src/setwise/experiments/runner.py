"""One runner for all entries: fit, decide, measure, and put the published value beside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from setwise import metrics, models
from setwise.data import Dataset, load_dataset
from setwise.data.sparse_rows import canonical_csr
from setwise.decisions import Decision, decision_for
from setwise.errors import DataError
from setwise.experiments.entries import ENTRIES, OWN_MEASURE, Entry, ModelSpec
from setwise.experiments.tuning import tune
from setwise.metrics.counts import overlap
from setwise.models.tuning import tune_decisions

Progress = Callable[[str], None]


def run(
    name: str, progress: Progress = lambda text: None, datasets: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Run an entry, on some of its data sets if told, as values that JSON can hold."""
    entry = find(name)
    entry = replace(entry, datasets=datasets or entry.datasets)
    rows = []
    for dataset_name in entry.datasets:
        dataset = prepared(entry, load_dataset(dataset_name))
        if dataset.Y_test is None:
            raise DataError(f"{dataset_name} has no published split to test on")
        for spec in entry.models:
            progress(f"{spec.name} on {dataset_name}")
            runs = [run_once(entry, spec, dataset, seed) for seed in entry.seeds]
            rows += _summaries(entry, spec, dataset_name, runs)
    told = asdict(entry) | {"published": None, "reference": None}
    return {"entry": told, "rows": rows, "wins": wins(entry, rows)}


def find(name: str) -> Entry:
    """The entry of that name."""
    if name not in ENTRIES:
        raise DataError(f"there is no experiment {name!r}; there are: {', '.join(ENTRIES)}")
    return ENTRIES[name]


def run_once(entry: Entry, spec: ModelSpec, dataset: Dataset, seed: int) -> dict[str, Any]:
    """Choose settings and fit one model, then measure each decision on the test part.

    Decisions that need it are tuned by a second fit, on the training rows that are not held out.
    """
    model = getattr(models, spec.model)(**spec.parameters, random_state=seed)
    model, setting = tune(
        model,
        spec.grid,
        dataset.X_train,
        dataset.Y_train,
        groups=dataset.groups_train,
        random_state=seed,
    )
    start = time.perf_counter()
    model.fit(dataset.X_train, dataset.Y_train, groups=dataset.groups_train)
    seconds = time.perf_counter() - start
    setting = setting | getattr(model, "chosen_", {})
    decisions = {target: _decision(entry, target) for target in entry.decisions}
    tune_decisions(
        model,
        list(decisions.values()),
        dataset.X_train,
        dataset.labels.encode(dataset.Y_train),
        groups=dataset.groups_train,
        allow_empty=model.allow_empty_,
    )
    distribution = model.predict_dist(dataset.X_test)
    truth = dataset.labels.encode(dataset.Y_test)
    measured, errors = {}, {}
    for target, decision in decisions.items():
        decided = decision.decide(distribution)
        measured[target] = metrics.set_measures(truth, decided, zero_division=entry.zero_division)
        errors[target] = standard_errors(truth, decided, entry.zero_division)
    return {
        "setting": setting,
        "seconds": seconds,
        "log_prob": float(distribution.log_prob(truth).mean()),
        "measured": measured,
        "errors": errors,
        "certified": certified(distribution) if entry.certify else {},
    }


def certified(distribution: Any) -> dict[str, float]:
    """How many modes are proven best, and by how much the others may fall short in log p.

    Distributions whose modes are always exact say nothing.
    """
    if not hasattr(distribution, "mode_certified"):
        return {}
    found = distribution.mode_certified()
    return {
        "proven": float(found.exact.mean()),
        "mean_gap": float(found.gap.mean()),
        "largest_gap": float(found.gap.max(initial=0)),
    }


def _decision(entry: Entry, target: str) -> Decision:
    decision = decision_for(target)
    if hasattr(decision, "zero_division"):
        decision.zero_division = entry.zero_division
    return decision


def standard_errors(truth: Any, decided: Any, zero_division: float) -> dict[str, float]:
    """How far chance in the test rows may move the measures that are means over them."""
    rows = overlap(truth, decided).by_instance()
    values = {
        "set_accuracy": rows.errors == 0,
        "hamming_loss": rows.errors / truth.shape[1],
        "instance_f1": rows.f1(zero_division),
        "instance_jaccard": rows.jaccard(zero_division),
    }
    n = truth.shape[0]
    return {name: float(np.std(value) / np.sqrt(n)) for name, value in values.items()}


def prepared(entry: Entry, dataset: Dataset) -> Dataset:
    """The data set with the features that the entry asks for, learnt on training rows."""
    how = entry.features.get(dataset.name)
    if how is None:
        return dataset
    if how != "tfidf":
        raise DataError(f"features can be made by tfidf, not by {how!r}")
    learnt = TfidfTransformer(sublinear_tf=True).fit(dataset.X_train)
    parts = {
        name: canonical_csr(learnt.transform(getattr(dataset, name)))
        for name in ("X_train", "X_test")
    }
    return replace(dataset, **parts)


def _summaries(
    entry: Entry, spec: ModelSpec, dataset: str, runs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One row a decision: the mean and deviation over seeds of each measure."""
    rows = []
    for decision in entry.decisions:
        values = {
            measure: [run["measured"][decision][measure] for run in runs]
            for measure in runs[0]["measured"][decision]
        }
        published = {
            measure: value
            for (data, model, measure), value in entry.published.items()
            if (data, model) == (dataset, spec.name) and OWN_MEASURE[decision][0] == measure
        }
        rows.append(
            {
                "dataset": dataset,
                "model": spec.name,
                "decision": decision,
                "settings": [run["setting"] for run in runs],
                "seconds": float(np.mean([run["seconds"] for run in runs])),
                "log_prob": float(np.mean([run["log_prob"] for run in runs])),
                "certified": runs[0]["certified"],
                "mean": {measure: float(np.mean(v)) for measure, v in values.items()},
                "deviation": {measure: float(np.std(v)) for measure, v in values.items()},
                "error": {
                    measure: float(np.mean([run["errors"][decision][measure] for run in runs]))
                    for measure in runs[0]["errors"][decision]
                },
                "published": published,
                "reference": {
                    measure: value
                    for (data, measure), value in entry.reference.items()
                    if data == dataset and measure in (OWN_MEASURE[decision][0], "log_prob")
                },
            }
        )
    return rows


def wins(entry: Entry, rows: list[dict[str, Any]]) -> dict[str, int]:
    """On how many data sets each decision is the best, or as good, on its own measure."""
    count = dict.fromkeys(entry.decisions, 0)
    for decision in entry.decisions:
        measure, more_is_better = OWN_MEASURE[decision]
        sign = 1 if more_is_better else -1
        for dataset in entry.datasets:
            for spec in entry.models:
                rivals = {
                    row["decision"]: sign * row["mean"][measure]
                    for row in rows
                    if (row["dataset"], row["model"]) == (dataset, spec.name)
                }
                count[decision] += rivals[decision] >= max(rivals.values())
    return count
