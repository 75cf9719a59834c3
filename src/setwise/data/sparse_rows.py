"""What readers and label matrices both need of compressed sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def canonical_csr(matrix: Any) -> sparse.csr_array:
    """The matrix as CSR with sorted columns, no stored zeros, and 32-bit indices if they suffice.

    Many solvers take no other indices. The matrix given may be changed.
    """
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    matrix.eliminate_zeros()
    if matrix.nnz < 2**31 and max(matrix.shape) < 2**31:
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def repeated_entries(columns: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """The entries whose column stands in their row before them; the columns need not be sorted."""
    starts_row = np.zeros(len(columns) + 1, dtype=bool)
    starts_row[indptr] = True
    if (starts_row[1:-1] | (np.diff(columns) > 0)).all():  # columns rise, as in nearly all files
        return np.empty(0, dtype=np.intp)
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((columns, row))
    row, columns = row[order], columns[order]
    again = order[1:][(row[1:] == row[:-1]) & (columns[1:] == columns[:-1])]
    return np.sort(again)


def row_of_entry(indptr: np.ndarray, entry: int) -> int:
    """The row in which a stored entry stands."""
    return int(np.searchsorted(indptr, entry, side="right")) - 1
