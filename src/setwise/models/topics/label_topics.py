"""Which labels go together: phi', topics that are distributions over labels.

Rubin et al. 2012, section 3.4.2: LDA with the labels of a document as its words. Given all other
assignments of label tokens to topics, one is drawn anew by

    P(z' = t)  ∝  (N_ct + beta) / (N_t + C beta)  *  (N_dt + gamma)                             (5)

and at the end of a chain

    phi'_ct  =  (N_ct + beta) / (N_t + C beta)                                                  (6)

Topics have no names that chains could agree on, so that each chain's set of topics stays apart.
With one topic there is nothing to sample: that is Prior-LDA.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setwise.learners.in_threads import in_threads
from setwise.storage import storable


@storable
@dataclass(frozen=True, eq=False)
class LabelTopics:
    """Several sets of T topics over C labels, as counts."""

    counts: sparse.csr_array  # (n_sets * T, C) int32, N_ct
    n_sets: int
    beta: float

    @property
    def n_topics(self) -> int:
        """T, how many topics each set has."""
        return int(self.counts.shape[0]) // self.n_sets

    def of_set(self, number: int) -> sparse.csr_array:
        """N_ct of one set, (T, C)."""
        return self.counts[number * self.n_topics : (number + 1) * self.n_topics]

    def excess(self, number: int) -> sparse.csr_array:
        """What counts contribute to phi', (T, C)."""
        return sparse.csr_array(self.of_set(number) * self._inverse(number)[:, None])

    def floor(self, number: int) -> np.ndarray:
        """What smoothing contributes to phi', the same for each label, (T,)."""
        smoothing: np.ndarray = self.beta * self._inverse(number)
        return smoothing

    def dense(self, number: int) -> np.ndarray:
        """All of phi' of one set, (T, C); its rows sum to one."""
        phi: np.ndarray = self.excess(number).toarray() + self.floor(number)[:, None]
        return phi

    def weights(self, number: int) -> np.ndarray:
        """The share of training labels that each topic has, (T,); even where there are none."""
        totals = self._totals(number) + 1e-12
        shares: np.ndarray = totals / totals.sum()
        return shares

    def _totals(self, number: int) -> np.ndarray:
        return np.asarray(self.of_set(number).sum(axis=1), dtype=np.float64)

    def _inverse(self, number: int) -> np.ndarray:
        inverse: np.ndarray = 1 / (self._totals(number) + self.beta * self.counts.shape[1])
        return inverse


def learn_label_topics(
    Y: sparse.csr_array,
    n_topics: int,
    *,
    gamma: float,
    beta: float,
    n_chains: int,
    burn_in: int,
    seeds: np.ndarray,
    n_jobs: int | None,
) -> LabelTopics:
    """Topics of labels from the label sets of documents, one set of them for each chain."""
    if n_topics == 1:
        frequency = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int32)
        return LabelTopics(sparse.csr_array(frequency[None]), 1, beta)
    label_ptr, labels = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)

    def chain(number: int) -> sparse.csr_array:
        from setwise.models.topics._label_topics_kernel import LANES, sample_topics

        z, totals = np.zeros(len(labels), np.int32), np.zeros(n_topics, np.int32)
        by_label = np.zeros((Y.shape[1], -(-n_topics // LANES) * LANES), np.int32)
        seed = int(seeds[number])
        sample_topics(label_ptr, labels, z, by_label, totals, gamma, beta, burn_in, seed)
        return sparse.csr_array(by_label[:, :n_topics].T)

    chains = in_threads(chain, n_chains, n_jobs)
    return LabelTopics(sparse.vstack(chains, format="csr"), n_chains, beta)
