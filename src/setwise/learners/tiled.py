"""Sparse rows and hundreds of targets or thousands: threads share the targets, not the rows.

With a stripe of the rows for each thread, each would need a gradient (d + 1, L) of its own, and rows
would read their weights from memory, and write their gradients to it, as no cache holds them. Here
a few thousand rows at a time have their logits Z made tile by tile of targets, whose weights stay
in a cache; then their residuals R row by row; and the gradient X' R again tile by tile. Nothing is
written by two threads, so that sums are the same for every number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from setwise.learners.design import MAX_STRIPES, SparseRows
from setwise.learners.workers import Workers, spans

TILE = 256  # targets
LOGITS = 2**24  # that are held at a time
# Fewer targets than this are as fast by stripes of rows.
MANY_TARGETS = 128


@dataclass(frozen=True)
class Pass:
    """Some of the rows, as CSR arrays of rows and of columns."""

    start: int
    rows: sparse.csr_array  # (m, d)
    columns: sparse.csr_array  # (d, m)


class TiledRows(SparseRows):
    """A CSR array X (n, d) for ``n_targets`` at a time."""

    def __init__(self, X: sparse.csr_array, *, bias: bool, n_targets: int) -> None:
        super().__init__(X, bias=bias)
        self.n_targets = n_targets

    def scaled(self, scale: np.ndarray) -> TiledRows:
        """The same with each column, and that of ones, times its scale (d + 1,)."""
        X = self.X
        data = X.data * scale[X.indices]
        rows = TiledRows(
            sparse.csr_array((data, X.indices, X.indptr), X.shape),
            bias=True,
            n_targets=self.n_targets,
        )
        rows.ones = self.ones * float(scale[-1])
        return rows

    @cached_property
    def passes(self) -> list[Pass]:
        """All rows, so many at a time that their logits do not exceed ``LOGITS``."""
        n = self.shape[0]
        size = min(n, max(1, LOGITS // self.n_targets))
        blocks = ((start, self.X[start : start + size]) for start in range(0, n, size))
        return [Pass(start, block, block.T.tocsr()) for start, block in blocks]

    @cached_property
    def _memory(self) -> np.ndarray:
        """Room for the logits of a pass, as fresh memory is slow to write."""
        return np.empty((self.passes[0].rows.shape[0], self.n_targets), self.dtype)

    def summed(
        self,
        fill: Callable[..., None],
        T: np.ndarray,
        weight: np.ndarray,
        W: np.ndarray,
        workers: Workers,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Losses (L,) and gradients (d + 1, L), as ``fill`` makes them of logits."""
        L = W.shape[1]
        loss, G = np.zeros(L), np.zeros_like(W)
        tiles = spans(L, -(-L // TILE))
        memory = self._memory
        for part in self.passes:
            m = part.rows.shape[0]
            Z = memory[:m]
            own = slice(part.start, part.start + m)

            def logits(tile: tuple[int, int], part: Pass = part, Z: np.ndarray = Z) -> None:
                Z[:, slice(*tile)] = self.ones * W[-1, slice(*tile)]
                _add_products(part.rows, W, tile, Z)

            def residuals(span: tuple[int, int], Z: np.ndarray = Z, own: slice = own) -> np.ndarray:
                some, losses = slice(*span), np.zeros(L)
                fill(Z[some], T[own][some], weight[own][some], losses)
                return losses

            def gradients(tile: tuple[int, int], part: Pass = part, Z: np.ndarray = Z) -> None:
                _add_products(part.columns, Z, tile, G)
                G[-1, slice(*tile)] += self.ones * Z[:, slice(*tile)].sum(axis=0)

            workers.map(logits, tiles)
            for losses in workers.map(residuals, spans(m, min(m, MAX_STRIPES))):
                loss += losses
            workers.map(gradients, tiles)
        return loss, G


def _add_products(X: sparse.csr_array, W: np.ndarray, tile: tuple[int, int], Z: np.ndarray) -> None:
    """Add X W to Z, for a tile of the columns of both."""
    from setwise.learners._tiled_kernel import add_products

    add_products(X.indptr, X.indices, X.data, *tile, W, Z)
