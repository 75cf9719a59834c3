"""What boosted banks and softmaxes share: a live booster, and its trees as text once grown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np

from setwise.learners.bank_inputs import check_rows, check_weights
from setwise.learners.boosted_trees import (
    BinnedRows,
    GrowingTrees,
    TreeSettings,
    check_tree_settings,
    read_trees,
    tree_scores,
)

# Gradient and curvature, (n, L) each.
Derivatives = tuple[np.ndarray, np.ndarray]


class Boosted(ABC):
    """What bank and softmax share: trees in a live booster, and as text once they are grown."""

    base_: np.ndarray

    _binned: BinnedRows | None
    _growing: GrowingTrees | None
    _boosters: list[list[Any]]

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
            vars(self).pop("base_", None)
        return self.add_trees(X, T, sample_weight, self.n_trees)

    def add_trees(self, X: Any, T: Any, sample_weight: Any = None, n_trees: int = 1) -> Self:
        """``n_trees`` more rounds, for targets and weights that may have changed since."""
        binned = self._bin(X)
        check_tree_settings(n_trees, self._settings(), binned.X.shape[1])
        first = not hasattr(self, "base_")
        T = self._check_targets(T, binned.X.shape[0], None if first else len(self.base_))
        weight = check_weights(sample_weight, binned.X.shape[0], T.shape[1])
        T = self._with_finite_optimum(T, weight)
        if first:
            self.base_ = self._start(T, weight)
            self.n_features_, self.n_rounds_ = int(binned.X.shape[1]), 0
            self.trees_: list[list[str]] = []
        if binned.can_be_split:
            growing = self._grow_on(binned)
            try:
                growing.add(partial(self._weighted_derivatives, T=T, weight=weight), n_trees)
            except BaseException:  # what has grown by halves is dropped
                self._growing = None
                self.trees_ = [texts for texts in self.trees_ if texts]
                raise
            self.trees_[-1] = growing.texts()
        self.n_rounds_ += n_trees
        return self

    def scores(self, X: Any) -> np.ndarray:
        """What the trees say, (n, L): log-odds under "kl", values under "squared"."""
        X = check_rows(X.X if isinstance(X, BinnedRows) else X, self.n_features_)
        boosters = self._boosters
        # A new list: another thread may be reading the same trees.
        boosters = boosters + [read_trees(texts) for texts in self.trees_[len(boosters) :]]
        self._boosters = boosters
        scores: np.ndarray = self.base_ + tree_scores(boosters, X, len(self.base_), self.n_jobs)
        return scores

    def _grow_on(self, binned: BinnedRows) -> GrowingTrees:
        """The live booster if it grows on these rows, else a new one on top of all trees so far."""
        growing, settings = self._growing, self._settings()
        if growing is None or growing.binned is not binned or growing.settings != settings:
            offset = self.scores(binned.X)
            self._growing = growing = GrowingTrees(binned, offset, settings)
            self.trees_.append([])
        # The text of the last booster is about to change.
        self._boosters = self._boosters[: len(self.trees_) - 1]
        return growing

    def _weighted_derivatives(
        self, scores: np.ndarray, group: slice, T: np.ndarray, weight: np.ndarray
    ) -> Derivatives:
        first, second = self._derivatives(scores, T, group)
        own = weight if weight.shape[1] == 1 else weight[:, group]
        return first * own, (second if self.newton else np.ones_like(second)) * own

    def _bin(self, X: Any) -> BinnedRows:
        """X in bins: as given, as remembered for the same object, or binned now."""
        if isinstance(X, BinnedRows):
            self._binned = X
        elif (
            self._binned is None
            or self._binned.source is not X
            or self._binned.max_bins != self.max_bins
        ):
            self._binned = BinnedRows(X, self.max_bins)
        if hasattr(self, "base_"):
            check_rows(self._binned.X[:1], self.n_features_)
        return self._binned

    def _settings(self) -> TreeSettings:
        return TreeSettings(
            self.n_leaves,
            self.shrinkage,
            self.min_rows_in_leaf,
            None if self.monotone is None else tuple(self.monotone),
            self.random_state or 0,
            self.n_jobs,
        )

    def _forget(self) -> None:
        """Drop what lives in LightGBM; it is rebuilt from ``trees_`` when it is needed."""
        self._binned, self._growing, self._boosters = None, None, []

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_binned": None, "_growing": None, "_boosters": []}

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
