"""Decisions that need no search: the most likely set, likely labels, and rankings.

Li 2019, section 2.2: set accuracy is best served by the mode (2.35), Hamming loss by the labels
with a marginal over one half (2.34), and any ranking measure by the order of the marginals.
"""

from __future__ import annotations

import numpy as np

from setwise.decisions.base import Decision
from setwise.distributions.base import Distribution
from setwise.storage import storable


@storable
class MostLikelySet(Decision):
    """The mode of the distribution, best for set accuracy (2.35)."""

    target = "set_accuracy"

    def decide(self, distribution: Distribution) -> np.ndarray:
        """The most likely set of each row."""
        return distribution.mode()[0]


@storable
class LikelyLabels(Decision):
    """The labels more likely there than not, best for Hamming loss (2.34)."""

    target = "hamming"

    def decide(self, distribution: Distribution) -> np.ndarray:
        """Each label whose marginal is over one half; the set may be empty."""
        chosen: np.ndarray = distribution.marginals() > 0.5
        return chosen.astype(np.int8)


def rank_labels(distribution: Distribution) -> np.ndarray:
    """The labels of each row by falling marginal, int64 (n, L); equal ones in column order.

    >>> from setwise.distributions import Product
    >>> rank_labels(Product(np.array([[-1.0, 2.0, 0.5]])))
    array([[1, 2, 0]])
    """
    return np.argsort(-distribution.marginals(), axis=1, kind="stable")
