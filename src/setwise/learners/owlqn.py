"""OWL-QN: L-BFGS for a smooth function plus magnitudes of its variables (Andrew and Gao 2007).

    minimise  f(v) + sum_j a_j |v_j|

Where no variable changes its sign the magnitudes are linear. So each step stays in one orthant: the
one of v, and, for variables at zero, the one that the steepest descent leads into. Directions come
from the curvature of f alone; what they would do against the descent is left out, and what a step
takes across zero is put to zero, exactly. No step raises the objective.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from setwise.learners.lbfgs import MAX_SHORTENINGS, SUFFICIENT, History

Smooth = Callable[[np.ndarray], tuple[float, np.ndarray]]


class SparseMinimum(NamedTuple):
    """Where a minimisation ended."""

    v: np.ndarray  # (D,)
    value: float
    converged: bool
    n_iter: int


def minimise_sparse(
    smooth: Smooth, start: np.ndarray, magnitudes: np.ndarray, *, max_iter: int, tol: float
) -> SparseMinimum:
    """The minimum from ``start`` (D,) on, after at most ``max_iter`` steps.

    ``smooth`` returns f and its gradient (D,); ``magnitudes`` (D,) are the a_j. It has converged
    when half of what a step promises, and what the last one brought, are below ``tol`` times the
    objective.

    >>> def distance(v):
    ...     return float(((v - [3.0, 0.5]) ** 2).sum() / 2), v - [3.0, 0.5]
    >>> minimise_sparse(distance, np.zeros(2), np.ones(2), max_iter=50, tol=1e-12).v.round(6)
    array([2., 0.])
    """
    v, history, gain, n_iter = start, History(), np.inf, 0
    f, g = smooth(v)
    value = f + _cost(v, magnitudes)
    while True:
        steepest = _steepest(v, g, magnitudes)
        d = history.direction(-steepest[:, None])[:, 0]
        d[d * steepest <= 0] = 0
        promise = float(d @ steepest) / 2
        size = max(abs(value), float(np.finfo(float).tiny))
        if promise <= tol * size and (gain <= tol * size or promise <= 0):
            return SparseMinimum(v, value, True, n_iter)
        if n_iter == max_iter:
            return SparseMinimum(v, value, False, n_iter)
        orthant = np.where(v == 0, np.sign(steepest), np.sign(v))
        for shortening in range(MAX_SHORTENINGS):
            after = v + np.asarray(0.5**shortening, d.dtype) * d
            after[after * orthant < 0] = 0
            f, g_after = smooth(after)
            value_after = f + _cost(after, magnitudes)
            # Of what the slope promises for the step that is left after the projection.
            if value_after <= value - SUFFICIENT * float(steepest @ (after - v)):
                break
        else:  # rounding hides what is left to gain
            close = promise <= 100 * float(np.finfo(v.dtype).eps) * size
            return SparseMinimum(v, value, close, n_iter)
        history.add((after - v)[:, None], (g_after - g)[:, None])
        gain = value - value_after
        v, g, value = after, g_after, value_after
        n_iter += 1


def _steepest(v: np.ndarray, g: np.ndarray, magnitudes: np.ndarray) -> np.ndarray:
    """Minus the gradient of the sum; at zero, where it has none, the way down, if there is one."""
    there = -(g + np.sign(v) * magnitudes)
    at_zero = np.sign(-g) * np.maximum(np.abs(g) - magnitudes, 0)
    steepest: np.ndarray = np.where(v == 0, at_zero, there)
    return steepest


def _cost(v: np.ndarray, magnitudes: np.ndarray) -> float:
    return float(np.abs(v).astype(np.float64) @ magnitudes)
