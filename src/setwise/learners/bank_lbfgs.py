"""Banks by L-BFGS: all targets at once, in variables that suit their curvature."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from setwise.learners.bank_problem import BankProblem
from setwise.learners.design import rows_of
from setwise.learners.lbfgs import minimise
from setwise.learners.losses import BankLoss, padded
from setwise.learners.solution import Solution
from setwise.learners.whitening import LEAST_SPREAD, Curvature, WhitenedLoss, typical
from setwise.learners.workers import Workers

# Steps before the curvature is looked at again: it shrinks as targets become sure of their rows,
# and the variables that suited the start no longer do.
FIRST_ROUND = 20


def solve_by_lbfgs(
    problem: BankProblem, start: np.ndarray | None, *, max_iter: int, tol: float, workers: Workers
) -> Solution:
    """The bank's minima from ``start`` (d + 1, L) on; converged targets drop out."""
    loss, L = _bank_loss(problem, workers), problem.n_targets
    W = (cold_start(problem) if start is None else start).astype(problem.X.dtype)
    ridge = loss.penalties[:, 0].astype(np.float64) * np.exp(np.log(loss.ridge).mean())
    curvature = Curvature(loss.rows, problem.weight.mean(axis=1), ridge, n_targets=L)
    solution = Solution(W, np.full(L, np.inf), np.zeros(L, dtype=bool), 0)
    moving = np.arange(L)
    for steps in _rounds(max_iter):
        part = loss if len(moving) == L else loss.taken(moving)
        found = _round(part, curvature, solution.weights[:, moving], max_iter=steps, tol=tol)
        solution = solution.replaced(moving, found)
        moving = np.flatnonzero(~solution.converged)
        if not len(moving):
            break
    return solution._replace(values=solution.values * problem.C)


def _round(
    loss: BankLoss, curvature: Curvature, W: np.ndarray, *, max_iter: int, tol: float
) -> Solution:
    """A few steps in the variables that suit the curvature at W."""
    spreads = np.maximum(loss.spreads(W), LEAST_SPREAD)
    whitening = curvature.whitening(typical(spreads))
    V, scale = whitening.inverse(W), typical(spreads) / spreads
    found = minimise(WhitenedLoss(loss, whitening), V, max_iter=max_iter, tol=tol, scale=scale)
    return Solution(whitening.weights(found.V), found.values, found.converged, found.n_iter)


def _rounds(max_iter: int) -> Iterator[int]:
    """Numbers of steps between one look at the curvature and the next; they sum to the cap."""
    steps = FIRST_ROUND
    while max_iter > 0:
        yield min(steps, max_iter)
        max_iter -= steps
        steps *= 2


def _bank_loss(problem: BankProblem, workers: Workers) -> BankLoss:
    dtype = problem.X.dtype
    rows = rows_of(problem.X, bias=problem.bias != "none")
    penalties = np.ones((rows.shape[1] + 1, 1), dtype)
    penalties[-1] = problem.bias != "free"
    weight = problem.weight.astype(dtype)
    weight = weight if weight.shape[1] == 1 else padded(weight)
    T = padded(problem.dense_targets())
    return BankLoss(rows, T, weight, 1 / problem.C, penalties, workers)


def cold_start(problem: BankProblem) -> np.ndarray:
    """Zero weights, and the biases that are best without them, (d + 1, L)."""
    start = np.zeros((problem.X.shape[1] + 1, problem.n_targets))
    if problem.bias == "free":
        total, positive = problem.totals()
        start[-1] = np.log(positive) - np.log(total - positive)
    return start
