"""Pairs of rows and components as rows of their own: features (x, z), z one column a component.

Row n in component k is pair n K + k. A table of all pairs would be K times as large as X, so tables
are made of those that are asked for only, and scores of many pairs are worked out block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.boosted_trees import BinnedRows

TABLE_CELLS = 1 << 24  # numbers in a block of a table, and of the scores of its pairs

Scorer = Callable[[Any], np.ndarray]


@dataclass(frozen=True, eq=False)
class PairTable:
    """The rows X (n, d), an array or CSR, each in any of K components."""

    X: Any
    n_components: int

    @property
    def n_features(self) -> int:
        """D + K: those of x, and the columns of z."""
        return int(self.X.shape[1]) + self.n_components

    def parts(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and components of pairs (m,)."""
        return np.divmod(pairs, self.n_components)

    def __getitem__(self, pairs: np.ndarray) -> Any:
        """(x, z) of some pairs, (m, d + K)."""
        rows, components = self.parts(pairs)
        return beside(self.X[rows], components, self.n_components)

    def scores(self, pairs: np.ndarray, scorer: Scorer, n_labels: int) -> np.ndarray:
        """What ``scorer`` says of the tables of any number of pairs, (m, L)."""
        X, found = self.X, np.empty((len(pairs), n_labels))
        width = X.nnz / X.shape[0] + 1 if sparse.issparse(X) else self.n_features
        size = max(1, int(TABLE_CELLS / (width + n_labels)))
        for start in range(0, len(pairs), size):
            block = slice(start, start + size)
            found[block] = scorer(self[pairs[block]])
        return found

    def binned(self, pairs: np.ndarray) -> BinnedRows:
        """Some pairs in bins, which are the same every time."""
        return self._bins.others(self[pairs])

    @cached_property
    def _bins(self) -> BinnedRows:
        """The bins, by as few pairs as have all rows and all components in them."""
        n, K = self.X.shape[0], self.n_components
        number = np.arange(max(n, K))
        return BinnedRows(self[number % n * K + number % K])


def beside(X: Any, components: np.ndarray, n_components: int) -> Any:
    """Rows X (m, d) with the columns of their components (m,) appended, (m, d + K).

    >>> beside(np.array([[0.5], [0.7]]), np.array([1, 0]), 2).tolist()
    [[0.5, 0.0, 1.0], [0.7, 1.0, 0.0]]
    """
    m, d = X.shape
    if sparse.issparse(X):
        ones = np.ones(m, X.dtype), components, np.arange(m + 1)
        z = sparse.csr_array(ones, shape=(m, n_components))
        return sparse.csr_array(sparse.hstack([X, z], format="csr"))
    table = np.zeros((m, d + n_components), X.dtype)
    table[:, :d] = X
    table[np.arange(m), d + components] = 1
    return table


@dataclass(frozen=True)
class KnownPairs:
    """Scores (m, L) of some pairs of a table, which are in rising order."""

    table: PairTable
    pairs: np.ndarray
    scores: np.ndarray

    def ask(self, pairs: np.ndarray, scorer: Scorer) -> np.ndarray:
        """Scores of any pairs; of those not known the scorer must say them."""
        place = np.searchsorted(self.pairs, pairs)
        place[place == len(self.pairs)] = 0
        known = self.pairs[place] == pairs if len(self.pairs) else np.zeros(len(pairs), bool)
        found = np.empty((len(pairs), self.scores.shape[1]))
        found[known] = self.scores[place[known]]
        found[~known] = self.table.scores(pairs[~known], scorer, found.shape[1])
        return found

    def merged(self, pairs: np.ndarray, scores: np.ndarray) -> KnownPairs:
        """With other pairs, none of which is known yet."""
        together = np.append(self.pairs, pairs)
        order = np.argsort(together)
        return KnownPairs(self.table, together[order], np.vstack([self.scores, scores])[order])
