"""A softmax regression on sparse rows, improved by a few steps of L-BFGS.

The objective is that of ``losses.SoftmaxLoss``. With many features a product with X or X' is nearly
all the work, so that a step takes one of each and no more: the logits of the next point are those
of this one plus a multiple of the direction's, so that all that a line search asks, the objective
with its slope and curvature at any length, is known without another product. X' is kept by rows of
its own, and so threads share a gradient instead of each adding up one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from setwise.learners.lbfgs import SUFFICIENT, History
from setwise.learners.workers import Workers, spans

MAX_LENGTHS = 8  # that are tried along a direction
FLAT = 0.2  # share of the first slope: where a line search ends
STRIPE_WORK = 2**20  # multiplications that are worth a thread's start
MAX_STRIPES = 16


@dataclass(frozen=True)
class SparseSoftmax:
    """The objective as a function of V (d, K); a penalty for each row of V."""

    X: sparse.csr_array  # (n, d)
    columns: sparse.csr_array  # (d, n), the same by columns
    T: np.ndarray  # (n, K)
    weight: np.ndarray  # (n,)
    ridge: np.ndarray  # (d,)
    workers: Workers

    def improved(self, V: np.ndarray, *, max_iter: int, tol: float) -> np.ndarray:
        """V after at most ``max_iter`` steps, none of which raises the objective.

        It ends when a step promises, and the last one brought, less than ``tol`` of the objective.
        """
        history, gain = History(), 0.0
        Z = self._products(self.X, V)
        G = self._gradient(V, Z, Z, 0.0)
        for left in reversed(range(max_iter)):
            d = history.direction(G.reshape(-1, 1)).reshape(V.shape)
            line = Line(self, V, d, Z, self._products(self.X, d))
            value, promise = line.start.value, -line.start.slope / 2
            least = float(np.finfo(V.dtype).eps) * value
            if promise <= least or (promise <= tol * value and gain <= tol * value):
                break
            length, gain = line.search()
            if length == 0:
                break
            d *= np.asarray(length, d.dtype)
            V = V + d
            if left:
                before, G = G, self._gradient(V, Z, line.D, length)
                history.add(d.reshape(-1, 1), (G - before).reshape(-1, 1))
        return V

    def squares(self, A: np.ndarray, B: np.ndarray) -> float:
        """The sum of ridge * A * B, (d, K) each."""
        return float(np.einsum("dk,dk->d", A, B).astype(np.float64) @ self.ridge)

    @cached_property
    def stripes(self) -> list[tuple[int, int]]:
        """The rows in pieces, by the size of the work alone."""
        n, K = self.T.shape
        return spans(n, int(np.clip(self.X.nnz * K // STRIPE_WORK, 1, min(MAX_STRIPES, n))))

    def _gradient(self, V: np.ndarray, Z: np.ndarray, D: np.ndarray, length: float) -> np.ndarray:
        """At V; its logits are Z + length * D, which Z becomes."""
        from setwise.learners._sparse_softmax_kernel import advance

        R = np.empty_like(Z)

        def stripe(span: tuple[int, int]) -> None:
            rows = slice(*span)
            advance(Z[rows], D[rows], self.T[rows], self.weight[rows], length, R[rows])

        self.workers.map(stripe, self.stripes)
        G = self._products(self.columns, R)
        G += self.ridge[:, None] * V
        return G

    def _products(self, X: sparse.csr_array, W: np.ndarray) -> np.ndarray:
        """X W, shared among threads in pieces of as many entries each."""
        from setwise.learners._sparse_kernel import fill_logits

        n, K = X.shape[0], W.shape[1]
        Z, nothing = np.empty((n, K), W.dtype), np.zeros(K, W.dtype)
        edges = np.searchsorted(X.indptr, np.linspace(0, X.nnz, len(self.stripes) + 1)[1:-1])
        edges = np.unique([0, *edges, n])

        def stripe(start: int, stop: int) -> None:
            fill_logits(X.indptr, X.indices, X.data, start, stop, W, nothing, Z[start:stop])

        self.workers.map(lambda span: stripe(*span), pairwise(edges))
        return Z


class At(NamedTuple):
    """The objective at a place of a line, and its derivatives by the length."""

    value: float
    slope: float
    curvature: float


class Line:
    """The objective at V + length * d."""

    def __init__(
        self, problem: SparseSoftmax, V: np.ndarray, d: np.ndarray, Z: np.ndarray, D: np.ndarray
    ) -> None:
        self.problem, self.Z, self.D = problem, Z, D
        squares = problem.squares
        self._penalty = At(squares(V, V) / 2, squares(V, d), squares(d, d))
        self.start = self.at(0.0)

    def at(self, length: float) -> At:
        """The objective after a step of this length."""
        from setwise.learners._sparse_softmax_kernel import along

        Z, D, T, weight = self.Z, self.D, self.problem.T, self.problem.weight

        def stripe(span: tuple[int, int]) -> np.ndarray:
            rows, sums = slice(*span), np.zeros(3)
            along(Z[rows], D[rows], T[rows], weight[rows], length, sums)
            return sums

        loss = np.sum(self.problem.workers.map(stripe, self.problem.stripes), axis=0)
        value, slope, curvature = self._penalty
        value += length * slope + length**2 * curvature / 2
        return At(loss[0] + value, loss[1] + slope + length * curvature, loss[2] + curvature)

    def search(self) -> tuple[float, float]:
        """A length with much less slope, by Newton steps, and its gain; 0 where none gains."""
        start, low, high = self.start, 0.0, np.inf
        length, best, gain = -start.slope / max(start.curvature, 1e-300), 0.0, 0.0
        for _ in range(MAX_LENGTHS):
            here = self.at(length)
            if here.value <= start.value + SUFFICIENT * length * start.slope:
                if start.value - here.value > gain:
                    best, gain = length, start.value - here.value
                if abs(here.slope) <= FLAT * abs(start.slope):
                    break
            low, high = (length, high) if here.slope < 0 else (low, length)
            step = length - here.slope / max(here.curvature, 1e-300)
            if not low < step < high:
                step = (low + high) / 2
            length = min(step, 4 * length)
        return best, gain


@dataclass(frozen=True)
class Bordered:
    """Rows with a last column of ones, for the biases, by rows and by columns."""

    rows: sparse.csr_array  # (n, d + 1)
    columns: sparse.csr_array  # (d + 1, n), the same by columns

    def scaled(self, scale: np.ndarray) -> Bordered:
        """With each column times its scale (d + 1,)."""
        rows, columns = self.rows, self.columns
        along = np.repeat(scale, np.diff(columns.indptr))
        return Bordered(
            sparse.csr_array(
                (rows.data * scale[rows.indices], rows.indices, rows.indptr), rows.shape
            ),
            sparse.csr_array(
                (columns.data * along, columns.indices, columns.indptr), columns.shape
            ),
        )


def bordered(X: sparse.csr_array) -> Bordered:
    """X (n, d) with its ones: made once where many problems share X."""
    ones = sparse.csr_array(np.ones((X.shape[0], 1), X.dtype))
    rows = sparse.csr_array(sparse.hstack([X, ones], format="csr", dtype=X.dtype))
    return Bordered(rows, rows.T.tocsr())


def softmax_of(
    X: Bordered,
    T: np.ndarray,
    weight: np.ndarray,
    scale: np.ndarray,
    ridge: np.ndarray,
    workers: Workers,
) -> SparseSoftmax:
    """The objective of weights scale * V, the last of which are biases.

    Scale and ridge, the penalties of the weights, are (d + 1,).
    """
    scaled, dtype = X.scaled(scale), X.rows.dtype
    return SparseSoftmax(
        scaled.rows,
        scaled.columns,
        np.ascontiguousarray(T, dtype),
        weight.astype(dtype),
        (ridge * np.square(scale, dtype=np.float64)).astype(dtype),
        workers,
    )
