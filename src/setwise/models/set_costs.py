"""What it costs to predict one set where another is true, row by row.

The cost-sensitive methods learn for any of them: a name, or a function that takes two int8 arrays
(n, L), truth and prediction, and returns costs (n,) that are not negative and zero for the truth.

    f1            1 - 2 TP / (|truth| + |predicted|)          0/0 counts as right
    jaccard       1 - TP / |truth or predicted|               0/0 counts as right
    hamming       wrong labels / L
    set_accuracy  0 or 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.errors import DataError

Cost = Callable[[np.ndarray, np.ndarray], np.ndarray]

# Each from counts: true positives, predicted and relevant labels, and L.
_OF_COUNTS: dict[str, Callable[..., np.ndarray]] = {
    "f1": lambda tp, p, r, L: 1 - _share(2 * tp, p + r),
    "jaccard": lambda tp, p, r, L: 1 - _share(tp, p + r - tp),
    "hamming": lambda tp, p, r, L: (p + r - 2 * tp) / L,
    "set_accuracy": lambda tp, p, r, L: ((tp < p) | (tp < r)).astype(np.float64),
}
COSTS = tuple(_OF_COUNTS)


def cost_for(target: Any) -> Cost:
    """The cost of a target: by its name, or the function itself, checked at each call.

    >>> cost_for("f1")(np.array([[1, 1, 0]], np.int8), np.array([[1, 0, 0]], np.int8)).round(3)
    array([0.333])
    """
    if isinstance(target, str) and target in COSTS:
        return lambda truth, predicted: _named(target, truth, predicted)
    if callable(target):
        return lambda truth, predicted: _checked(target(truth, predicted), truth)
    raise DataError(
        f"target must be one of {', '.join(COSTS)}, or a function of two arrays (n, L), truth and "
        f"prediction, that returns costs (n,); got {target!r}"
    )


def cost_of_counts(target: Any) -> Callable[..., np.ndarray] | None:
    """The cost from true positives, predicted and relevant labels and L; None for a function."""
    return _OF_COUNTS.get(target) if isinstance(target, str) else None


def cost_table(target: Any, sets: np.ndarray) -> np.ndarray:
    """What each of the sets (m, L) costs where each is true: (m, m), rows are the truth."""
    m, L = sets.shape
    of_counts = cost_of_counts(target)
    if of_counts is not None:
        sizes = sets.sum(axis=1, dtype=np.float64)
        dense = sets.astype(np.float64)
        return of_counts(dense @ dense.T, sizes[None, :], sizes[:, None], L)
    cost = cost_for(target)
    return np.stack([cost(np.broadcast_to(truth, (m, L)), sets) for truth in sets])


def _named(name: str, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    both = np.einsum("nl,nl->n", truth, predicted, dtype=np.float64)
    counts = [part.sum(axis=1, dtype=np.float64) for part in (predicted, truth)]
    return _OF_COUNTS[name](both, *counts, truth.shape[1])


def _checked(costs: Any, truth: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.asarray(costs, dtype=np.float64)
    if found.shape != truth.shape[:1]:
        raise DataError(
            f"the cost function returned shape {found.shape} for {len(truth)} rows; "
            "let it return one cost a row"
        )
    if not (np.isfinite(found) & (found >= 0)).all():
        raise DataError("the cost function returned a cost that is negative or not finite; mend it")
    return found


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part / whole; one where both are zero."""
    ones = np.ones(np.broadcast(part, whole).shape)
    return np.asarray(np.divide(part, whole, out=ones, where=whole > 0))
