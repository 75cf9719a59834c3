"""Label sets that may be the answer: a few for each row, with the scores a model gives them.

The first stage of reranking (Li 2019, section 4.7, Algorithm 4.2): the k likeliest sets of the
model's own distribution, exact, and where wanted the likeliest among the sets seen in training,
which a model of independent labels may rank far down.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.labels import binary_csr, distinct_sets
from setwise.data.sparse_rows import canonical_csr
from setwise.decisions.base import row_batches
from setwise.distributions.base import Distribution, positive_count
from setwise.distributions.support import largest_first


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates of all rows behind one another, those of a row by falling score.

    ``row`` rises; every row has one candidate or more.
    """

    sets: sparse.csr_array  # (m, L)
    row: np.ndarray  # (m,) which row a candidate is for
    score: np.ndarray  # (m,) log-probability under the model
    n_rows: int

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the candidates of each row begin, and the end of all: (n + 1,)."""
        counts = np.bincount(self.row, minlength=self.n_rows)
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def place(self) -> np.ndarray:
        """The place of each candidate among those of its row, 0 for the best: (m,)."""
        place: np.ndarray = np.arange(len(self.row)) - self.starts[self.row]
        return place

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many labels each candidate has, (m,)."""
        return np.asarray(np.diff(self.sets.indptr))

    def taken(self, which: np.ndarray) -> Candidates:
        """Some of the candidates, by numbers in rising order; each row must keep one."""
        return Candidates(self.sets[which], self.row[which], self.score[which], self.n_rows)

    def best(self, value: np.ndarray) -> np.ndarray:
        """The number of each row's candidate of greatest value, (n,); ties go to the score."""
        order = np.lexsort((self.place, -value, self.row))
        best: np.ndarray = order[self.starts[:-1]]
        return best

    def __len__(self) -> int:
        return len(self.row)


def top_candidates(distribution: Distribution, k: int) -> Candidates:
    """The ``k`` likeliest sets of each row; fewer where fewer are possible."""
    k = positive_count(k, "k")
    sets, row, score = [], [], []
    for rows in row_batches(distribution.n_rows, k * distribution.n_labels):
        found, log_prob = distribution.rows(rows).top(k)  # (b, k, L), (b, k)
        possible = log_prob > -np.inf
        sets.append(binary_csr(found[possible]))
        row.append(rows.start + np.nonzero(possible)[0])
        score.append(log_prob[possible])
    return _gathered(sets, row, score, distribution)


def listed_candidates(distribution: Distribution, known: sparse.csr_array, k: int) -> Candidates:
    """The ``k`` likeliest of a list of sets, ``known`` (m, L), for each row."""
    k = min(positive_count(k, "k"), known.shape[0])
    numbers, row, score = [], [], []
    for rows in row_batches(distribution.n_rows, known.shape[0]):
        support = distribution.rows(rows).on_support(known)
        scores = support.log_scores
        if not distribution.allow_empty:
            scores[:, np.diff(known.indptr) == 0] = -np.inf
        best = largest_first(scores, k)
        value = np.take_along_axis(scores, best, axis=1)
        possible = value > -np.inf
        numbers.append(best[possible])
        row.append(rows.start + np.nonzero(possible)[0])
        score.append(value[possible])
    return _gathered([known[found] for found in numbers], row, score, distribution)


def scored(distribution: Distribution, sets: Any) -> Candidates:
    """One given set a row, (n, L), as its only candidate."""
    sets = binary_csr(sets)
    score = [
        distribution.rows(rows).log_prob(sets[rows])
        for rows in row_batches(distribution.n_rows, distribution.n_labels)
    ]
    n = distribution.n_rows
    return Candidates(sets, np.arange(n), np.concatenate([np.empty(0), *score]), n)


def rescored(distribution: Distribution, candidates: Candidates) -> Candidates:
    """The same candidates with the scores that another distribution gives them."""
    score = distribution.log_prob_of(candidates.sets, candidates.row)
    return Candidates(candidates.sets, candidates.row, score, candidates.n_rows)


def opinions_of(distribution: Distribution, candidates: Candidates) -> np.ndarray:
    """What each of several averaged models says of the candidates, (m, M); M may be 0."""
    nothing = candidates.sets[:0], candidates.row[:0]  # of one row: whether there are several
    if distribution.rows(slice(0, 1)).opinions_of(*nothing).shape[1] == 0:
        return np.empty((len(candidates), 0))
    return distribution.opinions_of(candidates.sets, candidates.row)


def merged(*lists: Candidates) -> Candidates:
    """All candidates of several lists for the same rows, none of them twice in a row."""
    sets = canonical_csr(sparse.vstack([part.sets for part in lists], format="csr"))
    row = np.concatenate([part.row for part in lists])
    score = np.concatenate([part.score for part in lists])
    _, first = np.unique(_keys(row, sets), return_index=True)
    first = first[np.lexsort((first, -score[first], row[first]))]
    return Candidates(sets[first], row[first], score[first], lists[0].n_rows)


def found_in(candidates: Candidates, value: np.ndarray, wanted: Candidates) -> np.ndarray:
    """The values of candidates where they stand in a longer list for the same rows; else 0."""
    sets = canonical_csr(sparse.vstack([candidates.sets, wanted.sets], format="csr"))
    keys = _keys(np.concatenate([candidates.row, wanted.row]), sets)
    number = np.unique(keys, return_inverse=True)[1]
    values = np.zeros(number.max(initial=-1) + 1)
    values[number[: len(candidates)]] = value
    found: np.ndarray = values[number[len(candidates) :]]
    return found


def _keys(row: np.ndarray, sets: sparse.csr_array) -> np.ndarray:
    """A number for each candidate, equal where row and set are."""
    same = distinct_sets(sets)
    keys: np.ndarray = row.astype(np.int64) * (len(same) + 1) + same.inverse
    return keys


def stacked(parts: list[Candidates]) -> Candidates:
    """The candidates of several batches of rows as those of one."""
    before = np.cumsum([0, *(part.n_rows for part in parts)])
    return Candidates(
        canonical_csr(sparse.vstack([part.sets for part in parts], format="csr")),
        np.concatenate([part.row + n for part, n in zip(parts, before, strict=False)]),
        np.concatenate([part.score for part in parts]),
        int(before[-1]),
    )


def _gathered(
    sets: list[Any], row: list[np.ndarray], score: list[np.ndarray], distribution: Distribution
) -> Candidates:
    nothing = sparse.csr_array((0, distribution.n_labels), dtype=np.int8)
    return Candidates(
        canonical_csr(sparse.vstack([nothing, *sets], format="csr")),
        np.concatenate([np.empty(0, dtype=np.int64), *row]),
        np.concatenate([np.empty(0), *score]),
        distribution.n_rows,
    )
