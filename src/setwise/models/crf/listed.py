"""The conditional likelihood of a field whose sets are a list: those of training, or all.

With scores z = X W + b (n, L) of the labels and a list S (m, L) of sets, those of all sets are a
matrix product, S Z' plus what the pairs of each set add. S is sparse: a set adds up the scores of
its own labels, which are few of many. Neither scores nor probabilities are held whole: rows are
taken in batches of ``BATCH_CELLS`` probabilities, and of each batch only the labels' probabilities
S' P and the sum over rows are kept, which is all that a gradient needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from setwise.learners.workers import Workers
from setwise.models.crf.potentials import pair_scores

BATCH_CELLS = 2**19  # probabilities, sets times rows, that a thread holds at a time, if that is
LEAST_ROWS = 32  # rows or more: a set's labels are added for all rows of a batch in one run


class Likelihood(Protocol):
    """Minus the log-likelihood of rows, as a function of scores and interactions."""

    def evaluate(
        self, Z: np.ndarray, interactions: np.ndarray, workers: Workers
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, its gradient by Z (n, L), and by each pair, as a symmetric (L, L)."""


@dataclass(frozen=True, eq=False)
class OnList:
    """Rows whose sets are among listed ones."""

    sets: sparse.csr_array  # (m, L), 0 and 1, in the precision of the scores
    which: np.ndarray  # (n,) the number of each row's set
    weight: np.ndarray  # (n,)

    def evaluate(
        self, Z: np.ndarray, interactions: np.ndarray, workers: Workers
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, its gradient by Z (n, L), and by each pair, as a symmetric (L, L)."""
        S, by_label, weight = self.sets, self._by_label, self.weight.astype(Z.dtype)
        pairs = pair_scores(S, interactions)
        truth = np.einsum("nl,nl->n", Z, self._truth) + pairs[self.which]
        R = np.empty_like(Z)
        ones = np.ones(S.shape[0], Z.dtype)  # sums by BLAS are more exact than numpy's down columns

        def batch(rows: slice) -> tuple[float, np.ndarray]:
            P = S @ np.ascontiguousarray(Z[rows].T)  # (m, b)
            P += pairs[:, None]
            top = P.max(axis=0)
            P -= top
            np.exp(P, out=P)
            total = ones @ P
            loss = np.log(total.astype(np.float64)) + top - truth[rows]
            P *= weight[rows] / total
            R[rows] = (by_label @ P).T - weight[rows][:, None] * self._truth[rows]
            return float(self.weight[rows] @ loss), P.sum(axis=1)

        parts = workers.map(batch, self._batches)
        surplus = np.sum([part[1] for part in parts], axis=0, dtype=np.float64) - self._counts
        weighted = sparse.diags_array(surplus.astype(Z.dtype)) @ S
        by_pair = (by_label @ weighted).toarray()
        np.fill_diagonal(by_pair, 0)
        return sum(part[0] for part in parts), R, by_pair

    @cached_property
    def _by_label(self) -> sparse.csr_array:
        """The sets of each label, (L, m)."""
        return sparse.csr_array(self.sets.T)

    @cached_property
    def _truth(self) -> np.ndarray:
        truth: np.ndarray = self.sets[self.which].toarray()
        return truth

    @cached_property
    def _counts(self) -> np.ndarray:
        """The weight of the rows of each set, (m,)."""
        return np.bincount(self.which, self.weight, minlength=self.sets.shape[0])

    @cached_property
    def _batches(self) -> list[slice]:
        step = max(LEAST_ROWS, BATCH_CELLS // self.sets.shape[0])
        return [slice(start, start + step) for start in range(0, len(self.which), step)]
