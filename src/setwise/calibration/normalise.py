"""Confidences of a row's candidates as one distribution (Li 2019, section 4.11, third item).

Calibrated one by one, confidences need not add up to a probability. At most one candidate is right,
so here they become

    p_j = exp(slope * z_j) / D     rest = exp(level) / D     D = exp(level) + sum_j exp(slope z_j)

where z are log-odds of confidence, or any other log-scores, and the two numbers make the true sets
of training rows likeliest: those among the candidates, and "none of them" where it is not.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize

from setwise.calibration.candidates import Candidates
from setwise.storage import storable

PRIOR_ROWS = 1.0  # pull of slope and level towards 1 and 0, in rows


@storable
class Normaliser:
    """Two numbers that turn log-scores of candidates into probabilities with a rest.

    Attributes
    ----------
    slope_, level_ : float
    """

    slope_: float
    level_: float

    def fit(self, candidates: Candidates, z: np.ndarray, right: np.ndarray, weight: Any) -> Self:
        """Learn from log-scores (m,) and which candidates are exactly right, (m,) of 0 and 1.

        ``weight`` (n,) is what the rows count, or None.
        """
        weight = np.ones(candidates.n_rows) if weight is None else weight
        found = np.bincount(candidates.row, right, minlength=candidates.n_rows) > 0
        n = weight.sum()

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            slope, level = parameters
            log_p, log_rest = _log_probabilities(candidates, slope * z, level)
            p = np.exp(log_p)
            value = (weight[candidates.row] * right * log_p).sum() + (
                weight * np.where(found, 0, log_rest)
            ).sum()
            by_slope = (weight[candidates.row] * (right - p) * z).sum()
            by_level = (weight * (~found - np.exp(log_rest))).sum()
            pull = np.array([slope - 1, level])
            gradient = -np.array([by_slope, by_level]) + PRIOR_ROWS * pull
            return (-value + PRIOR_ROWS * (pull @ pull) / 2) / n, gradient / n

        found_at = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B")
        self.slope_, self.level_ = map(float, found_at.x)
        return self

    def log_probabilities(self, candidates: Candidates, z: np.ndarray) -> np.ndarray:
        """Logs of the candidates' probabilities, (m,)."""
        return _log_probabilities(candidates, self.slope_ * z, self.level_)[0]


def _log_probabilities(
    candidates: Candidates, z: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Logs of each candidate's probability (m,), and of each row's rest (n,)."""
    starts, row = candidates.starts[:-1], candidates.row
    highest = np.maximum(np.maximum.reduceat(z, starts), level)  # (n,)
    total = np.exp(level - highest) + np.add.reduceat(np.exp(z - highest[row]), starts)
    log_total = highest + np.log(total)
    return z - log_total[row], level - log_total
