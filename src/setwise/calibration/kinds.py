"""Kinds of calibrators: from the features of a set to the probability that it is right.

Li 2019, sections 4.4 to 4.6: the rows of Table 4.1. All learn from candidates whose features come
from a model that has not seen them, and from whether they turned out right; a part of the rows is
kept apart, on which those that must stop at some point do so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit

from setwise.calibration.features import LEAST_SCORE, NUMBERS, CandidateFeatures
from setwise.calibration.noise import NoiseRates, mean_noisy_likelihood
from setwise.calibration.robust_boosting import OBJECTIVES, RobustBank
from setwise.calibration.robust_isotonic import RobustIsotonic, robust_accuracy
from setwise.errors import DataError
from setwise.learners.boosted_trees import BinnedRows
from setwise.storage import storable

MOST_TREES = 1000
TREES_AT_A_TIME = 10
PATIENCE = 3  # additions of trees that may be in vain
LEAVES_OF_ONE_TREE = (2, 4, 8, 16, 32, 64, 128, 256)
MOST_LOG_ODDS = 30.0  # beyond which losses are not told apart
FEWEST_OF_A_SIZE = 30  # candidates of one size that have a curve of their own


@dataclass(frozen=True, eq=False)
class Judged:
    """Candidates with what is known of them: how right they are, what they count, and how noisy."""

    features: CandidateFeatures
    correct: np.ndarray  # (m,) 0 or 1, or an F1
    weight: np.ndarray  # (m,)
    noise: NoiseRates

    @property
    def counted(self) -> np.ndarray:
        """The weights, or ones where none is over zero, so that a mean exists."""
        return self.weight if self.weight.any() else np.ones_like(self.weight)

    def taken(self, which: np.ndarray) -> Judged:
        """Some of the candidates, by rising numbers."""
        return Judged(
            self.features.taken(which),
            self.correct[which],
            self.weight[which],
            self.noise.of_rows(which),
        )


class Kind(ABC):
    """A calibrator of one kind."""

    @abstractmethod
    def fit(self, judged: Judged, apart: Judged) -> Self:
        """Learn from judged candidates; those kept ``apart`` may say when to stop."""

    @abstractmethod
    def confidence(self, features: CandidateFeatures) -> np.ndarray:
        """How likely each candidate is right, in [0, 1], (m,)."""


@storable
class Uncalibrated(Kind):
    """The probability that the model itself gives to the set."""

    def fit(self, judged: Judged, apart: Judged) -> Self:
        """Nothing to learn."""
        return self

    def confidence(self, features: CandidateFeatures) -> np.ndarray:
        """exp(score)."""
        return np.asarray(np.exp(np.minimum(features.score, 0)))


@storable
class Constant(Kind):
    """The share of sets that were right, whatever the set: aligned, and of no use alone."""

    share_: float

    def fit(self, judged: Judged, apart: Judged) -> Self:
        """Learn the share."""
        self.share_ = robust_accuracy(judged.correct, judged.weight, noise=judged.noise)
        return self

    def confidence(self, features: CandidateFeatures) -> np.ndarray:
        """The same for all."""
        return np.full(len(features.score), self.share_)


@storable
class RisingCurve(Kind):
    """Isotonic regression on the model's score."""

    curve_: RobustIsotonic

    def fit(self, judged: Judged, apart: Judged) -> Self:
        """Learn the curve."""
        self.curve_ = _curve(judged)
        return self

    def confidence(self, features: CandidateFeatures) -> np.ndarray:
        """The curve's value at the score."""
        return self.curve_.predict(_finite(features.score))


@storable
class CurveBySize(Kind):
    """Isotonic regression on the score, one for each number of labels.

    Sizes with too few candidates for a curve of their own share one, and so do sizes that were
    never seen; sets of any size of which none was ever right are so judged by their own curve.
    """

    sizes_: np.ndarray
    curves_: list[RobustIsotonic]

    def fit(self, judged: Judged, apart: Judged) -> Self:
        """Learn a curve for each size that is common enough, and one for all others."""
        size = judged.features.size
        count = np.bincount(size[judged.weight > 0])
        self.sizes_ = np.flatnonzero(count >= FEWEST_OF_A_SIZE)
        rest = np.flatnonzero(~np.isin(size, self.sizes_) & (judged.weight > 0))
        groups = [np.flatnonzero(size == s) for s in self.sizes_]
        groups.append(rest if len(rest) >= FEWEST_OF_A_SIZE else np.arange(len(size)))
        self.curves_ = [_curve(judged.taken(group)) for group in groups]
        return self

    def confidence(self, features: CandidateFeatures) -> np.ndarray:
        """The value of the size's own curve at the score."""
        which = np.searchsorted(self.sizes_, features.size)
        known = np.isin(features.size, self.sizes_)
        confidence = np.empty(len(known))
        for number, curve in enumerate(self.curves_):
            own = known & (which == number) if number < len(self.sizes_) else ~known
            confidence[own] = curve.predict(_finite(features.score[own]))
        return confidence


@storable
class OneTree(Kind):
    """One regression tree on all features; its number of leaves is chosen on the rows apart.

    Parameters
    ----------
    names : tuple of str
        The features before the label indicators, see ``features.NUMBERS``.
    monotone : bool
        Whether confidence must rise with the features it should rise with.
    """

    bank_: RobustBank

    def __init__(self, names: tuple[str, ...] = (), monotone: bool = False) -> None:
        self.names = names
        self.monotone = monotone

    def fit(self, judged: Judged, apart: Judged) -> Self:
        """Grow trees of several sizes and keep the best."""
        X, rows = judged.features.matrix(self.names), apart.features.matrix(self.names)
        binned = BinnedRows(X, max_bins=255)
        best = np.inf
        for n_leaves in LEAVES_OF_ONE_TREE:
            bank = _bank(self, judged, n_leaves=n_leaves, shrinkage=1.0, min_rows_in_leaf=5)
            bank.n_trees = 1
            bank.fit(binned, judged.correct, judged.weight, noise=judged.noise)
            loss = squared_loss(bank.scores(rows)[:, 0], apart)
            if loss < best:
                best, self.bank_ = loss, bank
            bank.let_go()
        return self

    def confidence(self, features: CandidateFeatures) -> np.ndarray:
        """The value of the leaf."""
        return clipped(self.bank_.scores(features.matrix(self.names))[:, 0])


@storable
class BoostedTrees(Kind):
    """Gradient-boosted trees on all features (Algorithm 4.1; under noise 4.3 and 4.4).

    Parameters
    ----------
    names, monotone
        As for ``OneTree``.
    objective : "squared", "kl" or "likelihood"
        Squared error with the score clipped, or log-odds by KL; under noise see ``RobustBank``.
    n_leaves, shrinkage, min_rows_in_leaf
        Of the trees. How many there are is found on the rows apart.
    random_splits : bool
        Thresholds drawn at random: of a model's own predictions, on held-out training rows of
        bibtex, enron and rcv1sub1, the squared error was 2% to 4% lower than with the best ones;
        over all candidates up to 2%, on rcv1sub1 no lower.
    n_boosters : int
        Boosters whose confidence is averaged; they differ in nothing but random splits.
    """

    banks_: list[RobustBank]

    def __init__(
        self,
        names: tuple[str, ...] = (),
        monotone: bool = False,
        objective: str = "squared",
        n_leaves: int = 16,
        shrinkage: float = 0.1,
        min_rows_in_leaf: int = 5,
        random_splits: bool = True,
        random_state: int | None = 0,
        n_boosters: int = 1,
    ) -> None:
        self.names = names
        self.monotone = monotone
        self.objective = objective
        self.n_leaves = n_leaves
        self.shrinkage = shrinkage
        self.min_rows_in_leaf = min_rows_in_leaf
        self.random_splits = random_splits
        self.random_state = random_state
        self.n_boosters = n_boosters

    def fit(self, judged: Judged, apart: Judged) -> Self:
        """Grow each booster."""
        binned = BinnedRows(judged.features.matrix(self.names), max_bins=255)
        rows = apart.features.matrix(self.names)
        first = self.random_state or 0
        seeds = range(first, first + self.n_boosters)
        self.banks_ = [self._grown(judged, binned, apart, rows, seed) for seed in seeds]
        return self

    def _grown(
        self, judged: Judged, binned: BinnedRows, apart: Judged, rows: Any, seed: int
    ) -> RobustBank:
        """Add trees as long as the rows apart gain by it."""
        bank = _bank(
            self,
            judged,
            objective=self.objective,
            n_leaves=self.n_leaves,
            shrinkage=self.shrinkage,
            min_rows_in_leaf=self.min_rows_in_leaf,
            random_splits=self.random_splits,
            random_state=seed,
        )
        scores, best, best_rounds = np.zeros(len(apart.correct)), np.inf, 0
        for rounds in range(TREES_AT_A_TIME, MOST_TREES + 1, TREES_AT_A_TIME):
            bank.add_trees(
                binned, judged.correct, judged.weight, TREES_AT_A_TIME, noise=judged.noise
            )
            scores += bank.newest_scores(rows)[:, 0]
            loss = self._loss(bank.base_[0] + scores, apart)
            if loss < best:
                best, best_rounds = loss, rounds
            elif rounds - best_rounds >= PATIENCE * TREES_AT_A_TIME:
                break
        bank.truncate(best_rounds)
        if self.objective != "squared" and not judged.noise.is_none:
            bank.recentre(binned, judged.correct, judged.weight, noise=judged.noise)
        return bank.let_go()

    def confidence(self, features: CandidateFeatures) -> np.ndarray:
        """What the trees say, as a probability: the mean over all boosters."""
        X = features.matrix(self.names)
        return np.asarray(np.mean([self._said(bank, X) for bank in self.banks_], axis=0))

    def _said(self, bank: RobustBank, X: Any) -> np.ndarray:
        return clipped(bank.scores(X)[:, 0]) if self.objective == "squared" else bank.confidence(X)

    def _loss(self, scores: np.ndarray, apart: Judged) -> float:
        if self.objective == "squared":
            return squared_loss(scores, apart)
        confidence = expit(np.clip(scores, -MOST_LOG_ODDS, MOST_LOG_ODDS))
        return mean_noisy_likelihood(confidence, apart.correct, apart.noise, apart.counted)


def clipped(values: np.ndarray) -> np.ndarray:
    """Values as probabilities."""
    return np.asarray(np.clip(values, 0, 1))


def squared_loss(scores: np.ndarray, judged: Judged) -> float:
    """Mean squared error of clipped scores, in its form that sees through noise."""
    targets = judged.noise.shifted_targets(judged.correct)
    return float(np.average((clipped(scores) - targets) ** 2, weights=judged.counted))


def _bank(kind: Any, judged: Judged, objective: str = "squared", **settings: Any) -> RobustBank:
    signs = judged.features.signs(kind.names) if kind.monotone else None
    return RobustBank(objective=objective, monotone=signs, n_jobs=1, **settings)


def _curve(judged: Judged) -> RobustIsotonic:
    score = _finite(judged.features.score)
    return RobustIsotonic().fit(score, judged.correct, judged.weight, noise=judged.noise)


def _finite(score: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(score, LEAST_SCORE))


KINDS = ("boosting", "tree", "isotonic", "isotonic_by_size", "constant", "none")


def make_kind(
    kind: str,
    names: tuple[str, ...],
    monotone: bool,
    objective: str,
    random_state: int | None,
    n_boosters: int = 1,
) -> Kind:
    """A calibrator of that kind, not fitted."""
    unknown = [name for name in names if name not in NUMBERS]
    if unknown or not names:
        raise DataError(f"features are some of {', '.join(NUMBERS)}, not {unknown or names!r}")
    if objective not in OBJECTIVES:
        raise DataError(f"objective is one of {', '.join(OBJECTIVES)}, not {objective!r}")
    simple: dict[str, Callable[[], Kind]] = {
        "none": Uncalibrated,
        "constant": Constant,
        "isotonic": RisingCurve,
        "isotonic_by_size": CurveBySize,
    }
    if kind in simple:
        return simple[kind]()
    if kind == "tree":
        return OneTree(names, monotone)
    if kind == "boosting":
        return BoostedTrees(
            names, monotone, objective, random_state=random_state, n_boosters=n_boosters
        )
    raise DataError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
