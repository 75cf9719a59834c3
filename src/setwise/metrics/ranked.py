"""Where the relevant candidates stand in each ranking: all that the ranking measures look at.

Items are documents that rank labels, or labels that rank documents; the others are an item's
candidates. For each relevant candidate it is enough to know how many candidates stand above it and
how many share its score: the rest follows by counting among the relevant ones.

Scores are sorted in batches of about ``BATCH_CELLS`` entries, which take some 30 MB; what remains
of a batch is a few integers for each relevant candidate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.metrics.alignment import aligned_scores, pivoted
from setwise.metrics.averaging import divided

BATCH_CELLS = 2**20


@dataclass(frozen=True)
class RankedRelevant:
    """The p relevant candidates of m items, item after item, best first.

    Candidates of one item that share a score form a *tie group*.
    """

    item: np.ndarray  # (p,) whose candidate it is
    above: np.ndarray  # (p,) candidates with a higher score
    tied: np.ndarray  # (p,) size of its tie group, itself included
    relevant_above: np.ndarray  # (p,) how many of ``above`` are relevant
    relevant_tied: np.ndarray  # (p,) how many of ``tied`` are relevant
    place: np.ndarray  # (p,) 1, 2, ... among the relevant ones of its tie group
    n_relevant: np.ndarray  # (m,)
    n_candidates: int

    @property
    def n_irrelevant(self) -> np.ndarray:
        """Irrelevant candidates of each item: (m,)."""
        return self.n_candidates - self.n_relevant

    @property
    def irrelevant_above(self) -> np.ndarray:
        """Irrelevant candidates with a higher score: (p,)."""
        count: np.ndarray = self.above - self.relevant_above
        return count

    @property
    def irrelevant_tied(self) -> np.ndarray:
        """Irrelevant candidates with the same score: (p,)."""
        count: np.ndarray = self.tied - self.relevant_tied
        return count

    def sum(self, values: np.ndarray) -> np.ndarray:
        """The sum of ``values`` (p,) over the relevant candidates of each item: (m,)."""
        return np.bincount(self.item, values, minlength=len(self.n_relevant))

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Their mean, nan where an item has no relevant candidate: (m,)."""
        return divided(self.sum(values), self.n_relevant)

    def expected_sum(self, group_total: np.ndarray) -> np.ndarray:
        """What the relevant get when each tie group shares its total (p,) evenly: (m,)."""
        # By groups, so that a group of relevant candidates alone gets its total without rounding.
        return self.sum((self.place == 1) * group_total * self.relevant_tied / self.tied)


def rank_relevant(y_true: Any, scores: Any, pivot: str = "document") -> RankedRelevant:
    """The places of all relevant candidates, from one sort of the scores.

    >>> ranked = rank_relevant(np.array([[0, 1, 1]]), np.array([[0.9, 0.5, 0.5]]))
    >>> ranked.above, ranked.tied, ranked.place
    (array([1, 1]), array([2, 2]), array([1, 2]))
    """
    Y, scores = pivoted(*aligned_scores(y_true, scores), pivot)
    n_items, n_candidates = Y.shape
    item = np.repeat(np.arange(n_items), np.diff(Y.indptr))
    above, tied = np.empty((2, Y.nnz), dtype=np.int64)
    for rows in batches(n_items, n_candidates):
        entries = slice(Y.indptr[rows.start], Y.indptr[rows.stop])
        own_item, candidate = item[entries] - rows.start, Y.indices[entries]
        above[entries], tied[entries] = _above_and_tied(scores[rows], own_item, candidate)
    best_first = np.argsort(item * n_candidates + above, kind="stable")
    return _ranked(item, above[best_first], tied[best_first], Y.indptr, n_candidates)


def batches(n_items: int, n_candidates: int) -> Iterator[slice]:
    """Slices of items that hold about ``BATCH_CELLS`` scores each, at least one item."""
    step = max(1, BATCH_CELLS // max(1, n_candidates))
    for start in range(0, n_items, step):
        yield slice(start, min(start + step, n_items))


def _above_and_tied(
    scores: np.ndarray, item: np.ndarray, candidate: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For chosen candidates of a batch of items, how many score higher, and how many the same.

    Sorting the values alone is several times faster than sorting indices; a binary search then
    finds the chosen ones. Complex numbers order by real part first, so that with the item as real
    part one search serves all items.
    """
    n_items, n_candidates = scores.shape
    ascending = _as_complex(np.arange(n_items)[:, None], np.sort(scores, axis=1)).ravel()
    chosen = _as_complex(item, scores[item, candidate])
    below = np.searchsorted(ascending, chosen, side="left")
    not_above = np.searchsorted(ascending, chosen, side="right")
    return (item + 1) * n_candidates - not_above, not_above - below


def _as_complex(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """The complex numbers with these parts; unlike ``a + 1j * b`` it keeps infinities apart."""
    numbers = np.empty(imaginary.shape, dtype=np.complex128)
    numbers.real, numbers.imag = real, imaginary
    return numbers


def _ranked(
    item: np.ndarray, above: np.ndarray, tied: np.ndarray, indptr: np.ndarray, n_candidates: int
) -> RankedRelevant:
    """What the places of the relevant candidates say about each other."""
    starts = np.flatnonzero(np.diff(item * n_candidates + above, prepend=-1))
    sizes = np.diff(starts, append=len(item))
    group_start, relevant_tied = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    return RankedRelevant(
        item=item,
        above=above,
        tied=tied,
        relevant_above=group_start - indptr[item],
        relevant_tied=relevant_tied,
        place=np.arange(len(item)) - group_start + 1,
        n_relevant=np.diff(indptr).astype(np.int64),  # whose products exceed 32 bits
        n_candidates=n_candidates,
    )
