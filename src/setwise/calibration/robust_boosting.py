"""Boosted trees that calibrate from noisy judgements (thesis, section 4.10.4, Algorithms 4.3, 4.4).

Trees are fitted to the negative gradients of a loss of ``setwise.calibration.noise``. With Newton
steps both algorithms are the same: the weights m of Algorithm 4.4 cancel. With ``newton=False``, a
tree of objective "kl" is the least-squares fit, with weights m relative to their mean, to what the
gradients leave without m: for uniform rates Algorithm 4.3, else Algorithm 4.4 with its shrinkage
times the mean of m.

Trees that follow noise too far are too low in the mean: where judgements are better than their
rates allow, confidence stops at 1, and nothing makes up for those that are worse. So ``fit`` ends
with ``recentre``, which moves all log-odds by one number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit, logit

from setwise.calibration.noise import (
    NO_NOISE,
    SCORE_LIMIT,
    NoiseRates,
    mean_noisy_likelihood,
    noisy_likelihood_derivatives,
    surrogate_kl_derivatives,
)
from setwise.errors import DataError
from setwise.learners.bank_inputs import check_targets, check_weights
from setwise.learners.boosted import Derivatives
from setwise.learners.boosted_trees import TreeSettings
from setwise.learners.boosting import BoostedBank, kl_derivatives, squared_derivatives
from setwise.storage import storable

OBJECTIVES = ("likelihood", "kl", "squared")

FARTHEST_MOVE = 1.0  # of log-odds, by ``recentre``


@storable
class RobustBank(BoostedBank):
    """Boosted trees for one target, judged with known error rates.

    Parameters are those of ``BoostedBank``, and:

    Parameters
    ----------
    objective : "likelihood", "kl" or "squared"
        The likelihood of the judgements, the surrogate of KL, or squared error on shifted targets.
        The first is the stable one. Where judgements are better than their rates allow, log-odds
        run towards infinity, above all those of the second: beyond ``score_limit`` they are pulled
        back. Values of the third may leave [0, 1], and are clipped.
    random_splits : bool
        Look at one threshold a feature, drawn at random, instead of all: trees differ more, and
        where rows are few their sum over-fits less.
    score_limit : float
        Log-odds learnt under noise are clipped this far from 0: 8 is a confidence of 0.9997.

    Without noise all is as in ``BoostedBank``, without any limit; "likelihood" is then "kl".

    Attributes
    ----------
    Those of ``BoostedBank``; bounded_ : bool, whether log-odds are clipped, as there was noise;
    offset_ : float, by which ``recentre`` moved them.

    Examples
    --------
    >>> X, judged = np.zeros((100, 1)), np.arange(100) < 40
    >>> bank = RobustBank(n_trees=10).fit(X, judged, noise=NoiseRates(alpha=0.5))
    >>> bank.confidence([[0.0]]).round(2).tolist()
    [0.8]
    """

    bounded_: bool
    offset_: float

    def __init__(
        self,
        n_trees: int = 100,
        *,
        objective: str = "likelihood",
        score_limit: float = SCORE_LIMIT,
        random_splits: bool = False,
        n_leaves: int = 5,
        shrinkage: float = 0.1,
        min_rows_in_leaf: int = 20,
        monotone: Any = None,
        newton: bool = True,
        max_bins: int = 31,
        quantized: bool = False,
        warm_start: bool = False,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_trees,
            objective=objective,
            n_leaves=n_leaves,
            shrinkage=shrinkage,
            min_rows_in_leaf=min_rows_in_leaf,
            monotone=monotone,
            newton=newton,
            max_bins=max_bins,
            quantized=quantized,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.score_limit = score_limit
        self.random_splits = random_splits
        self._told = self._noise = NO_NOISE  # what ``fit`` was told, and of the rows that count

    def fit(
        self, X: Any, T: Any, sample_weight: Any = None, *, noise: NoiseRates = NO_NOISE
    ) -> Self:
        """Learn from X (n, d), or ``BinnedRows``, judgements T (n,), weights and noise rates."""
        self._told = noise
        try:
            super().fit(X, T, sample_weight)
        finally:
            self._told = NO_NOISE
        return self.recentre(X, T, sample_weight, noise=noise) if self.bounded_ else self

    def add_trees(
        self,
        X: Any,
        T: Any,
        sample_weight: Any = None,
        n_trees: int = 1,
        *,
        noise: NoiseRates | None = None,
    ) -> Self:
        """``n_trees`` more rounds, under noise of these rates: none if they are not given.

        What ``recentre`` did is undone: call it again after the last round.
        """
        noise = self._told if noise is None else noise
        n_rows = np.shape(T)[0]
        # Rows without weight are left out of a round, and their rates with them.
        counted = check_weights(sample_weight, n_rows, 1)[:, 0] > 0
        self._noise = noise.check_rows(n_rows).of_rows(counted)
        grown = hasattr(self, "base_") and getattr(self, "bounded_", False)
        try:
            super().add_trees(X, T, sample_weight, n_trees)
            self.bounded_, self.offset_ = grown or not self._noise.is_none, 0.0
        finally:
            self._noise = NO_NOISE
        return self

    def truncate(self, n_rounds: int) -> Self:
        """Only the first ``n_rounds`` trees, and ``recentre`` undone where any are forgotten."""
        if n_rounds != getattr(self, "n_rounds_", n_rounds):
            self.offset_ = 0.0
        return super().truncate(n_rounds)

    def recentre(
        self, X: Any, judged: Any, sample_weight: Any = None, *, noise: NoiseRates = NO_NOISE
    ) -> Self:
        """Move all log-odds by one number, so that mean confidence is the mean shifted target.

        By ``FARTHEST_MOVE`` at most: it corrects trees, and does not replace them.
        """
        log_odds = self._unbounded(X)[:, 0]
        n_rows = len(log_odds)
        v = self._check_targets(judged, n_rows, 1)[:, 0]
        weight = check_weights(sample_weight, n_rows, 1)[:, 0]
        mean = np.average(noise.check_rows(n_rows).shifted_targets(v), weights=weight)

        def excess(offset: float) -> float:
            moved = np.clip(log_odds + offset, -self.score_limit, self.score_limit)
            return float(np.average(expit(moved), weights=weight) - mean)

        if excess(-FARTHEST_MOVE) >= 0:
            self.offset_ = -FARTHEST_MOVE
        elif excess(FARTHEST_MOVE) <= 0:
            self.offset_ = FARTHEST_MOVE
        else:
            self.offset_ = float(brentq(excess, -FARTHEST_MOVE, FARTHEST_MOVE))
        return self

    def logits(self, X: Any) -> np.ndarray:
        """Log-odds, (n, 1); no farther from 0 than ``score_limit`` if there was noise."""
        log_odds = self._unbounded(X) + getattr(self, "offset_", 0.0)
        if getattr(self, "bounded_", False):
            log_odds = np.clip(log_odds, -self.score_limit, self.score_limit)
        return log_odds

    def confidence(self, X: Any) -> np.ndarray:
        """How likely each row is truly right, (n,)."""
        probability: np.ndarray = expit(self.logits(X)[:, 0])
        return probability

    def loss(
        self, X: Any, judged: Any, sample_weight: Any = None, *, noise: NoiseRates = NO_NOISE
    ) -> float:
        """Mean loss of the likelihood on rows kept apart: what to stop early by.

        The same for all objectives: the surrogates have no least value on a finite sample.
        """
        return mean_noisy_likelihood(self.confidence(X), judged, noise, sample_weight)

    def _unbounded(self, X: Any) -> np.ndarray:
        return super().logits(X) if self.objective == "squared" else self.scores(X)

    @property
    def _in_log_odds(self) -> bool:
        return False  # right candidates are never so rare; under noise ``score_limit`` bounds them

    def _settings(self) -> TreeSettings:
        return replace(super()._settings(), random_splits=self.random_splits)

    def _check_targets(self, T: Any, n_rows: int, n_targets: int | None) -> np.ndarray:
        if self.objective not in OBJECTIVES:
            raise DataError(f"objective must be one of {OBJECTIVES}, not {self.objective!r}")
        if not 0 < self.score_limit < np.inf:
            raise DataError(f"score_limit must be positive and finite, not {self.score_limit!r}")
        T = np.asarray(T.toarray() if sparse.issparse(T) else T, dtype=np.float64)
        if T.size != n_rows:
            raise DataError(f"expected one judgement for each of {n_rows} rows, got {T.shape}")
        checked: np.ndarray = check_targets(T.reshape(n_rows, 1), n_rows, n_targets)
        return checked

    def _with_finite_optimum(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        T = super()._with_finite_optimum(T, weight)
        return self._shifted(T) if self.objective == "squared" else T

    def _start(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if self.objective == "squared" or self._noise.is_none:
            return super()._start(T, weight)
        mean = np.average(self._shifted(T), axis=0, weights=weight[:, 0])
        start: np.ndarray = logit(np.clip(mean, *expit([-self.score_limit, self.score_limit])))
        return start

    def _shifted(self, T: np.ndarray) -> np.ndarray:
        return self._noise.shifted_targets(T[:, 0])[:, None]

    def _derivatives(self, scores: np.ndarray, T: np.ndarray, group: slice) -> Derivatives:
        if self.objective == "squared":
            return squared_derivatives(scores, T)
        if self._noise.is_none:
            return kl_derivatives(scores, T)
        score, judged = scores[:, 0], T[:, 0]
        derivatives = (
            surrogate_kl_derivatives if self.objective == "kl" else noisy_likelihood_derivatives
        )
        first, second = derivatives(score, judged, self._noise, self.score_limit)
        return first[:, None], second[:, None]

    def _weighted_derivatives(
        self, scores: np.ndarray, group: slice, T: np.ndarray, weight: np.ndarray
    ) -> Derivatives:
        first, second = super()._weighted_derivatives(scores, group, T, weight)
        if self.objective == "kl" and not self.newton and not self._noise.is_uniform:
            m = self._noise.weights()
            second = second * (m / np.average(m, weights=weight[:, 0]))[:, None]
        return first, second
