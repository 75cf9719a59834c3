"""Noise rates that nobody told us (thesis, section 4.11, last item): what can be known of them.

Judgements show q = P(judged right | features) = beta + (1 - alpha - beta) c and nothing else. For
every alpha' <= 1 - max q and beta' <= min q there is a confidence c' in [0, 1] that gives the same
q: from noisy judgements alone, a calibrator that may take any shape cannot tell these rates apart,
however many rows there are. What can be done:

``noise_bounds``
    alpha <= 1 - max q and beta <= min q. Near the truth only where some predictions are surely
    right, and some surely wrong.
``anchored_rates``
    Where it is known which ones are: the shares of them that are judged otherwise.
``grid_searched_rates``
    The thesis's idea: fit robust calibrators under many rates, and compare them on noisy rows kept
    apart. For flexible calibrators all rates within the bounds do equally well, and the answer says
    so. Calibrators of one shape, such as a sigmoid that reaches 0 and 1, tell the rates apart; but
    where the truth has another shape, they do so wrongly, and nothing in the data shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy
from scipy.stats import beta as beta_distribution

from setwise.calibration.noise import NoiseRates
from setwise.errors import DataError

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class NoiseBounds:
    """The most that the rates can be; ``confidence`` is None for a mere plug-in."""

    alpha: float
    beta: float
    confidence: float | None


@dataclass(frozen=True)
class RateEstimate:
    """A rate, and the interval (Clopper and Pearson) in which it lies; NaN where no row tells."""

    rate: float
    low: float
    high: float
    n_rows: int


@dataclass(frozen=True)
class AnchoredRates:
    """Both rates, from predictions whose correctness is known."""

    alpha: RateEstimate
    beta: RateEstimate

    def noise(self) -> NoiseRates:
        """The rates as calibrators take them."""
        for name in ("alpha", "beta"):
            if not getattr(self, name).n_rows:
                known = "right" if name == "alpha" else "wrong"
                raise DataError(
                    f"no prediction is surely {known}, so {name} is unknown; "
                    f"mark some, or pass NoiseRates with a {name} that you believe in"
                )
        return NoiseRates(self.alpha.rate, self.beta.rate)


@dataclass(frozen=True, eq=False)
class RateSearch:
    """How well calibrators fitted under each pair of rates do on noisy rows kept apart.

    Attributes
    ----------
    alpha, beta, loss : (g,) the pairs, and their mean loss
    flat : (g,) bool, which pairs cannot be told from the best one
    best : the pair of the least loss; of equals, that of the least rates
    identified : whether what is flat is narrow: if not, ``best`` means nothing
    """

    alpha: np.ndarray
    beta: np.ndarray
    loss: np.ndarray
    flat: np.ndarray
    best: NoiseRates
    identified: bool

    def ranges(self) -> dict[str, tuple[float, float]]:
        """The least and the greatest of each rate that is not told from the best."""
        return {
            name: (float(rates[self.flat].min()), float(rates[self.flat].max()))
            for name, rates in (("alpha", self.alpha), ("beta", self.beta))
        }


def noise_bounds(
    judged_right: Any,
    judged: Any = None,
    *,
    share: float = 0.01,
    confidence: float = 0.95,
) -> NoiseBounds:
    """The most that alpha and beta can be, from what a plain calibrator says.

    Parameters
    ----------
    judged_right : (n,)
        Probability that each prediction is judged right, by a calibrator fitted to noisy judgements
        as they are, on other rows.
    judged : (n,), optional
        The noisy judgements of these rows. With them the bounds hold with probability
        ``confidence``, whatever the calibrator is worth: rows are ranked by it, and judgements of
        the top and bottom ``SHARES`` are counted. Without them, the means of the top and bottom
        ``share`` stand for the maximum and the minimum: no promise.

    Where rates differ among rows, the bounds are on their means over the rows at either end.

    >>> noise_bounds([0.1, 0.5, 0.8])
    NoiseBounds(alpha=0.2, beta=0.1, confidence=None)
    """
    p = _probabilities("judged_right", judged_right)
    order = np.argsort(p, kind="stable")
    if judged is None:
        size = _size(share, len(p))
        top, bottom = float(p[order[-size:]].mean()), float(p[order[:size]].mean())
        return NoiseBounds(round(1 - top, 12), bottom, None)
    v = _judgements(judged, len(p))[order]
    sizes = sorted({_size(part, len(p)) for part in SHARES})
    # Two sides and several shares are tried: each may be wrong so rarely that all hold.
    risk = (1 - confidence) / (2 * len(sizes))
    tops = [exact_interval(v[-size:].sum(), size, 2 * risk)[0] for size in sizes]
    bottoms = [exact_interval(v[:size].sum(), size, 2 * risk)[1] for size in sizes]
    return NoiseBounds(1 - max(tops), min(bottoms), confidence)


def anchored_rates(
    judged: Any, surely_right: Any, surely_wrong: Any, *, confidence: float = 0.95
) -> AnchoredRates:
    """Rates from anchors: predictions (n,) known to be right, or wrong, whatever was judged.

    Anchors must not be chosen by their judgements: those that were judged again because they
    looked wrong show too much noise.

    >>> found = anchored_rates([1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1])
    >>> found.alpha.rate, found.beta.rate
    (0.25, 0.0)
    """
    v = np.asarray(judged)
    v = _judgements(v, len(v))
    right, wrong = (_mask(mask, len(v)) for mask in (surely_right, surely_wrong))
    if (right & wrong).any():
        row = int((right & wrong).argmax())
        raise DataError(f"row {row} is both surely right and surely wrong; correct the masks")
    return AnchoredRates(
        _estimate(len(v[right]) - v[right].sum(), int(right.sum()), confidence),
        _estimate(v[wrong].sum(), int(wrong.sum()), confidence),
    )


def grid_searched_rates(
    calibrate: Callable[[NoiseRates], Any],
    judged: Any,
    *,
    alphas: Sequence[float],
    betas: Sequence[float] = (0.0,),
    criterion: str = "likelihood",
    errors: float = 2.0,
    width: float = 0.1,
) -> RateSearch:
    """Calibrators under each pair of rates, compared on noisy rows kept apart.

    Parameters
    ----------
    calibrate : function of NoiseRates
        Fits a robust calibrator under these rates, and returns its confidences (n,) on the rows
        kept apart.
    judged : (n,) their noisy judgements
    alphas, betas : the grid; pairs that sum to one or more are left out
    criterion : "likelihood" or "accuracy"
        Of the judgements under q; or, as the thesis proposes, how often confidence above one half
        agrees with them. The latter favours alpha = beta, and misleads where the rates differ.
    errors : a pair is told from the best one by so many standard errors of their difference
    width : the rates are identified if what is flat spans no more of either
    """
    if criterion not in ("likelihood", "accuracy"):
        raise DataError(f'criterion must be "likelihood" or "accuracy", not {criterion!r}')
    pairs = np.array([(a, b) for a in alphas for b in betas if a + b < 1]).reshape(-1, 2)
    if len(pairs) < 2:
        raise DataError("a search needs at least two pairs of rates that sum to less than one")
    v = np.asarray(judged)
    v = _judgements(v, len(v))
    losses = np.array([_losses(calibrate(NoiseRates(a, b)), v, a, b, criterion) for a, b in pairs])
    mean = losses.mean(axis=1)  # (g,)
    # Of pairs that are equal but for rounding, the one of the least rates.
    best = np.flatnonzero(mean <= mean.min() + 1e-9)
    best = best[pairs[best].sum(axis=1).argmin()]
    worse = losses - losses[best]  # (g, n)
    error = worse.std(axis=1) / np.sqrt(len(v))
    flat = worse.mean(axis=1) <= errors * error + 1e-9
    narrow = np.ptp(pairs[flat], axis=0).max() <= width + 1e-9
    alpha, beta = pairs.T
    return RateSearch(alpha, beta, mean, flat, NoiseRates(*pairs[best]), bool(narrow))


def exact_interval(count: float, total: int, risk: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a probability; each side fails with ``risk`` / 2.

    >>> low, high = exact_interval(0, 10, 0.05)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    low = beta_distribution.ppf(risk / 2, count, total - count + 1) if count > 0 else 0.0
    high = beta_distribution.ppf(1 - risk / 2, count + 1, total - count) if count < total else 1.0
    return float(low), float(high)


def _losses(confidence: Any, v: np.ndarray, alpha: float, beta: float, criterion: str) -> Any:
    c = _probabilities("confidence", confidence)
    if len(c) != len(v):
        raise DataError(f"calibrate returned {len(c)} confidences for {len(v)} judgements")
    if criterion == "accuracy":
        return ((c > 0.5) != v).astype(np.float64)
    q = NoiseRates(alpha, beta).judged_right(c)
    return -xlogy(v, q) - xlogy(1 - v, 1 - q)


def _estimate(count: float, total: int, confidence: float) -> RateEstimate:
    low, high = exact_interval(count, total, 1 - confidence) if total else (0.0, 1.0)
    return RateEstimate(float(count) / total if total else float("nan"), low, high, total)


def _size(share: float, n_rows: int) -> int:
    return max(1, round(share * n_rows))


def _probabilities(name: str, values: Any) -> np.ndarray:
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise DataError(f"{name} must hold a probability for each of one or more rows; correct it")
    return p


def _judgements(judged: Any, n_rows: int) -> np.ndarray:
    v = np.asarray(judged, dtype=np.float64)
    if v.shape != (n_rows,) or not n_rows or not np.isin(v, (0, 1)).all():
        raise DataError(f"expected a judgement, 0 or 1, for each of {n_rows} rows; correct them")
    return v


def _mask(mask: Any, n_rows: int) -> np.ndarray:
    chosen = np.asarray(mask)
    if chosen.shape != (n_rows,):
        raise DataError(f"anchors must be marked for each of {n_rows} rows, got {chosen.shape}")
    return chosen.astype(bool)
