"""How far chance in the test rows may move a measure: percentile bootstrap intervals.

Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, section 13.3: rows are drawn with
replacement, the measure is taken again, and the middle share of its values is the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from setwise.metrics import set_measures

DRAWS = 200


def bootstrap_weights(
    n: int, draws: int, seed: int = 0, groups: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """How often each row is drawn, (n,), so many times; rows of one group are drawn together."""
    random = np.random.default_rng(seed)
    number = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    m = int(number.max()) + 1
    for _ in range(draws):
        yield random.multinomial(m, np.full(m, 1 / m))[number].astype(np.float64)


def measures_with_intervals(
    truth: Any,
    predicted: Any,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
    groups: np.ndarray | None = None,
    tick: Callable[[], None] = lambda: None,
) -> dict[str, dict[str, float]]:
    """All set measures: measure -> {"value", "low", "high"}.

    >>> Y = np.eye(2, dtype=np.int8)
    >>> measures_with_intervals(Y, Y, draws=5)["set_accuracy"]
    {'value': 1.0, 'low': 1.0, 'high': 1.0}
    """
    values = set_measures(truth, predicted)
    drawn = []
    for weight in bootstrap_weights(truth.shape[0], draws, seed, groups):
        drawn.append(list(set_measures(truth, predicted, sample_weight=weight).values()))
        tick()
    edges = np.nanquantile(np.array(drawn), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {
        name: {"value": value, "low": float(low), "high": float(high)}
        for (name, value), low, high in zip(values.items(), *edges, strict=True)
    }
