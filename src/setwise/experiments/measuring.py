"""One unit of an entry: choose settings and fit on training rows, decide and measure on test rows.

Labels of test rows are used for nothing but measuring; a test scrambles them and compares.
"""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import setwise
from setwise import metrics
from setwise.data import Dataset
from setwise.data.sparse_rows import canonical_csr
from setwise.decisions import Decision, decision_for
from setwise.errors import DataError, SetwiseError
from setwise.experiments.encoding import as_numbers
from setwise.experiments.entry import Entry, ModelSpec
from setwise.experiments.packing import packed
from setwise.experiments.pages.statistics import standard_error
from setwise.experiments.tuning import fit_to, tune
from setwise.metrics.counts import overlap
from setwise.models.tuning import tune_decisions


def run_once(entry: Entry, spec: ModelSpec, dataset: Dataset, seed: int) -> dict[str, Any]:
    """Choose settings and fit one model, then measure each decision on the test part."""
    predicted = predictions(entry, spec, dataset, seed)
    groups = _numbered(dataset.groups_test)
    truth = dataset.labels.encode(dataset.Y_test)
    log_prob = _log_prob(predicted["distribution"], truth)
    result: dict[str, Any] = {
        "setting": predicted["setting"],
        "seconds": predicted["fit"],
        "tuning_seconds": predicted["tuning"],
        "predict_seconds": predicted["predict"],
        "n_test": int(truth.shape[0]),
        "log_prob": _finite(log_prob, np.mean),
        "measured": {},
        "errors": {},
        "rows": {},
        "groups": None if groups is None else groups.tolist(),
        "certified": certified(predicted["distribution"]) if entry.certify else {},
    }
    for target, decided in predicted["sets"].items():
        measured = metrics.set_measures(truth, decided, zero_division=entry.zero_division)
        rows = row_measures(truth, decided, entry.zero_division)
        result["measured"][target] = measured | {
            "cll_loss": _finite(log_prob, lambda values: -np.sum(values)),
            "log_prob": result["log_prob"],
            "fit_seconds": predicted["fit"],
            "predict_seconds": predicted["predict"],
        }
        result["errors"][target] = {
            name: standard_error(value, groups) for name, value in rows.items()
        }
        result["rows"][target] = packed(rows)
    return result


def predictions(entry: Entry, spec: ModelSpec, dataset: Dataset, seed: int) -> dict[str, Any]:
    """Sets of the test rows for each decision, with settings and seconds; no test label is read.

    Decisions that need it are tuned by a second fit, on the training rows that are not held out.
    """
    dataset = prepared(entry, dataset)
    targets = [t for t in entry.decisions if t in spec.decisions or not spec.decisions]
    X, Y = dataset.X_train, dataset.labels.encode(dataset.Y_train)
    start = time.perf_counter()
    model, setting = tune(
        made(spec, seed),
        spec.grid,
        X,
        Y,
        groups=dataset.groups_train,
        validated=spec.validated,
        random_state=seed,
        judged_by=spec.tuned_by,
    )
    told: dict[str, Any] = {"tuning": time.perf_counter() - start, "distribution": None}
    if spec.refit:
        told |= _by_target(model, targets, X, Y, dataset)
    else:
        start = time.perf_counter()
        fit_to(model, X, Y, dataset.groups_train)
        told["fit"] = time.perf_counter() - start
        if not hasattr(model, "predict_dist"):
            told |= _asked(model, targets, dataset.X_test)
        else:
            told |= _decided(entry, model, targets, dataset, Y)
    return told | {"setting": setting | _chosen(model)}


def made(spec: ModelSpec, seed: int) -> Any:
    """The model of a spec, not fitted; models inside, alone or in a list, are made first."""
    cls = _class_of(spec.model)
    given = {name: _made_within(value, seed) for name, value in spec.parameters.items()}
    if "random_state" in signature(cls).parameters:
        given = {"random_state": seed} | given
    return cls(**given)


def _made_within(value: Any, seed: int) -> Any:
    if isinstance(value, ModelSpec):
        return made(value, seed)
    if isinstance(value, list):
        return [_made_within(one, seed) for one in value]
    return value


def prepared(entry: Entry, dataset: Dataset) -> Dataset:
    """The data set with the features that the entry asks for, learnt on training rows."""
    how = entry.features.get(dataset.name)
    if how is None:
        return as_numbers(dataset)
    if how != "tfidf":
        raise DataError(f"features can be made by tfidf, not by {how!r}")
    learnt = TfidfTransformer(sublinear_tf=True).fit(dataset.X_train)
    parts = {
        name: canonical_csr(learnt.transform(getattr(dataset, name)))
        for name in ("X_train", "X_test")
    }
    return replace(dataset, **parts)


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


def row_measures(truth: Any, decided: Any, zero_division: float) -> dict[str, np.ndarray]:
    """The measures that are means over rows, before the mean is taken."""
    rows = overlap(truth, decided).by_instance()
    return {
        "set_accuracy": rows.errors == 0,
        "hamming_loss": rows.errors / truth.shape[1],
        "instance_f1": rows.f1(zero_division),
        "instance_jaccard": rows.jaccard(zero_division),
    }


def _numbered(groups: Any) -> np.ndarray | None:
    """The number of each row's group, (n,)."""
    return None if groups is None else np.unique(groups, return_inverse=True)[1]


def _class_of(name: str) -> Any:
    module, _, attribute = name.rpartition(":")
    try:
        return getattr(import_module(module) if module else setwise, attribute)
    except AttributeError:
        raise DataError(f"setwise {setwise.__version__} has no model {attribute}") from None


def _by_target(model: Any, targets: list[str], X: Any, Y: Any, data: Dataset) -> dict[str, Any]:
    """One fit for each decision; the seconds are those of all fits."""
    sets, fit, predict = {}, 0.0, 0.0
    for target in targets:
        start = time.perf_counter()
        fit_to(model.set_params(target=target), X, Y, data.groups_train)
        middle = time.perf_counter()
        sets[target] = model.predict(data.X_test)
        fit, predict = fit + middle - start, predict + time.perf_counter() - middle
    return {"sets": sets, "fit": fit, "predict": predict / len(targets)}


def _asked(model: Any, targets: list[str], X_test: Any) -> dict[str, Any]:
    """Sets of a model without p(y|x): one for all decisions, unless it knows of them."""
    start = time.perf_counter()
    if not hasattr(model, "predict_for"):
        sets = dict.fromkeys(targets, model.predict(X_test))
        return {"sets": sets, "predict": time.perf_counter() - start}
    sets = {target: model.predict_for(X_test, target) for target in targets}
    told: dict[str, Any] = {
        "sets": sets,
        "predict": (time.perf_counter() - start) / len(targets),
    }
    return told | getattr(model, "seconds_", {})  # of a model that learns while it predicts


def _decided(
    entry: Entry, model: Any, targets: list[str], dataset: Dataset, Y: Any
) -> dict[str, Any]:
    """Decisions from p(y|x); the seconds of the first one."""
    decisions = {target: _decision(entry, target) for target in targets}
    tune_decisions(
        model,
        list(decisions.values()),
        dataset.X_train,
        Y,
        groups=dataset.groups_train,
        allow_empty=model.allow_empty_,
    )
    start = time.perf_counter()
    distribution = model.predict_dist(dataset.X_test)
    sets, seconds = {}, 0.0
    for target, decision in decisions.items():
        sets[target] = decision.decide(distribution)
        seconds = seconds or time.perf_counter() - start
    return {"sets": sets, "distribution": distribution, "predict": seconds}


def _decision(entry: Entry, target: str) -> Decision:
    decision = decision_for(target)
    if hasattr(decision, "zero_division"):
        decision.zero_division = entry.zero_division
    return decision


def _chosen(model: Any) -> dict[str, Any]:
    """What the fit itself has chosen, where it says so."""
    return dict(getattr(model, "chosen_", {}))


def _log_prob(distribution: Any, truth: Any) -> np.ndarray | None:
    """The log-probability of each true set; None where a model has no joint probability."""
    if distribution is None:
        return None
    try:
        return np.asarray(distribution.log_prob(truth), dtype=np.float64)
    except SetwiseError:  # it says itself that it has none
        return None


def _finite(values: np.ndarray | None, summed: Any) -> float | None:
    """A figure that JSON can hold."""
    if values is None:
        return None
    figure = float(summed(values))
    return figure if np.isfinite(figure) else None
