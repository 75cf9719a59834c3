"""Chains against the list of all sets, every search against every other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit

from setwise.distributions import Product
from setwise.distributions.chain import MOST_SUMMED, Chain
from setwise.distributions.chain_search import EXACT, ChainSearch, tails
from setwise.errors import DataError, LabelMismatch, NotConverged

KINDS = ["plain", "ties", "strong", "extreme", "empty", "independent"]


def draw_chain(seed, kind="plain", n=6, L=5):
    random = np.random.default_rng(seed)
    logits, weights = random.normal(-0.5, 2, (n, L)), random.normal(0, 2, (L, L))
    if kind == "ties":
        logits, weights = np.round(logits / 2), np.round(weights / 2)
    elif kind == "strong":
        weights *= 5
    elif kind == "extreme":
        logits, weights = 40 * logits, 40 * weights
    elif kind == "empty":  # all but certain of no label
        logits = -np.abs(logits) - 30
    elif kind == "independent":
        weights[:] = 0
    order = random.permutation(L)
    place = np.argsort(order)
    weights[place[:, None] >= place[None, :]] = 0
    return logits, weights, order


def log_prob_of_all(logits, weights, order, sets):
    """By the definition, label by label, (n, 2^L)."""
    result = np.zeros((len(logits), len(sets)))
    for number, y in enumerate(sets):
        for i, label in enumerate(order):
            before = order[:i]
            z = logits[:, label] + (y[before] * weights[before, label]).sum()
            result[:, number] -= np.logaddexp(0, -z if y[label] else z)
    return result


@pytest.fixture(params=[True, False], ids=["empty allowed", "not empty"])
def allow_empty(request):
    return request.param


@pytest.fixture
def oracle(label_sets, enumerate_probabilities):
    def enumerate_chain(logits, weights, order, allow_empty=True):
        sets = label_sets(logits.shape[1])
        return enumerate_probabilities(log_prob_of_all(logits, weights, order, sets), allow_empty)

    return enumerate_chain


@pytest.mark.parametrize("L", [1, 2, 5, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_agrees_with_the_list_of_all_sets(oracle, kind, L, allow_empty):
    logits, weights, order = draw_chain(L, kind, L=L)
    dist = Chain(logits, weights, order, allow_empty=allow_empty)
    truth = oracle(logits, weights, order, allow_empty)
    close = {"rtol": 1e-9, "atol": 1e-12}
    n, m = dist.n_rows, len(truth.sets)
    every_set = dist[np.repeat(np.arange(n), m)].log_prob(np.tile(truth.sets, (n, 1)))
    np.testing.assert_allclose(every_set.reshape(n, m), truth.log_prob, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), **close)
    for S in (1, L, L + 2):
        np.testing.assert_allclose(dist.size_marginals(S), truth.size_marginals(S), **close)
        np.testing.assert_allclose(dist.size_distribution(S), truth.size_distribution(S), **close)
    if kind not in ("extreme", "empty", "strong"):  # quotients of vanishing numbers
        np.testing.assert_allclose(dist.correlation(), truth.correlation(), rtol=1e-7, atol=1e-7)
    support = dist.on_support(truth.sets[1:])
    p = truth.p[:, 1:] / truth.p[:, 1:].sum(axis=1, keepdims=True)
    if kind != "extreme":
        np.testing.assert_allclose(support.marginals(), p @ truth.sets[1:], **close)


@pytest.mark.parametrize("search", EXACT)
@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_exact_searches_agree_with_the_sorted_list(oracle, kind, k, search, allow_empty):
    logits, weights, order = draw_chain(k, kind)
    dist = Chain(logits, weights, order, ChainSearch(search), allow_empty)
    truth = oracle(logits, weights, order, allow_empty)
    found = dist.searched(k)
    assert found.exact.all()
    np.testing.assert_allclose(found.log_prob, truth.best(k), rtol=1e-11, atol=1e-10)
    there = found.log_prob > -np.inf
    np.testing.assert_allclose(
        truth.log_prob_of(found.sets)[there], found.log_prob[there], rtol=1e-11, atol=1e-10
    )
    assert not found.sets[~there].any()
    for row in range(len(logits)):
        listed = found.sets[row, there[row]]
        assert len(np.unique(listed, axis=0)) == len(listed)


@pytest.mark.parametrize("search", ["uniform_cost", "a_star"])
def test_modes_of_thousands_of_random_chains(oracle, search):
    """Behind a beam so narrow that the search itself must find them."""
    random = np.random.default_rng(0)
    for seed in range(30):
        L = int(random.integers(1, 11))
        logits, weights, order = draw_chain(seed, "plain", n=100, L=L)
        spread = random.choice([0.2, 0.6])
        truth = oracle(logits * spread, weights, order).best(1)[:, 0]
        result = Chain(logits * spread, weights, order, ChainSearch(search)).mode_certified()
        assert result.exact.all()
        np.testing.assert_allclose(result.log_prob, truth, rtol=0, atol=1e-10)


def test_best_first_searches_find_what_the_beam_missed(monkeypatch, oracle):
    monkeypatch.setattr("setwise.distributions.chain_search.FIRST_WIDTH", 1)
    logits, weights, order = draw_chain(1, n=300, L=9)
    truth = oracle(logits * 0.3, weights, order).best(3)
    greedy = Chain(logits * 0.3, weights, order, ChainSearch("greedy")).mode()[1]
    assert (greedy < truth[:, 0] - 1e-6).mean() > 0.1
    pops = {}
    for search in ("uniform_cost", "a_star"):
        found = Chain(logits * 0.3, weights, order, ChainSearch(search)).searched(3)
        np.testing.assert_allclose(found.log_prob, truth, rtol=0, atol=1e-10)
        pops[search] = found.pops.sum()
    assert pops["a_star"] < pops["uniform_cost"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_beam_is_exact_and_its_gap_is_true(oracle, kind, allow_empty):
    logits, weights, order = draw_chain(3, kind, n=40, L=7)
    truth = oracle(logits, weights, order, allow_empty)
    for k in (1, 4):
        best = truth.best(k)
        for width in (1, 4, 10, 128):
            dist = Chain(logits, weights, order, ChainSearch("beam", width), allow_empty)
            found = dist.searched(k)
            np.testing.assert_allclose(
                truth.log_prob_of(found.sets), found.log_prob, rtol=1e-11, atol=1e-10
            )
            assert (found.log_prob[:, -1] + found.gap >= best[:, -1] - 1e-9).all()
            np.testing.assert_allclose(
                found.log_prob[found.exact], best[found.exact], rtol=1e-11, atol=1e-10
            )
        assert found.exact.all()


def test_greedy_follows_the_likelier_value():
    logits, weights, order = draw_chain(5, n=50, L=6)
    Y = Chain(logits, weights, order, ChainSearch("greedy")).mode()[0]
    for label in order:
        z = logits[:, label] + Y @ weights[:, label]
        np.testing.assert_array_equal(Y[:, label], z > 0)
    nonempty = Chain(logits - 3, weights, order, ChainSearch("greedy"), allow_empty=False)
    assert nonempty.mode()[0].any(axis=1).all()


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 0.5])
def test_epsilon_finds_every_mode_likelier_than_itself(oracle, epsilon):
    logits, weights, order = draw_chain(6, n=200, L=7)
    best = oracle(logits, weights, order).best(1)[:, 0]
    found = Chain(logits, weights, order, ChainSearch("epsilon", epsilon=epsilon)).searched(1)
    likely = best > np.log(epsilon)
    np.testing.assert_allclose(found.log_prob[likely, 0], best[likely], rtol=0, atol=1e-10)
    assert found.exact[likely].all()
    greedy = Chain(logits, weights, order, ChainSearch("greedy")).mode()[1]
    assert (found.log_prob[:, 0] >= greedy - 1e-12).all()
    assert (found.log_prob[:, 0] + found.gap >= best - 1e-9).all()


def test_a_search_cut_short_says_so_and_its_gap_is_true(oracle):
    logits, weights, order = draw_chain(2, n=50, L=10)
    logits *= 0.1
    truth = oracle(logits, weights, order).best(3)
    dist = Chain(logits, weights, order, ChainSearch("a_star", max_pops=2))
    found = dist.searched(3)
    assert not found.exact.all()
    assert (found.log_prob[:, -1] + found.gap >= truth[:, -1] - 1e-9).all()
    with pytest.warns(NotConverged, match="max_pops"):
        dist.top(3)


def long_chain(n=20, L=150):
    """Rare labels, of which some bring others along."""
    random = np.random.default_rng(3)
    logits = random.normal(-5, 2, (n, L))
    weights = np.triu(random.normal(0, 2, (L, L)) * (random.random((L, L)) < 0.05), 1)
    return Chain(logits, weights)


def test_long_chains_are_searched_by_the_labels_that_are_on():
    chain = long_chain()
    found = chain.searched(12)
    assert found.exact.all()
    assert found.pops.mean() < 150  # and not as many as there are labels on the way to each set
    by_likelihood = chain.searching(ChainSearch("uniform_cost", max_pops=10**6)).searched(12)
    assert by_likelihood.exact.all()
    np.testing.assert_allclose(found.log_prob, by_likelihood.log_prob, rtol=0, atol=1e-9)
    for rank in range(12):
        own = chain.log_prob(found.sets[:, rank])
        np.testing.assert_allclose(own, found.log_prob[:, rank], rtol=0, atol=1e-9)


def test_prefixes_that_there_is_no_room_for_are_in_the_gap(monkeypatch):
    from setwise.distributions import _chain_search_kernel as kernels

    chain = long_chain(n=300, L=25)
    best = chain.searched(60)
    base, weights = chain._base, chain._weights
    low, high = tails(weights)
    n, L = base.shape
    sets, log_prob = best.sets[:, -3:].copy(), best.log_prob[:, -3:].copy()  # to begin with
    gap, pops = np.zeros(n), np.zeros(n, np.int64)
    monkeypatch.setattr(kernels, "NODES_A_POP", 0)  # as many as there are labels, then
    kernels.best_first_rows.py_func(
        base, weights, low, high, -np.inf, True, 10**4, sets, log_prob, gap, pops
    )
    assert pops.max() < L  # the room ended it
    assert (gap > 0).any()
    for row in range(n):
        held = {tuple(labels) for labels in sets[row]}
        missed = [
            value
            for labels, value in zip(best.sets[row], best.log_prob[row], strict=True)
            if tuple(labels) not in held
        ]
        assert max(missed, default=-np.inf) <= log_prob[row, -1] + gap[row] + 1e-9


def test_a_flat_chain_of_many_labels_ends_when_its_room_is_full():
    L = 120
    chain = Chain(np.zeros((1, L)), np.zeros((L, L)), search=ChainSearch("a_star", max_pops=50))
    found = chain.searched(3)
    assert found.pops.max() <= 50
    np.testing.assert_allclose(found.log_prob, -L * np.log(2), rtol=1e-12)  # all sets are alike
    assert found.exact.all()
    tilted = Chain(np.full((1, L), -1e-3), np.zeros((L, L)), search=chain.search)
    found = tilted.searched(200)  # of a label or two
    best = L * np.log(1 / (1 + np.exp(-1e-3)))
    np.testing.assert_allclose(found.log_prob[:, 0], best, rtol=1e-12)
    assert (found.log_prob[:, -1] + found.gap >= best - 2e-3 - 1e-9).all()


@pytest.mark.parametrize("scale", [1.0, 30.0, 400.0])
def test_listed_sets_have_the_chains_probabilities_whatever_their_odds(scale, allow_empty):
    random = np.random.default_rng(4)
    logits = scale * random.normal(-1, 1, (7, 83))  # more than one round of lanes
    weights = scale * np.triu(random.normal(0, 1, (83, 83)), 1)
    chain = Chain(logits, weights, allow_empty=allow_empty)
    sets = (random.random((30, 83)) < 0.1).astype(np.int8)
    sets[0], sets[1] = 0, 1
    if not allow_empty:
        sets[0, 5] = 1
    found = chain.on_support(sets).log_scores
    one_by_one = [chain.log_prob(np.tile(labels, (7, 1))) for labels in sets]
    np.testing.assert_allclose(found, np.stack(one_by_one, axis=1), rtol=1e-10, atol=1e-10)
    own, row = sparse.csr_array(np.tile(sets, (7, 1))), np.repeat(np.arange(7), 30)
    kept = random.random(210) < 0.4
    kept[row == 3] = False  # a row without a set
    asked = chain.log_prob_of(own[kept], row[kept])
    np.testing.assert_allclose(asked, found.ravel()[kept], rtol=1e-10, atol=1e-10)


def test_of_sets_of_a_rows_own_the_empty_one_is_impossible_where_none_may_be():
    chain = Chain(np.zeros((2, 2)), np.zeros((2, 2)), allow_empty=False)
    sets = sparse.csr_array(np.array([[0, 0], [1, 0], [0, 0]]))
    found = chain.log_prob_of(sets, np.array([0, 0, 1]))
    np.testing.assert_allclose(np.exp(found), [0, 1 / 3, 0], rtol=1e-12)


@pytest.mark.parametrize(("logit", "weight"), [(-700.0, 780.0), (-750.0, 750.0), (700.0, -780.0)])
def test_listed_sets_may_have_odds_of_any_size_that_cancel(logit, weight):
    weights = np.zeros((9, 9))
    weights[0, 1:] = weight
    chain = Chain(np.full((1, 9), logit), weights)
    sets = np.array([[1] + 8 * [0], 9 * [1], 9 * [0]])
    found = chain.on_support(sets).log_scores
    one_by_one = [chain.log_prob(labels[None])[0] for labels in sets]
    np.testing.assert_allclose(found[0], one_by_one, rtol=1e-10, atol=1e-10)
    own = chain.log_prob_of(sparse.csr_array(sets), np.zeros(3, int))
    np.testing.assert_allclose(own, one_by_one, rtol=1e-10, atol=1e-10)


def test_what_several_labels_add_may_bring_back_what_one_has_taken_away():
    weights = np.zeros((4, 4))
    weights[:3, 3] = [-50.0, 390.0, 390.0]  # 30 in all, by way of exp(-750)
    chain = Chain(np.full((1, 4), -700.0), weights)
    sets = np.array([[1, 1, 1, 0], [1, 1, 1, 1]])
    own = chain.log_prob_of(sparse.csr_array(sets), np.zeros(2, int))
    one_by_one = [chain.log_prob(labels[None])[0] for labels in sets]
    np.testing.assert_allclose(own, one_by_one, rtol=1e-12)


def test_sets_without_their_row_are_refused():
    chain = Chain(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(LabelMismatch, match="there are 2 sets for 3 row numbers"):
        chain.log_prob_of(sparse.csr_array(np.eye(2)), np.array([0, 0, 1]))


def test_samples_have_the_chains_probabilities(oracle, allow_empty):
    logits, weights, order = draw_chain(4, n=3, L=4)
    dist = Chain(logits, weights, order, allow_empty=allow_empty)
    samples = dist.sample(20_000, 0)
    assert samples.dtype == np.int8
    code = samples @ (2 ** np.arange(4)[::-1])
    share = np.stack([(code == number).mean(axis=0) for number in range(16)], axis=1)
    np.testing.assert_allclose(share, oracle(logits, weights, order, allow_empty).p, atol=0.015)
    np.testing.assert_array_equal(samples, dist.sample(20_000, 0))


def test_sums_over_many_labels_come_from_draws(allow_empty):
    """Labels beyond those that can be listed, but independent: a product has them exactly."""
    L = MOST_SUMMED + 4
    random = np.random.default_rng(0)
    logits = random.normal(-2.5, 1.5, (4, L))
    weights = np.triu(np.zeros((L, L)), 1)
    dist = Chain(logits, weights, allow_empty=allow_empty, n_samples=40_000)
    truth = Product(logits, allow_empty=allow_empty)
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), atol=0.01)
    for drawn, exact in zip(dist.sizes(L), truth.sizes(L), strict=True):
        np.testing.assert_allclose(drawn, exact, atol=0.012)
    np.testing.assert_allclose(dist.correlation(), truth.correlation(), atol=0.03)
    np.testing.assert_array_equal(dist.marginals()[2:3], dist[2].marginals())


def test_drawn_marginals_agree_with_the_list(oracle, monkeypatch, allow_empty):
    logits, weights, order = draw_chain(9, n=5, L=6)
    truth = oracle(logits, weights, order, allow_empty)
    monkeypatch.setattr("setwise.distributions.chain.MOST_SUMMED", 2)
    dist = Chain(logits, weights, order, allow_empty=allow_empty, n_samples=40_000)
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), atol=0.01)
    np.testing.assert_allclose(dist.size_marginals(6), truth.size_marginals(6), atol=0.01)
    np.testing.assert_allclose(dist.correlation(), truth.correlation(), atol=0.05)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7), st.booleans())
def test_renaming_labels_renames_the_answers(seed, L, allow_empty):
    logits, weights, order = draw_chain(seed, L=L)
    new = np.random.default_rng(seed).permutation(L)  # the label that stands at each new number
    plain = Chain(logits, weights, order, allow_empty=allow_empty)
    renamed = Chain(
        logits[:, new], weights[np.ix_(new, new)], np.argsort(new)[order], allow_empty=allow_empty
    )
    np.testing.assert_allclose(renamed.marginals(), plain.marginals()[:, new], rtol=1e-9)
    np.testing.assert_array_equal(renamed.top(2)[0], plain.top(2)[0][:, :, new])


def test_no_weights_are_a_product():
    logits = np.random.default_rng(0).normal(0, 2, (20, 6))
    dist = Chain(logits, np.zeros((6, 6)))
    np.testing.assert_allclose(dist.marginals(), expit(logits), rtol=1e-12)
    np.testing.assert_array_equal(dist.top(5)[0], Product(logits).top(5)[0])


def test_what_is_no_chain_is_refused():
    z, W = np.zeros((2, 3)), np.zeros((3, 3))
    for arguments, message in [
        ((np.zeros(3), W), "logits"),
        ((z, np.zeros((2, 2))), "weights"),
        ((z + np.inf, W), "finite"),
        ((z, W, [0, 1, 1]), "each of the 3 labels once"),
        ((z, W, [0, 1]), "each of the 3 labels once"),
        ((z, np.tril(np.ones((3, 3)), -1)), "before"),
        ((z, np.eye(3)), "before"),
    ]:
        with pytest.raises(DataError, match=message):
            Chain(*arguments)
    for settings_, message in [
        ({"kind": "best"}, "one of"),
        ({"width": 0}, "width"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"max_pops": 0}, "max_pops"),
    ]:
        with pytest.raises(DataError, match=message):
            ChainSearch(**settings_)
    with pytest.raises(DataError, match="one set a row"):
        Chain(z, W, search=ChainSearch("greedy")).top(2)
    with pytest.raises(DataError, match="a_star"):
        Chain(np.zeros((1, 30)), np.zeros((30, 30)), search=ChainSearch("exhaustive")).mode()
    with pytest.raises(LabelMismatch):
        Chain(z, W).log_prob(np.zeros((2, 2)))
    with pytest.raises(DataError, match="k is"):
        Chain(z, W).top(0)
