"""The conditional likelihood of a field whose sets are a list: those of training, or all.

With scores z = X W + b (n, L) of the labels and a list S (m, L) of sets, those of all sets are a
matrix product, Z S' plus what the pairs of each set add. Neither it nor the probabilities are held
whole: rows are taken in batches of ``BATCH_CELLS`` probabilities, and of each batch only the
labels' probabilities P S and the sum over rows are kept, which is all that a gradient needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from setwise.learners.workers import Workers
from setwise.models.crf.potentials import pair_scores

BATCH_CELLS = (
    2**18
)  # probabilities, rows times sets, that a thread holds at a time; one row or more


class Likelihood(Protocol):
    """Minus the log-likelihood of rows, as a function of scores and interactions."""

    def evaluate(
        self, Z: np.ndarray, interactions: np.ndarray, workers: Workers
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, its gradient by Z (n, L), and by each pair, as a symmetric (L, L)."""


@dataclass(frozen=True)
class OnList:
    """Rows whose sets are among listed ones."""

    sets: np.ndarray  # (m, L), 0 and 1, in the precision of the scores
    which: np.ndarray  # (n,) the number of each row's set
    weight: np.ndarray  # (n,)

    def evaluate(
        self, Z: np.ndarray, interactions: np.ndarray, workers: Workers
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, its gradient by Z (n, L), and by each pair, as a symmetric (L, L)."""
        S, weight = self.sets, self.weight.astype(Z.dtype)
        pairs = pair_scores(S, interactions)
        truth = np.einsum("nl,nl->n", Z, self._truth) + pairs[self.which]
        R = np.empty_like(Z)

        def batch(rows: slice) -> tuple[float, np.ndarray]:
            P = Z[rows] @ S.T  # (b, m)
            P += pairs
            top = P.max(axis=1)
            P -= top[:, None]
            np.exp(P, out=P)
            total = P.sum(axis=1)
            loss = np.log(total.astype(np.float64)) + top - truth[rows]
            P *= (weight[rows] / total)[:, None]
            R[rows] = P @ S - weight[rows][:, None] * self._truth[rows]
            return float(self.weight[rows] @ loss), np.ones(len(top), P.dtype) @ P

        parts = workers.map(batch, self._batches)
        surplus = np.sum([part[1] for part in parts], axis=0, dtype=np.float64) - self._counts
        by_pair = (S.T * surplus.astype(Z.dtype)) @ S
        np.fill_diagonal(by_pair, 0)
        return sum(part[0] for part in parts), R, by_pair

    @cached_property
    def _truth(self) -> np.ndarray:
        truth: np.ndarray = self.sets[self.which]
        return truth

    @cached_property
    def _counts(self) -> np.ndarray:
        """The weight of the rows of each set, (m,)."""
        return np.bincount(self.which, self.weight, minlength=len(self.sets))

    @cached_property
    def _batches(self) -> list[slice]:
        step = max(1, BATCH_CELLS // len(self.sets))
        return [slice(start, start + step) for start in range(0, len(self.which), step)]
