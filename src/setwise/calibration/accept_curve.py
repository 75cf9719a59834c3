"""Accuracy over coverage: how right the predictions are whose confidence reaches a threshold.

Of the n rows that a threshold accepts k are right. Clopper and Pearson (1934) bound the accuracy
behind that exactly, by the quantiles of two beta distributions; with one-sided level 1 - δ

    lower = B(δ; k, n - k + 1)        upper = B(1 - δ; k + 1, n - k)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from setwise.calibration._accept_inputs import check_inside, checked_pairs
from setwise.metrics.averaging import checked_weights
from setwise.storage import storable


@storable
@dataclass(frozen=True)
class AccuracyCoverage:
    """What each threshold would accept, from the highest threshold down; all arrays (m,).

    Equal confidences are one point. ``lower`` and ``upper`` are one-sided bounds, each of them for
    one threshold that was fixed beforehand, not for all at once nor for one picked from the curve.
    """

    threshold: np.ndarray
    coverage: np.ndarray  # the share of the rows with confidence >= threshold
    accuracy: np.ndarray  # of these rows
    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True)
class Steps:
    """How many rows reach each distinct confidence and how many of them are right; (m,) each.

    Rows of a group depend on each other: they weigh as ``units`` groups of one size do, and tell as
    much as ``effective`` independent rows would, which are no more. Other rows are a unit each.
    """

    confidence: np.ndarray  # falling
    accepted: np.ndarray
    right: np.ndarray
    units: np.ndarray
    effective: np.ndarray

    @property
    def effective_right(self) -> np.ndarray:
        """How many of the effective rows are right; not a whole number where there are groups."""
        right: np.ndarray = self.right * (self.effective / self.accepted)
        return right


def accuracy_coverage(
    confidence: Any, correct: Any, confidence_level: float = 0.95, *, sample_weight: Any = None
) -> AccuracyCoverage:
    """The accuracy of the rows over each threshold, with Clopper-Pearson bounds.

    Parameters
    ----------
    confidence : array (n,) in [0, 1]
    correct : array (n,) of 0 and 1
    confidence_level : float
        Of each bound on its own.
    sample_weight : array (n,), optional
        How often each row counts; the bounds read it as a number of repetitions.

    Examples
    --------
    >>> curve = accuracy_coverage([0.9, 0.9, 0.5, 0.1], [1, 1, 0, 1])
    >>> curve.coverage, curve.accuracy.round(2), curve.lower.round(2)
    (array([0.5 , 0.75, 1.  ]), array([1.  , 0.67, 0.75]), array([0.22, 0.14, 0.25]))
    """
    check_inside("confidence_level", confidence_level)
    confidence, correct = checked_pairs(confidence, correct)
    weights = checked_weights(sample_weight, len(confidence))
    return curve_of(steps_of(confidence, correct, weights), confidence_level)


def curve_of(steps: Steps, confidence_level: float) -> AccuracyCoverage:
    """The curve through every distinct confidence."""
    right, n = steps.effective_right, steps.effective
    return AccuracyCoverage(
        threshold=between(steps.confidence),
        coverage=steps.accepted / steps.accepted[-1],
        accuracy=steps.right / steps.accepted,
        lower=lower_bound(right, n, confidence_level),
        upper=upper_bound(right, n, confidence_level),
    )


def steps_of(
    confidence: np.ndarray, correct: np.ndarray, weights: np.ndarray | None = None
) -> Steps:
    """Rows (n,) counted by distinct confidence, from the highest down."""
    if weights is not None:
        confidence, correct, weights = (a[weights > 0] for a in (confidence, correct, weights))
    values, place = np.unique(confidence, return_inverse=True)
    rows = np.bincount(place, weights)
    right = np.bincount(place, correct if weights is None else correct * weights)
    accepted = np.cumsum(rows[::-1])
    return Steps(values[::-1], accepted, np.cumsum(right[::-1]), accepted, accepted)


def between(confidence: np.ndarray) -> np.ndarray:
    """Thresholds that accept the falling distinct confidences (m,) down to each one: (m,).

    Halfway to the next confidence, so that a last digit that differs does not part equal ones; the
    last is the lowest confidence, as nothing is known below.
    """
    following = np.append(confidence[1:], confidence[-1])
    middle = following + (confidence - following) / 2
    # Between neighbouring floats there is no room: halfway may be the lower one.
    thresholds: np.ndarray = np.where(middle > following, middle, confidence)
    return thresholds


def lower_bound(right: Any, accepted: Any, confidence_level: float) -> np.ndarray:
    """Clopper-Pearson's one-sided lower bound of an accuracy, 0 where no row is right.

    >>> round(float(lower_bound(29, 29, 0.95)), 3)
    0.902
    """
    right, accepted = np.asarray(right, dtype=float), np.asarray(accepted, dtype=float)
    wrong_and_one = accepted - right + 1
    quantile = betaincinv(np.where(right > 0, right, 1), wrong_and_one, 1 - confidence_level)
    bound: np.ndarray = np.where(right > 0, quantile, 0.0)
    return bound


def upper_bound(right: Any, accepted: Any, confidence_level: float) -> np.ndarray:
    """Clopper-Pearson's one-sided upper bound: the lower one of the errors, seen from 1."""
    return 1 - lower_bound(np.subtract(accepted, right), accepted, confidence_level)
