"""Banks by L-BFGS: all targets at once, in variables that suit their curvature.

L-BFGS only estimates how far it is from a minimum, and where features are badly scaled it is wrong.
So when it believes a target to have converged, the duality gap is looked at (``certificate``): a
target that it refutes goes on to a stricter estimate, and where single precision gets no closer, in
double precision. What is never certified has not converged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from setwise.learners.bank_problem import BankProblem
from setwise.learners.certificate import duality_gaps
from setwise.learners.design import rows_of
from setwise.learners.lbfgs import Point, minimise
from setwise.learners.losses import BankLoss, padded
from setwise.learners.solution import Solution
from setwise.learners.whitening import LEAST_SPREAD, Curvature, Triangular, WhitenedLoss, typical
from setwise.learners.workers import Workers

# Steps before the curvature is looked at again: it shrinks as targets become sure of their rows,
# and the variables that suited the start no longer do.
FIRST_ROUND = 20
ROUNDING = 10  # units in the last place: no gap below is asked for
PATIENCE = 2  # rounds that end early and in vain for a target, until it is given up


def solve_by_lbfgs(
    problem: BankProblem, start: np.ndarray | None, *, max_iter: int, tol: float, workers: Workers
) -> Solution:
    """The bank's minima from ``start`` (d + 1, L) on; converged targets drop out."""
    loss, L = _bank_loss(problem, workers), problem.n_targets
    W = (cold_start(problem) if start is None else start).astype(problem.X.dtype)
    ridge = loss.penalties[:, 0].astype(np.float64) * np.exp(np.log(loss.ridge).mean())
    weight = problem.weight.mean(axis=1)
    curvature = Curvature(loss.rows, weight, ridge, n_targets=L, workers=workers)
    solution = Solution(W, np.full(L, np.inf), np.zeros(L, dtype=bool), 0)
    resolved = max(tol, ROUNDING * float(np.finfo(W.dtype).eps)) if tol > 0 else 0.0
    vain = np.zeros(L, dtype=int)
    moving, steps = np.arange(L), FIRST_ROUND
    while len(moving) and solution.n_iter < max_iter:
        part = loss if len(moving) == L else loss.taken(moving)
        cap = min(steps, max_iter - solution.n_iter)
        W = solution.weights[:, moving]
        found = _round(part, curvature, W, max_iter=cap, tol=tol, resolved=resolved)
        solution = solution.replaced(moving, found)
        vain[moving] += found.n_iter < cap
        moving = moving[~found.converged & (vain[moving] < PATIENCE)]
        steps *= 2
    solution = solution._replace(values=solution.values * problem.C)
    stuck = np.flatnonzero(~solution.converged & (vain >= PATIENCE))
    if not len(stuck) or not resolved or loss.rows.dtype == np.float64:
        return solution
    return _finished_in_double(
        problem, solution, stuck, max_iter=max_iter, tol=resolved, workers=workers
    )


def _round(
    loss: BankLoss,
    curvature: Curvature,
    W: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    resolved: float,
) -> Solution:
    """A few steps in the variables that suit the curvature at W.

    Converged is what is certified to be within ``resolved``, or, where that is 0, all that L-BFGS
    takes for it.
    """
    spreads = np.maximum(loss.spreads(W), LEAST_SPREAD)
    spread = typical(spreads)
    whitening = curvature.whitening(spread)

    def proven(targets: np.ndarray, point: Point) -> np.ndarray:
        part = loss if len(targets) == len(spreads) else loss.taken(targets)
        # The diagonal alone makes no good Newton step: then the shares stay where they are.
        steps = whitening.weights(point.G) * isinstance(whitening, Triangular)
        enough, pull = resolved * point.values, spread * curvature.weight
        gaps = duality_gaps(part, whitening.weights(point.V), steps, pull, enough)
        return np.asarray(gaps <= enough)

    # At W itself, as rounding lets W = R V be zero no longer, and zero weights are cheap.
    values, G = loss.evaluate(W)
    start = Point(whitening.inverse(W), values, whitening.gradient(G))
    found = minimise(
        WhitenedLoss(loss, whitening),
        start,
        max_iter=max_iter,
        tol=tol,
        scale=spread / spreads,
        proven=proven if resolved else None,
    )
    return Solution(whitening.weights(found.V), found.values, found.converged, found.n_iter)


def _finished_in_double(
    problem: BankProblem,
    solution: Solution,
    targets: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    workers: Workers,
) -> Solution:
    """The solution with some targets finished in double precision, as far as steps are left.

    The weights are rounded again, and that must not take more than half of ``tol``.
    """
    left = max_iter - solution.n_iter
    if left <= 0:
        return solution
    part = problem.taken(targets)
    part = replace(part, X=part.X.astype(np.float64))
    before = solution.weights[:, targets]
    found = solve_by_lbfgs(
        part, before.astype(np.float64), max_iter=left, tol=tol / 2, workers=workers
    )
    rounded = found.weights.astype(before.dtype)
    loss = _bank_loss(part, workers)
    old, new = (part.C * loss.evaluate(W.astype(np.float64))[0] for W in (before, rounded))
    converged = found.converged & (new - found.values <= tol / 2 * np.abs(new))
    weights = np.where(new <= old, rounded, before)
    found = Solution(weights, np.minimum(new, old), converged & (new <= old), found.n_iter)
    return solution.replaced(targets, found)


def _bank_loss(problem: BankProblem, workers: Workers) -> BankLoss:
    dtype = problem.X.dtype
    rows = rows_of(problem.X, bias=problem.bias != "none")
    penalties = np.ones((rows.shape[1] + 1, 1), dtype)
    penalties[-1] = problem.bias != "free"
    weight = problem.weight.astype(dtype)
    weight = weight if weight.shape[1] == 1 else padded(weight)
    T = padded(problem.dense_targets() if sparse.issparse(problem.T) else problem.T, dtype)
    return BankLoss(rows, T, weight, 1 / problem.C, penalties, workers)


def cold_start(problem: BankProblem) -> np.ndarray:
    """Zero weights, and the biases that are best without them, (d + 1, L)."""
    start = np.zeros((problem.X.shape[1] + 1, problem.n_targets))
    if problem.bias == "free":
        total, positive = problem.totals
        start[-1] = np.log(positive) - np.log(total - positive)
    return start
