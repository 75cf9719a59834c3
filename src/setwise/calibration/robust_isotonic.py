"""Isotonic calibration from noisy judgements (thesis, section 4.10.2), and that by one constant.

The curve of "squared" is isotonic regression on the shifted targets t, clipped. That of
"likelihood" is the rising c that explains the judgements best, through the probabilities
q = beta + (1 - alpha - beta) c in [beta, 1 - alpha] with which they were made.

For uniform rates both are the same: t is v~ on another scale, and the best rising q between bounds
is the best rising one, clipped. Where rates differ, the likelihood listens to each judgement as
much as it is worth, and its curve is found by Newton's method: isotonic regression on what a step
of each row asks for, again and again (Jongbloed 1998; the loss is convex, and no step raises it).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.optimize import isotonic_regression

from setwise.calibration.noise import NO_NOISE, NoiseRates, mean_noisy_likelihood
from setwise.errors import DataError, NotConverged
from setwise.learners.bank_inputs import check_scores, check_targets, check_weights
from setwise.learners.isotonic import limits, one_column, rising_curve
from setwise.storage import storable

MAX_STEPS = 100
TOLERANCE = 1e-10  # of the mean loss


def likeliest_rising(
    place: np.ndarray,
    judged: np.ndarray,
    weight: np.ndarray,
    noise: NoiseRates,
    bounds: tuple[float, float],
) -> tuple[np.ndarray, bool]:
    """The likeliest rising confidences of groups of rows, and whether the search converged.

    ``place`` (n,) says to which group a row belongs; groups rise. All rows have weight.
    """

    def rising(target: np.ndarray, weight: np.ndarray) -> np.ndarray:
        total = np.bincount(place, weight)
        mean = np.bincount(place, weight * target) / total
        clipped: np.ndarray = np.clip(isotonic_regression(mean, weights=total).x, *bounds)
        return clipped

    def loss_of(c: np.ndarray) -> float:
        return mean_noisy_likelihood(c[place], judged, noise, weight)

    c = rising(noise.shifted_targets(judged), weight)
    if noise.is_uniform:
        return c, True
    loss = loss_of(c)
    for _ in range(MAX_STEPS):
        q = noise.judged_right(c[place])
        slope = noise.kept * (q - judged) / (q * (1 - q))
        curvature = noise.kept**2 * (judged / q**2 + (1 - judged) / (1 - q) ** 2)
        towards = rising(c[place] - slope / curvature, weight * curvature)
        new, new_loss, length = towards, loss_of(towards), 1.0
        while new_loss > loss and length > 1e-6:
            length /= 2
            new = c + length * (towards - c)
            new_loss = loss_of(new)
        if new_loss >= loss - TOLERANCE:
            return (new if new_loss < loss else c), True
        c, loss = new, new_loss
    return c, False


@storable
class RobustIsotonic:
    """A rising curve from scores (n,) to confidences, from judgements of known error rates.

    Parameters
    ----------
    form : "likelihood" or "squared"
        They differ where rates do.

    Confidences stay half a row away from 0 and 1, as those of ``Isotonic(probabilities=True)``.

    Attributes
    ----------
    knots_, values_ : (m,)

    Examples
    --------
    >>> judged = np.repeat([0, 1, 0, 1], [50, 0, 30, 20])
    >>> curve = RobustIsotonic().fit(np.repeat([0.0, 1.0], 50), judged, noise=NoiseRates(0.5))
    >>> curve.predict([0.0, 1.0]).round(2).tolist()
    [0.0, 0.8]
    """

    def __init__(self, *, form: str = "likelihood") -> None:
        self.form = form

    def fit(
        self,
        score: Any,
        judged: Any,
        sample_weight: Any = None,
        *,
        noise: NoiseRates = NO_NOISE,
    ) -> Self:
        """Learn from scores, judgements in [0, 1] and weights, (n,) each, and noise rates."""
        if self.form not in ("likelihood", "squared"):
            raise DataError(f'form must be "likelihood" or "squared", not {self.form!r}')
        score = check_scores(one_column(score))[:, 0]
        judged = check_targets(one_column(judged), len(score), 1)[:, 0]
        weight = check_weights(sample_weight, len(score), 1)[:, 0]
        counted = weight > 0
        noise = noise.check_rows(len(score)).of_rows(counted)
        score, judged, weight = score[counted], judged[counted], weight[counted]
        bounds = limits(weight)
        if self.form == "squared":
            knots, values = rising_curve(score, noise.shifted_targets(judged), weight)
            values = np.clip(values, *bounds)
        else:
            knots, place = np.unique(score, return_inverse=True)
            values, converged = likeliest_rising(place, judged, weight, noise, bounds)
            if not converged:
                warnings.warn(
                    f"the isotonic likelihood still rose after {MAX_STEPS} steps; look for extreme "
                    'weights or rates, or use form="squared"',
                    NotConverged,
                    stacklevel=2,
                )
        self.knots_, self.values_ = rising_curve(knots, values, np.ones(len(knots)))
        return self

    def predict(self, score: Any) -> np.ndarray:
        """Confidences at scores (n,), (n,)."""
        score = check_scores(one_column(score))[:, 0]
        values: np.ndarray = np.interp(score, self.knots_, self.values_)
        return values


def robust_accuracy(
    judged: Any,
    sample_weight: Any = None,
    *,
    noise: NoiseRates = NO_NOISE,
    form: str = "likelihood",
) -> float:
    """The share of predictions that is truly right: the best confidence that is one constant.

    >>> round(robust_accuracy([1, 1, 0, 0, 0], noise=NoiseRates(alpha=0.5)), 6)
    0.8
    """
    score = np.zeros(np.shape(judged)[0])
    curve = RobustIsotonic(form=form).fit(score, judged, sample_weight, noise=noise)
    return float(curve.values_[0])
