"""Estimates of P(y_l = 1, |y| = s) that come from no joint distribution.

They are all that the F1 decision asks for. Nothing makes them agree with each other: they may sum
to more than one, and no probability of a set follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from setwise.data.randomness import Seed
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.errors import DataError

LARGEST = 1 - 1e-12  # probability of a label, whatever the estimates sum to
NO_JOINT = (
    "labels and sizes were estimated apart: there is no probability of a set, and so no {what}; "
    'use target "f1" or "hamming", or a model with a joint probability, see setwise.list_models()'
)


@dataclass(frozen=True, eq=False)
class SizeEstimates(Distribution):
    """P(y_l = 1, |y| = s) for each row of a batch, and P(y is empty), estimated one by one.

    Parameters
    ----------
    estimates : array (n, L, T)
        For sizes s = 1 to T; larger ones are taken to be impossible.
    empty : array (n,)
        P(y is empty).
    allow_empty : bool
        Whether the empty set is possible; if not, ``empty`` counts for nothing.

    Examples
    --------
    >>> dist = SizeEstimates(np.array([[[0.5, 0.25], [0.25, 0.0]]]), np.array([0.125]))
    >>> dist.marginals().tolist()
    [[0.75, 0.25]]
    """

    estimates: np.ndarray
    empty: np.ndarray
    allow_empty: bool = True

    def __post_init__(self) -> None:
        if self.estimates.ndim != 3 or self.empty.shape != self.estimates.shape[:1]:
            raise DataError(
                f"expected estimates (n, L, T) and empty (n,), got {self.estimates.shape} and "
                f"{self.empty.shape}"
            )

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.estimates.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.estimates.shape[1])

    def rows(self, selection: Rows) -> SizeEstimates:
        """The estimates of some rows."""
        return SizeEstimates(self.estimates[selection], self.empty[selection], self.allow_empty)

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L): the sum over sizes, less than one."""
        return np.asarray(np.minimum(self.estimates.sum(axis=2), LARGEST))

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size), as estimated."""
        S = positive_count(max_size, "max_size")
        joint = np.zeros((self.n_rows, self.n_labels, S))
        T = min(S, self.estimates.shape[2])
        joint[:, :, :T] = self.estimates[:, :, :T]
        return joint

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1), made to sum to one over all."""
        S = positive_count(max_size, "max_size")
        shares = self._shares
        return _as_far_as(shares / shares.sum(axis=1, keepdims=True), S)

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """The estimates, and how likely each size must be at least for them to be possible.

        The decision for F1 takes it that no label is likelier with a size than the size is. Sizes
        that sum to less than one are raised to it, or the decision would wait for larger sets.
        """
        S, shares = positive_count(max_size, "max_size"), self._shares
        return self.size_marginals(S), _as_far_as(
            shares / np.minimum(shares.sum(axis=1, keepdims=True), 1.0), S
        )

    def log_prob(self, Y: Any) -> NoReturn:
        """Refused: there is no joint probability."""
        raise DataError(NO_JOINT.format(what="log-probability"))

    def top(self, k: int) -> NoReturn:
        """Refused: there is no joint probability."""
        raise DataError(NO_JOINT.format(what="likeliest set"))

    def sample(self, size: int, random_state: Seed = None) -> NoReturn:
        """Refused: there is no joint probability."""
        raise DataError(NO_JOINT.format(what="sample"))

    def _covariance(self) -> NoReturn:
        raise DataError(NO_JOINT.format(what="correlation"))

    @property
    def _shares(self) -> np.ndarray:
        """The least P(|y| = s) that fits the estimates, for s = 0 to T, (n, T + 1).

        A set of s labels is counted by each of them, and by none more than once.
        """
        T = self.estimates.shape[2]
        each = self.estimates.sum(axis=1) / np.arange(1, T + 1)
        of_size = np.maximum(each, self.estimates.max(axis=1, initial=0.0))
        empty = self.empty if self.allow_empty else np.zeros_like(self.empty)
        shares = np.concatenate([empty[:, None], of_size], axis=1)
        shares[shares.sum(axis=1) <= 0, -1] = np.finfo(float).tiny  # some size must be possible
        return shares


def _as_far_as(shares: np.ndarray, S: int) -> np.ndarray:
    """The first S + 1 columns, filled up with zeros."""
    wide = np.zeros((len(shares), S + 1))
    wide[:, : min(S + 1, shares.shape[1])] = shares[:, : S + 1]
    return wide
