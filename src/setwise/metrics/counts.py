"""True positives, predicted and relevant labels, counted for each row, each column, or in all.

All of it without densifying: the cost is the number of stored labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.metrics.alignment import aligned_sets
from setwise.metrics.averaging import divided


@dataclass(frozen=True)
class Counts:
    """The three counts that every set measure is made of, one entry per item.

    >>> Counts(tp=np.array([1]), predicted=np.array([2]), relevant=np.array([1])).f1()
    array([0.66666667])
    """

    tp: np.ndarray  # (m,) labels both predicted and relevant
    predicted: np.ndarray  # (m,) tp + fp
    relevant: np.ndarray  # (m,) tp + fn

    @property
    def errors(self) -> np.ndarray:
        """Wrong binary decisions: fp + fn."""
        errors: np.ndarray = self.predicted + self.relevant - 2 * self.tp
        return errors

    def precision(self, zero_division: float = 0.0) -> np.ndarray:
        """Share of the predicted that is relevant, tp / (tp + fp), of each item."""
        return divided(self.tp, self.predicted, zero_division)

    def recall(self, zero_division: float = 0.0) -> np.ndarray:
        """Share of the relevant that is predicted, tp / (tp + fn), of each item."""
        return divided(self.tp, self.relevant, zero_division)

    def f1(self, zero_division: float = 0.0) -> np.ndarray:
        """Harmonic mean of the two, 2 tp / (2 tp + fp + fn), of each item."""
        return divided(2 * self.tp, self.predicted + self.relevant, zero_division)

    def jaccard(self, zero_division: float = 0.0) -> np.ndarray:
        """Intersection over union, tp / (tp + fp + fn), of each item."""
        return divided(self.tp, self.predicted + self.relevant - self.tp, zero_division)


@dataclass(frozen=True)
class Overlap:
    """True sets, predicted sets, and what they share: CSR arrays of one shape (n, L)."""

    truth: sparse.csr_array
    predicted: sparse.csr_array

    @cached_property
    def both(self) -> sparse.csr_array:
        """The true positives."""
        shared: sparse.csr_array = self.truth.multiply(self.predicted)
        return shared

    def by_instance(self) -> Counts:
        """Counts of each row: (n,)."""
        return self._count(lambda Y: np.diff(Y.indptr))

    def by_label(self, weights: np.ndarray | None = None) -> Counts:
        """Counts of each column, a row counting as often as its weight says: (L,)."""
        return self._count(lambda Y: _column_sums(Y, weights))

    def in_all(self, weights: np.ndarray | None = None) -> Counts:
        """Counts of the whole matrix: (1,)."""
        rows = self.by_instance()
        times = 1 if weights is None else weights
        totals = [(times * c).sum() for c in (rows.tp, rows.predicted, rows.relevant)]
        return Counts(*np.array(totals)[:, None])

    def _count(self, count: Callable[[sparse.csr_array], np.ndarray]) -> Counts:
        return Counts(count(self.both), count(self.predicted), count(self.truth))


def overlap(y_true: Any, y_pred: Any) -> Overlap:
    """The two sides on the same rows and labels, ready to be counted.

    >>> overlap([{"sea", "sun"}, {"town"}], [{"sea"}, {"sun"}]).by_instance().recall()
    array([0.5, 0. ])
    """
    return Overlap(*aligned_sets(y_true, y_pred))


def _column_sums(Y: sparse.csr_array, weights: np.ndarray | None) -> np.ndarray:
    if weights is not None:
        weights = np.repeat(weights, np.diff(Y.indptr))
    return np.bincount(Y.indices, weights, minlength=Y.shape[1])
