"""Work on a stream in several threads, with the results in the order of the stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """``work(item)`` for each item; no more than ``n_threads + 1`` items are held at a time.

    Where the items end by an error, the results of those before it come first.

    >>> list(in_order(lambda number: number**2, range(5), 2))
    [0, 1, 4, 9, 16]
    """
    if n_threads <= 1:
        yield from map(work, items)
        return
    stream = iter(items)
    waiting: deque[Future[Result]] = deque()
    ended: Exception | None = None
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            while True:
                try:
                    waiting.append(pool.submit(work, next(stream)))
                except StopIteration:
                    break
                except Exception as error:
                    ended = error
                    break
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # whoever stops early need not wait for what has not begun
            for future in waiting:
                future.cancel()
    if ended is not None:
        raise ended
