"""Thresholds of scores that are not probabilities, tuned for a measure on held-out rows.

Li 2019, section 3.7.2, makes sets of PD-Sparse's scores so, for the F1. A row of which no label
reaches its threshold gets the empty set, or, where there is none, its best label; 0/0 counts as
right.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from setwise.decisions.thresholds import best_f1_thresholds, best_shared_threshold
from setwise.metrics.options import check_choice

Worth = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

# What a row's set of one label or more is worth beyond the empty set, by its counts.
_WORTH: dict[str, Worth] = {
    "f1": lambda tp, p, r: np.where(r > 0, 2 * tp / np.maximum(p + r, 1), -1.0),
    "jaccard": lambda tp, p, r: np.where(r > 0, tp / np.maximum(p + r - tp, 1), -1.0),
    "hamming": lambda tp, p, r: 2.0 * tp - p,
    "set_accuracy": lambda tp, p, r: np.where(r > 0, (tp == p) & (tp == r), -1.0),
}
TARGETS = (*_WORTH, "micro_f1", "macro_f1")


def squashed(scores: np.ndarray) -> np.ndarray:
    """Scores as numbers from 0 to 1, in the same order; they are no probabilities."""
    return np.asarray(expit(scores))


def tuned_thresholds(
    target: str,
    scores: np.ndarray,
    truth: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    allow_empty: bool = True,
) -> np.ndarray:
    """The best threshold of squashed scores for a target, (1,), or for each label, (L,).

    ``scores`` and ``truth`` are (n, L), ``weights`` (n,) and over zero. Thresholds of labels apart,
    for "macro_f1", are tuned as if sets could be empty.

    >>> tuned_thresholds("f1", np.array([[2.0, -2.0, 0.0]]), np.array([[1, 0, 1]])).round(2)
    array([0.31])
    """
    check_choice("target", target, TARGETS)
    level = squashed(scores)
    if target == "macro_f1":
        return best_f1_thresholds(level, truth, weights)
    if not allow_empty:  # the best label of a row is taken whatever the threshold
        level[np.arange(len(level)), level.argmax(axis=1)] = 1.0
    if target == "micro_f1":
        each = None if weights is None else np.repeat(weights, truth.shape[1])
        return best_f1_thresholds(level.reshape(-1, 1), truth.reshape(-1, 1), each)
    worth = _WORTH[target]
    best = best_shared_threshold(level, truth, worth, weights)
    if not allow_empty:
        return best
    chosen = level >= best
    tp, p = (chosen * truth).sum(axis=1), chosen.sum(axis=1)
    gained = np.where(p > 0, worth(tp, p, truth.sum(axis=1)), 0.0)
    # Where nothing is better than something, no score is high enough.
    return best if np.average(gained, weights=weights) > 0 else np.array([np.inf])
