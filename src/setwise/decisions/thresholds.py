"""Labels whose marginal exceeds a threshold that was tuned on held-out rows.

Li 2019, section 2.2: one threshold for all labels is best for the micro-averaged F1 (2.39), and is
the simplest rule that maximises the instance-averaged F1 (2.42) or Jaccard index on data; one
threshold for each label is best for the label-averaged F1 (2.37).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from setwise.decisions.base import Decision, not_tuned, rows_that_count
from setwise.distributions.base import Distribution
from setwise.errors import DataError
from setwise.storage import storable


class _Thresholds(Decision):
    """Marginals over ``threshold_``: a number, or one for each label."""

    needs_tuning = True

    threshold_: np.ndarray

    def tune(
        self, distribution: Distribution, Y: sparse.csr_array, sample_weight: Any = None
    ) -> Self:
        """Take what is best on the held-out rows, each counted as often as its weight."""
        rows, weights = rows_that_count(sample_weight, distribution.n_rows)
        self.threshold_ = self._best(distribution.marginals()[rows], Y[rows].toarray(), weights)
        return self

    @abstractmethod
    def _best(self, marginals: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The best threshold, or thresholds, for rows (n, L), (n, L), (n,)."""

    def decide(self, distribution: Distribution) -> np.ndarray:
        """Each label whose marginal reaches its threshold."""
        if not hasattr(self, "threshold_"):
            raise DataError(not_tuned(self))
        chosen: np.ndarray = distribution.marginals() >= self.threshold_
        return chosen.astype(np.int8)


@storable
class MicroF1Threshold(_Thresholds):
    """One threshold for all labels, tuned for the micro-averaged F1 (2.39)."""

    target = "micro_f1"

    def _best(self, marginals: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> np.ndarray:
        every = np.repeat(weights, marginals.shape[1])
        best: np.ndarray = best_f1_thresholds(
            marginals.reshape(-1, 1), truth.reshape(-1, 1), every
        )[0]
        return best


@storable
class MacroF1Thresholds(_Thresholds):
    """One threshold for each label, tuned for the label-averaged F1 (2.37)."""

    target = "macro_f1"

    def _best(self, marginals: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return best_f1_thresholds(marginals, truth, weights)


class _InstanceThreshold(_Thresholds):
    """One threshold for all labels, tuned for a mean over rows."""

    def _best(self, marginals: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return best_shared_threshold(marginals, truth, self._worth, weights)

    @staticmethod
    @abstractmethod
    def _worth(tp: np.ndarray, predicted: np.ndarray, relevant: np.ndarray) -> np.ndarray:
        """What each row's prediction is worth, from its counts."""


@storable
class InstanceF1Threshold(_InstanceThreshold):
    """One threshold for all labels, tuned for the instance-averaged F1 (2.42)."""

    target = "f1_threshold"

    @staticmethod
    def _worth(tp: np.ndarray, predicted: np.ndarray, relevant: np.ndarray) -> np.ndarray:
        f1: np.ndarray = 2 * tp / np.maximum(predicted + relevant, 1)
        return f1


@storable
class JaccardThreshold(_InstanceThreshold):
    """One threshold for all labels, tuned for the instance-averaged Jaccard index."""

    target = "jaccard"

    @staticmethod
    def _worth(tp: np.ndarray, predicted: np.ndarray, relevant: np.ndarray) -> np.ndarray:
        jaccard: np.ndarray = tp / np.maximum(predicted + relevant - tp, 1)
        return jaccard


def best_f1_thresholds(
    scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """The threshold of each column with the best F1, halfway between two scores: (columns,).

    ``weights``, (n,) and over zero, say how often each row counts. A column without positives gets
    a threshold over all its scores: predicting nothing is right.

    >>> best_f1_thresholds(np.array([[0.9], [0.6], [0.2]]), np.array([[1], [1], [0]]))
    array([0.4])
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    falling = np.take_along_axis(scores, order, axis=0)
    weight = (np.ones(len(scores)) if weights is None else weights)[order]
    tp = np.cumsum(np.take_along_axis(truth, order, axis=0) * weight, axis=0)
    taken = np.cumsum(weight, axis=0)
    f1 = 2 * tp / (taken + tp[-1])
    # A cut between equal scores cannot be made.
    below = np.vstack([falling[1:], np.full((1, scores.shape[1]), -np.inf)])
    f1[falling == below] = -1
    best = f1.argmax(axis=0)
    columns = np.arange(scores.shape[1])
    thresholds = _between(falling[best, columns], below[best, columns])
    return np.where(tp[-1] > 0, thresholds, np.nextafter(falling[0], np.inf))


def best_shared_threshold(
    scores: np.ndarray,
    truth: np.ndarray,
    worth: Callable[..., np.ndarray],
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """The one threshold with the best mean of ``worth(tp, predicted, relevant)`` over rows: (1,).

    ``weights``, (n,) and over zero, say how often each row counts.

    All scores are tried, in one pass over their falling order: when a label of a row is taken, only
    that row's worth changes.
    """
    L = scores.shape[1]
    relevant = truth.sum(axis=1)
    within = np.argsort(-scores, axis=1, kind="stable")  # each row's labels, best first
    hit = np.take_along_axis(truth, within, axis=1)
    tp = np.cumsum(hit, axis=1)
    value = worth(tp, np.arange(1, L + 1), relevant[:, None])  # (n, L) after 1, 2, ... labels
    change = np.diff(value, axis=1, prepend=0.0)
    if weights is not None:
        change *= weights[:, None]
    sorted_scores = np.take_along_axis(scores, within, axis=1).ravel()
    order = np.argsort(-sorted_scores, kind="stable")
    falling, total = sorted_scores[order], np.cumsum(change.ravel()[order])
    below = np.append(falling[1:], -np.inf)
    total[falling == below] = -np.inf
    best = total.argmax()
    return _between(falling[[best]], below[[best]])


def _between(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Halfway between two scores; the upper one at the lower end, or where none lies between."""
    middle = (above + np.maximum(below, 0)) / 2
    return np.where(middle > below, np.where(np.isfinite(below), middle, above), above)
