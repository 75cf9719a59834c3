"""Labels whose marginal exceeds a threshold that was tuned on held-out rows.

Li 2019, section 2.2: one threshold for all labels is best for the micro-averaged F1 (2.39), and is
the simplest rule that maximises the instance-averaged F1 (2.42) or Jaccard index on data; one
threshold for each label is best for the label-averaged F1 (2.37).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from scipy import sparse

from setwise.decisions.base import Decision, not_tuned
from setwise.distributions.base import Distribution
from setwise.errors import DataError
from setwise.storage import storable


class _Thresholds(Decision):
    """Marginals over ``threshold_``: a number, or one for each label."""

    needs_tuning = True

    threshold_: np.ndarray

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

    def tune(self, distribution: Distribution, Y: sparse.csr_array) -> MicroF1Threshold:
        """Take the threshold with the best micro-averaged F1 of the held-out rows."""
        marginals, truth = distribution.marginals(), Y.toarray()
        self.threshold_ = best_f1_thresholds(marginals.reshape(-1, 1), truth.reshape(-1, 1))[0]
        return self


@storable
class MacroF1Thresholds(_Thresholds):
    """One threshold for each label, tuned for the label-averaged F1 (2.37)."""

    target = "macro_f1"

    def tune(self, distribution: Distribution, Y: sparse.csr_array) -> MacroF1Thresholds:
        """Take each label's threshold with the best F1 on the held-out rows."""
        self.threshold_ = best_f1_thresholds(distribution.marginals(), Y.toarray())
        return self


class _InstanceThreshold(_Thresholds):
    """One threshold for all labels, tuned for a mean over rows."""

    def tune(self, distribution: Distribution, Y: sparse.csr_array) -> _InstanceThreshold:
        """Take the threshold with the best mean over the held-out rows."""
        marginals = distribution.marginals()
        self.threshold_ = best_shared_threshold(marginals, Y.toarray(), self._worth)
        return self

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


def best_f1_thresholds(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The threshold of each column with the best F1, halfway between two scores: (columns,).

    A column without positives gets a threshold over all its scores: predicting nothing is right.

    >>> best_f1_thresholds(np.array([[0.9], [0.6], [0.2]]), np.array([[1], [1], [0]]))
    array([0.4])
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    falling = np.take_along_axis(scores, order, axis=0)
    tp = np.cumsum(np.take_along_axis(truth, order, axis=0), axis=0, dtype=np.int64)
    taken = np.arange(1, len(scores) + 1)[:, None]
    f1 = 2 * tp / (taken + tp[-1])
    # A cut between equal scores cannot be made.
    below = np.vstack([falling[1:], np.full((1, scores.shape[1]), -np.inf)])
    f1[falling == below] = -1
    best = f1.argmax(axis=0)
    columns = np.arange(scores.shape[1])
    thresholds = _between(falling[best, columns], below[best, columns])
    return np.where(tp[-1] > 0, thresholds, np.nextafter(falling[0], np.inf))


def best_shared_threshold(
    scores: np.ndarray, truth: np.ndarray, worth: Callable[..., np.ndarray]
) -> np.ndarray:
    """The one threshold with the best mean of ``worth(tp, predicted, relevant)`` over rows: (1,).

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
