"""The strength of a model's penalty that held-out rows like best, for models of any kind."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from setwise.errors import DataError, NotConverged
from setwise.learners.bank_problem import in_single_precision
from setwise.models.climb import climb_both_ways
from setwise.models.held_out import held_out_parts

#: What "auto" tries for C, from the middle upwards or downwards, and on which share of the rows.
STRENGTHS = (
    *(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    *(30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5),
)
MIDDLE = 1.0
HELD_OUT_SHARE = 0.2
#: Enough to tell one strength from the next, which differ by far more, and several times as fast.
ROUGH_TOL = 1e-4

LEARNERS_WITH_C = ("logistic", "elastic")


def is_auto(C: Any, learner: Any = "logistic") -> bool:
    """Whether C is to be chosen; other words, and learners without a C, get a sentence."""
    if not isinstance(C, str):
        return False
    if C != "auto":
        raise DataError(f'C is a number over zero or "auto", not {C!r}')
    if learner not in LEARNERS_WITH_C:
        raise DataError(
            f'C="auto" is for the learners "logistic" and "elastic", not {learner!r}; '
            "leave C as it is, which other learners do not use"
        )
    return True


def best_C(
    model: Any,
    X: Any,
    Y: sparse.csr_array,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    start: float = MIDDLE,
    seconds: float = np.inf,
) -> float:
    """The C of the copy of a model, fitted to most rows, that finds the others likeliest.

    It is looked for from ``start``, one of ``STRENGTHS``, upwards or downwards, until so many
    ``seconds`` have passed. Copies are fitted roughly, if they can be, and in single precision
    where X allows it. Rows whose set cannot be under any C, because the other rows do not have it,
    do not count.
    """
    train, test = held_out_parts(Y, sample_weight, groups, HELD_OUT_SHARE, model.random_state)
    weight, judges = (
        None if sample_weight is None else sample_weight[part] for part in (train, test)
    )
    X = in_single_precision(X)
    rough = {"tol": max(model.tol, ROUGH_TOL)} if hasattr(model, "tol") else {}
    end = perf_counter() + seconds

    def score(C: float) -> float:
        if perf_counter() > end:
            return -np.inf
        with warnings.catch_warnings():  # a strength that takes too long is not for long
            warnings.simplefilter("ignore", NotConverged)
            copy = clone(model).set_params(C=C, target="set_accuracy", **rough)
            copy.fit(X[train], Y[train], sample_weight=weight)
        return mean_log_prob(copy.predict_dist(X[test]).log_prob(Y[test]), judges)

    return climb_both_ways(STRENGTHS, start, score)[0]


def mean_log_prob(log_prob: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The mean over rows whose set is possible; -inf where none is.

    >>> mean_log_prob(np.array([-1.0, -3.0, -np.inf]))
    -2.0
    """
    weight = np.ones(len(log_prob)) if weight is None else weight
    possible = np.isfinite(log_prob) & (weight > 0)
    if not possible.any():
        return -np.inf
    return float(np.average(log_prob[possible], weights=weight[possible]))
