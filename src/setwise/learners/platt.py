"""Platt scaling: a sigmoid from scores to probabilities (Platt 1999; Lin, Lin and Weng 2007).

    p(score) = sigmoid(slope * score + intercept)

fitted by maximum likelihood to targets moved inwards: a positive row counts as (P + 1) / (P + 2), a
negative one as 1 / (N + 2), where P and N are the weights of both kinds. So the fit is finite even
where scores separate the two, or where one is missing. A soft target lies between.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.special import expit

from setwise.errors import NotConverged
from setwise.learners.bank_inputs import check_scores, check_targets, check_weights
from setwise.learners.isotonic import one_column
from setwise.storage import storable

MAX_STEPS = 100
TOLERANCE = 1e-10
# Keeps a step finite where all scores of a column are equal.
RIDGE = 1e-12


def smoothed_targets(T: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Platt's targets, (n, L), all inside (0, 1)."""
    positive, negative = (weight * T).sum(axis=0), (weight * (1 - T)).sum(axis=0)
    high, low = (positive + 1) / (positive + 2), 1 / (negative + 2)
    smoothed: np.ndarray = T * high + (1 - T) * low
    return smoothed


def average_loss(scores: np.ndarray, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted mean cross-entropy of each column, (L,); weights of a column sum to one."""
    losses: np.ndarray = (weight * (np.logaddexp(0, scores) - T * scores)).sum(axis=0)
    return losses


def fit_sigmoids(
    z: np.ndarray, T: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Slopes and intercepts (L,) of all columns by Newton's method, and whether it converged."""
    slope = np.zeros(z.shape[1])
    mean = (weight * T).sum(axis=0)
    intercept = np.log(mean / (1 - mean))
    loss = average_loss(slope * z + intercept, T, weight)
    for _ in range(MAX_STEPS):
        by_slope, by_intercept, size = newton_step(z, T, weight, slope, intercept)
        if size.max(initial=0) < TOLERANCE:
            return slope, intercept, True
        length = np.ones_like(slope)
        for _ in range(30):  # halve the step of the columns whose loss it would raise
            new_slope, new_intercept = slope + length * by_slope, intercept + length * by_intercept
            new_loss = average_loss(new_slope * z + new_intercept, T, weight)
            worse = new_loss > loss + 1e-15
            if not worse.any():
                break
            length[worse] /= 2
        slope = np.where(worse, slope, new_slope)
        intercept = np.where(worse, intercept, new_intercept)
        loss = np.minimum(loss, new_loss)
    return slope, intercept, False


def newton_step(
    z: np.ndarray, T: np.ndarray, weight: np.ndarray, slope: np.ndarray, intercept: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Steps of slope and intercept, and the largest derivative, (L,) each."""
    p = expit(slope * z + intercept)  # (n, L)
    residual, curvature = weight * (T - p), weight * p * (1 - p)
    g_slope, g_intercept = (residual * z).sum(axis=0), residual.sum(axis=0)
    h_slope = (curvature * z * z).sum(axis=0) + RIDGE
    h_both, h_intercept = (curvature * z).sum(axis=0), curvature.sum(axis=0) + RIDGE
    determinant = h_slope * h_intercept - h_both**2
    by_slope = (h_intercept * g_slope - h_both * g_intercept) / determinant
    by_intercept = (h_slope * g_intercept - h_both * g_slope) / determinant
    return by_slope, by_intercept, np.maximum(np.abs(g_slope), np.abs(g_intercept))


@storable
class PlattBank:
    """A sigmoid for each of L columns of scores, all fitted at once.

    Attributes
    ----------
    slope_, intercept_ : (L,)

    Examples
    --------
    >>> bank = PlattBank().fit([[-2.0], [-1.0], [1.0], [2.0]], [[0], [0], [1], [1]])
    >>> bank.predict([[0.0], [2.0]]).round(2).ravel().tolist()
    [0.5, 0.79]
    """

    def fit(self, scores: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from scores (n, L), targets T (n, L) in [0, 1] and weights (n,) or (n, L)."""
        scores = check_scores(scores)
        T = check_targets(T, *scores.shape)
        T = T if isinstance(T, np.ndarray) else T.toarray()
        weight = check_weights(sample_weight, *scores.shape)
        T, weight = smoothed_targets(T, weight), weight / weight.sum(axis=0)
        centre = (weight * scores).sum(axis=0)
        spread = np.sqrt((weight * (scores - centre) ** 2).sum(axis=0))
        spread = np.where(spread > 1e-12 * np.abs(centre), spread, 1.0)
        slope, intercept, converged = fit_sigmoids((scores - centre) / spread, T, weight)
        if not converged:
            warnings.warn(
                f"Platt scaling stopped after {MAX_STEPS} steps; look for extreme weights, "
                "or use isotonic regression",
                NotConverged,
                stacklevel=2,
            )
        self.slope_ = slope / spread
        self.intercept_ = intercept - slope * centre / spread
        return self

    def logits(self, scores: Any) -> np.ndarray:
        """Log-odds at scores (n, L), (n, L)."""
        logits: np.ndarray = check_scores(scores, len(self.slope_)) * self.slope_ + self.intercept_
        return logits

    def predict(self, scores: Any) -> np.ndarray:
        """Probabilities at scores (n, L), (n, L): never exactly 0 or 1."""
        limits = np.finfo(float)
        p: np.ndarray = np.clip(expit(self.logits(scores)), limits.tiny, 1 - limits.epsneg)
        return p


@storable
class Platt:
    """A sigmoid from scores (n,) to the probability of targets (n,); see ``PlattBank``.

    Examples
    --------
    >>> Platt().fit([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1]).predict([2.0]).round(2).tolist()
    [0.79]
    """

    def fit(self, score: Any, target: Any, sample_weight: Any = None) -> Self:
        """Learn from scores, targets in [0, 1] and weights, (n,) each."""
        bank = PlattBank().fit(one_column(score), one_column(target), sample_weight)
        self.slope_, self.intercept_ = float(bank.slope_[0]), float(bank.intercept_[0])
        return self

    def predict(self, score: Any) -> np.ndarray:
        """Probabilities at scores (n,), (n,)."""
        bank = PlattBank()
        bank.slope_, bank.intercept_ = np.array([self.slope_]), np.array([self.intercept_])
        return bank.predict(one_column(score))[:, 0]
