"""Every number about a row against the list of all its label sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from setwise.distributions import BernoulliMixture
from setwise.models.cbm import reasons


def all_sets(L):
    return np.array(list(itertools.product([0, 1], repeat=L)), dtype=np.int8)


def probabilities(row, sets):
    """By the definition, in float64, (2^L,)."""
    pi, p = np.exp(row.log_pi[0]), 1 / (1 + np.exp(-row.logits[0]))
    inside = np.where(sets[:, None, :] > 0, p, 1 - p).prod(axis=2)  # (2^L, K)
    found = inside @ pi
    if not row.allow_empty:
        found[~sets.any(axis=1)] = 0
        found /= found.sum()
    return found


def mixture(seed, L=5, K=3, *, allow_empty=True):
    random = np.random.default_rng(seed)
    pi = random.dirichlet(np.ones(K))
    return BernoulliMixture(np.log(pi)[None], random.normal(0, 2, (1, K, L)), allow_empty)


@pytest.fixture(params=itertools.product(range(4), [True, False]), ids=str)
def row(request):
    seed, allow_empty = request.param
    return mixture(seed, allow_empty=allow_empty)


def test_components_average_to_the_marginals(row):
    parts = reasons.parts(row)
    sets = all_sets(5)
    assert_allclose(parts.weights.sum(), 1, rtol=1e-12)
    assert_allclose(
        parts.weights @ parts.probabilities, probabilities(row, sets) @ sets, rtol=1e-10
    )
    assert (parts.probabilities <= 1).all()


def test_correlations_by_enumeration(row):
    labels, sets = np.array([3, 0, 4]), all_sets(5)
    p = probabilities(row, sets)
    apart = sets - p @ sets
    covariance = (apart.T * p) @ apart
    deviation = np.sqrt(np.diag(covariance))
    expected = (covariance / np.outer(deviation, deviation))[np.ix_(labels, labels)]
    assert_allclose(reasons.correlations(row, labels), expected, rtol=1e-8, atol=1e-10)
    assert_allclose(row.correlation()[0][np.ix_(labels, labels)], expected, rtol=1e-8, atol=1e-10)


def test_shares_of_a_set_are_posteriors(row):
    chosen = np.array([1, 0, 1, 1, 0], dtype=np.int8)
    p = 1 / (1 + np.exp(-row.logits[0]))
    joint = np.exp(row.log_pi[0]) * np.where(chosen > 0, p, 1 - p).prod(axis=1)
    assert_allclose(reasons.shares_of_set(row, chosen), joint / joint.sum(), rtol=1e-10)


def test_best_otherwise_by_enumeration(row):
    sets, labels = all_sets(5), np.array([4, 1, 0, 2, 3])
    p = probabilities(row, sets)
    mode = sets[p.argmax()]
    found, log_prob = reasons.best_otherwise(row, mode, labels)
    for label, chosen, value in zip(labels, found, log_prob):
        possible = np.where(sets[:, label] != mode[label], p, -1)
        assert chosen.tolist() == sets[possible.argmax()].tolist()
        assert_allclose(np.exp(value), possible.max(), rtol=1e-10)


def test_beside_the_others_by_enumeration(row):
    sets, labels = all_sets(5), np.arange(5)
    p = probabilities(row, sets)
    mode = sets[p.argmax()]
    expected = []
    for label in labels:
        others = np.delete(labels, label)
        same = (sets[:, others] == mode[others]).all(axis=1)
        expected.append(p[same & (sets[:, label] == 1)].sum() / p[same].sum())
    assert_allclose(reasons.beside_the_others(row, mode, labels), expected, rtol=1e-9)


@pytest.mark.parametrize("allow_empty", [True, False])
def test_a_single_label(allow_empty):
    row = mixture(0, L=1, allow_empty=allow_empty)
    sets, log_prob = reasons.best_otherwise(row, np.array([1], np.int8), np.array([0]))
    assert sets.tolist() == [[0]]
    assert_allclose(np.exp(log_prob), probabilities(row, all_sets(1))[:1], rtol=1e-10)


def test_a_component_that_a_tree_has_pruned_counts_for_nothing():
    whole = mixture(2)
    with_dead = BernoulliMixture(
        np.hstack([whole.log_pi, [[-np.inf]]]),
        np.concatenate([whole.logits, np.zeros((1, 1, 5))], axis=1),
    )
    labels = np.arange(5)
    assert_allclose(
        reasons.correlations(with_dead, labels), reasons.correlations(whole, labels), rtol=1e-12
    )
    assert reasons.parts(with_dead).weights[-1] == 0
    assert reasons.shares_of_set(with_dead, whole.mode()[0][0])[-1] == 0
