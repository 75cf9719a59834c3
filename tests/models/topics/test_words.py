from itertools import product
from math import lgamma

import numpy as np
import pytest
from scipy import sparse

from setwise.models.topics.documents import word_counts
from setwise.models.topics.words import WordSampler, learn_words


def seeds(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**63, size=(n, 2), dtype=np.int64)


def corpus(n=40, V=12, C=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.poisson(0.7, size=(n, V))
    Y = (random.random((n, C)) < 0.4).astype(np.int8)
    return word_counts(X), sparse.csr_array(Y)


def recount(sampler, chain, n_pairs):
    """All counts, from the assignments alone."""
    pairs, totals = np.zeros(n_pairs, int), np.zeros(sampler.n_labels, int)
    shares, at = np.zeros(len(sampler.labels), int), 0
    for d in range(len(sampler.document_ptr) - 1):
        m = sampler.label_ptr[d + 1] - sampler.label_ptr[d]
        for entry in range(sampler.document_ptr[d], sampler.document_ptr[d + 1]):
            for i in range(sampler.token_ptr[entry], sampler.token_ptr[entry + 1]):
                j = chain.z[i]
                assert 0 <= j < m
                pairs[sampler.positions[at + j]] += 1
                totals[sampler.labels[sampler.label_ptr[d] + j]] += 1
                shares[sampler.label_ptr[d] + j] += 1
            at += m
    return pairs, totals, shares


def test_counts_are_conserved_at_every_sweep():
    counts, Y = corpus()
    sampler = WordSampler(counts, Y, eta=50, beta=0.01)
    labelled = np.diff(Y.indptr) > 0
    assert sampler.n_tokens == counts[labelled].sum()
    chain = sampler.begin(1)
    for sweep in range(5):
        for name, counted in zip(
            ("pairs", "totals", "shares"), recount(sampler, chain, sampler.pairs.nnz)
        ):
            np.testing.assert_array_equal(getattr(chain, name), counted)
        sampler.sweep(chain, 1, sweep)


def test_positions_point_to_the_pair_of_word_and_label():
    counts, Y = corpus()
    sampler = WordSampler(counts, Y, eta=50, beta=0.01)
    usable = (np.diff(counts.indptr) > 0) & (np.diff(Y.indptr) > 0)
    pairs, at = sampler.pairs.tocoo(), 0
    for d, (row, labels) in enumerate(zip(counts[usable], Y[usable])):
        mine = sampler.labels[sampler.label_ptr[d] : sampler.label_ptr[d + 1]]
        np.testing.assert_array_equal(mine, np.flatnonzero(labels.toarray()))
        for w in np.flatnonzero(row.toarray()):
            for c in mine:
                assert pairs.coords[0][sampler.positions[at]] == w
                assert pairs.coords[1][sampler.positions[at]] == c
                at += 1
    assert at == len(sampler.positions)


def test_with_one_label_a_document_training_is_naive_bayes():
    counts, _ = corpus()
    Y = sparse.csr_array(np.eye(4, dtype=np.int8)[np.arange(40) % 4])
    sampler = WordSampler(counts, Y, eta=50, beta=0.5)
    phi = learn_words(sampler, 3, 4, seeds(3), 1).dense()
    N = counts.T @ Y.toarray()
    np.testing.assert_allclose(phi, (N + 0.5) / (N + 0.5).sum(axis=0), rtol=1e-12)


def test_columns_sum_to_one_and_a_label_never_seen_gets_the_prior():
    counts, Y = corpus()
    Y = sparse.csr_array(np.hstack([Y.toarray(), np.zeros((40, 1), np.int8)]))
    phi = learn_words(WordSampler(counts, Y, 50, 0.01), 4, 5, seeds(4), 2).dense()
    np.testing.assert_allclose(phi.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(phi[:, -1], 1 / 12, rtol=1e-12)


@pytest.mark.parametrize("empty", ["documents", "labels"])
def test_without_words_or_labels_everything_is_the_prior(empty):
    counts, Y = corpus()
    counts, Y = (counts * 0, Y) if empty == "documents" else (counts, Y * 0)
    counts, Y = word_counts(counts), sparse.csr_array(Y.toarray())
    phi = learn_words(WordSampler(counts, Y, 50, 0.01), 2, 3, seeds(2), 1)
    np.testing.assert_allclose(phi.dense(), 1 / 12, rtol=1e-12)


def test_the_number_of_threads_changes_nothing():
    counts, Y = corpus()
    sampler = WordSampler(counts, Y, 50, 0.01)
    one, three = (learn_words(sampler, 5, 4, seeds(5), n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.dense(), three.dense())


def exact_pair_counts(X, Y, eta, beta):
    """E[N_wc] under the posterior of all assignments, by listing them."""
    V, C = X.shape[1], Y.shape[1]
    tokens = [(d, w) for d in range(len(X)) for w in range(V) for _ in range(X[d, w])]
    options = [np.flatnonzero(Y[d]) for d, _ in tokens]
    total, expected = 0.0, np.zeros((V, C))
    for z in product(*options):
        N, D = np.zeros((V, C)), np.zeros((len(X), C))
        for (d, w), c in zip(tokens, z):
            N[w, c] += 1
            D[d, c] += 1
        log_p = sum(lgamma(n + beta) for n in N.flat)
        log_p -= sum(lgamma(n + V * beta) for n in N.sum(axis=0))
        log_p += sum(
            lgamma(D[d, c] + eta / Y[d].sum()) for d in range(len(X)) for c in np.flatnonzero(Y[d])
        )
        total += np.exp(log_p)
        expected += np.exp(log_p) * N
    return expected / total


def test_the_sampler_has_the_right_stationary_distribution():
    X = np.array([[2, 1, 0], [0, 1, 2], [1, 0, 1]])
    Y = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    exact = exact_pair_counts(X, Y, eta=1.5, beta=0.4)
    sampler = WordSampler(word_counts(X), sparse.csr_array(Y), eta=1.5, beta=0.4)
    chain = sampler.begin(7)
    sampler.sweep(chain, 100, 8)
    mean, n = np.zeros(sampler.pairs.nnz), 40000
    for i in range(n):
        sampler.sweep(chain, 1, 1000 + i)
        mean += chain.pairs / n
    found = sparse.csr_array((mean, sampler.pairs.indices, sampler.pairs.indptr), shape=(3, 3))
    np.testing.assert_allclose(found.toarray(), exact, atol=0.02)


def test_distributions_are_recovered_from_documents_drawn_from_the_model():
    random = np.random.default_rng(3)
    V, C, n = 30, 4, 1500
    phi = random.dirichlet(np.full(V, 0.2), size=C)
    Y = np.zeros((n, C), np.int8)
    X = np.zeros((n, V), int)
    for d in range(n):
        mine = random.choice(C, size=random.integers(1, 4), replace=False)
        Y[d, mine] = 1
        theta = random.dirichlet(np.full(len(mine), 5.0))
        X[d] = random.multinomial(60, theta @ phi[mine])
    sampler = WordSampler(word_counts(X), sparse.csr_array(Y), eta=15, beta=0.01)
    found = learn_words(sampler, 4, 60, seeds(4), 2).dense().T
    assert np.abs(found - phi).sum(axis=1).max() < 0.08


def test_the_likelihood_rises_from_the_random_start():
    counts, Y = corpus(n=200)
    sampler = WordSampler(counts, Y, 5, 0.01)
    chain = sampler.begin(0)
    before = sampler.log_likelihood(chain)
    sampler.sweep(chain, 30, 1)
    assert sampler.log_likelihood(chain) > before
