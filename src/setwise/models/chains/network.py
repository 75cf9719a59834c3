"""Networks of logistic regressions: each label on the features and on its parents.

What chains, trees and their mixtures are fitted by; they differ in who is whose parent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.data.arguments import is_over_zero
from setwise.errors import DataError
from setwise.models.chains.columns import MaskedWeights, columns_of
from setwise.models.chains.masked_bank import fit_masked
from setwise.models.climb import climb_both_ways
from setwise.models.strength import MIDDLE, STRENGTHS

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
    certify: bool = True,
) -> MaskedWeights:
    """The regressions of all labels of Y (n, L) on X and their parents, bool (L, L)."""
    # Parents of a chain are a prefix of the labels when those with most children come first.
    turn = np.argsort(-parents.sum(axis=1), kind="stable")
    columns = columns_of(X, Y[:, turn], C, C_labels)
    found = fit_masked(
        columns, Y, parents[turn], C=C, weight=weight,
        start=None if start is None else _turned(start, turn),
        max_iter=max_iter, tol=tol, n_jobs=n_jobs, certify=certify,
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
    first: float = MIDDLE,
    max_iter: int = 200,
    n_jobs: int | None = None,
) -> float:
    """The C that gives held-out rows the largest log-likelihood, looked for from ``first`` on."""
    train, test = parts
    w_train, w_test = (None, None) if weight is None else (weight[train], weight[test])
    found: dict[str, MaskedWeights] = {}

    def score(C: float) -> float:
        fitted = fit_network(
            X[train], Y[train], parents, C=C, C_labels=C_labels, weight=w_train,
            start=found.get("last"), max_iter=max_iter, tol=1e-4, n_jobs=n_jobs, certify=False,
        )  # fmt: skip
        found["last"] = fitted
        z = X[test] @ fitted.features + Y[test] @ fitted.labels + fitted.biases
        log_prob = -np.logaddexp(0, (1 - 2 * Y[test]) * z).sum(axis=1)
        return float(np.average(log_prob, weights=w_test))

    return climb_both_ways(STRENGTHS, first, score)[0]


def check_strengths(C: Any, C_labels: Any, name: str = "C") -> None:
    """Refuse what is neither a number over zero nor, for C, "auto"."""
    for what, value in ((name, C), ("C_labels", C_labels)):
        if what == name and isinstance(value, str) and value == "auto":
            continue
        if not is_over_zero(value):
            words = ' or "auto"' if what == name else ""
            raise DataError(f"{what} is a number over zero{words}, not {value!r}; correct it")
