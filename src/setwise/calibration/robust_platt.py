"""Platt scaling from noisy judgements: a sigmoid, whose likelihood is that of the judgements.

    P(judged right | score) = beta + (1 - alpha - beta) sigmoid(slope * score + intercept)

fitted by maximum likelihood (Fisher scoring with halved steps) to judgements moved inwards as
Platt's are. A sigmoid reaches 0 and 1, and so can show where beta and 1 - alpha are: see
``setwise.calibration.noise_rates``.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.special import expit

from setwise.calibration.noise import (
    NO_NOISE,
    SCORE_LIMIT,
    NoiseRates,
    noisy_likelihood,
    noisy_likelihood_derivatives,
)
from setwise.errors import NotConverged
from setwise.learners.bank_inputs import check_scores, check_targets, check_weights
from setwise.learners.isotonic import one_column
from setwise.learners.platt import smoothed_targets
from setwise.storage import storable

MAX_STEPS = 200
TOLERANCE = 1e-9  # of the mean loss: where judgements follow scores perfectly, it falls for ever
RIDGE = 1e-9  # keeps steps finite where scores are equal, or judgements follow them perfectly


def fit_sigmoid(
    z: np.ndarray, judged: np.ndarray, weight: np.ndarray, noise: NoiseRates
) -> tuple[np.ndarray, bool]:
    """Slope and intercept (2,) on standardised scores, and whether the search converged."""
    design = np.column_stack([z, np.ones_like(z)])  # (n, 2)

    def loss_of(line: np.ndarray) -> float:
        return float(weight @ noisy_likelihood(design @ line, judged, noise))

    mean = np.clip(weight @ noise.shifted_targets(judged), *expit([-SCORE_LIMIT, SCORE_LIMIT]))
    line = np.array([0.0, np.log(mean / (1 - mean))])
    loss = loss_of(line)
    for _ in range(MAX_STEPS):
        first, second = noisy_likelihood_derivatives(design @ line, judged, noise)
        gradient = design.T @ (weight * first)
        curvature = design.T @ (design * (weight * second)[:, None]) + RIDGE * np.eye(2)
        step, length = -np.linalg.solve(curvature, gradient), 1.0
        while (new_loss := loss_of(line + length * step)) > loss and length > 1e-9:
            length /= 2
        if new_loss >= loss - TOLERANCE:
            return line, True
        line, loss = line + length * step, new_loss
    return line, False


@storable
class RobustPlatt:
    """A sigmoid from scores (n,) to confidences, from judgements of known error rates.

    Attributes
    ----------
    slope_, intercept_ : float

    Examples
    --------
    >>> score, judged = np.repeat([-1.0, 1.0], 50), np.repeat([0, 1, 0, 1], [45, 5, 30, 20])
    >>> curve = RobustPlatt().fit(score, judged, noise=NoiseRates(0.5))
    >>> curve.predict([-1.0, 1.0]).round(1).tolist()
    [0.2, 0.8]
    """

    def fit(
        self,
        score: Any,
        judged: Any,
        sample_weight: Any = None,
        *,
        noise: NoiseRates = NO_NOISE,
    ) -> Self:
        """Learn from scores, judgements in [0, 1] and weights, (n,) each, and noise rates."""
        score = check_scores(one_column(score))
        v = check_targets(one_column(judged), len(score), 1)
        weight = check_weights(sample_weight, len(score), 1)
        noise = noise.check_rows(len(score))
        v, share = smoothed_targets(v, weight)[:, 0], weight[:, 0] / weight.sum()
        centre = float(share @ score[:, 0])
        spread = float(np.sqrt(share @ (score[:, 0] - centre) ** 2))
        spread = spread if spread > 1e-12 * abs(centre) else 1.0
        (slope, intercept), converged = fit_sigmoid(
            (score[:, 0] - centre) / spread, v, share, noise
        )
        if not converged:
            warnings.warn(
                f"Platt scaling under noise stopped after {MAX_STEPS} steps; look for extreme "
                "weights or rates too high for these judgements, or use isotonic regression",
                NotConverged,
                stacklevel=2,
            )
        self.slope_ = float(slope / spread)
        self.intercept_ = float(intercept - slope * centre / spread)
        return self

    def predict(self, score: Any) -> np.ndarray:
        """Confidences at scores (n,), (n,); log-odds are clipped to ``SCORE_LIMIT``."""
        line = self.slope_ * check_scores(one_column(score))[:, 0] + self.intercept_
        confidence: np.ndarray = expit(np.clip(line, -SCORE_LIMIT, SCORE_LIMIT))
        return confidence
