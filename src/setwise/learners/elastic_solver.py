"""Elastic-net problems that share X, solved target by target in threads (thesis, section 2.3.2).

For one target with weights w (n,) and targets t (n,), the solver minimises

    sum_n w_n loss(t_n, bias + x_n b) / sum(w)
        + penalty * (l1_ratio |b|_1 + (1 - l1_ratio) / 2 |b|_2^2)

which is eq. 2.49. The quadratic models it passes through are eq. 2.50 with one correction: their
squares are divided by sum(w), as the loss is, where the thesis divides by sum(w p (1 - p)); the
minimum of 2.49 is a fixed point only of the former.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.arguments import is_over_zero
from setwise.errors import DataError, NotConverged

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Solution:
    """Sparse weights and bias of one target, and how the solver left it."""

    features: np.ndarray  # (m,) the features with a weight
    values: np.ndarray  # (m,) their weights
    bias: float
    violation: float = 0.0  # of the optimality conditions, relative to the largest slope at zero
    steps: int = 0

    def dense(self, n_features: int) -> np.ndarray:
        """The weights with their zeros, (d,)."""
        weights = np.zeros(n_features)
        weights[self.features] = self.values
        return weights


@dataclass(frozen=True)
class Settings:
    """Strength and stopping rule of a solve."""

    penalty: float
    l1_ratio: float
    tol: float
    max_iter: int
    screen: float = np.inf  # features with a larger slope are worked on from the start

    @property
    def parts(self) -> tuple[float, float]:
        """The factors of |b|_1 and of |b|_2^2 / 2."""
        return self.penalty * self.l1_ratio, self.penalty * (1 - self.l1_ratio)


def by_columns(X: Any) -> Columns:
    """X as flat columns: entries, their rows (none where X is dense) and where columns start."""
    if sparse.issparse(X):
        csc = X.tocsc()
        if not csc.nnz:  # without any rows it would pass for dense: one entry, of no column
            return np.zeros(1, X.dtype), np.zeros(1, np.int32), np.zeros(X.shape[1] + 1, np.int64)
        rows = csc.indices.astype(np.int32, copy=False)  # one kind of index, one compiled kernel
        return csc.data, rows, csc.indptr.astype(np.int64)
    n, d = X.shape
    return X.ravel(order="F"), np.empty(0, np.int32), np.arange(d + 1, dtype=np.int64) * n


def largest_slope(columns: Columns, target: np.ndarray, weight: np.ndarray) -> float:
    """The largest |slope| of the loss at zero weights and the best bias; weights sum to one.

    Divided by ``l1_ratio`` it is the smallest penalty under which all weights are zero.
    """
    from setwise.learners._columns_kernel import largest_dot

    return float(largest_dot(columns, weight * (target - (weight * target).sum())))


def solve(
    columns: Columns,
    target: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    start: Solution,
) -> Solution:
    """The minimum for one target, from ``start``; weights (n,) sum to one."""
    from setwise.learners._elastic_kernel import minimise

    n, d = len(target), len(columns[2]) - 1
    weights, bias = start.dense(d), np.array([start.bias])
    scale = largest_slope(columns, target, weight) or 1.0
    violation, steps = minimise(
        columns,
        (target, weight, np.zeros(n)),
        settings.parts,
        settings.screen,
        settings.tol * scale,
        settings.max_iter,
        weights,
        bias,
        np.empty(n),
    )
    features = np.flatnonzero(weights)
    return Solution(features, weights[features], float(bias[0]), violation / scale, steps)


def as_matrix(solutions: Sequence[Solution], n_features: int) -> sparse.csr_array:
    """The weights of all targets, (d, L), never dense on the way."""
    starts = np.cumsum([0, *(len(s.features) for s in solutions)])
    features = np.concatenate([np.empty(0, np.int64), *(s.features for s in solutions)])
    values = np.concatenate([np.empty(0), *(s.values for s in solutions)])
    shape = (n_features, len(solutions))
    return sparse.csc_array((values, features, starts), shape=shape).tocsr()


def as_solutions(weights: Any, bias: np.ndarray) -> list[Solution]:
    """The inverse of ``as_matrix``: where a warm start begins."""
    csc = sparse.csc_array(weights)
    parts = [slice(csc.indptr[i], csc.indptr[i + 1]) for i in range(len(bias))]
    return [
        Solution(csc.indices[part], csc.data[part], float(b))
        for part, b in zip(parts, bias, strict=True)
    ]


def linear_scores(X: Any, weights: Any, bias: np.ndarray) -> np.ndarray:
    """X weights + bias, (n, L), with sparse weights (d, L)."""
    product = X @ weights
    dense: np.ndarray = product.toarray() if sparse.issparse(product) else product
    scores: np.ndarray = dense + bias
    return scores


def warn_not_converged(violations: np.ndarray, settings: Settings, what: str) -> None:
    """One warning for all targets that stopped short."""
    if not len(violations):
        return
    warnings.warn(
        f"{what} stopped at max_iter={settings.max_iter} short of tol={settings.tol:g} "
        f"(violation {violations.max():.1g}); raise max_iter, tol or the penalty, "
        "or bring the features to one scale",
        NotConverged,
        stacklevel=4,
    )


def check_settings(penalty: float | None, C: float, l1_ratio: float, max_iter: int) -> None:
    """Refuse settings without a meaning."""
    if penalty is not None and not is_over_zero(penalty):
        raise DataError(f"penalty must be a positive number, not {penalty!r}; correct it")
    if not is_over_zero(C):
        raise DataError(f"C must be a positive number, not {C!r}; correct it")
    if not 0 <= l1_ratio <= 1:
        raise DataError(f"l1_ratio must lie in [0, 1], not at {l1_ratio!r}; correct it")
    if max_iter < 1:
        raise DataError(f"max_iter must be at least 1, not {max_iter!r}; correct it")
