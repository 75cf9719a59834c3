"""Predictions grouped by confidence: buckets of equal width, or of equal weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.errors import DataError
from setwise.metrics.averaging import checked_weights, divided, mean_of_defined
from setwise.metrics.options import check_choice, check_positive

STRATEGIES = ("width", "quantile")


@dataclass(frozen=True)
class Predictions:
    """How sure each prediction was, how right it turned out, and how often it counts."""

    correct: np.ndarray  # (n,) in [0, 1]
    confidence: np.ndarray  # (n,) in [0, 1]
    weights: np.ndarray  # (n,)

    def mean(self, values: np.ndarray) -> float:
        """The weighted mean of ``values`` (n,)."""
        return mean_of_defined(values, self.weights)


@dataclass(frozen=True)
class Buckets:
    """A partition of the predictions into B ranges of confidence.

    A bucket holds lower <= confidence < upper; the last one holds 1 as well.
    """

    lower: np.ndarray  # (B,)
    upper: np.ndarray  # (B,)
    index: np.ndarray  # (n,) the bucket of each prediction
    weights: np.ndarray  # (n,)

    @property
    def weight(self) -> np.ndarray:
        """The weight in each bucket, without weights the number of predictions: (B,)."""
        return np.bincount(self.index, self.weights, minlength=len(self.lower))

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean of ``values`` (n,) in each bucket, nan in empty ones: (B,)."""
        total = np.bincount(self.index, self.weights * values, minlength=len(self.lower))
        return divided(total, self.weight)


def checked_predictions(correct: Any, confidence: Any, sample_weight: Any = None) -> Predictions:
    """Both as floats in [0, 1] of one length; ``correct`` may be 0/1 or graded, such as an F1."""
    correct = _unit_interval("correct", correct)
    confidence = _unit_interval("confidence", confidence)
    if len(correct) != len(confidence):
        raise DataError(
            f"there are {len(correct)} values of correct but {len(confidence)} of confidence; "
            "pass one of each for every prediction"
        )
    weights = checked_weights(sample_weight, len(correct))
    return Predictions(correct, confidence, np.ones(len(correct)) if weights is None else weights)


def bucketed(predictions: Predictions, n_buckets: int = 10, strategy: str = "width") -> Buckets:
    """The predictions in ``n_buckets`` equal steps of confidence, or of weight ("quantile").

    Equal confidences stay together, so that "quantile" may make fewer buckets, none of them empty.
    """
    check_choice("strategy", strategy, STRATEGIES)
    check_positive("n_buckets", n_buckets)
    if strategy == "width":
        # Not linspace, whose fourth edge of ten is just over the number written 0.3.
        inner = np.arange(1, n_buckets) / n_buckets
    else:
        inner = _inner_quantiles(predictions, n_buckets)
    return Buckets(
        lower=np.concatenate([[0.0], inner]),
        upper=np.concatenate([inner, [1.0]]),
        index=np.searchsorted(inner, predictions.confidence, side="right"),
        weights=predictions.weights,
    )


def _inner_quantiles(predictions: Predictions, n_buckets: int) -> np.ndarray:
    """The confidences that begin a new bucket, each bucket having about the same weight."""
    counted = predictions.weights > 0
    confidence, weights = predictions.confidence[counted], predictions.weights[counted]
    order = np.argsort(confidence, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = reached[-1] * np.arange(1, n_buckets) / n_buckets
    begins = np.searchsorted(reached, wanted, side="right")
    starts = confidence[order][begins]
    return np.unique(starts[starts > confidence.min()])


def _unit_interval(name: str, given: Any) -> np.ndarray:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise DataError(
            f"{name} needs one number for each prediction, got shape {values.shape}; "
            "pass a flat, non-empty array"
        )
    wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(wrong):
        raise DataError(
            f"{name} must lie between 0 and 1, but prediction {wrong[0]} has "
            f"{values[wrong[0]]}; take np.exp of a log-probability"
        )
    return values
