"""Logistic regressions on features and on some of the labels each, solved together.

Target m minimises, in scikit-learn's terms,

    C sum_i w_i [softplus(z_im) - t_im z_im] + |W_m|^2 / 2 + (C / C_labels) |v_m|^2 / 2
    z = X W + Y V + b

where the weights V of the labels are zero but for the parents of each target. Parents are penalised
apart, and hardly: at the features' penalty dependencies are shrunk away with the noise. With the
labels scaled by sqrt(C_labels / C) the two penalties are one, and all targets share one matrix
(1, X, Y) of columns, of which each uses its own.

L-BFGS works in variables U with (b, W, V) = R U that give the loss a curvature of about one. R is
upper triangular, so that a target without the last labels in U is without them in V: one factor
serves all places of a chain, whose parents are a prefix of the labels. Where parents are no prefix,
R mixes no label with another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from setwise.learners.bank_inputs import is_constant, smoothed_log_odds
from setwise.learners.design import DenseRows, SparseRows, rows_of
from setwise.learners.lbfgs import Point, minimise
from setwise.learners.losses import BankLoss, padded
from setwise.learners.solution import warn_if_short
from setwise.learners.whitening import LEAST_SPREAD, Diagonal, Triangular, Whitening, typical
from setwise.learners.workers import Workers

BLOCK = 256  # rows of a factor's product that a thread takes at a time
FIRST_ROUND = 20  # steps before the curvature is looked at again
SMALL = 2**24  # products in an evaluation: below, threads take longer to start than to work
MOST_COLUMNS = 3000  # up to which the whole curvature is worth its factor; its diagonal beyond


class Columns(NamedTuple):
    """(1, X, Y) with the labels scaled, and what came of it."""

    rows: DenseRows | SparseRows  # (n, 1 + d + L)
    n_features: int
    scale: float  # of the labels


def columns_of(X: Any, Y: np.ndarray, C: float, C_labels: float) -> Columns:
    """One matrix of features and labels (n, L), in the precision of X."""
    scale = float(np.sqrt(C_labels / C))
    labels = (scale * Y).astype(X.dtype)
    ones = np.ones((X.shape[0], 1), X.dtype)
    if sparse.issparse(X):
        parts = [sparse.csr_array(ones), sparse.csr_array(X), sparse.csr_array(labels)]
        joined = sparse.csr_array(sparse.hstack(parts, format="csr"))
        joined.indices = joined.indices.astype(np.int32)
        joined.indptr = joined.indptr.astype(np.int32)
        joined.sort_indices()
    else:
        joined = np.hstack([ones, X, labels])
    return Columns(rows_of(joined, bias=False), int(X.shape[1]), scale)


@dataclass(frozen=True)
class MaskedWeights:
    """Weights of features (d, m), of labels (L, m) and biases (m,), and how they were reached."""

    features: np.ndarray
    labels: np.ndarray
    biases: np.ndarray
    objective: np.ndarray  # (m,)
    converged: np.ndarray  # (m,) bool, by the solver's own estimate
    n_iter: int

    def taken(self, targets: Any) -> MaskedWeights:
        """The weights of some targets."""
        parts = (self.features[:, targets], self.labels[:, targets], self.biases[targets])
        return MaskedWeights(*parts, self.objective[targets], self.converged[targets], self.n_iter)


@dataclass(frozen=True)
class _MaskedLoss:
    """A bank's loss as a function of U, of which a mask says what may move."""

    loss: BankLoss
    mask: np.ndarray  # (D + 1, m)
    whitening: Whitening

    def evaluate(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, G = self.loss.evaluate(self.whitening.weights(U) * self.mask)
        return values, self.whitening.gradient(G) * self.mask

    def taken(self, targets: np.ndarray) -> _MaskedLoss:
        return _MaskedLoss(self.loss.taken(targets), self.mask[:, targets], self.whitening)


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
    warn: bool = True,
    gram: np.ndarray | None = None,
) -> MaskedWeights:
    """The minima of targets T (n, m), each with its parents, bool (L, m).

    A target that is constant where rows have weight gets no weights and the smoothed log-odds as
    its bias, as in ``LogisticBank``. ``tol`` is how far an objective may be above its minimum,
    relatively, by the solver's estimate. ``gram`` is what ``gram_of`` returns, for callers that fit
    again and again with the same columns and weights.
    """
    rows = columns.rows
    n, D = rows.shape
    d, m = columns.n_features, T.shape[1]
    weight = np.ones(n) if weight is None else weight
    total, positive = weight.sum(), weight @ T
    odds = smoothed_log_odds(positive, total)
    W = np.zeros((D + 1, m), rows.dtype)  # the bias is column 0; the last row is not used
    W[0] = odds
    objective = C * (total * np.logaddexp(0, odds) - positive * odds)
    converged, n_iter = np.ones(m, dtype=bool), 0
    moving = np.flatnonzero(~is_constant(positive, total))
    if len(moving):
        mask = np.zeros((D + 1, len(moving)), rows.dtype)
        mask[: 1 + d] = 1
        mask[1 + d : D] = parents[:, moving]
        first = W[:, moving] if start is None else _stacked(start, moving, columns)
        with Workers(1 if rows.size * len(moving) < SMALL else n_jobs) as workers:
            loss = _loss(rows, T[:, moving], weight, C, workers)
            prefix = bool((np.diff(parents[:, moving].astype(int), axis=0) <= 0).all())
            gram = gram_of(columns, weight, workers) if gram is None else gram
            variables = _variables(gram, 1 / C, 1 + d, prefix, rows.dtype, workers)
            W[:, moving], values, converged[moving], n_iter = _solve(
                loss, mask, first.astype(rows.dtype) * mask, variables, max_iter, tol
            )
        objective[moving] = C * values
    if warn:
        warn_if_short(converged, n_iter=n_iter, tol=tol, what="labels")
    labels = W[1 + d : D] * np.asarray(columns.scale, W.dtype)
    return MaskedWeights(W[1 : 1 + d], labels, W[0], objective, converged, n_iter)


def _stacked(start: MaskedWeights, targets: np.ndarray, columns: Columns) -> np.ndarray:
    """Weights to start from, as the solver has them."""
    part = start.taken(targets)
    labels = part.labels / columns.scale
    return np.vstack([part.biases[None], part.features, labels, 0 * part.biases[None]])


def _loss(
    rows: DenseRows | SparseRows, T: np.ndarray, weight: np.ndarray, C: float, workers: Workers
) -> BankLoss:
    penalties = np.ones((rows.shape[1] + 1, 1), rows.dtype)
    penalties[0] = 0
    ridge = np.full(T.shape[1], 1 / C)
    targets = padded(T, rows.dtype)
    return BankLoss(rows, targets, weight[:, None].astype(rows.dtype), ridge, penalties, workers)


def gram_of(columns: Columns, weight: np.ndarray, workers: Workers | None = None) -> np.ndarray:
    """Products of the columns over weighted rows, (D + 1, D + 1); squares if they are many."""
    rows = columns.rows
    many = rows.shape[1] > MOST_COLUMNS
    return rows.square_sums(weight) if many else rows.gram(weight, workers)


def _variables(
    gram: np.ndarray,
    ridge: float,
    n_features: int,
    prefix: bool,
    dtype: np.dtype,
    workers: Workers,
) -> Callable[[float], Whitening]:
    """What makes the variables for rows whose p (1 - p) is given."""
    penalties = np.full(len(gram), ridge)
    penalties[0] = 0

    def variables(spread: float) -> Whitening:
        if gram.ndim == 1:
            return Diagonal(spread * gram + penalties, dtype)
        bound = spread * gram + np.diag(penalties)
        if not prefix:
            return LabelsApart(bound, n_features, dtype)
        return InBlocks(bound, dtype, workers) if len(bound) > BLOCK else Triangular(bound, dtype)

    return variables


class InBlocks(Triangular):
    """A factor whose products leave out most of its zeros, and are shared among threads."""

    def __init__(self, bound: np.ndarray, dtype: np.dtype, workers: Workers) -> None:
        super().__init__(bound, dtype)
        self._workers = workers
        D = len(bound)
        self._blocks = [(start, min(start + BLOCK, D)) for start in range(0, D, BLOCK)]

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V, where R is upper triangular."""
        W = np.empty_like(V)

        def block(span: tuple[int, int]) -> None:
            first, last = span
            np.matmul(self._inverse[first:, first:last].T, V[first:], out=W[first:last])

        self._workers.map(block, self._blocks)
        return W

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""
        pulled = np.empty_like(G)

        def block(span: tuple[int, int]) -> None:
            first, last = span
            np.matmul(self._inverse[first:last, :last], G[:last], out=pulled[first:last])

        self._workers.map(block, self._blocks)
        return pulled


class LabelsApart:
    """R that makes the curvature of features one, and that of each label given the features.

    With H in blocks of features and labels and F F' = H_xx, R' H R is the identity but for how
    labels curve together: exact for a target with one parent.
    """

    def __init__(self, bound: np.ndarray, n_features: int, dtype: np.dtype) -> None:
        f, D = n_features, len(bound)
        features = Triangular(bound[:f, :f].copy(), np.dtype(np.float64))
        pulled = features.gradient(bound[:f, f:])  # F^-1 H_xy
        left = np.diag(bound)[f:] - (pulled**2).sum(axis=0)
        scale = 1 / np.sqrt(np.maximum(left, 1e-9 * np.diag(bound)[f:].max()))
        R = np.zeros((D, D))
        R[:f, :f] = features.weights(np.eye(f))
        R[:f, f:] = -features.weights(pulled) * scale
        R[np.arange(f, D), np.arange(f, D)] = scale
        self._R = R.astype(dtype)
        self._inverse = linalg.solve_triangular(R, np.eye(D)).astype(dtype)

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V."""
        W: np.ndarray = self._R @ V
        return W

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """V such that R V = W."""
        V: np.ndarray = self._inverse @ W
        return V

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""
        pulled: np.ndarray = self._R.T @ G
        return pulled


def _solve(
    loss: BankLoss,
    mask: np.ndarray,
    W: np.ndarray,
    variables: Callable[[float], Whitening],
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Weights, values and whether they converged, after rounds of steps in fitting variables."""
    m = W.shape[1]
    values, converged, n_iter = np.full(m, np.inf), np.zeros(m, dtype=bool), 0
    moving, steps = np.arange(m), FIRST_ROUND
    while len(moving) and n_iter < max_iter:
        part = loss if len(moving) == m else loss.taken(moving)
        own = mask[:, moving]
        spreads = np.maximum(part.spreads(W[:, moving]), LEAST_SPREAD)
        spread = typical(spreads)
        whitening = variables(spread)
        # At W itself: its values in the new variables are the same only up to rounding.
        start_values, G = part.evaluate(W[:, moving])
        point = Point(
            whitening.inverse(W[:, moving]) * own, start_values, whitening.gradient(G) * own
        )
        found = minimise(
            _MaskedLoss(part, own, whitening), point,
            max_iter=min(steps, max_iter - n_iter), tol=tol, scale=spread / spreads,
        )  # fmt: skip
        W[:, moving] = whitening.weights(found.V) * own
        values[moving], converged[moving] = found.values, found.converged
        n_iter += found.n_iter
        stuck = found.n_iter == 0
        moving = moving[~found.converged]
        steps *= 2
        if stuck:
            break
    return W, values, converged, n_iter
