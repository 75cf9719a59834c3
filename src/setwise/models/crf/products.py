"""Products with X and with its transpose, shared among threads, for dense and for sparse X."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.design import rows_of
from setwise.learners.workers import Workers, spans

PIECES = 16  # that a product is cut into, whatever the number of threads
WORTH = 2**20  # multiplications that a piece must have


class Products:
    """X (n, d), an array or a CSR array, and a column of ones behind it."""

    def __init__(self, X: Any, workers: Workers) -> None:
        self.X, self.workers = X, workers
        self.rows = rows_of(X, bias=True)
        # By columns, threads share one gradient instead of each adding up one of its own.
        self._columns = X.T.tocsr() if sparse.issparse(X) else None

    def scores(self, W: np.ndarray) -> np.ndarray:
        """X W + b, (n, L), for weights (d + 1, L), the biases last."""
        n, L = self.X.shape[0], W.shape[1]
        Z = np.empty((n, L), W.dtype)

        def piece(span: tuple[int, int]) -> None:
            self.rows.fill_logits(*span, W, Z[slice(*span)])

        self.workers.map(piece, spans(n, self._pieces(L)))
        return Z

    def gradient(self, R: np.ndarray) -> np.ndarray:
        """(X, 1)' R, (d + 1, L)."""
        d, L = self.X.shape[1], R.shape[1]
        G = np.empty((d + 1, L), R.dtype)
        G[-1] = R.sum(axis=0)
        if self._columns is not None:
            self._by_columns(R, G)
            return G

        def piece(span: tuple[int, int]) -> np.ndarray:
            rows = slice(*span)
            part: np.ndarray = self.X[rows].T @ R[rows]
            return part

        G[:-1] = np.sum(self.workers.map(piece, spans(len(R), self._pieces(L))), axis=0)
        return G

    def _by_columns(self, R: np.ndarray, G: np.ndarray) -> None:
        from setwise.learners._sparse_kernel import fill_logits

        columns: Any = self._columns
        nothing = np.zeros(R.shape[1], R.dtype)
        ends = np.linspace(0, columns.nnz, self._pieces(R.shape[1]) + 1)[1:-1]
        edges = np.unique([0, *np.searchsorted(columns.indptr, ends), len(G) - 1])

        def piece(span: tuple[int, int]) -> None:
            parts = (columns.indptr, columns.indices, columns.data)
            fill_logits(*parts, *span, R, nothing, G[slice(*span)])

        self.workers.map(piece, pairwise(edges.tolist()))

    def _pieces(self, n_targets: int) -> int:
        return int(np.clip(self.rows.size * n_targets // WORTH, 1, PIECES))
