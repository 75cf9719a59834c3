"""Chains of any conditionals against linear ones, which the list of all sets has proven."""

from __future__ import annotations

import numpy as np
import pytest

from setwise.distributions.chain import Chain
from setwise.distributions.chain_search import ChainSearch
from setwise.distributions.step_chain import StepChain
from setwise.errors import DataError, NotConverged


def draw(seed, n=12, L=5, allow_empty=True, search=None, **options):
    """The same chain twice: as a function, and as a linear one."""
    random = np.random.default_rng(seed)
    logits, weights = random.normal(-0.5, 1.5, (n, L)), random.normal(0, 2, (L, L))
    order = random.permutation(L)
    place = np.argsort(order)
    weights[place[:, None] >= place[None, :]] = 0

    def conditional(i, rows, before):
        return logits[rows, order[i]] + before @ weights[order[:i], order[i]]

    search = search or ChainSearch()
    steps = StepChain(conditional, np.arange(n), order, search, allow_empty, **options)
    return steps, Chain(logits, weights, order, allow_empty=allow_empty), random


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_every_answer_is_that_of_the_linear_chain(seed, allow_empty):
    steps, chain, random = draw(seed, allow_empty=allow_empty)
    Y = random.integers(0, 2, (12, 5))
    close = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(steps.log_prob(Y), chain.log_prob(Y), **close)
    np.testing.assert_allclose(steps.marginals(), chain.marginals(), **close)
    np.testing.assert_allclose(steps.size_marginals(5), chain.size_marginals(5), **close)
    np.testing.assert_allclose(steps.size_distribution(5), chain.size_distribution(5), **close)
    np.testing.assert_allclose(steps.correlation(), chain.correlation(), rtol=1e-6, atol=1e-7)
    for k in (1, 4, 40):
        sets, log_prob = steps.top(k)
        expected = chain.top(k)
        np.testing.assert_allclose(log_prob, expected[1], **close)
        np.testing.assert_array_equal(sets, expected[0])
    np.testing.assert_array_equal(steps[3].mode()[0], steps.mode()[0][3:4])


@pytest.mark.parametrize("kind", ["greedy", "beam", "exhaustive"])
def test_searches_find_what_they_find_in_the_linear_chain(kind):
    search = ChainSearch(kind, width=2)
    steps, chain, _ = draw(1, n=60, L=7, search=search)
    sets, log_prob = steps.mode()
    expected = chain.searching(search).mode()
    np.testing.assert_allclose(log_prob, expected[1], rtol=1e-10)
    np.testing.assert_array_equal(sets, expected[0])


def test_an_exact_search_widens_its_beam_until_it_is():
    steps, chain, _ = draw(2, n=60, L=9, search=ChainSearch("a_star", width=1))
    assert (steps._beam(1, 1).gap > 0).any()
    np.testing.assert_allclose(steps.mode()[1], chain.mode()[1], rtol=1e-10)
    assert (steps.searched(1).gap == 0).all()


def test_a_beam_that_may_not_widen_says_so(monkeypatch):
    monkeypatch.setattr("setwise.distributions.step_chain.WIDEST", 1)
    steps, _, _ = draw(2, n=60, L=9, search=ChainSearch("a_star", width=1))
    with pytest.warns(NotConverged, match="not proven"):
        steps.mode()


@pytest.mark.parametrize("allow_empty", [True, False])
def test_draws_have_the_chains_probabilities(allow_empty, monkeypatch):
    steps, chain, _ = draw(3, n=4, L=4, allow_empty=allow_empty)
    np.testing.assert_allclose(steps.sample(20_000, 0).mean(axis=0), chain.marginals(), atol=0.02)
    monkeypatch.setattr("setwise.distributions.step_chain.MOST_LISTED", 2)
    drawn, _, _ = draw(3, n=4, L=4, allow_empty=allow_empty, n_samples=20_000)
    np.testing.assert_allclose(drawn.size_marginals(4), chain.size_marginals(4), atol=0.02)
    np.testing.assert_allclose(drawn[2].marginals(), drawn.marginals()[2:3], rtol=1e-9)


def test_what_cannot_be_is_refused():
    steps, _, _ = draw(0)
    with pytest.raises(DataError, match="once"):
        StepChain(steps.conditional, np.arange(3), np.array([0, 0]))
    with pytest.raises(DataError, match="linear"):
        StepChain(steps.conditional, np.arange(3), np.arange(2), ChainSearch("epsilon"))
    with pytest.raises(DataError, match="2\\^20"):
        StepChain(steps.conditional, np.arange(3), np.arange(20), ChainSearch("exhaustive"))
    with pytest.raises(DataError, match="one set a row"):
        draw(0, search=ChainSearch("greedy"))[0].top(2)
