"""Logistic regressions on features and on some of the labels each, solved together.

``columns`` has the problem. Where features are sparse and many targets have the same parents, they
are ``grouped_bank``'s matter. Otherwise all targets share one matrix (X, Y, 1), of which each uses
its own columns, and L-BFGS works in variables that suit them all (``label_whitening``): by the
whole curvature of dense rows, by its diagonal where they are sparse and passes over them cheap.

How far a target is above its minimum is proven by the duality gap of ``learners.certificate``: it
holds for the columns that a target uses, as if there were no others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.bank_inputs import is_constant, smoothed_log_odds
from setwise.learners.certificate import duality_gaps
from setwise.learners.design import DenseRows, SparseRows, rows_of
from setwise.learners.lbfgs import Point, minimise
from setwise.learners.losses import BankLoss, padded
from setwise.learners.solution import Solution, warn_if_short
from setwise.learners.whitening import LEAST_SPREAD, typical
from setwise.learners.workers import Workers
from setwise.models.chains.columns import Columns, MaskedWeights, unstacked
from setwise.models.chains.grouped_bank import are_banks, fit_groups
from setwise.models.chains.label_whitening import BiasFirst, whitening_for

FIRST_ROUND = 20  # steps before the curvature is looked at again
PATIENCE = 2  # rounds that end early and in vain for a target, until it is given up
ROUNDING = 10  # units in the last place: no gap below is asked for
SMALL = 2**24  # products in an evaluation: below, threads take longer to start than to work
MOST_COLUMNS = 3000  # up to which the whole curvature is worth its factor; its diagonal beyond


def fit_masked(
    columns: Columns,
    T: np.ndarray,
    parents: np.ndarray,
    *,
    C: float,
    weight: np.ndarray | None = None,
    start: MaskedWeights | None = None,
    max_iter: int = 200,
    tol: float = 1e-6,
    n_jobs: int | None = None,
    certify: bool = True,
    gram: np.ndarray | None = None,
) -> MaskedWeights:
    """The minima of targets T (n, m), each with its parents, bool (L, m).

    A target that is constant where rows have weight gets no weights and the smoothed log-odds as
    its bias, as in ``LogisticBank``. Converged is what is proven to be within ``tol`` of its
    minimum, relatively; there is a warning where something is not. Without ``certify`` there is
    none, and the solver's own estimate, or a few sweeps, have to do.
    ``gram`` is what ``gram_of`` returns, for callers that fit again and again with the same columns
    and weights.
    """
    n, m = T.shape
    weight = np.ones(n) if weight is None else weight
    total, positive = weight.sum(), weight @ T
    odds = smoothed_log_odds(positive, total)
    objective = C * (total * np.logaddexp(0, odds) - positive * odds)
    W = np.zeros((columns.X.shape[1] + columns.labels.shape[1] + 1, m), columns.X.dtype)
    W[-1] = odds
    everything = Solution(W, objective, np.ones(m, dtype=bool), 0)
    moving = np.flatnonzero(~is_constant(positive, total))
    if len(moving):
        options: dict[str, Any] = {"C": C, "weight": weight, "max_iter": max_iter, "tol": tol}
        options |= {"n_jobs": n_jobs, "certify": certify}
        options |= {"start": None if start is None else start.taken(moving)}
        found = _solved(columns, T[:, moving], parents[:, moving], gram, options)
        everything = everything.replaced(moving, found)
    if certify:
        warn_if_short(everything.converged, n_iter=everything.n_iter, tol=tol, what="labels")
    return unstacked(*everything, columns)


def _solved(
    columns: Columns,
    T: np.ndarray,
    parents: np.ndarray,
    gram: np.ndarray | None,
    options: dict[str, Any],
) -> Solution:
    """By the solver that suits; what the diagonal cannot prove on sparse rows, by the other."""
    thin = sparse.issparse(columns.X)
    if thin and are_banks(parents):
        return fit_groups(columns, T, parents, **options)
    found = fit_together(columns, T, parents, gram=gram, **options)
    late = np.flatnonzero(~found.converged)
    left = options["max_iter"] - found.n_iter
    if not (thin and options["certify"] and len(late) and left > 0):
        return found
    options = options | {"start": unstacked(*found, columns).taken(late), "max_iter": left}
    return found.replaced(late, fit_groups(columns, T[:, late], parents[:, late], **options))


def fit_together(
    columns: Columns,
    T: np.ndarray,
    parents: np.ndarray,
    *,
    C: float,
    weight: np.ndarray,
    start: MaskedWeights | None,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    certify: bool,
    gram: np.ndarray | None,
) -> Solution:
    """As ``grouped_bank.fit_groups``, by L-BFGS."""
    rows = rows_of(columns.joined(), bias=True)
    m, d = T.shape[1], columns.X.shape[1]
    mask = np.ones((rows.shape[1] + 1, m), rows.dtype)
    mask[d:-1] = parents
    if start is None:
        first = np.zeros_like(mask)
        first[-1] = smoothed_log_odds(weight @ T, weight.sum())
    else:
        first = start.stacked(np.arange(m), columns.scale).astype(rows.dtype) * mask
    with Workers(1 if rows.size * m < SMALL else n_jobs) as workers:
        loss = _loss(rows, T, weight, mask, C, workers)
        gram = _gram(rows, weight, workers) if gram is None else gram
        prefix = bool((np.diff(parents.astype(int), axis=0) <= 0).all())
        ridge = np.append(np.full(rows.shape[1], 1 / C), 0.0)

        def whitening(spread: float) -> BiasFirst:
            hessian = spread * gram + (ridge if gram.ndim == 1 else np.diag(ridge))
            return whitening_for(hessian, d, prefix, rows.dtype, workers)

        least = ROUNDING * float(np.finfo(rows.dtype).eps)
        resolved = max(tol, least) if certify and tol > 0 else 0.0
        found = _solve(loss, mask, first, whitening, max_iter=max_iter, tol=tol, resolved=resolved)
    return found._replace(values=C * found.values)


def gram_of(columns: Columns, weight: np.ndarray) -> np.ndarray | None:
    """Products of features, labels and ones over weighted rows; None where nobody needs them."""
    if sparse.issparse(columns.X):
        return None
    return _gram(rows_of(columns.joined(), bias=True), weight, None)


def _gram(rows: DenseRows | SparseRows, weight: np.ndarray, workers: Workers | None) -> np.ndarray:
    """(D + 1, D + 1); the squares alone, (D + 1,), if columns are many or rows are sparse."""
    alone = isinstance(rows, SparseRows) or rows.shape[1] > MOST_COLUMNS
    return rows.square_sums(weight) if alone else rows.gram(weight, workers)


@dataclass(frozen=True)
class OwnColumns(BankLoss):
    """A bank's loss whose penalties (D + 1, m), zero or one, differ between targets."""

    def taken(self, targets: np.ndarray) -> OwnColumns:
        """The loss of some of the targets."""
        part = super().taken(targets)
        penalties = self.penalties[:, targets]
        return OwnColumns(part.rows, part.T, part.weight, part.ridge, penalties, part.workers)


def _loss(
    rows: DenseRows | SparseRows,
    T: np.ndarray,
    weight: np.ndarray,
    mask: np.ndarray,
    C: float,
    workers: Workers,
) -> OwnColumns:
    penalties = mask.copy()
    penalties[-1] = 0
    weight = weight[:, None].astype(rows.dtype)
    targets, ridge = padded(T, rows.dtype), np.full(T.shape[1], 1 / C)
    return OwnColumns(rows, targets, weight, ridge, penalties, workers)


@dataclass(frozen=True)
class _MaskedLoss:
    """A loss as a function of U, of which a mask says what may move."""

    loss: BankLoss
    mask: np.ndarray  # (D + 1, m), of weights
    own: np.ndarray  # the same, of U
    whitening: BiasFirst

    def evaluate(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, G = self.loss.evaluate(self.whitening.weights(U) * self.mask)
        return values, self.whitening.gradient(G) * self.own

    def taken(self, targets: np.ndarray) -> _MaskedLoss:
        part = self.loss.taken(targets)
        return _MaskedLoss(part, self.mask[:, targets], self.own[:, targets], self.whitening)


def _solve(
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
        part = loss if len(targets) == len(spreads) else loss.taken(targets)
        shown = mask[:, targets]
        # The diagonal alone makes no good Newton step: then the shares stay where they are.
        newton = whitening.weights(point.G) * shown * whitening.exact
        enough = resolved * point.values
        gaps = duality_gaps(part, whitening.weights(point.V) * shown, newton, pull, enough)
        return np.asarray(gaps <= enough)

    # At W itself: its values in the new variables are the same only up to rounding.
    values, G = loss.evaluate(W)
    found = minimise(
        _MaskedLoss(loss, mask, own, whitening),
        Point(whitening.inverse(W) * own, values, whitening.gradient(G) * own),
        max_iter=max_iter, tol=tol, scale=spread / spreads, proven=proven if resolved else None,
    )  # fmt: skip
    weights = whitening.weights(found.V) * mask
    return Solution(weights, found.values, found.converged, found.n_iter)
