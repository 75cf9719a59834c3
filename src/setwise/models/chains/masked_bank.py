"""Logistic regressions on features and on some of the labels each, solved together.

``columns`` has the problem. Where features are sparse and many targets have the same parents, they
are ``grouped_bank``'s matter. Otherwise all targets share one matrix (X, Y, 1), of which each uses
its own columns, and L-BFGS works in variables that suit them all (``label_whitening``): by the
whole curvature of dense rows, by little of its diagonal where they are sparse and passes over them
cheap. Sparse rows are reading and writing more than arithmetic, so that the first digits are found
in single precision, and blocks of targets are a thread's own.

How far a target is above its minimum is proven by the duality gap of ``learners.certificate``: it
holds for the columns that a target uses, as if there were no others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.bank_inputs import is_constant, smoothed_log_odds
from setwise.learners.design import DenseRows, SparseRows, rows_of
from setwise.learners.solution import Solution, warn_if_short
from setwise.learners.workers import Workers, spans
from setwise.models.chains.columns import Columns, MaskedWeights, unstacked
from setwise.models.chains.grouped_bank import are_banks, fit_groups
from setwise.models.chains.label_whitening import BiasFirst, whitening_for
from setwise.models.chains.masked_loss import own_columns
from setwise.models.chains.masked_rounds import solve_in_rounds

ROUNDING = 10  # units in the last place: no gap below is asked for
SMALL = 2**24  # products in an evaluation: below, threads take longer to start than to work
MOST_COLUMNS = 3000  # up to which the whole curvature is worth its factor; its diagonal beyond
BLOCK_TARGETS = 80  # about as many as go through sparse rows together, a block in each thread
SINGLE = 1e-4  # gaps down to which single precision does
LARGEST_SINGLE = 1e6  # a feature that single precision takes


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
    """By the solver that suits."""
    if not sparse.issparse(columns.X):
        return fit_together(columns, T, parents, gram=gram, **options)
    if are_banks(parents):
        return fit_groups(columns, T, parents, **options)
    return _on_sparse_rows(columns, T, parents, options)


def _on_sparse_rows(
    columns: Columns, T: np.ndarray, parents: np.ndarray, options: dict[str, Any]
) -> Solution:
    """First in single precision, then in that of X, then what is still not proven by dual steps."""
    tol, certify, max_iter = options["tol"], options["certify"], options["max_iter"]
    m, width = T.shape[1], columns.X.shape[1] + columns.labels.shape[1] + 1
    nothing = np.zeros((width, m), columns.X.dtype)
    found = Solution(nothing, np.full(m, np.inf), np.zeros(m, dtype=bool), 0)
    stages: list[tuple[Any, Columns, float]] = []
    if (certify and tol > 0) or tol >= SINGLE:
        stages += _single_first(columns, tol)
    if certify or not stages:
        stages.append((fit_together, columns, tol))
    if certify:
        stages.append((fit_groups, columns, tol))
    for solve, given, goal in stages:
        late = np.flatnonzero(~found.converged)
        left = max_iter - found.n_iter
        if not len(late) or left <= 0:
            break
        own = options | {"max_iter": left, "tol": goal}
        if found.n_iter:
            own["start"] = unstacked(*found, columns).taken(late)
        elif options["start"] is not None:
            own["start"] = options["start"].taken(late)
        part = solve(given, T[:, late], parents[:, late], **own)
        proven = part.converged & (goal <= tol)
        found = found.replaced(late, part._replace(converged=proven))
    return found


def _single_first(columns: Columns, tol: float) -> list[tuple[Any, Columns, float]]:
    """The stage in single precision, unless X is in it or has values that are too large for it."""
    X = columns.X
    largest = max(float(X.data.max(initial=0)), -float(X.data.min(initial=0)))
    if X.dtype == np.float32 or largest > LARGEST_SINGLE:
        return []
    single = Columns(X.astype(np.float32), columns.labels.astype(np.float32), columns.scale)
    return [(fit_together, single, max(tol, SINGLE))]


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
    gram: np.ndarray | None = None,
) -> Solution:
    """As ``grouped_bank.fit_groups``, by L-BFGS."""
    joined = columns.joined()
    rows = rows_of(joined, bias=True)
    m, d = T.shape[1], columns.X.shape[1]
    mask = np.ones((rows.shape[1] + 1, m), rows.dtype)
    mask[d:-1] = parents
    if start is None:
        first = np.zeros_like(mask)
        first[-1] = smoothed_log_odds(weight @ T, weight.sum())
    else:
        first = start.stacked(np.arange(m), columns.scale).astype(rows.dtype) * mask
    prefix = bool((np.diff(parents.astype(int), axis=0) <= 0).all())
    ridge = np.append(np.full(rows.shape[1], 1 / C), 0.0)
    least = ROUNDING * float(np.finfo(rows.dtype).eps)
    resolved = max(tol, least) if certify and tol > 0 else 0.0

    def solved(targets: slice, squares: np.ndarray, workers: Workers) -> Solution:
        def whitening(spread: float) -> BiasFirst:
            hessian = spread * squares + (ridge if squares.ndim == 1 else np.diag(ridge))
            return whitening_for(hessian, d, prefix, rows.dtype, workers)

        own = np.ascontiguousarray(mask[:, targets])
        loss = own_columns(own_rows, T[:, targets], weight, own, C, workers)
        return solve_in_rounds(
            loss, own, first[:, targets], whitening, max_iter=max_iter, tol=tol, resolved=resolved
        )

    with Workers(1 if rows.size * m < SMALL else n_jobs) as workers:
        squares = _gram(rows, weight, workers) if gram is None else gram
        blocks = _blocks(rows, m)
        own_rows = rows if len(blocks) == 1 else InOneStripe(joined, bias=True)
        inner = workers if len(blocks) == 1 else Workers(1)
        parts = workers.map(lambda targets: solved(targets, squares, inner), blocks)
    return _side_by_side(parts, C)


class InOneStripe(SparseRows):
    """Rows that a single thread goes through: pieces would only cost it sums of gradients."""

    def stripes(self, L: int) -> int:
        """One."""
        return 1


def _blocks(rows: DenseRows | SparseRows, m: int) -> list[slice]:
    """Targets that are solved together: all on dense rows, whose products BLAS likes large."""
    pieces = -(-m // BLOCK_TARGETS) if isinstance(rows, SparseRows) else 1
    return [slice(first, last) for first, last in spans(m, pieces)]


def _side_by_side(parts: list[Solution], C: float) -> Solution:
    """Blocks of targets as one solution, of which values are in scikit-learn's terms."""
    weights = np.concatenate([part.weights for part in parts], axis=1)
    values = C * np.concatenate([part.values for part in parts])
    converged = np.concatenate([part.converged for part in parts])
    return Solution(weights, values, converged, max(part.n_iter for part in parts))


def gram_of(columns: Columns, weight: np.ndarray) -> np.ndarray | None:
    """Products of features, labels and ones over weighted rows; None where nobody needs them."""
    if sparse.issparse(columns.X):
        return None
    return _gram(rows_of(columns.joined(), bias=True), weight, None)


def _gram(rows: DenseRows | SparseRows, weight: np.ndarray, workers: Workers | None) -> np.ndarray:
    """(D + 1, D + 1); the squares alone, (D + 1,), if columns are many or rows are sparse."""
    alone = isinstance(rows, SparseRows) or rows.shape[1] > MOST_COLUMNS
    return rows.square_sums(weight) if alone else rows.gram(weight, workers)
