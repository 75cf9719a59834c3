"""Trees of labels against the list of all sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.distributions.chain import Chain
from setwise.distributions.label_tree import LabelTree
from setwise.errors import DataError, LabelMismatch

KINDS = ["plain", "ties", "extreme", "empty", "path", "star", "forest"]


def draw_tree(seed, kind="plain", n=6, L=5):
    random = np.random.default_rng(seed)
    logits = random.normal(-0.3, 2, (n, 2, L))
    order = random.permutation(L)
    parents = np.full(L, -1)
    for place in range(1, L):
        parents[order[place]] = order[random.integers(place)]
    if kind == "path":
        parents[order[1:]] = order[:-1]
    elif kind == "star":
        parents[order[1:]] = order[0]
    elif kind == "forest":
        parents[random.random(L) < 0.5] = -1
    elif kind == "ties":
        logits = np.round(logits / 2)
    elif kind == "extreme":
        logits *= 40
    elif kind == "empty":
        logits[:, 0] = -np.abs(logits[:, 0]) - 30
    return logits, parents


def log_prob_of_all(logits, parents, sets):
    result = np.zeros((len(logits), len(sets)))
    for number, y in enumerate(sets):
        for label, parent in enumerate(parents):
            z = logits[:, y[parent] if parent >= 0 else 0, label]
            result[:, number] -= np.logaddexp(0, -z if y[label] else z)
    return result


@pytest.fixture(params=[True, False], ids=["empty allowed", "not empty"])
def allow_empty(request):
    return request.param


@pytest.fixture
def oracle(label_sets, enumerate_probabilities):
    def enumerate_tree(logits, parents, allow_empty=True):
        sets = label_sets(logits.shape[2])
        return enumerate_probabilities(log_prob_of_all(logits, parents, sets), allow_empty)

    return enumerate_tree


@pytest.mark.parametrize("L", [1, 2, 5, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_agrees_with_the_list_of_all_sets(oracle, kind, L, allow_empty):
    logits, parents = draw_tree(L, kind, L=L)
    dist = LabelTree(logits, parents, allow_empty)
    truth = oracle(logits, parents, allow_empty)
    close = {"rtol": 1e-9, "atol": 1e-12}
    n, m = dist.n_rows, len(truth.sets)
    every_set = dist[np.repeat(np.arange(n), m)].log_prob(np.tile(truth.sets, (n, 1)))
    np.testing.assert_allclose(every_set.reshape(n, m), truth.log_prob, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), **close)
    for S in (1, L, L + 2):
        np.testing.assert_allclose(dist.size_marginals(S), truth.size_marginals(S), **close)
        np.testing.assert_allclose(dist.size_distribution(S), truth.size_distribution(S), **close)
    if kind not in ("extreme", "empty"):  # quotients of vanishing numbers
        np.testing.assert_allclose(dist.correlation(), truth.correlation(), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_top_sets_agree_with_the_sorted_list(oracle, kind, k, allow_empty):
    logits, parents = draw_tree(k, kind)
    sets, log_prob = LabelTree(logits, parents, allow_empty).top(k)
    truth = oracle(logits, parents, allow_empty)
    np.testing.assert_allclose(log_prob, truth.best(k), rtol=1e-11, atol=1e-10)
    found = log_prob > -np.inf
    np.testing.assert_allclose(
        truth.log_prob_of(sets)[found], log_prob[found], rtol=1e-11, atol=1e-10
    )
    assert not sets[~found].any()
    for row in range(len(sets)):
        listed = sets[row, found[row]]
        assert len(np.unique(listed, axis=0)) == len(listed)


def test_samples_have_the_trees_probabilities(oracle, allow_empty):
    logits, parents = draw_tree(4, n=3, L=4)
    dist = LabelTree(logits, parents, allow_empty)
    samples = dist.sample(20_000, 0)
    code = samples @ (2 ** np.arange(4)[::-1])
    share = np.stack([(code == number).mean(axis=0) for number in range(16)], axis=1)
    np.testing.assert_allclose(share, oracle(logits, parents, allow_empty).p, atol=0.015)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7), st.booleans())
def test_a_tree_is_a_chain_with_few_weights(seed, L, allow_empty):
    """Two implementations that share no code but one line."""
    logits, parents = draw_tree(seed, L=L)
    weights = np.zeros((L, L))
    step = np.random.default_rng(seed).normal(0, 2, L)
    logits[:, 1] = logits[:, 0] + step
    for label, parent in enumerate(parents):
        if parent >= 0:
            weights[parent, label] = step[label]
    tree = LabelTree(logits, parents, allow_empty)
    chain = Chain(logits[:, 0], weights, tree._order, allow_empty=allow_empty)
    np.testing.assert_allclose(tree.marginals(), chain.marginals(), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(tree.top(2)[0], chain.top(2)[0])
    np.testing.assert_allclose(tree.sizes(L)[0], chain.sizes(L)[0], rtol=1e-8, atol=1e-12)


def test_what_is_no_tree_is_refused():
    z = np.zeros((2, 2, 3))
    for arguments, message in [
        ((np.zeros((2, 3)), np.zeros(3, int)), "logits"),
        ((z, np.zeros(2, int)), "parents"),
        ((z + np.inf, np.array([-1, 0, 0])), "finite"),
        ((z, np.array([1, 0, -1])), "cycle"),
        ((z, np.array([0, -1, -1])), "cycle"),
        ((z, np.array([3, -1, -1])), "below 3"),
    ]:
        with pytest.raises(DataError, match=message):
            LabelTree(*arguments)
    with pytest.raises(LabelMismatch):
        LabelTree(z, np.array([-1, 0, 0])).log_prob(np.zeros((2, 2)))
