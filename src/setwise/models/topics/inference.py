"""The labels of new documents, given what was learnt (Rubin et al. 2012, sections 3.5 and B.2).

Each sweep of the fast inference (section 3.5.1)

1. draws the label of each word token,      P(z = c)  ∝ phi_wc (N_cd + alpha'_c)               (8)
2. takes these as the label tokens, and draws their topics,
                                            P(z' = t) ∝ phi'_ct (N_dt + gamma)                (10)
3. and sets                                 alpha'_c = eta sum_t theta'_t phi'_tc + alpha     (12)

In the end the mean of N_cd and the mean of alpha', scaled to the length of the document, are added:
half of the answer comes from the words, half from the prior they suggest. The proper sampler draws
label tokens by (9) instead of steps 2 and 3. Chains are dealt out over the sets of topics.

A document's random numbers come from its words and the seed: its answer is the same in every
batch, in every order, and with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.errors import DataError
from setwise.learners.workers import Workers
from setwise.models.topics.label_topics import LabelTopics
from setwise.models.topics.words import WordDistributions

CHUNK = 32  # documents in one task


@dataclass(frozen=True)
class Prior:
    """The Dirichlet prior of a test document's labels: weights as sums over labels and topics."""

    eta: float  # weight of what the topics say
    alpha: float  # flat weight, over all labels
    gamma: float  # flat weight, over all topics


@dataclass(frozen=True)
class Sampling:
    """How many chains, and which of their sweeps are used."""

    n_chains: int
    burn_in: int
    n_samples: int
    thin: int
    n_label_tokens: int = 0  # M, for the proper sampler; 0: fast inference

    def chains_of(self, number: int, n_sets: int) -> tuple[int, int]:
        """The first chain, and how many, that one of ``n_sets`` sets of topics gets."""
        first = self.n_chains * number // n_sets
        return first, self.n_chains * (number + 1) // n_sets - first


@dataclass(frozen=True)
class Inferred:
    """What the samples say of each document."""

    theta: np.ndarray  # (n, C), sums to one
    by_entry: np.ndarray | None  # (entries, C), tokens of each entry that each label took


class Inference:
    """Tables for fast draws, made once for a fitted model.

    Parameters
    ----------
    words : WordDistributions
    topics : LabelTopics or None
        None for Flat-LDA, whose prior is flat.
    prior : Prior
    """

    def __init__(self, words: WordDistributions, topics: LabelTopics | None, prior: Prior):
        self.words, self.topics, self.prior = words, topics, prior
        self.n_labels = len(words.floor)
        self.n_sets = 1 if topics is None else topics.n_sets
        self.alpha = prior.alpha / self.n_labels  # for each label
        self.known = np.diff(words.excess.indptr) > 0
        self._word_tables = _word_tables(words)
        self._sets: dict[int, tuple[Any, ...]] = {}

    def infer(
        self,
        counts: sparse.csr_array,
        sampling: Sampling,
        seed: int,
        n_jobs: int | None,
        by_entry: bool = False,
    ) -> Inferred:
        """Labels of documents, int32 CSR (n, V) of known words (``with_known_words``)."""
        if sampling.n_label_tokens and self.topics is not None and self.alpha <= 0:
            raise DataError("the proper sampler needs alpha over zero; pass a small one")
        for number in range(self.n_sets):
            self._tables(number)  # before threads ask for them
        n = counts.shape[0]
        starts = range(0, n, CHUNK)
        ptr, entry_words = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)

        def chunk(number: int) -> tuple[np.ndarray, np.ndarray | None]:
            start, stop = starts[number], min(starts[number] + CHUNK, n)
            entries = slice(ptr[start], ptr[stop])
            documents = (ptr[start : stop + 1] - ptr[start], entry_words[entries])
            return self._chunk((*documents, counts.data[entries]), sampling, seed, by_entry)

        with Workers(n_jobs) as workers:
            parts = workers.map(chunk, range(len(starts)))
        theta = np.concatenate([np.zeros((0, self.n_labels)), *(part for part, _ in parts)])
        if not by_entry:
            return Inferred(theta, None)
        spoken = [part for _, part in parts if part is not None]
        return Inferred(theta, np.concatenate([np.zeros((0, self.n_labels)), *spoken]))

    def with_known_words(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Documents without the words that training never saw: they speak for no label."""
        kept = counts.copy()
        kept.data[~self.known[kept.indices]] = 0
        kept.eliminate_zeros()
        return kept

    def _chunk(
        self, documents: tuple[np.ndarray, ...], sampling: Sampling, seed: int, by_entry: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        ptr, words, counts = documents
        n = len(ptr) - 1
        lengths = np.add.reduceat(np.append(counts, 0), ptr[:-1]) * (np.diff(ptr) > 0)
        label_sums, prior_sums = np.zeros((2, n, self.n_labels))
        entry_sums = np.zeros((len(words) if by_entry else 0, self.n_labels))
        run = self._run_properly if self._is_proper(sampling) else self._run
        for number in range(self.n_sets):
            chains = sampling.chains_of(number, self.n_sets)
            if chains[1]:
                prior_sums += chains[1] * run(
                    number, documents, lengths, sampling, chains, seed, label_sums, entry_sums
                )
        n_samples = sampling.n_chains * sampling.n_samples
        spoken = label_sums / n_samples
        prior = prior_sums / prior_sums.sum(axis=1, keepdims=True)
        theta = spoken + np.where(lengths > 0, lengths, 1)[:, None] * prior
        theta /= theta.sum(axis=1, keepdims=True)
        return theta, entry_sums / n_samples if by_entry else None

    def _is_proper(self, sampling: Sampling) -> bool:
        return sampling.n_label_tokens > 0 and self.topics is not None

    def _run(
        self,
        number: int,
        documents: tuple[np.ndarray, ...],
        lengths: np.ndarray,
        sampling: Sampling,
        chains: tuple[int, int],
        seed: int,
        label_sums: np.ndarray,
        entry_sums: np.ndarray,
    ) -> np.ndarray:
        """Add to the sums; returns the mean of alpha' under one set of topics, (n, C)."""
        from setwise.models.topics._inference_kernel import infer

        tables, phi, gamma = self._tables(number)
        n_topics = tables[7].shape[1]  # those that are sampled
        topic_sums = np.zeros((len(lengths), n_topics))
        infer(
            *documents,
            *self._word_tables,
            *tables,
            *(self.prior.eta if self.topics is not None else 0.0, self.alpha, gamma),
            *(*chains, sampling.burn_in, sampling.n_samples, sampling.thin, seed),
            *(label_sums, topic_sums, entry_sums),
        )
        if self.topics is None:
            return np.full(label_sums.shape, self.alpha if self.alpha > 0 else 1.0)
        weights = np.tile(self.topics.weights(number), (len(lengths), 1))  # of empty documents
        spoken = lengths > 0
        if n_topics:
            means = topic_sums / (chains[1] * sampling.n_samples) + gamma
            weights[spoken] = (means / means.sum(axis=1, keepdims=True))[spoken]
        prior: np.ndarray = self.prior.eta * (weights @ phi) + self.alpha
        return prior

    def _run_properly(
        self,
        number: int,
        documents: tuple[np.ndarray, ...],
        lengths: np.ndarray,
        sampling: Sampling,
        chains: tuple[int, int],
        seed: int,
        label_sums: np.ndarray,
        entry_sums: np.ndarray,
    ) -> np.ndarray:
        from setwise.models.topics._proper_kernel import infer_properly

        assert self.topics is not None
        phi = self.topics.dense(number)
        by_label = np.ascontiguousarray(phi.T)
        token_sums = np.zeros_like(label_sums)
        infer_properly(
            *documents,
            *self._word_tables,
            *(by_label.ravel(), np.cumsum(by_label, axis=1).ravel(), np.cumsum(phi, axis=1)),
            *(self.prior.eta, self.alpha, self.prior.gamma / self.topics.n_topics),
            *(sampling.n_label_tokens, *chains),
            *(sampling.burn_in, sampling.n_samples, sampling.thin, seed),
            *(label_sums, token_sums, entry_sums),
        )
        drawn = token_sums / (chains[1] * sampling.n_samples * sampling.n_label_tokens)
        drawn[lengths == 0] = self.topics.weights(number) @ phi
        prior: np.ndarray = self.prior.eta * drawn + self.alpha
        return prior

    def _tables(self, number: int) -> tuple[Any, ...]:
        """What depends on one set of topics: for the kernel, phi', and gamma of each topic."""
        if number not in self._sets:
            self._sets[number] = self._made_tables(number)
        return self._sets[number]

    def _made_tables(self, number: int) -> tuple[Any, ...]:
        C, topics = self.n_labels, self.topics
        phi = np.zeros((1, C)) if topics is None else topics.dense(number)
        fixed = len(phi) == 1  # the prior is the same for all documents
        base = phi.sum(axis=0)
        excess, floor = self.words.excess, self.words.floor
        by_word = _running_rows(excess, excess.data * base[excess.indices])
        by_floor = np.cumsum(floor * base)
        J = excess @ base + by_floor[-1]
        if fixed or topics is None:
            nothing = sparse.csr_array((0, C))
            own, own_floor, gamma = nothing, np.zeros(0), 0.0
        else:
            own, own_floor = topics.excess(number), topics.floor(number)
            gamma = self.prior.gamma / topics.n_topics
        own = _rows_falling(own)
        # sum over c of phi_wc phi'_tc, both with their floors.
        G = (excess @ own.T).toarray() + own @ floor + np.outer(self._word_tables[-1], own_floor)
        by_label = np.ascontiguousarray(phi.T) if own.shape[0] else np.zeros((C, 0))
        tables = (
            *(by_word, by_floor, J, own.indptr.astype(np.int64), own.indices.astype(np.int32)),
            *(own.data.astype(np.float64), own_floor, G.astype(np.float32)),
            *(by_label.astype(np.float32).ravel(), np.cumsum(by_label, axis=1).ravel()),
        )
        return tables, phi, gamma


def _word_tables(words: WordDistributions) -> tuple[np.ndarray, ...]:
    """What all sets of topics share: phi by word, and running sums."""
    excess, floor = words.excess, words.floor
    return (
        *(excess.indptr.astype(np.int64), excess.indices.astype(np.int32)),
        *(excess.data.astype(np.float32), floor, _running_rows(excess, excess.data)),
        *(np.cumsum(floor), np.asarray(excess.sum(axis=1)) + floor.sum()),
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
