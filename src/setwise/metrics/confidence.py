"""Measures of confidence: whether "90% sure" comes true nine times in ten.

Li 2019 (thesis), section 4.3. ``correct`` v says how right each prediction was: 0 or 1 for exact
sets, or a value in between, such as an F1 whose expectation the confidence claims to be.
``confidence`` c is in [0, 1]. With e the accuracy of a bucket of similar confidences:

    E[(v - c)²]  =  Var[v]  -  Var[e]  +  E[(e - c)²]              (eq. 4.1)
    Brier score     uncertainty  sharpness  alignment error

This holds exactly only where confidence is constant in each bucket. Otherwise, with the bucket's
mean confidence for c in the last term, what happens inside the buckets remains:

    residual  =  E[Var(c | bucket) - 2 Cov(c, v | bucket)]

The thesis uses ten buckets of equal width. ``sample_weight`` counts a prediction as often as it
says; standard errors and noise floor read it as a number of repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.metrics.averaging import divided
from setwise.metrics.buckets import Buckets, Predictions, bucketed, checked_predictions


@dataclass(frozen=True)
class BrierDecomposition:
    """score = uncertainty - sharpness + alignment_error + residual.

    ``noise_floor`` is the alignment error that calibrated 0/1 predictions with the same confidences
    and buckets show on average by chance; an alignment error near it is no evidence of a fault.
    """

    score: float
    uncertainty: float
    sharpness: float
    alignment_error: float
    residual: float
    noise_floor: float


@dataclass(frozen=True)
class ReliabilityTable:
    """What was claimed and what came true, bucket by bucket; all arrays (B,).

    Empty buckets stay in the table with count 0 and nan elsewhere.
    """

    lower: np.ndarray
    upper: np.ndarray
    count: np.ndarray  # the weight in the bucket; without weights, the number of predictions
    mean_confidence: np.ndarray
    accuracy: np.ndarray
    standard_error: np.ndarray  # of the accuracy


def brier_score(correct: Any, confidence: Any, *, sample_weight: Any = None) -> float:
    """Mean squared difference of confidence and correctness, E[(v - c)²].

    >>> brier_score([1, 0], [0.5, 0.5])
    0.25
    """
    predictions = checked_predictions(correct, confidence, sample_weight)
    return predictions.mean((predictions.correct - predictions.confidence) ** 2)


def brier_decomposition(
    correct: Any,
    confidence: Any,
    *,
    n_buckets: int = 10,
    strategy: str = "width",
    sample_weight: Any = None,
) -> BrierDecomposition:
    """The Brier score as uncertainty - sharpness + alignment error + residual (eq. 4.1).

    >>> parts = brier_decomposition([1, 1, 0, 0], [0.75, 0.75, 0.75, 0.25])
    >>> round(parts.sharpness, 4), round(parts.alignment_error, 4), parts.residual
    (0.0833, 0.0208, 0.0)
    """
    predictions = checked_predictions(correct, confidence, sample_weight)
    return _decomposed(predictions, bucketed(predictions, n_buckets, strategy))


def expected_calibration_error(
    correct: Any,
    confidence: Any,
    *,
    n_buckets: int = 10,
    strategy: str = "width",
    sample_weight: Any = None,
) -> float:
    """Mean distance of accuracy and mean confidence over the buckets, weighted by their counts.

    >>> expected_calibration_error([1, 1, 0, 0], [0.75, 0.75, 0.75, 0.25])
    0.125
    """
    predictions = checked_predictions(correct, confidence, sample_weight)
    buckets = bucketed(predictions, n_buckets, strategy)
    gap = buckets.mean(predictions.correct - predictions.confidence)
    return predictions.mean(np.abs(gap)[buckets.index])


def reliability_table(
    correct: Any,
    confidence: Any,
    *,
    n_buckets: int = 10,
    strategy: str = "width",
    sample_weight: Any = None,
) -> ReliabilityTable:
    """Accuracy and mean confidence of each bucket, with the standard error of the accuracy.

    >>> table = reliability_table([1, 1, 0, 0], [0.75, 0.75, 0.75, 0.25], n_buckets=2)
    >>> table.count, table.accuracy
    (array([1., 3.]), array([0.        , 0.66666667]))
    """
    predictions = checked_predictions(correct, confidence, sample_weight)
    buckets = bucketed(predictions, n_buckets, strategy)
    accuracy = buckets.mean(predictions.correct)
    variance = buckets.mean((predictions.correct - accuracy[buckets.index]) ** 2)
    return ReliabilityTable(
        lower=buckets.lower,
        upper=buckets.upper,
        count=buckets.weight,
        mean_confidence=buckets.mean(predictions.confidence),
        accuracy=accuracy,
        standard_error=np.sqrt(divided(variance, buckets.weight)),
    )


def _decomposed(predictions: Predictions, buckets: Buckets) -> BrierDecomposition:
    """Every part as a mean over the predictions, each with the means of its bucket."""
    v, c, mean = predictions.correct, predictions.confidence, predictions.mean
    e = buckets.mean(v)[buckets.index]  # (n,) accuracy of the own bucket
    claimed = buckets.mean(c)[buckets.index]  # (n,) mean confidence of the own bucket
    inside = c - claimed
    chance = np.nansum(buckets.mean(c * (1 - c))) / predictions.weights.sum()
    return BrierDecomposition(
        score=mean((v - c) ** 2),
        uncertainty=mean((v - mean(v)) ** 2),
        sharpness=mean((e - mean(v)) ** 2),
        alignment_error=mean((e - claimed) ** 2),
        residual=mean(inside**2 - 2 * inside * (v - e)),
        noise_floor=float(chance),
    )
