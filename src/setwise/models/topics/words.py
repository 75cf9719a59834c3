"""What words each label speaks in: phi, learnt by collapsed Gibbs sampling.

Rubin, Chambers, Smyth and Steyvers 2012, section 3.4.1. A token of word w in document d belongs to
one of the document's labels; given all other assignments it is drawn anew by

    P(z = c)  ∝  (N_wc + beta) / (N_c + V beta)  *  (N_cd + eta / M_d)                          (2)

for the M_d labels of d, and at the end of a chain

    phi_wc  =  (N_wc + beta) / (N_c + V beta)                                                   (3)

which is averaged over chains. Each summand is sparse plus a number that depends on the label alone,
and so is their mean: phi_wc = S_wc + floor_c. Only that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from setwise.learners.in_threads import in_threads
from setwise.storage import storable


@storable
@dataclass(frozen=True, eq=False)
class WordDistributions:
    """phi_wc = excess_wc + floor_c: the probability of word w under label c."""

    excess: sparse.csr_array  # (V, C), what training counted
    floor: np.ndarray  # (C,), what smoothing gives to every word

    def dense(self) -> np.ndarray:
        """All of phi as an array (V, C); its columns sum to one."""
        phi: np.ndarray = self.excess.toarray() + self.floor
        return phi

    @cached_property
    def columns(self) -> sparse.csc_array:
        """The excess by label."""
        return self.excess.tocsc()


@dataclass
class Chain:
    """The state of one sampler: assignments, and the counts that follow from them."""

    z: np.ndarray  # (tokens,) int32, place of the label in the document's list
    pairs: np.ndarray  # (pairs,) int32, N_wc
    totals: np.ndarray  # (C,) int32, N_c
    shares: np.ndarray  # (label tokens,) int32, N_cd


class WordSampler:
    """Labelled documents, laid out for the sampler; documents without words or labels drop out.

    Parameters
    ----------
    counts : int32 CSR (n, V)
    Y : CSR (n, C)
    eta, beta : float
        Weight of a document's labels, and smoothing of words.
    """

    def __init__(self, counts: sparse.csr_array, Y: sparse.csr_array, eta: float, beta: float):
        usable = (np.diff(counts.indptr) > 0) & (np.diff(Y.indptr) > 0)
        counts, Y = counts[usable], Y[usable]
        self.eta, self.beta = float(eta), float(beta)
        self.n_words, self.n_labels = counts.shape[1], Y.shape[1]
        self.document_ptr = counts.indptr.astype(np.int64)
        self.token_ptr = np.concatenate([[0], np.cumsum(counts.data, dtype=np.int64)])
        self.label_ptr, self.labels = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)
        self.pairs = _pattern(counts, Y)
        self.positions = self._positions(counts)

    @property
    def n_tokens(self) -> int:
        """How many words the documents hold, repeated ones counted."""
        return int(self.token_ptr[-1])

    def begin(self, seed: int) -> Chain:
        """A chain whose tokens have labels at random."""
        from setwise.models.topics._words_kernel import assign_at_random

        chain = Chain(
            np.zeros(self.n_tokens, np.int32),
            np.zeros(self.pairs.nnz, np.int32),
            np.zeros(self.n_labels, np.int32),
            np.zeros(len(self.labels), np.int32),
        )
        assign_at_random(*self._layout, chain.z, chain.pairs, chain.totals, chain.shares, seed)
        return chain

    def sweep(self, chain: Chain, n_sweeps: int, seed: int) -> None:
        """``n_sweeps`` passes over all tokens."""
        from setwise.models.topics._words_kernel import sweep_words

        sweep_words(
            *self._layout,
            *(chain.z, chain.pairs, chain.totals, chain.shares),
            *(self.eta, self.beta, self.n_words, n_sweeps, seed),
        )

    def estimate(self, chain: Chain) -> tuple[np.ndarray, np.ndarray]:
        """Phi by eq. 3: excess of each pair, and floor of each label."""
        inverse = 1 / (chain.totals + self.beta * self.n_words)
        return chain.pairs * inverse[self.pairs.indices], self.beta * inverse

    def log_likelihood(self, chain: Chain) -> float:
        """Log-probability of a token, on average, given the point estimates (3) and (4)."""
        excess, floor = self.estimate(chain)
        phi = sparse.csr_array((excess, self.pairs.indices, self.pairs.indptr), self.pairs.shape)
        m = np.diff(self.label_ptr)
        document = np.repeat(np.arange(len(m)), m)
        theta = chain.shares + self.eta / m[document]
        theta /= np.bincount(document, theta)[document]
        entries = np.diff(self.document_ptr)
        word = self._words
        shape = (len(m), self.n_labels)
        by_document = sparse.csr_array((theta, self.labels, self.label_ptr), shape=shape)
        at = np.repeat(np.arange(len(m)), entries)
        p = np.empty(len(word))
        for rows in np.array_split(np.arange(len(word)), max(1, len(word) // 20000)):
            mixed = by_document[at[rows]]
            p[rows] = mixed.multiply(phi[word[rows]]).sum(axis=1) + mixed @ floor
        return float((np.diff(self.token_ptr) * np.log(p)).sum() / self.n_tokens)

    @property
    def _layout(self) -> tuple[np.ndarray, ...]:
        return self.document_ptr, self.token_ptr, self.label_ptr, self.labels, self.positions

    def _positions(self, counts: sparse.csr_array) -> np.ndarray:
        from setwise.models.topics._words_kernel import fill_positions

        self._words = counts.indices
        m = np.diff(self.label_ptr)
        ends = np.cumsum(np.repeat(m, np.diff(self.document_ptr)))
        positions = np.zeros(int(ends[-1]) if len(ends) else 0, np.int32)
        first = np.concatenate([[0], ends])[:-1]
        entries = sparse.csr_array(
            (np.arange(counts.nnz), counts.indices, counts.indptr), shape=counts.shape
        ).tocsc()
        if counts.nnz:
            fill_positions(
                *(entries.indptr.astype(np.int64), entries.indices, entries.data),
                *(self.label_ptr, self.labels, self.pairs.indptr.astype(np.int64)),
                *(self.pairs.indices.astype(np.int32), first, positions),
            )
        return positions


def learn_words(
    sampler: WordSampler, n_chains: int, burn_in: int, seeds: np.ndarray, n_jobs: int | None
) -> WordDistributions:
    """The mean of phi over chains of one sample each; ``seeds`` (n_chains, 2) are not negative."""

    def estimate(number: int) -> tuple[np.ndarray, np.ndarray]:
        chain = sampler.begin(int(seeds[number, 0]))
        sampler.sweep(chain, burn_in, int(seeds[number, 1]))
        return sampler.estimate(chain)

    estimates = in_threads(estimate, n_chains, n_jobs)
    excess = sampler.pairs.astype(np.float64)  # a copy: the sampler keeps its layout
    excess.data[:] = np.mean([e for e, _ in estimates], axis=0)
    excess.eliminate_zeros()
    return WordDistributions(excess, np.mean([f for _, f in estimates], axis=0))


def _pattern(counts: sparse.csr_array, Y: sparse.csr_array) -> sparse.csr_array:
    """The pairs of a word and a label that share a document: CSR (V, C), sorted."""
    ones = sparse.csr_array(
        (np.ones(counts.nnz, np.int32), counts.indices, counts.indptr), shape=counts.shape
    )
    pattern = (ones.T.tocsr() @ sparse.csr_array(Y, dtype=np.int32)).tocsr()
    pattern.sort_indices()
    return pattern
