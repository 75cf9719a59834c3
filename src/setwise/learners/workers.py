"""Threads that live as long as a fit, for kernels and matrix products that release the GIL.

Work is cut into pieces that depend on its size alone, and their results are added in order: the sum
is the same for every number of threads. BLAS runs single-threaded meanwhile, as threads of its own
inside ours would only get in each other's way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from setwise.learners.in_threads import thread_count

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Workers:
    """A few threads, and single-threaded BLAS, for the length of a ``with`` block.

    ``n_jobs`` is the number of threads; None or -1 stands for all cores.

    >>> with Workers(2) as workers:
    ...     workers.map(abs, [-1, 2])
    [1, 2]
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.count = thread_count(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        _single_threaded_blas.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        _single_threaded_blas.__exit__()

    def map(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Results of ``work`` for each item, in order."""
        items = list(items)
        if self.count == 1 or len(items) == 1:
            return [work(item) for item in items]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count)
        return list(self._pool.map(work, items))


class _SingleThreadedBlas:
    """BLAS limited to one thread while anyone is inside: the first limits, the last restores."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limiter = _controller().limit(limits=1, user_api="blas")

    def __exit__(self, *problem: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


_single_threaded_blas = _SingleThreadedBlas()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def spans(n: int, pieces: int) -> list[tuple[int, int]]:
    """The numbers from 0 to n in runs of nearly equal length, as (start, stop).

    >>> spans(5, 2)
    [(0, 2), (2, 5)]
    """
    return [(n * i // pieces, n * (i + 1) // pieces) for i in range(pieces)]
