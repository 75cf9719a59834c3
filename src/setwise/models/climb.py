"""A walk along settings in order, as long as held-out rows like them better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def climb(path: Any, score: float, score_at: Callable[[float], float]) -> tuple[float, float]:
    """The best place along a path whose first place has ``score``, and its score.

    One place that is no better is stepped over; two in a row are the end.

    >>> climb([1, 2, 3, 4, 5, 6], 0.0, {2: 1.0, 3: 0.5, 4: 2.0, 5: 1.0, 6: 0.0}.get)
    (4, 2.0)
    """
    best, highest, misses = path[0], score, 0
    for place in path[1:]:
        found = score_at(place)
        misses = 0 if found > highest else misses + 1
        if found > highest:
            best, highest = place, found
        if misses == 2:
            break
    return best, highest


def climb_both_ways(
    path: Any, middle: float, score_at: Callable[[float], float]
) -> tuple[float, float]:
    """The best place of a path, upwards from ``middle``, or downwards where that is no better.

    >>> climb_both_ways([1, 2, 3, 4, 5], 3, {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0, 5: 1.0}.get)
    (1, 5.0)
    """
    at = path.index(middle)
    score = score_at(middle)
    best, highest = climb(path[at:], score, score_at)
    return climb(path[at::-1], score, score_at) if best == middle else (best, highest)
