"""Settings chosen on training rows alone, by what held-out rows among them say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from setwise.data.labels import as_binary_csr
from setwise.data.split import IterativeKFold, holdout
from setwise.metrics import set_measures


def tune(
    model: Any,
    grid: Mapping[str, Sequence[Any]],
    X: Any,
    Y: Any,
    *,
    groups: Any = None,
    n_splits: int = 3,
    validated: bool = False,
    random_state: int = 0,
    judged_by: str = "log_prob",
) -> tuple[Any, dict[str, Any]]:
    """The model with the best settings of ``grid``, not fitted, and those settings.

    Each setting is fitted on the training part of each fold, or on all but a fifth of the rows if
    ``validated``, and judged on the rows left: by the mean log-probability of the true label sets,
    or by a set measure of which more is better, for models without a joint probability. Ties go to
    the earlier setting.
    """
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if len(settings) > 1:
        labels = as_binary_csr(Y)
        if validated:
            folds = [holdout(labels, test_size=0.2, groups=groups, random_state=random_state)]
        else:
            parts = IterativeKFold(n_splits, random_state=random_state)
            folds = list(parts.split(X, labels, groups))
        if judged_by == "log_prob" and not hasattr(model, "predict_dist"):
            judged_by = "set_accuracy"
        if judged_by == "log_prob":
            scores = [
                held_out_log_prob(model, setting, X, labels, folds, groups) for setting in settings
            ]
        else:
            scores = [
                held_out_measure(model, setting, X, labels, folds, judged_by, groups)
                for setting in settings
            ]
        best = settings[int(np.argmax(scores))]
    else:
        best = settings[0]
    return (clone(model).set_params(**best) if best else model), best


def held_out_log_prob(
    model: Any,
    setting: Mapping[str, Any],
    X: Any,
    Y: Any,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    groups: Any = None,
) -> float:
    """The mean over all held-out rows of log p(true set | x)."""
    total, has_empty = 0.0, bool((np.diff(as_binary_csr(Y).indptr) == 0).any())
    for train, test in folds:
        fold_model = clone(model).set_params(**setting)
        if fold_model.allow_empty == "auto":  # by all rows: a fold may lack the few empty sets
            fold_model.set_params(allow_empty=has_empty)
        fit_to(fold_model, X[train], Y[train], None if groups is None else groups[train])
        total += float(fold_model.predict_dist(X[test]).log_prob(Y[test]).sum())
    return total / sum(len(test) for _, test in folds)


def held_out_measure(
    model: Any,
    setting: Mapping[str, Any],
    X: Any,
    Y: Any,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    measure: str,
    groups: Any = None,
) -> float:
    """The mean over folds of a set measure of what is predicted for held-out rows."""
    values = []
    for train, test in folds:
        fold_model = clone(model).set_params(**setting)
        fit_to(fold_model, X[train], Y[train], None if groups is None else groups[train])
        values.append(set_measures(Y[test], fold_model.predict(X[test]))[measure])
    return float(np.mean(values))


def fit_to(model: Any, X: Any, Y: Any, groups: Any) -> None:
    """Fit a model of ours or of others, with the groups if it takes them."""
    takes_groups = "groups" in signature(model.fit).parameters
    model.fit(X, Y, **({"groups": groups} if takes_groups else {}))
