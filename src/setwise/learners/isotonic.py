"""Isotonic regression: a rising curve from scores to targets (thesis, section 2.3.6).

The curve minimises the weighted squared error among all non-decreasing ones (pool adjacent
violators) and runs straight between its knots, flat beyond them. Targets may be any numbers, so
that targets corrected for label noise fit as well.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import isotonic_regression

from setwise.errors import DataError
from setwise.learners.bank_inputs import check_scores, check_values, check_weights, column
from setwise.storage import storable

Curve = tuple[np.ndarray, np.ndarray]  # knots and values, (m,) each


def rising_curve(score: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Curve:
    """Knots and values of the curve: two for each flat piece, one for a piece of one score."""
    score, target, weight = (part[weight > 0] for part in (score, target, weight))
    knots, place = np.unique(score, return_inverse=True)
    total = np.bincount(place, weight)
    mean = np.bincount(place, weight * target) / total  # equal scores have one value
    values = isotonic_regression(mean, weights=total).x
    flat = values[1:-1] == values[:-2]
    inner = flat & (values[1:-1] == values[2:])
    keep = np.concatenate([[True], ~inner, [True]])[: len(values)]
    return knots[keep], values[keep]


def limits(weight: np.ndarray) -> tuple[float, float]:
    """The least and the greatest probability that this much weight can tell from 0 and 1."""
    least = 0.5 / (weight.sum() + 1)
    return least, 1 - least


@storable
class IsotonicBank:
    """A rising curve for each of L columns of scores.

    Parameters
    ----------
    probabilities : bool
        Clip values into (0, 1), half a row away from either end: a finite sample makes nothing
        certain.

    Attributes
    ----------
    knots_, values_ : (m,) those of all curves; starts_ : (L + 1,) where each curve begins.

    Examples
    --------
    >>> bank = IsotonicBank().fit([[0.1], [0.2], [0.3], [0.4]], [[0], [1], [0], [1]])
    >>> bank.predict([[0.25], [0.35]]).round(2).ravel().tolist()
    [0.5, 0.75]
    """

    def __init__(self, *, probabilities: bool = False) -> None:
        self.probabilities = probabilities

    def fit(self, scores: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from scores (n, L), targets T (n, L) and weights (n,) or (n, L)."""
        scores = check_scores(scores)
        T = check_values(T, *scores.shape)
        weight = check_weights(sample_weight, *scores.shape)
        curves = []
        for number in range(scores.shape[1]):
            w = column(weight, number)
            knots, values = rising_curve(scores[:, number], column(T, number), w)
            curves.append((knots, np.clip(values, *limits(w)) if self.probabilities else values))
        self.starts_ = np.cumsum([0, *(len(knots) for knots, _ in curves)])
        self.knots_ = np.concatenate([np.empty(0), *(knots for knots, _ in curves)])
        self.values_ = np.concatenate([np.empty(0), *(values for _, values in curves)])
        return self

    def predict(self, scores: Any) -> np.ndarray:
        """The curves' values at scores (n, L), (n, L)."""
        scores = check_scores(scores, len(self.starts_) - 1)
        values = np.empty(scores.shape)
        for number, (start, stop) in enumerate(zip(self.starts_, self.starts_[1:], strict=False)):
            knots = self.knots_[start:stop]
            values[:, number] = np.interp(scores[:, number], knots, self.values_[start:stop])
        return values


@storable
class Isotonic:
    """A rising curve from scores (n,) to targets (n,); see ``IsotonicBank``.

    Examples
    --------
    >>> curve = Isotonic(probabilities=True).fit([1.0, 2.0, 3.0], [0, 0, 1])
    >>> curve.predict([0.0, 9.0]).tolist()
    [0.125, 0.875]
    """

    def __init__(self, *, probabilities: bool = False) -> None:
        self.probabilities = probabilities

    def fit(self, score: Any, target: Any, sample_weight: Any = None) -> Self:
        """Learn from scores, targets and weights, (n,) each."""
        bank = IsotonicBank(probabilities=self.probabilities)
        bank.fit(one_column(score), one_column(target), sample_weight)
        self.knots_, self.values_ = bank.knots_, bank.values_
        return self

    def predict(self, score: Any) -> np.ndarray:
        """The curve's values at scores (n,), (n,)."""
        score = check_scores(one_column(score))[:, 0]
        values: np.ndarray = np.interp(score, self.knots_, self.values_)
        return values


def one_column(values: Any) -> np.ndarray:
    """(n,) as (n, 1)."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"expected one number per row, got shape {array.shape}; use a bank")
    return array[:, None]
