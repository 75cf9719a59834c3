"""Probabilities on a fixed list of sets, the same for all rows.

What a power-set model predicts, and what support inference makes of any model (thesis, section
3.7.1): the sets seen in training with the probabilities the model gives them. Sums over all sets
are sums over the list, so every answer is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from setwise.data.randomness import Seed, as_generator
from setwise.data.set_index import SetIndex, as_index
from setwise.distributions.arrays import log_normalised
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.errors import DataError


@dataclass(frozen=True, eq=False)
class Support(Distribution):
    """A probability for each set of a list, in each row of a batch.

    Parameters
    ----------
    sets : sparse array or array (m, L) of 0 and 1, or SetIndex
        The possible sets, each once. An index of them can be shared by many supports.
    log_scores : array (n, m)
        Log-probabilities, or logs of anything proportional to them: each row is normalised.
    allow_empty : bool
        Whether the empty set is possible; if not, its score counts for nothing.

    Examples
    --------
    >>> dist = Support(np.array([[1, 0], [1, 1]]), np.log([[0.25, 0.75]]))
    >>> dist.marginals()
    array([[1.  , 0.75]])
    >>> round(float(dist.mode()[1][0]), 3)
    -0.288
    """

    sets: Any  # (m, L)
    log_scores: np.ndarray  # (n, m)
    allow_empty: bool = True
    _index: SetIndex = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index = as_index(self.sets)
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "sets", index.sets)
        if self.log_scores.ndim != 2 or self.log_scores.shape[1] != self.sets.shape[0]:
            raise DataError(
                f"there are {self.sets.shape[0]} sets but log_scores has shape "
                f"{self.log_scores.shape}; pass one row per instance, one column per set"
            )
        if self._index.has_repeats:
            raise DataError("the sets of a support must differ; pass distinct_sets(Y).sets")
        bad = np.flatnonzero(~np.isfinite(self._log_p.max(axis=1, initial=-np.inf)))
        if len(bad):
            raise DataError(
                f"no set of the support is possible in row {bad[0]}; "
                "add sets, allow the empty one, or smooth the scores"
            )

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.log_scores.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.sets.shape[1])

    def rows(self, selection: Rows) -> Support:
        """The distributions of some rows."""
        return Support(self._index, self.log_scores[selection], self.allow_empty)

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,); -inf for a set that is not listed."""
        return self.log_prob_of(self._dense_sets(Y), np.arange(self.n_rows))

    def log_prob_of(self, sets: Any, row: np.ndarray) -> np.ndarray:
        """Log-probability of any number of sets a row, (m,); -inf for one that is not listed."""
        column = self._index.find(sets)  # (m,)
        listed: np.ndarray = self._log_p[row, column]
        listed[column < 0] = -np.inf
        return listed

    def on_support(self, sets: Any) -> Support:
        """The same distribution, given that the set is one of ``sets`` (m, L), each once."""
        listed = self._listed(sets)
        place = self._index.find(listed)
        scores = np.where(place < 0, -np.inf, self._log_p[:, place])
        return Support(listed, scores, allow_empty=self.allow_empty)

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        marginals: np.ndarray = self._p @ self.sets
        return marginals

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first."""
        k = positive_count(k, "k")
        order = largest_first(self._log_p, k)  # (n, min(k, m))
        log_prob = np.full((self.n_rows, k), -np.inf)
        log_prob[:, : order.shape[1]] = np.take_along_axis(self._log_p, order, axis=1)
        sets = np.zeros((self.n_rows, k, self.n_labels), dtype=np.int8)
        sets[:, : order.shape[1]] = self.sets.toarray()[order]
        sets[log_prob == -np.inf] = 0
        return sets, log_prob

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        luck = as_generator(random_state).random((self.n_rows, positive_count(size, "size")))
        dense = self.sets.toarray()
        samples = np.empty((size, self.n_rows, self.n_labels), dtype=np.int8)
        for row, limits in enumerate(self._p.cumsum(axis=1)):
            last = np.flatnonzero(self._p[row])[-1]
            chosen = np.searchsorted(limits, luck[row] * limits[-1], side="right")
            samples[:, row] = dense[np.minimum(chosen, last)]
        return samples

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        S = positive_count(max_size, "max_size")
        joint = np.zeros((self.n_rows, self.n_labels, S))
        for s in range(1, S + 1):
            of_size = np.flatnonzero(self._sizes == s)
            joint[:, :, s - 1] = self._p[:, of_size] @ self.sets[of_size]
        return joint

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        columns = np.arange(positive_count(max_size, "max_size") + 1)
        return np.asarray(self._p @ (self._sizes[:, None] == columns))

    def _covariance(self) -> np.ndarray:
        mean = self.marginals()
        covariance = np.empty((self.n_rows, self.n_labels, self.n_labels))
        for row, p in enumerate(self._p):
            weighted = self.sets.astype(np.float64).multiply(p[:, None]).tocsr()
            covariance[row] = (self.sets.T @ weighted).toarray() - np.outer(mean[row], mean[row])
        return covariance

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.asarray(np.diff(self.sets.indptr))

    @cached_property
    def _log_p(self) -> np.ndarray:
        """Normalised log-probabilities, (n, m)."""
        scores = self.log_scores.astype(np.float64)
        if not scores.shape[1]:
            return scores
        if not self.allow_empty:
            scores[:, self._sizes == 0] = -np.inf
        with np.errstate(invalid="ignore"):  # a row without a possible set is refused later
            return log_normalised(scores)

    @cached_property
    def _p(self) -> np.ndarray:
        return np.asarray(np.exp(self._log_p))


def largest_first(values: np.ndarray, k: int) -> np.ndarray:
    """The columns of the k largest values (n, m) of each row, largest first: (n, min(k, m)).

    Of equal values the first column comes first. Only rows with a tie at the end of their list are
    sorted whole.

    >>> largest_first(np.array([[3.0, 1.0, 3.0, 2.0]]), 3)
    array([[0, 2, 3]])
    """
    m = values.shape[1]
    if k >= m // 4:
        return np.argsort(-values, axis=1, kind="stable")[:, :k]
    columns = np.sort(np.argpartition(-values, k - 1, axis=1)[:, :k], axis=1)
    chosen = np.take_along_axis(values, columns, axis=1)
    columns = np.take_along_axis(columns, np.argsort(-chosen, axis=1, kind="stable"), axis=1)
    tied = (values >= chosen.min(axis=1, keepdims=True)).sum(axis=1) > k
    columns[tied] = np.argsort(-values[tied], axis=1, kind="stable")[:, :k]
    return columns
