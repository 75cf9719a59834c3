"""What boosted banks and softmaxes share: a live booster, and its trees as text once grown.

Generalised EM adds a round at a time on one ``BinnedRows``, with other targets and weights each
time. Scores of those rows are kept, so that a round costs its own trees only; rows of weight zero
are left out of it, and their scores follow all the same. A round may be taken back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from setwise.errors import DataError
from setwise.learners.bank_inputs import check_rows, check_weights
from setwise.learners.boosted_trees import (
    Addition,
    BinnedRows,
    GrowingTrees,
    TreeSettings,
    check_tree_settings,
    read_trees,
    tree_scores,
)
from setwise.learners.joined_trees import joined, retargeted, shortened

#: Newton steps in log-odds go no further than this, before they shrink: curvatures are this share
#: of the gradients at least. Where a target is rare its curvature is next to nothing at first, and
#: the step of a leaf with its only row would carry all others of the leaf far beyond the optimum.
LONGEST_STEP = 40.0

# Gradient and curvature, (n, L) each.
Derivatives = tuple[np.ndarray, np.ndarray]

# Rows, and the scores (n, L) that all trees so far give them.
Kept = tuple[BinnedRows, np.ndarray]


def relative_weights(weight: np.ndarray) -> np.ndarray:
    """Each column of weights with mean one over the rows that have any.

    LightGBM asks for a least curvature in a leaf: with this, no common factor matters.

    >>> relative_weights(np.array([[0.0], [1.0], [3.0]])).ravel().tolist()
    [0.0, 0.5, 1.5]
    """
    mean = weight.sum(axis=0) / (weight > 0).sum(axis=0)
    relative: np.ndarray = weight / mean
    return relative


NOTHING_LIVE = dict.fromkeys(("_binned", "_counted", "_growing", "_kept", "_before"))


class Boosted(ABC):
    """What bank and softmax share: trees in a live booster, and as text once they are grown."""

    base_: np.ndarray
    n_features_: int
    n_rounds_: int
    trees_: list[list[str]]
    sizes_: list[list[list[int]]]

    # Whether the gradients of a target depend on the scores of the others.
    _coupled: ClassVar[bool]

    _binned: BinnedRows | None  # the rows of weight of the last X, which is their source,
    _counted: Any  # and where in it they are
    _growing: GrowingTrees | None
    _boosters: list[list[Any]]
    _kept: Kept | None
    _before: tuple[int, Kept] | None  # rounds and scores before the last addition

    def __init__(
        self,
        n_trees: int = 100,
        *,
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
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.shrinkage = shrinkage
        self.min_rows_in_leaf = min_rows_in_leaf
        self.monotone = monotone
        self.newton = newton
        self.max_bins = max_bins
        self.quantized = quantized
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self._forget()

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from X (n, d), or ``BinnedRows``, targets T and weights; anew, or on top.

        With ``warm_start``, ``n_trees`` more rounds are added to those there are.
        """
        if not (self.warm_start and hasattr(self, "base_")):
            self._growing, self._boosters = None, []
            self._kept, self._before = None, None
            vars(self).pop("base_", None)
        return self.add_trees(X, T, sample_weight, self.n_trees)

    def add_trees(self, X: Any, T: Any, sample_weight: Any = None, n_trees: int = 1) -> Self:
        """``n_trees`` more rounds, for targets and weights that may have changed since.

        Cheap where X is the same ``BinnedRows`` as before: its scores are kept. Which rows have
        weight may change too, at the price of a new booster (about a dozen trees' time).
        """
        first = not hasattr(self, "base_")
        rows = X.X if isinstance(X, BinnedRows) else check_rows(X)
        if not first:
            check_rows(rows[:1], self.n_features_)
        check_tree_settings(n_trees, self._settings(), rows.shape[1])
        T = self._check_targets(T, rows.shape[0], None if first else len(self.base_))
        weight = check_weights(sample_weight, rows.shape[0], T.shape[1])
        counted = weight.max(axis=1) > 0
        binned = self._rows_that_count(X, rows, counted)
        # Target after target, as the trees are grown.
        weight = np.asfortranarray(relative_weights(weight[counted]))
        T = np.asfortranarray(self._with_finite_optimum(T[counted], weight))
        if first:
            self.base_ = self._start(T, weight)
            self.n_features_, self.n_rounds_ = int(rows.shape[1]), 0
            self.trees_, self.sizes_ = [], []
        if binned.can_be_split:
            derivatives = partial(self._weighted_derivatives, T=T, weight=weight)
            self._grow(X, binned, counted, derivatives, n_trees)
        else:
            self.sizes_ += n_trees * (self.sizes_[-1:] or [[]])
        self.n_rounds_ += n_trees
        return self

    def truncate(self, n_rounds: int) -> Self:
        """Only the first ``n_rounds`` trees of each target; the others are forgotten.

        Cheap where it takes back the last ``add_trees`` on ``BinnedRows``, whose earlier scores
        are at hand: so a round that made things worse is rejected.
        """
        if not hasattr(self, "base_") or not 0 <= n_rounds <= self.n_rounds_:
            there = getattr(self, "n_rounds_", 0)
            raise DataError(
                f"cannot keep {n_rounds} rounds where there are {there}; pass 0 to {there}"
            )
        if n_rounds == self.n_rounds_:
            return self
        sizes = self.sizes_[n_rounds - 1] if n_rounds else []
        self.trees_ = [
            [shortened(text, size) for text, size in zip(texts, counts, strict=True)]
            for texts, counts in zip(self.trees_, sizes, strict=False)
        ]
        self.sizes_, self.n_rounds_ = self.sizes_[:n_rounds], n_rounds
        at_hand = self._before is not None and self._before[0] == n_rounds
        self._kept = self._before[1] if self._before is not None and at_hand else None
        self._growing, self._boosters, self._before = None, [], None
        return self

    def start_at(self, base: np.ndarray, n_features: int) -> Self:
        """No trees yet: all rows have the scores ``base`` (L,)."""
        self._forget()
        self.base_, self.n_features_ = np.asarray(base, dtype=np.float64), n_features
        self.n_rounds_, self.trees_, self.sizes_ = 0, [], []
        return self

    def retarget(self, sources: Sequence[int], base: np.ndarray) -> Self:
        """Other targets: those at the places ``sources`` (L,), -1 for one that starts at ``base``.

        For a bank that grew in one thread, in which all targets are in one group.
        """
        if any(len(texts) != 1 for texts in self.trees_):
            raise DataError("only trees that grew with n_jobs=1 can be retargeted; set it")
        self._forget()
        old = np.asarray(sources)
        self.trees_ = [[retargeted(texts[0], sources)] for texts in self.trees_]
        self.base_ = np.where(old < 0, base, self.base_[old])
        return self

    def remember(self, X: BinnedRows, scores: np.ndarray) -> Self:
        """Let the scores (n, L) of these rows be known, so that nobody need work them out."""
        self._kept, self._before = (X, np.array(scores, dtype=np.float64)), None
        return self

    def newest_scores(self, X: Any) -> np.ndarray:
        """What the trees of the last ``add_trees`` add to the scores of any rows, (n, L)."""
        if self._growing is None or not X.shape[0]:
            return np.zeros((X.shape[0], len(self.base_)))
        return self._growing.newest_scores(X)

    def let_go(self) -> Self:
        """Drop all but the trees: rows, their scores, and what lives in LightGBM."""
        self._forget()
        return self

    def scores(self, X: Any) -> np.ndarray:
        """What the trees say, (n, L): log-odds under "kl", values under "squared".

        Of the ``BinnedRows`` that trees were last added on, they are known already.
        """
        if isinstance(X, BinnedRows):
            if self._kept is not None and self._kept[0] is X:
                return self._kept[1].copy()
            X = X.X
        X = check_rows(X, self.n_features_)
        boosters = self._boosters
        # A new list: another thread may be reading the same trees.
        boosters = boosters + [read_trees(texts) for texts in self.trees_[len(boosters) :]]
        self._boosters = boosters
        scores: np.ndarray = self.base_ + tree_scores(boosters, X, len(self.base_), self.n_jobs)
        return scores

    def _grow(
        self,
        X: Any,
        binned: BinnedRows,
        counted: np.ndarray,
        derivatives: Callable[[np.ndarray, slice], Derivatives],
        n_trees: int,
    ) -> None:
        """Add trees on the rows that count, and keep the scores of all where X is binned."""
        before = self.scores(X) if isinstance(X, BinnedRows) else None
        growing = self._grow_on(binned, None if before is None else before[counted])
        try:
            self._append(growing.add(derivatives, n_trees, self._coupled))
        except BaseException:  # what has grown by halves is dropped
            self._growing = None
            raise
        self._kept, self._before = None, None
        if before is not None:
            after = before.copy()
            after[counted] = growing.scores()
            if not counted.all():
                after[~counted] += growing.newest_scores(X.X[~counted])
            self._kept, self._before = (X, after), (self.n_rounds_, (X, before))

    def _grow_on(self, binned: BinnedRows, offset: np.ndarray | None) -> GrowingTrees:
        """The live booster if it grows on these rows, else a new one on top of all trees so far."""
        growing, settings = self._growing, self._settings()
        if growing is None or growing.binned is not binned or growing.settings != settings:
            offset = self.scores(binned.X) if offset is None else offset
            self._growing = growing = GrowingTrees(binned, offset, settings)
        return growing

    def _append(self, addition: Addition) -> None:
        """Write new trees behind those of the last stage, if it has the same groups of targets."""
        sizes = self.sizes_[-1] if self.sizes_ else []
        texts = addition.texts
        if self.trees_ and len(self.trees_[-1]) == len(texts):
            old, done, stages = self.trees_[-1], sizes[-1], sizes[:-1]
            self.trees_[-1] = [joined(text, more) for text, more in zip(old, texts, strict=True)]
        else:
            done, stages = [0] * len(texts), sizes
            self.trees_.append(texts)
        for grown in addition.sizes:
            counts = [there + more for there, more in zip(done, grown, strict=True)]
            self.sizes_.append([*stages, counts])
        # The text of the last stage has changed.
        self._boosters = self._boosters[: len(self.trees_) - 1]

    def _weighted_derivatives(
        self, scores: np.ndarray, group: slice, T: np.ndarray, weight: np.ndarray
    ) -> Derivatives:
        first, second = self._derivatives(scores, T, group)
        own = weight if weight.shape[1] == 1 else weight[:, group]
        if not self.newton:
            second = np.ones_like(second)
        elif self._in_log_odds:
            np.maximum(second, np.abs(first) / LONGEST_STEP, out=second)
        return first * own, second * own

    def _rows_that_count(self, X: Any, rows: Any, counted: np.ndarray) -> BinnedRows:
        """The rows with weight in bins: as given, as remembered for the same X, or binned now."""
        given = X if isinstance(X, BinnedRows) else None
        if given is not None and counted.all():
            return given
        binned, max_bins = self._binned, self.max_bins if given is None else given.max_bins
        if (
            binned is None
            or binned.source is not X
            or binned.max_bins != max_bins
            or not np.array_equal(self._counted, counted)
        ):
            if given is not None:
                binned = given.subset(np.flatnonzero(counted))
            else:
                some = rows if counted.all() else rows[counted]
                binned = BinnedRows(some, max_bins, alone=True)
            binned.source = X
            self._binned, self._counted = binned, counted
        return binned

    def _settings(self) -> TreeSettings:
        return TreeSettings(
            self.n_leaves,
            self.shrinkage,
            self.min_rows_in_leaf,
            None if self.monotone is None else tuple(self.monotone),
            self.random_state or 0,
            self.n_jobs,
            self.quantized,
        )

    def _forget(self) -> None:
        """Drop what lives in LightGBM; it is rebuilt from ``trees_`` when it is needed."""
        vars(self).update(NOTHING_LIVE, _boosters=[])

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | NOTHING_LIVE | {"_boosters": []}

    @property
    def _in_log_odds(self) -> bool:
        """Whether scores are log-odds, whose steps have a limit."""
        return True

    @abstractmethod
    def _check_targets(self, T: Any, n_rows: int, n_targets: int | None) -> np.ndarray:
        """The targets as an array (n, L), if they are what this learner takes."""

    @abstractmethod
    def _with_finite_optimum(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The targets, moved where the best score would be infinite."""

    @abstractmethod
    def _start(self, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The scores (L,) before the first tree."""

    @abstractmethod
    def _derivatives(self, scores: np.ndarray, T: np.ndarray, group: slice) -> Derivatives:
        """Gradient and curvature of the loss for a group of targets."""
