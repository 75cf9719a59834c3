"""Networks of logistic regressions: each label on the features and on its parents.

What chains, trees and their mixtures are fitted by; they differ in who is whose parent.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from setwise.errors import DataError, NotConverged
from setwise.models.binary_relevance import MIDDLE, STRENGTHS
from setwise.models.chains.masked_bank import MaskedWeights, columns_of, fit_masked
from setwise.models.climb import climb_both_ways

#: Label parents are hardly penalised: shrunk like features, dependencies go with the noise.
C_LABELS = 10.0


def chain_parents(order: np.ndarray) -> np.ndarray:
    """Which labels are parents, bool (L, L): [j, i] where j stands before i.

    >>> chain_parents(np.array([1, 0])).astype(int).tolist()
    [[0, 0], [1, 0]]
    """
    place = np.argsort(order)
    parents: np.ndarray = place[:, None] < place[None, :]
    return parents


def fit_network(
    X: Any,
    Y: np.ndarray,
    parents: np.ndarray,
    *,
    C: float,
    C_labels: float,
    weight: np.ndarray | None = None,
    start: MaskedWeights | None = None,
    max_iter: int = 200,
    tol: float = 1e-6,
    n_jobs: int | None = None,
    warn: bool = True,
) -> MaskedWeights:
    """The regressions of all labels of Y (n, L) on X and their parents, bool (L, L)."""
    # Parents of a chain are a prefix of the labels when those with most children come first.
    turn = np.argsort(-parents.sum(axis=1), kind="stable")
    columns = columns_of(X, Y[:, turn], C, C_labels)
    found = fit_masked(
        columns, Y, parents[turn], C=C, weight=weight,
        start=None if start is None else _turned(start, turn),
        max_iter=max_iter, tol=tol, n_jobs=n_jobs, warn=warn,
    )  # fmt: skip
    return _turned(found, np.argsort(turn))


def _turned(found: MaskedWeights, turn: np.ndarray) -> MaskedWeights:
    return MaskedWeights(
        found.features, found.labels[turn], found.biases, found.objective, found.converged,
        found.n_iter,
    )  # fmt: skip


def best_strength(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray | None,
    parts: tuple[np.ndarray, np.ndarray],
    parents: np.ndarray,
    C_labels: float,
    *,
    max_iter: int = 200,
    n_jobs: int | None = None,
) -> float:
    """The C that gives held-out rows the largest log-likelihood."""
    train, test = parts
    w_train, w_test = (None, None) if weight is None else (weight[train], weight[test])
    found: dict[str, MaskedWeights] = {}

    def score(C: float) -> float:
        with warnings.catch_warnings():  # a strength that takes too long is not for long
            warnings.simplefilter("ignore", NotConverged)
            fitted = fit_network(
                X[train], Y[train], parents, C=C, C_labels=C_labels, weight=w_train,
                start=found.get("last"), max_iter=max_iter, tol=1e-4, n_jobs=n_jobs,
            )  # fmt: skip
        found["last"] = fitted
        z = X[test] @ fitted.features + Y[test] @ fitted.labels + fitted.biases
        log_prob = -np.logaddexp(0, (1 - 2 * Y[test]) * z).sum(axis=1)
        return float(np.average(log_prob, weights=w_test))

    return climb_both_ways(STRENGTHS, MIDDLE, score)[0]


def check_strengths(C: Any, C_labels: Any) -> None:
    """Refuse what is neither a number over zero nor, for C, "auto"."""
    for name, value in (("C", C), ("C_labels", C_labels)):
        if name == "C" and isinstance(value, str) and value == "auto":
            continue
        if isinstance(value, str) or not (np.isfinite(value) and value > 0):
            words = ' or "auto"' if name == "C" else ""
            raise DataError(f"{name} is a number over zero{words}, not {value!r}")
