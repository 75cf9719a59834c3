"""Gradient-boosted trees: a bank of binary targets and a softmax on soft targets, on LightGBM.

A round adds one tree for each target, fitted to the negative gradient of its loss (thesis,
sections 2.3.3 to 2.3.5, Algorithms 2.5 to 2.7). Trees are only ever added, so that generalised EM
can change targets and weights between rounds: new trees correct what the old ones say now.

Weights enter as in the papers: the gradient of a row, p - t, ignores its weight, and the tree is a
weighted least-squares fit to it. LightGBM fits -g / h by least squares weighted with h, so g and h
are both multiplied by the weight. With ``newton=False``, h is one and the fit is that of the
papers; with the default, h is the curvature p (1 - p), and leaves hold Newton steps.

Weights are relative: their mean over the rows that have any is made one, target by target. Rows of
weight zero for all targets are as if absent. A row that has weight for other targets only adds
nothing to the trees of this one, but is among the rows of which ``min_rows_in_leaf`` is a share.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit, log_softmax, logit, softmax

from setwise.errors import DataError
from setwise.learners.bank_inputs import (
    check_distributions,
    check_targets,
    check_values,
    is_constant,
    share_of_absent,
)
from setwise.learners.boosted import Boosted, Derivatives
from setwise.storage import storable

# Squared error gives values, not probabilities: as log-odds they are clipped this far inside.
EPSILON = 1e-6


def kl_derivatives(scores: np.ndarray, T: np.ndarray) -> Derivatives:
    """Of KL(t || sigmoid(score)), Algorithm 2.6: gradient and curvature, (n, L) each."""
    p = expit(scores)
    return p - T, p * (1 - p)


def squared_derivatives(scores: np.ndarray, T: np.ndarray) -> Derivatives:
    """Of (score - t)^2 / 2, Algorithm 2.5."""
    return scores - T, np.ones_like(scores)


def softmax_derivatives(scores: np.ndarray, T: np.ndarray, group: slice) -> Derivatives:
    """Of KL(t || softmax(scores)), Algorithm 2.7; the curvature with Friedman's K / (K - 1)."""
    p, K = softmax(scores, axis=1)[:, group], scores.shape[1]
    return p - T[:, group], K / max(K - 1, 1) * p * (1 - p)


@storable
class BoostedBank(Boosted):
    """L boosted ensembles on one X: log-odds of soft or hard targets, or values of any kind.

    Parameters
    ----------
    n_trees : int
        Trees per target that ``fit`` grows.
    objective : "kl" or "squared"
        Cross-entropy of targets in [0, 1] with log-odds as scores, or squared error of any values.
    n_leaves, shrinkage, min_rows_in_leaf
        Leaves of a tree, the factor of each, and the fewest rows a leaf may hold. LightGBM does not
        count rows: it takes a leaf's share of the curvature (and so of the weight) times n.
    monotone : sequence of -1, 0, 1, optional
        Per feature, whether scores must fall or rise with it, for all targets.
    newton : bool
        Leaves hold Newton steps, of 40 at most before they shrink; else gradient steps, as in the
        papers. The same under "squared", without a limit.
    max_bins : int
        Values of a feature that trees can tell apart. Trees of few leaves need few; 63 costs a
        quarter of the speed (``benchmarks/boosting.py``), and a single fine score may want 255.
    quantized : bool
        Choose splits by gradients rounded to 120 levels: a quarter faster, and as good where the
        weights are alike; not where they differ by orders of magnitude.
    warm_start : bool
        Whether ``fit`` adds its trees to those there are.
    random_state, n_jobs
        LightGBM's seed and threads (all cores by default).

    Bins are made from the rows that have weight, unless rows come as ``BinnedRows``.
    A target that is all 0 or all 1 is replaced by its smoothed mean, so that scores stay finite.

    Attributes
    ----------
    base_ : (L,) where scores start; n_rounds_ : int, trees per target;
    trees_ : LightGBM's own text, per stage and group of targets; a stage begins where ``n_jobs``
    changes the groups;
    sizes_ : per round, how many trees per target each of these texts had after it.

    Examples
    --------
    >>> X, t = np.arange(100.0)[:, None], np.repeat([0, 1], 50)
    >>> bank = BoostedBank(n_trees=10).fit(X, t)
    >>> bank.logits([[10.0], [90.0]]).round(1).ravel().tolist()
    [-1.5, 1.5]
    """

    _coupled: ClassVar[bool] = False

    def __init__(
        self,
        n_trees: int = 100,
        *,
        objective: str = "kl",
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
        self.objective = objective

    def logits(self, X: Any) -> np.ndarray:
        """Log-odds of each target, (n, L); values of "squared" are clipped to (0, 1) first."""
        scores = self.scores(X)
        if self.objective == "kl":
            return scores
        log_odds: np.ndarray = logit(np.clip(scores, EPSILON, 1 - EPSILON))
        return log_odds

    def _check_targets(self, T: Any, n_rows: int, n_targets: int | None) -> np.ndarray:
        if self.objective not in ("kl", "squared"):
            raise DataError(f'objective must be "kl" or "squared", not {self.objective!r}')
        check = check_targets if self.objective == "kl" else check_values
        T = check(T, n_rows, n_targets)
        dense: np.ndarray = T.toarray() if sparse.issparse(T) else T
        return dense

    def _with_finite_optimum(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if self.objective == "squared":
            return T
        positive, total = (weight * T).sum(axis=0), weight.sum(axis=0)
        return np.where(is_constant(positive, total), (positive + 0.5) / (total + 1), T)

    @property
    def _in_log_odds(self) -> bool:
        return self.objective == "kl"

    def _start(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        mean: np.ndarray = (weight * T).sum(axis=0) / weight.sum(axis=0)
        return mean if self.objective == "squared" else logit(mean)

    def _derivatives(self, scores: np.ndarray, T: np.ndarray, group: slice) -> Derivatives:
        derivatives = kl_derivatives if self.objective == "kl" else squared_derivatives
        return derivatives(scores[:, group], T[:, group])


@storable
class BoostedSoftmax(Boosted):
    """K boosted ensembles under one softmax, on distributions T (n, K).

    Parameters and attributes are those of ``BoostedBank``, without ``objective``. A class without
    mass gets the target of half a row, spread over all rows.

    Examples
    --------
    >>> X, T = np.arange(90.0)[:, None], np.repeat(np.eye(3), 30, axis=0)
    >>> gate = BoostedSoftmax(n_trees=10).fit(X, T)
    >>> np.exp(gate.log_proba([[10.0]])).round(2).tolist()
    [[0.78, 0.11, 0.11]]
    """

    _coupled: ClassVar[bool] = True

    def log_proba(self, X: Any) -> np.ndarray:
        """Log-probability of each class, (n, K)."""
        log_p: np.ndarray = log_softmax(self.scores(X), axis=1)
        return log_p

    def _check_targets(self, T: Any, n_rows: int, n_targets: int | None) -> np.ndarray:
        return check_distributions(T, n_rows, n_targets)

    def _with_finite_optimum(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        share = share_of_absent((weight * T).sum(axis=0))
        spread: np.ndarray = T * (1 - share.sum()) + share
        return spread

    def _start(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        start: np.ndarray = np.log((weight * T).sum(axis=0) / weight.sum(axis=0))
        return start

    def _derivatives(self, scores: np.ndarray, T: np.ndarray, group: slice) -> Derivatives:
        return softmax_derivatives(scores, T, group)
