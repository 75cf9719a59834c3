"""The labels of new documents, given what was learnt (Rubin et al. 2012, sections 3.5 and B.2).

Each sweep of the fast inference (section 3.5.1)

1. draws the label of each word token,      P(z = c)  ∝ phi_wc (N_cd + alpha'_c)               (8)
2. takes these as the label tokens, and draws their topics,
                                            P(z' = t) ∝ phi'_ct (N_dt + gamma)                (10)
3. and sets                                 alpha'_c = eta sum_t theta'_t phi'_tc + alpha     (12)

In the end the mean of N_cd and the mean of alpha', scaled to the length of the document, are added:
half of the answer comes from the words, half from the prior they suggest, unless ``final`` says
otherwise. While a chain burns in, step 2 takes topics in expectation instead of drawing them. The
proper sampler draws label tokens by (9) instead of steps 2 and 3. Chains are dealt out over the
sets of topics.

A document's random numbers come from its words and the seed: its answer is the same in every
batch, in every order, and with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setwise.errors import DataError
from setwise.learners.workers import Workers
from setwise.models.topics.label_topics import LabelTopics
from setwise.models.topics.tables import (
    Documents,
    Plan,
    PriorTables,
    TopicsOfLabels,
    Weights,
    prior_tables,
    running_sums,
    topics_of_labels,
    word_tables,
)
from setwise.models.topics.words import WordDistributions

CHUNK = 32  # documents in one task


@dataclass(frozen=True)
class Prior:
    """The Dirichlet prior of a test document's labels: weights as sums over labels and topics."""

    eta: float  # weight of what the topics say
    alpha: float  # flat weight, over all labels
    gamma: float  # flat weight, over all topics
    final: float = 1.0  # weight in the answer, for each word of the document


@dataclass(frozen=True)
class Sampling:
    """How many chains, and which of their sweeps are used."""

    n_chains: int
    burn_in: int
    n_samples: int
    thin: int
    n_label_tokens: int = 0  # M, for the proper sampler; 0: fast inference

    def plan(self, number: int, n_sets: int, seed: int) -> Plan:
        """The chains that one of ``n_sets`` sets of topics gets."""
        first = self.n_chains * number // n_sets
        n_chains = self.n_chains * (number + 1) // n_sets - first
        return Plan(first, n_chains, self.burn_in, self.n_samples, self.thin, seed)


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
        self._words = word_tables(words)
        self._flat = running_sums(words, np.ones(self.n_labels))
        self._sets: dict[int, tuple[PriorTables, np.ndarray]] = {}
        self._proper_sets: dict[int, tuple[TopicsOfLabels, np.ndarray]] = {}

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
        for number in range(self.n_sets):  # before threads ask for them
            self._proper_tables(number) if self._is_proper(sampling) else self._tables(number)
        n = counts.shape[0]
        starts = range(0, n, CHUNK)
        ptr, entry_words = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)

        def chunk(number: int) -> tuple[np.ndarray, np.ndarray | None]:
            start, stop = starts[number], min(starts[number] + CHUNK, n)
            entries = slice(ptr[start], ptr[stop])
            own_ptr = ptr[start : stop + 1] - ptr[start]
            documents = Documents(own_ptr, entry_words[entries], counts.data[entries])
            return self._chunk(documents, sampling, seed, by_entry)

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
        self, documents: Documents, sampling: Sampling, seed: int, by_entry: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        lengths = documents.lengths
        label_sums, prior_sums = np.zeros((2, len(lengths), self.n_labels))
        entry_sums = np.zeros((len(documents.words) if by_entry else 0, self.n_labels))
        run = self._run_properly if self._is_proper(sampling) else self._run
        for number in range(self.n_sets):
            plan = sampling.plan(number, self.n_sets, seed)
            if plan.n_chains:
                prior_sums += plan.n_chains * run(
                    number, documents, plan, sampling.n_label_tokens, label_sums, entry_sums
                )
        n_samples = sampling.n_chains * sampling.n_samples
        spoken = label_sums / n_samples
        prior = prior_sums / prior_sums.sum(axis=1, keepdims=True)
        weight = self.prior.final * np.where(lengths > 0, lengths, 1)
        theta = spoken + weight[:, None] * prior
        theta /= theta.sum(axis=1, keepdims=True)
        return theta, entry_sums / n_samples if by_entry else None

    def _is_proper(self, sampling: Sampling) -> bool:
        return sampling.n_label_tokens > 0 and self.topics is not None

    def _run(
        self,
        number: int,
        documents: Documents,
        plan: Plan,
        n_label_tokens: int,
        label_sums: np.ndarray,
        entry_sums: np.ndarray,
    ) -> np.ndarray:
        """Add to the sums; returns the mean of alpha' under one set of topics, (n, C)."""
        from setwise.models.topics._inference_kernel import infer

        (tables, phi), weights = self._tables(number), self._weights()
        n_topics = len(tables.topics.floor)  # those that are sampled
        topic_sums = np.zeros((len(label_sums), n_topics))
        infer(documents, self._words, tables, weights, plan, label_sums, topic_sums, entry_sums)
        if self.topics is None:
            return np.full(label_sums.shape, self.alpha if self.alpha > 0 else 1.0)
        shares = np.tile(self.topics.weights(number), (len(label_sums), 1))  # of empty documents
        if n_topics:
            means = topic_sums / (plan.n_chains * plan.n_samples) + weights.gamma
            spoken = documents.lengths > 0
            shares[spoken] = (means / means.sum(axis=1, keepdims=True))[spoken]
        prior: np.ndarray = weights.eta * (shares @ phi) + self.alpha
        return prior

    def _run_properly(
        self,
        number: int,
        documents: Documents,
        plan: Plan,
        n_label_tokens: int,
        label_sums: np.ndarray,
        entry_sums: np.ndarray,
    ) -> np.ndarray:
        from setwise.models.topics._proper_kernel import infer_properly

        assert self.topics is not None
        weights, token_sums = self._weights(), np.zeros_like(label_sums)
        infer_properly(
            *(documents, self._words, self._flat, *self._proper_tables(number)),
            *(weights, n_label_tokens, plan, label_sums, token_sums, entry_sums),
        )
        drawn = token_sums / (plan.n_chains * plan.n_samples * n_label_tokens)
        drawn[documents.lengths == 0] = self.topics.weights(number) @ self.topics.dense(number)
        prior: np.ndarray = weights.eta * drawn + self.alpha
        return prior

    def _weights(self) -> Weights:
        if self.topics is None:
            return Weights(0.0, self.alpha, 0.0)
        return Weights(self.prior.eta, self.alpha, self.prior.gamma / self.topics.n_topics)

    def _tables(self, number: int) -> tuple[PriorTables, np.ndarray]:
        """What depends on one set: tables for the kernel, and phi' (T, C)."""
        if number not in self._sets:
            C = self.n_labels
            phi = np.zeros((1, C)) if self.topics is None else self.topics.dense(number)
            tables = prior_tables(self.words, self._flat, self.topics, number)
            self._sets[number] = tables, phi
        return self._sets[number]

    def _proper_tables(self, number: int) -> tuple[TopicsOfLabels, np.ndarray]:
        """Phi' of one set, for the proper sampler: by label, and running sums by topic."""
        assert self.topics is not None
        if number not in self._proper_sets:
            phi = self.topics.dense(number)
            self._proper_sets[number] = topics_of_labels(phi), np.cumsum(phi, axis=1)
        return self._proper_sets[number]
