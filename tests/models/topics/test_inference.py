"""The samplers against exact answers by enumeration, where few tokens allow it."""

from itertools import product
from math import lgamma

import numpy as np
import pytest
from scipy import sparse

from setwise.errors import DataError
from setwise.models.topics.documents import word_counts
from setwise.models.topics.inference import Inference, Prior, Sampling
from setwise.models.topics.label_topics import LabelTopics
from setwise.models.topics.tables import Documents
from setwise.models.topics.words import WordDistributions

LONG = Sampling(n_chains=2, burn_in=20, n_samples=150_000, thin=1)


def word_distributions(V=4, C=3, seed=0):
    random = np.random.default_rng(seed)
    excess = random.random((V, C)) * (random.random((V, C)) < 0.6)
    excess[:, 0] += 0.05  # every word is known
    excess[-1] = 0  # but the last
    return WordDistributions(sparse.csr_array(excess), 0.1 + 0.1 * random.random(C))


def label_topics(T=2, C=3, n_sets=1, seed=1):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, size=(n_sets * T, C)) * (random.random((n_sets * T, C)) < 0.7)
    return LabelTopics(sparse.csr_array(counts.astype(np.int32)), n_sets, 0.5)


def means(inference, counts, sampling=LONG, seed=3):
    """Means of N_cd and alpha' over the samples of one document."""
    document = Documents(counts.indptr.astype(np.int64), counts.indices, counts.data)
    sums = np.zeros((1, inference.n_labels))
    run = inference._run_properly if inference._is_proper(sampling) else inference._run
    plan = sampling.plan(0, 1, seed)
    prior = run(0, document, plan, sampling.n_label_tokens, sums, np.zeros((0, 1)))
    return sums[0] / (sampling.n_chains * sampling.n_samples), prior[0]


DOCUMENT = word_counts(np.array([[2, 1, 0, 0]]))
TOKENS = [0, 0, 1]


def occurrences(assigned, size):
    return np.bincount(np.asarray(assigned, dtype=int), minlength=size)


@pytest.mark.parametrize("kind", ["flat", "prior"])
def test_with_a_fixed_prior_samples_have_the_exact_means(kind):
    words, topics = word_distributions(), label_topics(T=1)
    prior = Prior(eta=0.0 if kind == "flat" else 2.0, alpha=0.9, gamma=1.0)
    inference = Inference(words, None if kind == "flat" else topics, prior)
    alpha = np.full(3, 0.3) + prior.eta * topics.dense(0)[0]
    phi, total, expected = words.dense(), 0.0, np.zeros(3)
    for z in product(range(3), repeat=3):
        N = occurrences(z, 3)
        p = np.prod([phi[w, c] for w, c in zip(TOKENS, z)])
        p *= np.exp(sum(lgamma(a + n) - lgamma(a) for a, n in zip(alpha, N)))
        total += p
        expected += p * N
    found, found_prior = means(inference, DOCUMENT)
    np.testing.assert_allclose(found, expected / total, atol=0.01)
    np.testing.assert_allclose(found_prior, alpha, rtol=1e-10)


def transitions(phi, topics, prior):
    """The exact law of one sweep of the fast inference, over all states (z, z')."""
    (T, C), n = topics.shape, len(TOKENS)
    states = list(product(product(range(C), repeat=n), product(range(T), repeat=n)))
    number = {state: i for i, state in enumerate(states)}
    P = np.zeros((len(states), len(states)))
    gamma = prior.gamma / T

    def walk(z, z_topic, at, alpha, p, row):
        if at == 2 * n:
            P[row, number[z, z_topic]] += p
            return
        i = at % n
        if at < n:
            others = occurrences(z[:i] + z[i + 1 :], C)
            weight = phi[TOKENS[i]] * (others + alpha)
        else:
            others = occurrences(z_topic[:i] + z_topic[i + 1 :], T)
            weight = topics[:, z[i]] * (others + gamma)
        for value, share in enumerate(weight / weight.sum()):
            if at < n:
                walk((*z[:i], value, *z[i + 1 :]), z_topic, at + 1, alpha, p * share, row)
            else:
                new = (*z_topic[:i], value, *z_topic[i + 1 :])
                walk(z, new, at + 1, alpha, p * share, row)

    for row, (z, z_topic) in enumerate(states):
        theta = (occurrences(z_topic, T) + gamma) / (n + prior.gamma)
        walk(z, z_topic, 0, prior.eta * theta @ topics + prior.alpha / C, 1.0, row)
    return states, P


@pytest.mark.parametrize("number", [0, 1])
def test_the_fast_inference_follows_its_conditionals(number):
    # Topics that differ much, lest a wrong weight of theirs goes unseen.
    counts = np.array([[[6, 1, 0], [0, 0, 3]], [[6, 1, 0], [0, 2, 1]]][number], dtype=np.int32)
    topics = LabelTopics(sparse.csr_array(counts), 1, 0.15)
    words, prior = word_distributions(seed=number), Prior(eta=6.0, alpha=0.3, gamma=0.4)
    states, P = transitions(words.dense(), topics.dense(0), prior)
    stationary = np.full(len(states), 1 / len(states))
    for _ in range(300):
        stationary = stationary @ P
    N = np.array([occurrences(z, 3) for z, _ in states])
    N_topics = np.array([occurrences(z_topic, 2) for _, z_topic in states])
    theta = (stationary @ N_topics + 0.2) / (3 + 0.4)
    found, found_prior = means(Inference(words, topics, prior), DOCUMENT)
    np.testing.assert_allclose(found, stationary @ N, atol=0.02)
    np.testing.assert_allclose(found_prior, 6 * theta @ topics.dense(0) + 0.1, atol=0.03)


@pytest.mark.parametrize("T", [1, 2])
def test_the_proper_sampler_has_the_exact_posterior(T):
    words, topics, prior = word_distributions(), label_topics(T), Prior(2.0, 0.9, 0.8)
    phi, phi_topics, M, gamma = words.dense(), topics.dense(0), 3, 0.8 / T
    total, expected, tokens = 0.0, np.zeros(3), np.zeros(3)
    for c in product(range(3), repeat=M):
        m = occurrences(c, 3)
        of_labels = 0.0
        for z_topic in product(range(T), repeat=M):
            p = np.prod([phi_topics[t, label] for t, label in zip(z_topic, c)])
            of_labels += p * np.exp(sum(lgamma(n + gamma) for n in occurrences(z_topic, T)))
        alpha = prior.eta * m / M + prior.alpha / 3
        for z in product(range(3), repeat=3):
            N = occurrences(z, 3)
            p = of_labels * np.prod([phi[w, label] for w, label in zip(TOKENS, z)])
            p *= np.exp(sum(lgamma(a + n) - lgamma(a) for a, n in zip(alpha, N)))
            total += p
            expected += p * N
            tokens += p * m
    sampling = Sampling(2, 20, 60_000, 1, n_label_tokens=M)
    found, found_prior = means(Inference(words, topics, prior), DOCUMENT, sampling)
    np.testing.assert_allclose(found, expected / total, atol=0.015)
    np.testing.assert_allclose(found_prior, 2 * tokens / total / M + 0.3, atol=0.015)


def larger(n=100, V=40, C=12, T=5, n_sets=3):
    random = np.random.default_rng(5)
    inference = Inference(
        word_distributions(V, C), label_topics(T, C, n_sets), Prior(20.0, 2.0, 3.0)
    )
    return inference, inference.with_known_words(word_counts(random.poisson(0.3, size=(n, V))))


@pytest.mark.parametrize("n_label_tokens", [0, 20])
def test_threads_batches_and_order_change_nothing(n_label_tokens):
    inference, counts = larger()
    sampling = Sampling(6, 3, 2, 2, n_label_tokens)
    whole = inference.infer(counts, sampling, 9, 1).theta
    np.testing.assert_allclose(whole.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(inference.infer(counts, sampling, 9, 3).theta, whole)
    order = np.random.default_rng(0).permutation(100)
    np.testing.assert_allclose(
        inference.infer(counts[order], sampling, 9, 2).theta, whole[order], rtol=1e-12
    )
    np.testing.assert_allclose(
        inference.infer(counts[70:71], sampling, 9, 1).theta, whole[70:71], rtol=1e-12
    )
    assert np.abs(inference.infer(counts, sampling, 10, 1).theta - whole).max() > 1e-3


def test_the_prior_has_the_weight_asked_for():
    inference, counts = larger()

    def theta(final):
        prior = Prior(20.0, 2.0, 3.0, final)
        model = Inference(inference.words, inference.topics, prior)
        return model.infer(counts, Sampling(6, 3, 2, 2), 9, 1).theta

    whole, half, prior_alone = theta(1.0), theta(0.5), theta(1e12)
    np.testing.assert_allclose(1.5 * half, 2 * whole - 0.5 * prior_alone, atol=1e-9)
    assert np.abs(half - whole).max() > 0.01


def test_every_token_speaks_for_one_label():
    inference, counts = larger()
    inferred = inference.infer(counts, Sampling(6, 3, 2, 2), 9, 2, by_entry=True)
    np.testing.assert_allclose(inferred.by_entry.sum(axis=1), counts.data, rtol=1e-12)


def test_an_empty_document_and_unknown_words_get_the_prior():
    words, topics = word_distributions(), label_topics(T=2, n_sets=2)
    counts = word_counts(np.array([[0, 0, 0, 0], [0, 0, 0, 5]]))
    inference = Inference(words, topics, Prior(2.0, 0.6, 0.8))
    known = inference.with_known_words(counts)
    assert known.nnz == 0
    for n_label_tokens in (0, 4):
        theta = inference.infer(known, Sampling(4, 1, 1, 1, n_label_tokens), 0, 1).theta
        own = [topics.weights(k) @ topics.dense(k) for k in range(2)]
        expected = (2 * np.mean(own, axis=0) + 0.2) / 2.6
        np.testing.assert_allclose(theta, [expected, expected], rtol=1e-10)
    flat = Inference(words, None, Prior(0.0, 1.0, 0.0))
    np.testing.assert_allclose(
        flat.infer(known, Sampling(1, 1, 1, 1), 0, 1).theta, 1 / 3, rtol=1e-12
    )


def test_chains_are_dealt_out_over_the_sets_of_topics():
    sampling = Sampling(7, 1, 1, 1)
    plans = [sampling.plan(number, 3, seed=5) for number in range(3)]
    assert [plan.first_chain for plan in plans] == [0, 2, 4]
    assert sum(plan.n_chains for plan in plans) == 7


def test_the_proper_sampler_without_smoothing_gets_a_sentence():
    inference = Inference(word_distributions(), label_topics(), Prior(2.0, 0.0, 1.0))
    with pytest.raises(DataError, match="needs alpha over zero"):
        inference.infer(DOCUMENT, Sampling(1, 1, 1, 1, 10), 0, 1)
