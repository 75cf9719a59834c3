"""Annotation noise of known rates, and losses that see through it (thesis, section 4.10).

A prediction is right or wrong, v; a person who errs at times judges it right or wrong, v~:

    alpha = P(judged wrong | right)        beta = P(judged right | wrong)

and alpha + beta < 1, so that a judgement says something. What calibrates a confidence c to v, from
v~ alone, is either of

    the surrogate of a loss l, equation 4.2, whose mean over v~ is l(c, v) for every c and v:
        squared error: (c - t)^2 with t = (v~ - beta) / (1 - alpha - beta),        equation 4.3
        KL divergence: log(1 + e^s) - t s, of the log-odds s of c,                 equation 4.5
    the likelihood of the judgement itself:
        -[v~ log q + (1 - v~) log(1 - q)],  q = beta + (1 - alpha - beta) c = P(judged right).

The targets t lie outside [0, 1]. Where their mean over some rows does too, the surrogate of KL has
no least value: s runs away. So beyond ``SCORE_LIMIT`` it gets a term that pulls s back, and the
curvature that steps are divided by gets a least value. The likelihood is bounded below; it is the
stable form, and where rates differ it listens to each judgement as much as that one is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, xlogy

from setwise.errors import DataError
from setwise.storage import storable

# Log-odds beyond which nothing is claimed from noisy judgements: confidence 0.0003 to 0.9997.
SCORE_LIMIT = 8.0

# Where curvature vanishes while gradients do not, a Newton step would be endless: with this part of
# the noise's own scale as the least curvature, no step is longer than its inverse.
LEAST_CURVATURE = 1 / 8

# Where sigmoids are still above zero.
FARTHEST = 700.0

Rate = float | np.ndarray  # one for all rows, or (n,)


def _checked_rate(name: str, rate: Any) -> Rate:
    array = np.asarray(rate, dtype=np.float64)
    if array.ndim > 1:
        raise DataError(f"{name} must be a number or one per row, not of shape {array.shape}")
    if np.isnan(array).any() or array.min(initial=0) < 0 or array.max(initial=0) >= 1:
        odd = array[~((array >= 0) & (array < 1))].flat[0] if array.ndim else array
        raise DataError(f"{name} must lie in [0, 1), but {odd:g} came; correct the rate")
    if array.ndim == 0:
        return float(array)
    own = array.copy()
    own.flags.writeable = False
    return own


def _taken(rate: Rate, rows: Any) -> Rate:
    return rate[rows] if isinstance(rate, np.ndarray) else rate


@storable
@dataclass(frozen=True, eq=False)
class NoiseRates:
    """How often right predictions are judged wrong, and wrong ones right.

    Parameters
    ----------
    alpha, beta : float or (n,) array
        P(judged wrong | right) and P(judged right | wrong), of all rows or one per row, as where
        annotators differ in skill. Each in [0, 1), and less than one together.

    Examples
    --------
    >>> NoiseRates(alpha=0.2).shifted_targets([0, 1]).tolist()
    [0.0, 1.25]
    >>> NoiseRates(alpha=0.6, beta=0.2).shifted_targets([0, 1]).round(6).tolist()
    [-1.0, 4.0]
    """

    alpha: Rate = 0.0
    beta: Rate = 0.0

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            object.__setattr__(self, name, _checked_rate(name, getattr(self, name)))
        sizes = {len(rate) for rate in (self.alpha, self.beta) if isinstance(rate, np.ndarray)}
        if len(sizes) > 1:
            raise DataError(
                f"alpha and beta have {len(self.alpha)} and {len(self.beta)} rows; "  # type: ignore[arg-type]
                "pass as many of both, or one number for all rows"
            )
        total = np.atleast_1d(self.alpha + self.beta)
        if total.max(initial=0) >= 1:
            raise DataError(
                f"alpha + beta must be less than 1, not {total.max():g}: such judgements say "
                "nothing of the truth, or its opposite; correct the rates, or leave those rows out"
            )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NoiseRates)
            and np.array_equal(self.alpha, other.alpha)
            and np.array_equal(self.beta, other.beta)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_none(self) -> bool:
        """Whether every judgement is right."""
        return not (np.any(self.alpha) or np.any(self.beta))

    @property
    def is_uniform(self) -> bool:
        """Whether all rows have the same rates."""
        return all(np.unique(rate).size <= 1 for rate in (self.alpha, self.beta))

    @property
    def kept(self) -> Any:
        """1 - alpha - beta, what a judgement keeps of the truth: a number, or (n,)."""
        return 1 - self.alpha - self.beta

    def weights(self) -> Any:
        """The weights m = 1 / (1 - alpha - beta) of Algorithms 4.3 and 4.4: a number, or (n,)."""
        return 1 / self.kept

    def of_rows(self, rows: Any) -> NoiseRates:
        """The rates of some rows: indices, a slice or a mask."""
        return NoiseRates(_taken(self.alpha, rows), _taken(self.beta, rows))

    def check_rows(self, n_rows: int) -> NoiseRates:
        """These rates, if there is one for all rows or one for each."""
        for name in ("alpha", "beta"):
            rate = getattr(self, name)
            if isinstance(rate, np.ndarray) and len(rate) != n_rows:
                raise DataError(
                    f"{name} has {len(rate)} rates but there are {n_rows} rows; "
                    "pass one per row, or one number for all"
                )
        return self

    def shifted_targets(self, judged: Any) -> np.ndarray:
        """The targets t = (v~ - beta) / (1 - alpha - beta), (n,), whose mean over v~ is v."""
        targets: np.ndarray = (np.asarray(judged, dtype=np.float64) - self.beta) / self.kept
        return targets

    def judged_right(self, confidence: Any) -> np.ndarray:
        """Probability q = beta + (1 - alpha - beta) c, (n,), that a prediction is judged right."""
        probability: np.ndarray = self.beta + self.kept * np.asarray(confidence, dtype=np.float64)
        return probability


NO_NOISE = NoiseRates()


def unbiased(
    loss_if_wrong: np.ndarray, loss_if_right: np.ndarray, judged: np.ndarray, noise: NoiseRates
) -> np.ndarray:
    """The surrogate of any loss, equation 4.2: its mean over v~ is the loss under v."""
    wrong = (1 - noise.alpha) * loss_if_wrong - noise.beta * loss_if_right
    right = (1 - noise.beta) * loss_if_right - noise.alpha * loss_if_wrong
    surrogate: np.ndarray = noise.weights() * np.where(judged, right, wrong)
    return surrogate


def surrogate_squared(confidence: np.ndarray, judged: np.ndarray, noise: NoiseRates) -> np.ndarray:
    """Equation 4.3, with its constant M: (n,)."""
    t = noise.shifted_targets(judged)
    loss: np.ndarray = (confidence - t) ** 2 + t - t**2
    return loss


def surrogate_kl(score: np.ndarray, judged: np.ndarray, noise: NoiseRates) -> np.ndarray:
    """Equation 4.5, of log-odds: (n,). Unbounded below where t lies outside [0, 1]."""
    loss: np.ndarray = np.logaddexp(0, score) - noise.shifted_targets(judged) * score
    return loss


def pull_back(
    score: np.ndarray, noise: NoiseRates, limit: float = SCORE_LIMIT
) -> tuple[np.ndarray, np.ndarray]:
    """What is added to the surrogate of KL beyond the limit, and its derivative: (n,) each.

    (m - 1) / 2 times the squared distance. A target pushes outwards by m - 1 at most, so that no
    mean of them comes to rest farther than one beyond the limit; without noise nothing is added.
    """
    strength = noise.weights() - 1
    beyond = score - np.clip(score, -limit, limit)
    return strength * beyond**2 / 2, strength * beyond


def surrogate_kl_derivatives(
    score: np.ndarray, judged: np.ndarray, noise: NoiseRates, limit: float = SCORE_LIMIT
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient c - t (equation 4.6) with ``pull_back``, and the curvature for leaves, (n,) each.

    The curvature is c (1 - c) (equation 4.7), and at least m - 1 times ``LEAST_CURVATURE``.
    """
    c = expit(score)
    excess = noise.weights() - 1
    _, inwards = pull_back(score, noise, limit)
    curvature = np.maximum(c * (1 - c), LEAST_CURVATURE * excess)
    curvature = curvature + excess * (np.abs(score) > limit)
    return c - noise.shifted_targets(judged) + inwards, curvature


def noisy_likelihood(score: np.ndarray, judged: np.ndarray, noise: NoiseRates) -> np.ndarray:
    """-[v~ log q + (1 - v~) log(1 - q)] of log-odds, (n,): bounded below by 0."""
    _, _, q, not_q = _probabilities(score, noise)
    loss: np.ndarray = -xlogy(judged, q) - xlogy(1 - np.asarray(judged, dtype=np.float64), not_q)
    return loss


def noisy_likelihood_derivatives(
    score: np.ndarray, judged: np.ndarray, noise: NoiseRates, limit: float = np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Fisher information of the likelihood by the log-odds, (n,) each.

    Both are those of the surrogate of KL times (1 - alpha - beta)^2 c (1 - c) / (q (1 - q)), the
    part that noise leaves of what a judgement tells; in the curvature at least
    ``LEAST_CURVATURE``. So the curvature is positive wherever c (1 - c) is.

    The likelihood has a least value, but may reach it at infinity only: beyond ``limit``, c (1 - c)
    times the distance is added to the gradient, more than judgements push by one farther out.
    """
    c, not_c, q, not_q = _probabilities(score, noise)
    ratio = (c / q) * (not_c / not_q)  # finite where c or 1 - c is tiny
    inwards = c * not_c * (score - np.clip(score, -limit, limit))
    gradient = noise.kept * (q - judged) * ratio + inwards
    return gradient, c * not_c * np.maximum(noise.kept**2 * ratio, LEAST_CURVATURE)


def mean_noisy_likelihood(
    confidence: Any, judged: Any, noise: NoiseRates, sample_weight: Any = None
) -> float:
    """How badly confidences (n,) explain noisy judgements: what to compare calibrators by.

    Least, in the mean, for the true confidences (a proper score), whatever loss they were
    fitted by; infinite where what was held for impossible was judged so.

    >>> round(mean_noisy_likelihood([1.0, 0.5], [1, 0], NoiseRates(0.2)), 4)
    0.367
    """
    q = noise.judged_right(confidence)
    v = np.asarray(judged, dtype=np.float64)
    return float(np.average(-xlogy(v, q) - xlogy(1 - v, 1 - q), weights=sample_weight))


def _probabilities(
    score: np.ndarray, noise: NoiseRates
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of being right, wrong, judged right, judged wrong, (n,) each, and none by subtraction."""
    score = np.clip(score, -FARTHEST, FARTHEST)
    c, not_c = expit(score), expit(-score)
    return c, not_c, noise.beta + noise.kept * c, noise.alpha + noise.kept * not_c
