"""Sparse rows and hundreds of targets or thousands: threads share the targets, not the rows.

With a stripe of the rows for each thread, each would need a gradient (d + 1, L) of its own, and the
rows would read their weights from memory, and write their gradients to it, as no cache holds them.
Here a few thousand rows at a time have their logits Z made tile by tile of targets, whose weights
stay in a cache; then their residuals R row by row; and the gradient X' R again tile by tile.
Nothing is written by two threads: sums are the same for every number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.design import MAX_STRIPES, DenseRows, SparseRows, rows_of
from setwise.learners.workers import Workers, spans

MANY_TARGETS = 128  # fewer are as fast by stripes of the rows
TILE = 256  # targets, whose weights a core's cache holds
MOST_LOGITS = 2**24  # that are held at a time

Fill = Callable[..., None]  # (Z, T, weight, loss): logits become residuals, losses are added
Tile = tuple[int, int]


class TiledRows(SparseRows):
    """A CSR array X (n, d) for ``n_targets`` at a time."""

    def __init__(self, X: sparse.csr_array, *, bias: bool, n_targets: int) -> None:
        super().__init__(X, bias=bias)
        self.n_targets = n_targets

    def scaled(self, scale: np.ndarray) -> TiledRows:
        """The same with each column, and that of ones, times its scale (d + 1,)."""
        X = self.X
        data = X.data * scale[X.indices]
        columns = sparse.csr_array((data, X.indices, X.indptr), X.shape)
        rows = TiledRows(columns, bias=True, n_targets=self.n_targets)
        rows.ones = self.ones * float(scale[-1])
        return rows

    def summed(
        self, fill: Fill, T: np.ndarray, weight: np.ndarray, W: np.ndarray, workers: Workers
    ) -> tuple[np.ndarray, np.ndarray]:
        """Losses (L,) and gradients (d + 1, L), as ``fill`` makes them of logits."""
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
        n, L = self.shape[0], self.n_targets
        size = min(n, max(1, MOST_LOGITS // L))
        Z = np.empty((size, L), self.dtype)
        blocks = ((start, self.X[start : start + size]) for start in range(0, n, size))
        return [Pass(start, X, X.T.tocsr(), Z[: X.shape[0]]) for start, X in blocks]


@dataclass(frozen=True)
class Pass:
    """Some of the rows and what becomes of them, their logits or residuals Z (m, L)."""

    start: int
    rows: sparse.csr_array  # (m, d)
    columns: sparse.csr_array  # (d, m), the same by columns
    Z: np.ndarray

    def fill_logits(self, W: np.ndarray, ones: float, workers: Workers) -> None:
        """Z = X W + biases."""

        def of_tile(tile: Tile) -> None:
            targets = slice(*tile)
            self.Z[:, targets] = ones * W[-1, targets]
            _add_products(self.rows, W, tile, self.Z)

        workers.map(of_tile, self._tiles)

    def fill_residuals(
        self, fill: Fill, T: np.ndarray, weight: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Make residuals of the logits; returns the losses, (L,)."""
        m, L = self.Z.shape

        def of_stripe(span: tuple[int, int]) -> np.ndarray:
            some, loss = slice(*span), np.zeros(L)
            fill(self.Z[some], T[some], weight[some], loss)
            return loss

        losses: np.ndarray = sum(workers.map(of_stripe, spans(m, min(m, MAX_STRIPES))), np.zeros(L))
        return losses

    def add_gradient(self, G: np.ndarray, ones: float, workers: Workers) -> None:
        """Add (X, 1)' Z to G (d + 1, L)."""

        def of_tile(tile: Tile) -> None:
            targets = slice(*tile)
            _add_products(self.columns, self.Z, tile, G)
            G[-1, targets] += ones * self.Z[:, targets].sum(axis=0)

        workers.map(of_tile, self._tiles)

    @property
    def _tiles(self) -> list[Tile]:
        L = self.Z.shape[1]
        return spans(L, -(-L // TILE))


def _add_products(X: sparse.csr_array, W: np.ndarray, tile: Tile, Z: np.ndarray) -> None:
    """Add X W to Z, for a tile of the columns of both."""
    from setwise.learners._tiled_kernel import add_products

    add_products(X.indptr, X.indices, X.data, *tile, W, Z)


def rows_for(X: Any, n_targets: int, *, bias: bool) -> DenseRows | SparseRows:
    """X, an array or a CSR array, as rows that suit so many targets at a time."""
    if sparse.issparse(X) and n_targets >= MANY_TARGETS:
        return TiledRows(X, bias=bias, n_targets=n_targets)
    return rows_of(X, bias=bias)
