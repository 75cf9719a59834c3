"""Sparse rows and hundreds of classes or thousands: threads share the classes, not the rows.

With a gradient (d + 1, K) for each stripe of the rows, adding those up would take longer than
making them; and rows would read their weights from memory, and write their gradients to it, as no
cache holds all classes. Here as many rows as may be at a time have their logits Z made by tiles of
classes; then their residuals R, row by row; and the gradient X' R by tiles again. No two threads
write to the same place: sums are the same for every number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.design import MAX_STRIPES, DenseRows, SparseRows, rows_of
from setwise.learners.workers import Workers, spans

MANY_CLASSES = 128  # fewer are as fast by stripes of the rows
TILE = 256  # classes, whose weights of frequent features a core's cache holds
MOST_LOGITS = 2**24  # that are held at a time

Fill = Callable[..., None]  # (Z, T, weight, loss): logits become residuals, losses are added
Span = tuple[int, int]


class TiledRows(SparseRows):
    """A CSR array X (n, d) for a softmax over ``n_classes``.

    ``ones`` is what the column of the biases has in each row.
    """

    def __init__(self, X: sparse.csr_array, *, bias: bool, n_classes: int) -> None:
        super().__init__(X, bias=bias)
        self.n_classes = n_classes

    def scaled(self, scale: np.ndarray) -> TiledRows:
        """The same with each column, and that of ones, times its scale (d + 1,)."""
        X = self.X
        data = X.data * scale[X.indices]
        columns = sparse.csr_array((data, X.indices, X.indptr), X.shape)
        rows = TiledRows(columns, bias=self.ones != 0, n_classes=self.n_classes)
        rows.ones *= float(scale[-1])
        return rows

    def summed(
        self, fill: Fill, T: np.ndarray, weight: np.ndarray, W: np.ndarray, workers: Workers
    ) -> tuple[np.ndarray, np.ndarray]:
        """Losses (K,) and gradients (d + 1, K), as ``fill`` makes them of logits."""
        loss, G = np.zeros(W.shape[1]), np.zeros_like(W)
        for rows in self._passes:
            rows.fill_logits(W, self.ones, workers)
            own = slice(rows.start, rows.start + len(rows.Z))
            loss += rows.fill_residuals(fill, T[own], weight[own], workers)
            rows.add_gradient(G, self.ones, workers)
        return loss, G

    @cached_property
    def _passes(self) -> list[Pass]:
        """All rows, in turn; they share the memory of logits, as fresh memory is slow to write."""
        n, K = self.shape[0], self.n_classes
        size = max(1, min(n, MOST_LOGITS // K))
        Z = np.empty((size, K), self.dtype)
        blocks = ((start, self.X[start : start + size]) for start in range(0, n, size))
        return [Pass(start, X, X.T.tocsr(), Z[: X.shape[0]]) for start, X in blocks]


@dataclass(frozen=True)
class Pass:
    """Some of the rows and what becomes of them, their logits or residuals Z (m, K)."""

    start: int
    rows: sparse.csr_array  # (m, d)
    columns: sparse.csr_array  # (d, m), the same by columns
    Z: np.ndarray

    def fill_logits(self, W: np.ndarray, ones: float, workers: Workers) -> None:
        """Z = X W + biases."""

        def fill(piece: tuple[Span, Span]) -> None:
            (first, last), (start, stop) = piece
            self.Z[start:stop, first:last] = ones * W[-1, first:last]
            _add_products(self.rows, W, self.Z, *piece)

        workers.map(fill, self._pieces(len(self.Z)))

    def fill_residuals(
        self, fill: Fill, T: np.ndarray, weight: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Make residuals of the logits; returns the losses, (K,)."""
        m, K = self.Z.shape

        def of_stripe(span: Span) -> np.ndarray:
            some, loss = slice(*span), np.zeros(K)
            fill(self.Z[some], T[some], weight[some], loss)
            return loss

        losses: np.ndarray = sum(workers.map(of_stripe, spans(m, min(m, MAX_STRIPES))), np.zeros(K))
        return losses

    def add_gradient(self, G: np.ndarray, ones: float, workers: Workers) -> None:
        """Add (X, 1)' Z to G (d + 1, K)."""
        workers.map(
            lambda piece: _add_products(self.columns, self.Z, G, *piece),
            self._pieces(self.columns.shape[0]),
        )
        if ones:  # in double precision, lest thousands of small numbers be lost in their sum
            G[-1] += ones * self.Z.sum(axis=0, dtype=np.float64)

    def _pieces(self, n_rows: int) -> list[tuple[Span, Span]]:
        """Tiles of classes, each cut where the tiles alone are too few for threads."""
        K = self.Z.shape[1]
        tiles = spans(K, -(-K // TILE))
        parts = min(n_rows, -(-MAX_STRIPES // len(tiles)))
        return list(product(tiles, spans(n_rows, parts)))


def _add_products(
    X: sparse.csr_array, W: np.ndarray, Z: np.ndarray, tile: Span, rows: Span
) -> None:
    """Add X W to Z, for a tile of the columns of both and some rows of Z."""
    from setwise.learners._tiled_kernel import add_products

    start, stop = rows
    add_products(X.indptr[start : stop + 1], X.indices, X.data, *tile, W, Z[start:stop])


def rows_for(X: Any, n_classes: int, *, bias: bool) -> DenseRows | SparseRows:
    """X, an array or a CSR array, as rows that suit a softmax over so many classes."""
    if sparse.issparse(X) and n_classes >= MANY_CLASSES:
        return TiledRows(X, bias=bias, n_classes=n_classes)
    return rows_of(X, bias=bias)
