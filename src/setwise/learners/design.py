"""Rows as both solvers see them: products with weights, for dense and for sparse X alike.

Weights W are (d + 1, L), the last row the biases; where a model has no bias the column of ones is
left out (``ones`` is 0) and that row stays what it is. A gradient has the same shape. Only blocks
of rows are ever multiplied, so nothing of the size of X is made.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.workers import Workers, spans

BLOCK_LOGITS = 2**16  # a block stays in a core's own cache between its three passes
STRIPE_WORK = 2**22  # multiplications that are worth a thread's start
MAX_STRIPES = 16


class DenseRows:
    """An array X (n, d)."""

    def __init__(self, X: np.ndarray, *, bias: bool) -> None:
        self.X, self.ones = X, float(bias)
        self.shape, self.dtype, self.size = X.shape, X.dtype, X.size

    def stripes(self, L: int) -> int:
        """In how many pieces to cut the rows, by the size of the work alone."""
        n, d = self.shape
        return int(np.clip(n * d * L // STRIPE_WORK, 1, MAX_STRIPES))

    def fill_logits(self, start: int, stop: int, W: np.ndarray, Z: np.ndarray) -> None:
        """Z (rows, L) = X W + biases, for some rows."""
        if not W[:-1].any():  # as at the start of most fits
            Z[:] = self.ones * W[-1]
            return
        np.matmul(self.X[start:stop], W[:-1], out=Z)
        if self.ones:
            Z += W[-1]

    def add_gradient(self, start: int, stop: int, R: np.ndarray, G: np.ndarray) -> None:
        """Add (X, 1)' R to G (d + 1, L), for some rows."""
        G[:-1] += self.X[start:stop].T @ R
        if self.ones:
            G[-1] += np.ones(len(R), R.dtype) @ R  # a third of the time of a sum

    def gram(self, weight: np.ndarray, workers: Workers | None = None) -> np.ndarray:
        """(X, 1)' diag(weight) (X, 1), (d + 1, d + 1) in double precision."""
        n, d = self.shape
        rows = max(1, BLOCK_LOGITS // max(d, 1))
        root = np.sqrt(weight).astype(self.dtype)
        alike = bool((root == 1).all())

        def stripe(span: tuple[int, int]) -> np.ndarray:
            gram = np.zeros((d + 1, d + 1))
            for start in range(*span, rows):
                part = slice(start, min(start + rows, span[1]))
                scaled = self.X[part] if alike else self.X[part] * root[part, None]
                gram[:-1, :-1] += scaled.T @ scaled
                gram[:-1, -1] += self.ones * (root[part] @ scaled)
            return gram

        # A piece has a matrix of its own, which must be worth it.
        pieces = spans(n, max(1, min(self.stripes(d), n // (4 * d + 4))))
        parts = workers.map(stripe, pieces) if workers else [stripe(piece) for piece in pieces]
        gram: np.ndarray = sum(parts[1:], start=parts[0])
        gram[-1, :-1] = gram[:-1, -1]
        gram[-1, -1] = self.ones * weight.sum()
        return gram

    @cached_property
    def longest_square(self) -> float:
        """The largest |x|^2 of a row."""
        return float(np.einsum("nd,nd->n", self.X, self.X).max(initial=0))

    def square_sums(self, weight: np.ndarray) -> np.ndarray:
        """The diagonal of ``gram``, (d + 1,)."""
        sums = np.einsum("nd,nd,n->d", self.X, self.X, weight.astype(self.dtype))
        return np.append(sums, self.ones * weight.sum()).astype(np.float64)


class SparseRows:
    """A CSR array X (n, d)."""

    def __init__(self, X: sparse.csr_array, *, bias: bool) -> None:
        self.X, self.ones = X, float(bias)
        self.shape, self.dtype, self.size = X.shape, X.dtype, X.nnz

    def stripes(self, L: int) -> int:
        """As for dense rows; each piece has a gradient of its own, which must be worth it."""
        nnz, d = self.X.nnz, self.shape[1]
        worth = min(nnz * L // STRIPE_WORK, nnz // (4 * d + 4), MAX_STRIPES)
        return int(max(worth, 1))

    def fill_logits(self, start: int, stop: int, W: np.ndarray, Z: np.ndarray) -> None:
        """Z (rows, L) = X W + biases, for some rows."""
        from setwise.learners._sparse_kernel import fill_logits

        X = self.X
        bias = W[-1] * np.asarray(self.ones, W.dtype)
        fill_logits(X.indptr, X.indices, X.data, start, stop, W, bias, Z)

    def add_gradient(self, start: int, stop: int, R: np.ndarray, G: np.ndarray) -> None:
        """Add (X, 1)' R to G (d + 1, L), for some rows."""
        from setwise.learners._sparse_kernel import add_gradient

        X = self.X
        add_gradient(X.indptr, X.indices, X.data, start, stop, R, G)
        if self.ones:
            G[-1] += R.sum(axis=0) * np.asarray(self.ones, R.dtype)

    @cached_property
    def longest_square(self) -> float:
        """The largest |x|^2 of a row."""
        squares = self.X.multiply(self.X).sum(axis=1)
        return float(squares.max(initial=0))

    def gram(self, weight: np.ndarray, workers: Workers | None = None) -> np.ndarray:
        """(X, 1)' diag(weight) (X, 1), (d + 1, d + 1) in double precision; for few features."""
        d = self.shape[1]
        gram = np.zeros((d + 1, d + 1))
        X = self.X.astype(np.float64)
        scaled = sparse.diags_array(weight.astype(np.float64)) @ X
        gram[:-1, :-1] = (X.T @ scaled).toarray()
        gram[:-1, -1] = gram[-1, :-1] = self.ones * scaled.sum(axis=0)
        gram[-1, -1] = self.ones**2 * weight.sum()
        return gram

    def square_sums(self, weight: np.ndarray) -> np.ndarray:
        """The diagonal of ``gram``, (d + 1,)."""
        X = self.X
        squares = X.data.astype(np.float64) ** 2 * np.repeat(weight, np.diff(X.indptr))
        sums = np.bincount(X.indices, squares, minlength=X.shape[1])
        return np.append(sums, self.ones**2 * weight.sum())


def rows_of(X: Any, *, bias: bool) -> DenseRows | SparseRows:
    """X, an array or a CSR array, as rows."""
    return SparseRows(X, bias=bias) if sparse.issparse(X) else DenseRows(X, bias=bias)
