"""How the benchmarks time a call: by the fastest of some, as what else runs can only slow it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

_Answer = TypeVar("_Answer")


def least_time(call: Callable[[], object], repeats: int = 3, patience: float = 5.0) -> float:
    """Seconds of the fastest of some calls; after ``patience`` seconds there are no more."""
    return fastest(call, repeats, patience)[0]


def fastest(
    call: Callable[[], _Answer], repeats: int = 3, patience: float = 5.0
) -> tuple[float, _Answer]:
    """The same, and what the last call returned."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < patience:
        begin = perf_counter()
        answer = call()
        times.append(perf_counter() - begin)
    return min(times), answer
