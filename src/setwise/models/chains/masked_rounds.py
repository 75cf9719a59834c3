"""Rounds of L-BFGS for regressions on their own columns, each in variables that suit the last."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from setwise.learners.certificate import duality_gaps, gradient_gaps
from setwise.learners.lbfgs import Point, minimise
from setwise.learners.solution import Solution
from setwise.learners.whitening import LEAST_SPREAD, typical
from setwise.models.chains.label_whitening import BiasFirst
from setwise.models.chains.masked_loss import MaskedLoss, OwnColumns

FIRST_ROUND = 20  # steps before the curvature is looked at again
PATIENCE = 2  # rounds that end early and in vain for a target, until it is given up
# Steps that are remembered where the variables are hardly whitened: the curvature is in them. They
# take a third fewer steps than 8 on bibtex, and more than 15 only a few fewer.
LONG_MEMORY = 15


def solve_in_rounds(
    loss: OwnColumns,
    mask: np.ndarray,
    W: np.ndarray,
    whitening_of: Callable[[float], BiasFirst],
    *,
    max_iter: int,
    tol: float,
    resolved: float,
) -> Solution:
    """Weights and values after rounds of steps, in variables that suit the curvature.

    Converged is what is proven to be within ``resolved``, or, where that is 0, all that L-BFGS
    takes for it.
    """
    m = W.shape[1]
    solution = Solution(W, np.full(m, np.inf), np.zeros(m, dtype=bool), 0)
    vain = np.zeros(m, dtype=int)
    moving, steps = np.arange(m), FIRST_ROUND
    while len(moving) and solution.n_iter < max_iter:
        part = loss if len(moving) == m else loss.taken(moving)
        cap = min(steps, max_iter - solution.n_iter)
        found = _round(
            part, mask[:, moving], solution.weights[:, moving], whitening_of,
            max_iter=cap, tol=tol, resolved=resolved,
        )  # fmt: skip
        solution = solution.replaced(moving, found)
        vain[moving] += found.n_iter < cap
        moving = moving[~found.converged & (vain[moving] < PATIENCE)]
        steps *= 2
    return solution


def _round(
    loss: OwnColumns,
    mask: np.ndarray,
    W: np.ndarray,
    whitening_of: Callable[[float], BiasFirst],
    *,
    max_iter: int,
    tol: float,
    resolved: float,
) -> Solution:
    """A few steps in the variables that suit the curvature at W."""
    own = np.roll(mask, 1, axis=0)
    spreads = np.maximum(loss.spreads(W), LEAST_SPREAD)
    spread = typical(spreads)
    whitening = whitening_of(spread)
    pull = spread * loss.weight[:, 0].astype(np.float64)

    def proven(targets: np.ndarray, point: Point) -> np.ndarray:
        shown, enough = mask[:, targets], resolved * point.values
        W = whitening.weights(point.V) * shown
        if not whitening.exact:
            G = whitening.plain_gradient(point.G) * shown
            return _proven_by_gradients(loss, targets, W, G, enough)
        part = loss if len(targets) == len(spreads) else loss.taken(targets)
        newton = whitening.weights(point.G) * shown
        return np.asarray(duality_gaps(part, W, newton, pull, enough) <= enough)

    # At W itself: its values in the new variables are the same only up to rounding.
    values, G = loss.evaluate(W)
    options = {} if whitening.exact else {"memory": LONG_MEMORY}
    found = minimise(
        MaskedLoss(loss, mask, own, whitening),
        Point(whitening.inverse(W) * own, values, whitening.gradient(G) * own),
        max_iter=max_iter, tol=tol, scale=spread / spreads,
        proven=proven if resolved else None, **options,
    )  # fmt: skip
    weights = whitening.weights(found.V) * mask
    return Solution(weights, found.values, found.converged, found.n_iter)


def _proven_by_gradients(
    loss: OwnColumns, targets: np.ndarray, W: np.ndarray, G: np.ndarray, enough: np.ndarray
) -> np.ndarray:
    """Which of some targets' gaps are within ``enough``, for shares that stay where they are.

    The diagonal makes no good Newton step to displace them by. Most answers need no pass over rows.
    """
    squares = ((G[:-1] * loss.penalties[:-1, targets]).astype(np.float64) ** 2).sum(axis=0)
    proven: np.ndarray = squares <= 2 * loss.ridge[targets] * enough  # else there is no hope
    hopeful = np.flatnonzero(proven)
    if not len(hopeful):
        return proven
    part, W, G = loss.taken(targets[hopeful]), W[:, hopeful], G[:, hopeful]
    proven[hopeful] = gradient_gaps(part, W, G) <= enough[hopeful]
    missed = np.flatnonzero(~proven[hopeful])
    if len(missed):
        left = hopeful[missed]
        nowhere, nothing = np.zeros_like(W[:, missed]), np.zeros(len(loss.T))
        gaps = duality_gaps(part.taken(missed), W[:, missed], nowhere, nothing, enough[left])
        proven[left] = gaps <= enough[left]
    return proven
