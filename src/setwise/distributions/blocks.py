"""Rows in blocks: bounded memory, and the kernels of several blocks at once.

Kernels release the GIL, so that plain threads suffice. A block holds at most ``BLOCK_ELEMENTS``
numbers (2 MB as float64), or a single row: beside its inputs and its answer a call needs a few such
blocks per thread, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np

BLOCK_ELEMENTS = 2**18


def row_blocks(n_rows: int, elements_per_row: int) -> list[slice]:
    """Slices that cover the rows in order.

    >>> len(row_blocks(1000, 2**10))
    4
    """
    step = max(1, BLOCK_ELEMENTS // max(1, elements_per_row))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def for_each_block(
    work: Callable[[slice], object], blocks: list[slice], n_jobs: int | None = None
) -> None:
    """Call ``work`` with every block, in ``n_jobs`` threads (None: one per available core)."""
    # How many cores there are is read from files of the system: not for a single block.
    asked = 1 if len(blocks) < 2 else joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs)
    n_threads = min(len(blocks), asked)
    if n_threads <= 1:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, blocks):  # the loop raises what a thread raised
            pass


def private_copy(array: np.ndarray, block: slice) -> np.ndarray:
    """A block of rows as C-ordered float64 that a kernel may overwrite."""
    return np.array(array[block], dtype=np.float64, order="C")
