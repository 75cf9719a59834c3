"""What the samplers of test documents read: phi and phi' laid out for draws that cost little.

Both are counts plus floors, phi_wc = S_wc + floor_c and phi'_tc = S'_tc + floor'_t. Sums that a
draw needs are made here, once for a fitted model, or once for each of its sets of topics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from setwise.models.topics.label_topics import LabelTopics
from setwise.models.topics.words import WordDistributions


class Documents(NamedTuple):
    """Documents as a CSR matrix of counts."""

    ptr: np.ndarray  # (n + 1,) int64
    words: np.ndarray  # (entries,) int32
    counts: np.ndarray  # (entries,) int32

    @property
    def lengths(self) -> np.ndarray:
        """How many tokens each document has, (n,)."""
        running = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        n: np.ndarray = np.diff(running[self.ptr])
        return n


class WordTables(NamedTuple):
    """phi_wc = S_wc + floor_c by word."""

    ptr: np.ndarray  # (V + 1,) int64
    labels: np.ndarray  # (pairs,) int32
    excess: np.ndarray  # (pairs,) float32, S_wc
    floor: np.ndarray  # (C,)


class RunningSums(NamedTuple):
    """Running sums of phi_wc b_c, for weights b_c of labels that never change."""

    by_word: np.ndarray  # (pairs,), of the counted part of each word, from zero for each
    by_floor: np.ndarray  # (C,), of the floors
    mass: np.ndarray  # (V,), all of it


class TopicTables(NamedTuple):
    """phi'_tc of one set of topics, by topic."""

    ptr: np.ndarray  # (T + 1,) int64
    labels: np.ndarray  # the counted labels of each topic, likeliest first
    excess: np.ndarray  # S'_tc of these
    floor: np.ndarray  # (T,)
    by_word: np.ndarray  # (V, T) float32, G_wt = sum_c phi_wc phi'_tc


class TopicsOfLabels(NamedTuple):
    """phi'_tc by label, with an alias table for draws of a topic by phi'_tc alone."""

    phi: np.ndarray  # (C * T,) float32
    mass: np.ndarray  # (C,), sum over topics
    accept: np.ndarray  # (C * T,) float32
    other: np.ndarray  # (C * T,) int32


class PriorTables(NamedTuple):
    """The prior of labels under one set; no topics at all where it is fixed."""

    flat: RunningSums  # b_c = 1
    base: RunningSums  # b_c = sum_t phi'_tc
    topics: TopicTables
    by_label: TopicsOfLabels


class Weights(NamedTuple):
    """Of the prior: in all of what topics say; flat for each label; flat for each topic."""

    eta: float
    alpha: float
    gamma: float


class Plan(NamedTuple):
    """Which chains to run, which of their sweeps to keep, and the seed."""

    first_chain: int
    n_chains: int
    burn_in: int
    n_samples: int
    thin: int
    seed: int


def word_tables(words: WordDistributions) -> WordTables:
    """Phi for the kernels."""
    excess = words.excess
    return WordTables(
        excess.indptr.astype(np.int64),
        excess.indices.astype(np.int32),
        excess.data.astype(np.float32),
        words.floor,
    )


def running_sums(words: WordDistributions, base: np.ndarray) -> RunningSums:
    """Running sums with a weight (C,) for each label."""
    by_word = _running_rows(words.excess, words.excess.data * base[words.excess.indices])
    by_floor = np.cumsum(words.floor * base)
    return RunningSums(by_word, by_floor, words.excess @ base + by_floor[-1])


def prior_tables(
    words: WordDistributions, flat: RunningSums, topics: LabelTopics | None, number: int
) -> PriorTables:
    """What depends on one set of topics."""
    C = len(words.floor)
    phi = np.zeros((1, C)) if topics is None else topics.dense(number)
    base = running_sums(words, phi.sum(axis=0))
    if topics is None or topics.n_topics == 1:
        own, floor, phi = sparse.csr_array((0, C)), np.zeros(0), np.zeros((0, C))
    else:
        own, floor = topics.excess(number), topics.floor(number)
    by_topic = _topic_tables(words, flat.mass, _rows_falling(own), floor)
    return PriorTables(flat, base, by_topic, topics_of_labels(phi))


def _topic_tables(
    words: WordDistributions, mass: np.ndarray, own: sparse.csr_array, floor: np.ndarray
) -> TopicTables:
    by_word = (words.excess @ own.T).toarray() + own @ words.floor + np.outer(mass, floor)
    return TopicTables(
        own.indptr.astype(np.int64),
        own.indices.astype(np.int32),
        own.data.astype(np.float64),
        floor,
        by_word.astype(np.float32),
    )


def topics_of_labels(phi: np.ndarray) -> TopicsOfLabels:
    """Phi' (T, C) by label."""
    from setwise.models.topics._alias_kernel import fill_aliases

    by_label = np.ascontiguousarray(phi.T)
    accept = np.ones(by_label.shape, np.float32)
    other = np.zeros(by_label.shape, np.int32)
    fill_aliases(by_label, accept, other)
    return TopicsOfLabels(
        by_label.astype(np.float32).ravel(), by_label.sum(axis=1), accept.ravel(), other.ravel()
    )


def _running_rows(matrix: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    """Running sums of values along each row of a CSR matrix, from zero in every row."""
    running = np.concatenate([[0.0], np.cumsum(values)])
    before = np.repeat(running[matrix.indptr[:-1]], np.diff(matrix.indptr))
    sums: np.ndarray = running[1:] - before
    return sums


def _rows_falling(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with each row's entries by falling value."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-matrix.data, row))
    return sparse.csr_array(
        (matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape
    )
