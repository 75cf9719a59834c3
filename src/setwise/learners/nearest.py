"""Exact nearest neighbours by matrix products, a block of rows at a time.

    |x - z|^2 / 2 = |x|^2 / 2 + |z|^2 / 2 - x'z

The first term does not matter to the order: a block of products of the asking rows with all others
is made, the smallest of the rest are picked from it, and the block is forgotten. Dense products are
rounded, so that a few rows more than asked for are picked and put in order by their true distances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.workers import Workers

BLOCK_CELLS = 2**21  # products that are held at a time, by each thread: 16 MB
SPARE = 8  # rows more than asked for, whose true distances are compared


def nearest_rows(
    asking: Any, X: Any, k: int, *, own: bool = False, n_jobs: int | None = None
) -> np.ndarray:
    """The numbers (b, k) of the k rows of X nearest to each asking row, nearest first.

    Parameters
    ----------
    asking, X : array or CSR array (b, d), (n, d)
        Both dense or both sparse.
    k : int
        At most n, or n - 1 with ``own``.
    own : bool
        Whether the asking rows are those of X, each of which is then no neighbour of its own.
    n_jobs : int, optional
        Threads; all cores by default.

    Of rows at equal distance those that stand first in X are taken.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> nearest_rows(X, X, 1, own=True).ravel().tolist()
    [1, 0, 1]
    """
    return nearest_with_distances(asking, X, k, own=own, n_jobs=n_jobs)[0]


def nearest_with_distances(
    asking: Any, X: Any, k: int, *, own: bool = False, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest rows as ``nearest_rows`` gives them, and their squared distances, (b, k).

    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> nearest_with_distances(X, X, 1, own=True)[1].ravel().tolist()
    [1.0, 1.0, 4.0]
    """
    from setwise.learners._nearest_kernel import smallest

    b, n = asking.shape[0], X.shape[0]
    found, squared = np.zeros((b, k), dtype=np.int64), np.zeros((b, k))
    if k == 0 or b == 0:
        return found, squared
    dense = not sparse.issparse(X)
    if dense:  # far from the origin, products would be rounded by more than distances differ
        centre = _centre(asking, X)
        asking, X = asking - centre, X - centre
    else:  # rows that are near differ little from each other, less than float32 tells
        asking, X = asking.astype(np.float64), X.astype(np.float64)
    columns = X.T if dense else sparse.csr_array(X.T)
    half_squares, own_squares = squares_of(X) / 2, squares_of(asking)
    wanted = min(k + SPARE, n - own) if dense else k
    step = max(1, BLOCK_CELLS // n)

    def block(start: int) -> None:
        rows = slice(start, min(start + step, b))
        part = asking[rows]
        products = part @ columns if dense else (part @ columns).toarray()
        size = products.shape[0]
        left_out = np.arange(start, start + size) if own else np.full(size, -1)
        numbers = np.empty((size, wanted), dtype=np.int64)
        keys = np.empty((size, wanted))
        smallest(products, half_squares, left_out, numbers, keys)
        if dense:
            found[rows], squared[rows] = _in_order(part, X, numbers, k)
        else:
            found[rows] = numbers
            squared[rows] = np.maximum(2 * keys + own_squares[rows, None], 0.0)

    with Workers(n_jobs) as workers:
        workers.map(block, range(0, b, step))
    return found, squared


def _centre(asking: np.ndarray, X: np.ndarray) -> np.ndarray:
    """What dense rows are moved by, (d,): the mean of X, a whole number where all entries are.

    Counts and indicators are often equally far, and by more rows than the spare ones. Whole numbers
    moved by whole numbers have exact products, up to sums of 2^53 or 2^24, so that rows which tie
    have equal keys and the first are taken; moved by the mean itself, rounding would pick.
    """
    centre: np.ndarray = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    is_whole = all((entries == np.rint(entries)).all() for entries in (X, asking))
    return np.rint(centre) if is_whole else centre


def squares_of(X: Any) -> np.ndarray:
    """|x|^2 of each row, (n,), in double precision."""
    if not sparse.issparse(X):
        dense: np.ndarray = np.einsum("nd,nd->n", X, X, dtype=np.float64)
        return dense
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row, X.data.astype(np.float64) ** 2, minlength=X.shape[0])


def _in_order(
    part: np.ndarray, X: np.ndarray, numbers: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of some numbers (b, m) by true squared distance, and these distances.

    Of rows that are equally far the first is taken.
    """
    numbers = np.sort(numbers, axis=1)  # so that a stable order breaks ties by number
    distance = np.empty(numbers.shape)
    for place in range(numbers.shape[1]):  # a few: one gap at a time saves a large array
        gap = X[numbers[:, place]] - part
        distance[:, place] = np.einsum("bd,bd->b", gap, gap, dtype=np.float64)
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(numbers, order, axis=1), np.take_along_axis(distance, order, axis=1)
