from itertools import product
from math import lgamma

import numpy as np
from scipy import sparse

from setwise.models.topics.label_topics import learn_label_topics

SEEDS = np.arange(10, 10_000)


def learnt(Y, n_topics, n_chains=3, burn_in=20, n_jobs=1, seeds=SEEDS, gamma=0.1, beta=0.2):
    return learn_label_topics(
        sparse.csr_array(Y),
        n_topics,
        gamma=gamma,
        beta=beta,
        n_chains=n_chains,
        burn_in=burn_in,
        seeds=seeds,
        n_jobs=n_jobs,
    )


def label_sets(n=50, C=6, seed=0):
    return (np.random.default_rng(seed).random((n, C)) < 0.4).astype(np.int8)


def test_every_label_token_has_one_topic():
    Y = label_sets()
    topics = learnt(Y, 4)
    assert (topics.n_sets, topics.n_topics) == (3, 4)
    for number in range(3):
        np.testing.assert_array_equal(topics.of_set(number).sum(axis=0), Y.sum(axis=0))
        np.testing.assert_allclose(topics.dense(number).sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(topics.weights(number).sum(), 1, rtol=1e-12)


def test_one_topic_is_the_label_frequencies():
    Y = label_sets()
    phi = learnt(Y, 1).dense(0)[0]
    np.testing.assert_allclose(phi, (Y.sum(axis=0) + 0.2) / (Y.sum() + 6 * 0.2), rtol=1e-12)


def test_the_number_of_threads_changes_nothing():
    one, two = (learnt(label_sets(), 3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.counts.toarray(), two.counts.toarray())


def test_the_sampler_has_the_right_stationary_distribution():
    # Of what does not change when topics are renamed: do the two labels of a document share one?
    Y, gamma, beta = np.array([[1, 1, 0], [0, 1, 1]]), 0.5, 0.3
    tokens = [(d, c) for d in range(2) for c in np.flatnonzero(Y[d])]
    total = together = 0.0
    for z in product(range(2), repeat=4):
        N, D = np.zeros((3, 2)), np.zeros((2, 2))
        for (d, c), t in zip(tokens, z):
            N[c, t] += 1
            D[d, t] += 1
        log_p = sum(lgamma(n + beta) for n in N.flat) + sum(lgamma(n + gamma) for n in D.flat)
        log_p -= sum(lgamma(n + 3 * beta) for n in N.sum(axis=0))
        total += np.exp(log_p)
        together += np.exp(log_p) * (N[1].max() == 2)  # both tokens of the shared label
    topics = learnt(Y, 2, n_chains=8000, burn_in=6, gamma=gamma, beta=beta)
    counts = topics.counts.toarray().reshape(8000, 2, 3)
    np.testing.assert_allclose(
        (counts[:, :, 1].max(axis=1) == 2).mean(), together / total, atol=0.02
    )


def test_topics_are_recovered():
    random = np.random.default_rng(1)
    blocks = np.kron(np.eye(3), np.ones(4))  # three topics of four labels each
    Y = np.array([random.random(12) < 0.6 * blocks[random.integers(3)] for _ in range(300)])
    counts = learnt(Y.astype(int), 3, n_chains=1, burn_in=100).counts.toarray()
    by_block = counts.reshape(3, 3, 4).sum(axis=2)
    assert by_block.max(axis=1).sum() > 0.99 * counts.sum()
    assert sorted(by_block.argmax(axis=1)) == [0, 1, 2]
