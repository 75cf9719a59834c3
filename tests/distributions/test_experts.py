"""Mixtures of distributions against the list of all sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from setwise.distributions import BernoulliMixture, Product
from setwise.distributions.batched import Batched
from setwise.distributions.chain import Chain
from setwise.distributions.experts import Experts, given_any_label
from setwise.distributions.label_tree import LabelTree
from setwise.errors import DataError, NotConverged


def draw_experts(seed, n=8, L=5, allow_empty=True):
    """A chain, a tree and a product, with their weights."""
    random = np.random.default_rng(seed)
    chain = Chain(
        random.normal(-0.5, 2, (n, L)), np.triu(random.normal(0, 2, (L, L)), 1),
        allow_empty=allow_empty,
    )  # fmt: skip
    parents = np.array([-1, *random.integers(0, np.arange(1, L))])
    tree = LabelTree(random.normal(-0.5, 2, (n, 2, L)), parents, allow_empty)
    product = Product(random.normal(-0.5, 2, (n, L)), allow_empty)
    log_pi = np.log(random.dirichlet(np.ones(3), n))
    return log_pi, [chain, tree, product]


@pytest.mark.parametrize("allow_empty", [True, False])
def test_listed_sets_are_scored_as_one_by_one(label_sets, allow_empty):
    log_pi, experts = draw_experts(0, allow_empty=allow_empty)
    dist, listed = Experts(log_pi, experts), label_sets(5)[1:20]
    one_by_one = np.stack([dist.log_prob(np.tile(one, (dist.n_rows, 1))) for one in listed], axis=1)
    np.testing.assert_allclose(dist.on_support(listed).log_scores, one_by_one, rtol=1e-12)


@pytest.fixture
def oracle(label_sets, enumerate_probabilities):
    def enumerate_experts(log_pi, experts):
        sets = label_sets(experts[0].n_labels)
        n, m = log_pi.shape[0], len(sets)
        every = np.tile(sets, (n, 1))
        parts = [e[np.repeat(np.arange(n), m)].log_prob(every).reshape(n, m) for e in experts]
        return enumerate_probabilities(logsumexp(np.stack(parts) + log_pi.T[:, :, None], axis=0))

    return enumerate_experts


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_every_answer_agrees_with_the_list_of_all_sets(oracle, seed, allow_empty):
    log_pi, experts = draw_experts(seed, allow_empty=allow_empty)
    dist, truth = Experts(log_pi, experts), oracle(log_pi, experts)
    close = {"rtol": 1e-9, "atol": 1e-12}
    assert dist.allow_empty is allow_empty
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), **close)
    np.testing.assert_allclose(dist.size_marginals(5), truth.size_marginals(5), **close)
    np.testing.assert_allclose(dist.size_distribution(5), truth.size_distribution(5), **close)
    np.testing.assert_allclose(dist.correlation(), truth.correlation(), rtol=1e-7, atol=1e-7)
    for k in (1, 3, 40):
        found = dist.searched(k)
        assert (found.gap == 0).all()
        np.testing.assert_allclose(found.log_prob, truth.best(k), rtol=1e-10, atol=1e-10)
        there = found.log_prob > -np.inf
        np.testing.assert_allclose(
            truth.log_prob_of(found.sets)[there], found.log_prob[there], rtol=1e-10, atol=1e-10
        )
        assert not found.sets[~there].any()


def test_the_mode_of_many_mixtures_and_their_proofs(oracle):
    """Including mixtures whose mode is no expert's own."""
    other = 0
    for seed in range(20):
        log_pi, experts = draw_experts(seed, n=30, L=7)
        best = oracle(log_pi, experts).best(1)[:, 0]
        dist = Experts(log_pi, experts)
        np.testing.assert_allclose(dist.mode()[1], best, rtol=0, atol=1e-10)
        modes = np.stack([dist.log_prob(expert.mode()[0]) for expert in experts])
        other += (modes.max(axis=0) < best - 1e-9).sum()
    assert other > 0


def test_annealing_never_ends_below_its_start_and_mostly_at_the_mode(oracle):
    log_pi, experts = draw_experts(1, n=200, L=6)
    dist = Experts(log_pi, experts, annealing=150)
    Y, log_prob = dist.mode()
    np.testing.assert_allclose(dist.log_prob(Y), log_prob, rtol=1e-12)
    start = np.stack([dist.log_prob(expert.mode()[0]) for expert in experts]).max(axis=0)
    assert (log_prob >= start).all()
    best = oracle(log_pi, experts).best(1)[:, 0]
    assert (log_prob >= best - 1e-9).mean() > max(0.97, (start >= best - 1e-9).mean() - 1e-9)
    np.testing.assert_array_equal(dist[7].mode()[0], Y[7:8])


def test_lists_that_are_too_short_are_told(oracle):
    log_pi, experts = draw_experts(2, n=50, L=8)
    flat = [Product(expert.logits * 0.05) for expert in (Product(np.ones((50, 8))), experts[2])]
    dist = Experts(log_pi[:, :2], flat, most_listed=1)
    with pytest.warns(NotConverged, match="most_listed"):
        dist.top(1)
    found, truth = dist.searched(1), oracle(dist._log_weights, flat)
    assert (found.log_prob[:, 0] + found.gap >= truth.best(1)[:, 0] - 1e-9).all()


def test_products_are_a_bernoulli_mixture():
    random = np.random.default_rng(0)
    log_pi, logits = np.log(random.dirichlet(np.ones(3), 6)), random.normal(0, 2, (6, 3, 4))
    for allow_empty in (True, False):
        truth = BernoulliMixture(log_pi, logits, allow_empty)
        parts = [Product(logits[:, k], allow_empty) for k in range(3)]
        log_any = np.log(-np.expm1(-np.logaddexp(0, logits).sum(axis=2)))
        weights = log_pi if allow_empty else given_any_label(log_pi, log_any)
        dist = Experts(weights, parts)
        np.testing.assert_allclose(dist.marginals(), truth.marginals(), rtol=1e-9)
        np.testing.assert_allclose(dist.top(3)[1], truth.top(3)[1], rtol=1e-9)


def test_samples_have_the_mixtures_probabilities(oracle):
    log_pi, experts = draw_experts(4, n=3, L=4)
    samples = Experts(log_pi, experts).sample(20_000, 0)
    code = samples @ (2 ** np.arange(4)[::-1])
    share = np.stack([(code == number).mean(axis=0) for number in range(16)], axis=1)
    np.testing.assert_allclose(share, oracle(log_pi, experts).p, atol=0.015)


def test_what_is_no_mixture_is_refused():
    log_pi, experts = draw_experts(0)
    for arguments, message in [
        ((log_pi[:, :2], experts), "K experts"),
        ((log_pi[:3], experts), "n rows"),
        ((log_pi, [*experts[:2], Product(np.zeros((8, 5)), allow_empty=False)]), "agree"),
        ((log_pi, [*experts[:2], Product(np.zeros((8, 4)))]), "same labels"),
        ((log_pi, experts, -1), "annealing"),
    ]:
        with pytest.raises(DataError, match=message):
            Experts(*arguments)


def test_experts_that_are_made_when_asked_are_made_once_for_each_length_of_lists():
    log_pi, experts = draw_experts(0, n=40)
    made = []

    def make(rows):
        made.append(len(rows))
        return experts[2].rows(rows)

    lazy = [*experts[:2], Batched(make, np.arange(40), 5, 8, True)]
    found = Experts(log_pi, lazy, most_listed=16, warn=False).top(4)
    expected = Experts(log_pi, experts, most_listed=16, warn=False).top(4)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    assert max(made) <= 8
    assert sum(made) <= 2 * 40  # lists of 4 sets, and of 16 for rows that need them
