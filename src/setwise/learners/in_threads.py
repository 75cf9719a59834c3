"""Work in threads: kernels and libraries that release the GIL need no processes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import cpu_count

from setwise.errors import DataError

Result = TypeVar("Result")


def in_threads(task: Callable[[int], Result], n_tasks: int, n_jobs: int | None) -> list[Result]:
    """``task(i)`` for each i, in order."""
    n_threads = min(thread_count(n_jobs), n_tasks)
    if n_threads <= 1:
        return [task(i) for i in range(n_tasks)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(task, range(n_tasks)))


def thread_count(n_jobs: int | None) -> int:
    """``n_jobs`` as joblib counts it (-1 for all cores), except that None too means all cores.

    >>> thread_count(3)
    3
    """
    if n_jobs == 0:
        raise DataError("n_jobs must not be 0; pass a number of threads, or -1 for all cores")
    if n_jobs is None:
        n_jobs = -1
    return n_jobs if n_jobs > 0 else max(1, int(cpu_count()) + 1 + n_jobs)
