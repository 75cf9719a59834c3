"""The search, piece by piece: lists in order, labels fixed rightly, the published searches."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from setwise.distributions import BernoulliMixture
from setwise.distributions._flips_kernel import NONE, Lists, flip, next_set, start_lists
from setwise.distributions._narrow_kernel import OPEN, Problem, narrow
from setwise.distributions.published import published_mode


def empty_lists(K, L, n_nodes):
    links = [np.empty(n_nodes, np.int32) for _ in range(4)]
    counts = [np.empty(size, np.int64) for size in (K, K)]
    return Lists(
        np.empty((K, L), np.int64), *counts, np.empty(n_nodes), *links, np.empty(1, np.int64)
    )


@pytest.mark.parametrize("costs", [[3.0, 1.0, 2.0, 0.5], [1.0, 1.0, 1.0], [0.0, 0.0, 2.0], [7.0]])
def test_a_list_holds_every_set_once_by_rising_cost(costs):
    z, L = np.array([costs]), len(costs)
    lists = empty_lists(1, L, 2 * 2**L)
    start_lists(lists, 1, L)
    seen, total = [], []
    for number in range(2**L):
        node = next_set(lists, z, 0, L)
        assert (node == NONE) == (number == 0)
        flipped = np.zeros(L, np.int8)
        flip(lists, 0, node, flipped)
        seen.append(tuple(flipped))
        total.append(flipped @ np.array(costs))
    assert lists.root[0] == NONE
    assert len(set(seen)) == 2**L
    subsets = [sum(chosen) for size in range(L + 1) for chosen in combinations(costs, size)]
    np.testing.assert_allclose(total, sorted(subsets), rtol=0, atol=1e-12)


def problem_of(log_pi, z):
    odds = np.exp(-np.abs(z))
    mode = np.exp(log_pi - np.log1p(odds).sum(axis=1))
    L = z.shape[1]
    extent = np.array(z.shape)
    return Problem(z.copy(), odds, mode, np.arange(L), np.full(L, OPEN, np.int8), extent)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_labels_are_fixed_at_what_every_answer_has(enumerate_mixture, seed, single):
    random = np.random.default_rng(seed)
    K, L, k = 4, 6, 1 if single else 3
    log_pi, z = np.log(random.dirichlet(np.ones(K))), random.normal(0, 3, (K, L))
    truth = enumerate_mixture(log_pi[None], z[None])
    order = np.argsort(-truth.p[0])[:k]
    problem = problem_of(log_pi, z)
    narrow(problem, truth.p[0, order[-1]], single)
    decided = problem.fixed != OPEN
    np.testing.assert_array_equal(
        truth.sets[order][:, decided], np.repeat(problem.fixed[None, decided], k, axis=0)
    )
    # The largest terms are those of the best sets with these values.
    K_left, L_left = problem.extent
    assert L_left == (~decided).sum()
    best = np.exp(log_pi[:, None] + log_terms(z, truth.sets))  # (K, sets)
    allowed = (truth.sets[:, decided] == problem.fixed[decided]).all(axis=1)
    expected = np.sort(best[:, allowed].max(axis=1))[-K_left:]
    np.testing.assert_allclose(np.sort(problem.mode[:K_left]), expected, rtol=1e-10, atol=1e-300)


def log_terms(z, sets):
    return -np.logaddexp(0, -z) @ sets.T - np.logaddexp(0, z) @ (1 - sets).T


@pytest.mark.parametrize("rule", ["threshold", "pruning"])
@pytest.mark.parametrize("kind", ["plain", "ties", "twins", "absent", "extreme", "single"])
def test_published_searches_find_the_same_mode(draw_mixtures, enumerate_mixture, kind, rule):
    log_pi, logits = draw_mixtures(0, kind, n=40, L=8)
    Y, log_prob, pops = published_mode(log_pi, logits, rule=rule)
    truth = enumerate_mixture(log_pi, logits)
    np.testing.assert_allclose(log_prob, truth.best(1)[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(truth.log_prob_of(Y), log_prob, rtol=0, atol=1e-9)
    ours = BernoulliMixture(log_pi, logits).mode_certified()
    assert ours.pops.sum() <= pops.sum()


def test_the_threshold_stops_no_later_than_pruning(draw_mixtures):
    """The footnote to Algorithm 3.3: the later version is the more efficient one."""
    log_pi, logits = draw_mixtures(3, n=100, L=8)
    threshold, pruning = (
        published_mode(log_pi, logits, rule=rule)[2] for rule in ("threshold", "pruning")
    )
    assert threshold.mean() < pruning.mean()


def test_published_searches_give_up_when_their_queues_are_full(draw_mixtures):
    log_pi, logits = draw_mixtures(0, "ties", L=8)
    assert np.isnan(published_mode(log_pi, logits, max_sets=12)[1]).any()


def test_more_labels_than_a_word_has_bits():
    random = np.random.default_rng(0)
    log_pi, logits = np.log(random.dirichlet(np.ones(3), 20)), random.normal(-4, 2, (20, 3, 150))
    Y, log_prob = BernoulliMixture(log_pi, logits).mode()
    _, published, _ = published_mode(log_pi, logits)
    np.testing.assert_allclose(log_prob, published, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        BernoulliMixture(log_pi, logits).log_prob(Y), log_prob, rtol=0, atol=1e-10
    )
