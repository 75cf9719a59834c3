"""Top sets beyond the range of floats: as likely as they are, in order, none left out."""

from __future__ import annotations

import numpy as np
import pytest

from setwise.distributions import BernoulliMixture, Product
from setwise.distributions.search import search


def wide_mixture(seed, n, K, L, low=50, high=300):
    random = np.random.default_rng(seed)
    signs = random.choice([-1, 1], (n, K, L))
    return np.log(random.dirichlet(np.ones(K), n)), signs * random.uniform(low, high, (n, K, L))


def assert_consistent(dist, sets, log_prob):
    assert (log_prob[:, 1:] <= log_prob[:, :-1]).all()
    for rank in range(sets.shape[1]):
        there = log_prob[:, rank] > -np.inf
        own = dist.rows(there).log_prob(sets[there, rank])
        np.testing.assert_allclose(log_prob[there, rank], own, rtol=0, atol=1e-9)
    for row in range(len(sets)):
        different = np.unique(sets[row, log_prob[row] > -np.inf], axis=0)
        assert len(different) == (log_prob[row] > -np.inf).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize(("low", "high"), [(50, 300), (350, 400)])
@pytest.mark.parametrize("K", [1, 4])
def test_fifty_sets_of_thirty_labels(K, low, high, allow_empty, dtype):
    log_pi, logits = wide_mixture(0, 5, K, 30, low, high)
    dist = BernoulliMixture(log_pi, logits.astype(dtype), allow_empty)
    sets, log_prob = dist.top(50)
    assert_consistent(dist, sets, log_prob)
    assert (log_prob > -np.inf).all()
    if K == 1 and low == 350:
        assert (log_prob[:, 0] - log_prob[:, -1]).min() > 700


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize("high", [300, 2000])
@pytest.mark.parametrize("k", [2, 20, 70])
def test_few_labels_agree_with_the_list_of_all_sets(enumerate_mixture, k, high, allow_empty):
    log_pi, logits = wide_mixture(k, 20, 3, 6, low=0, high=high)
    dist = BernoulliMixture(log_pi, logits, allow_empty)
    sets, log_prob = dist.top(k)
    truth = enumerate_mixture(log_pi, logits, allow_empty)
    expected = truth.best(k)
    if k > 2 and high > 300:
        spread = expected[:, 0] - np.where(expected > -np.inf, expected, 0).min(axis=1)
        assert (spread > 708).any()
    np.testing.assert_allclose(log_prob, expected, rtol=0, atol=1e-9)
    assert_consistent(dist, sets, log_prob)
    assert dist._search(k, 10_000).exact.all()


def test_given_a_label_far_below_every_one(enumerate_mixture):
    """Components that are lifted to be in range give sets of two labels their own probability."""
    random = np.random.default_rng(3)
    log_pi, logits = np.log([[0.4, 0.6]] * 4), -random.uniform(610, 1000, (4, 2, 4))
    logits[3] = random.normal(0, 1, (2, 4))  # one row needs no help
    dist = BernoulliMixture(log_pi, logits, allow_empty=False)
    sets, log_prob = dist.top(15)
    expected = enumerate_mixture(log_pi, logits, False).best(15)
    np.testing.assert_allclose(log_prob, expected, rtol=0, atol=1e-9)
    assert_consistent(dist, sets, log_prob)


def test_doubtful_labels_beside_certain_ones(enumerate_mixture):
    """The first sets are near each other, the later ones beyond the range of floats."""
    random = np.random.default_rng(5)
    log_pi = np.log(random.dirichlet(np.ones(4), 10))
    logits = np.concatenate(
        [random.normal(0, 1, (10, 4, 5)), random.uniform(-900, -700, (10, 4, 3))], axis=2
    )
    dist = BernoulliMixture(log_pi, logits)
    sets, log_prob = dist.top(60)
    expected = enumerate_mixture(log_pi, logits).best(60)
    assert (expected[:, 31] > expected[:, 0] - 100).all()
    assert (expected[:, 32] < expected[:, 0] - 600).all()
    np.testing.assert_allclose(log_prob, expected, rtol=0, atol=1e-9)
    assert_consistent(dist, sets, log_prob)


@pytest.mark.parametrize("max_pops", [3, 10, 1000])
def test_a_search_in_logs_cut_short_bounds_the_truth(enumerate_mixture, max_pops):
    random = np.random.default_rng(1)
    log_pi, logits = np.log(random.dirichlet(np.ones(8), 100)), random.normal(0, 0.7, (100, 8, 7))
    expected = enumerate_mixture(log_pi, logits).best(3)
    cut = search(log_pi, logits, 3, max_pops=max_pops, in_logs=True)
    assert cut.exact.all() if max_pops == 1000 else (~cut.exact & (cut.gap < np.inf)).any()
    assert (expected[:, -1] <= cut.log_prob[:, -1] + cut.gap + 1e-12).all()
    np.testing.assert_allclose(cut.log_prob[cut.exact], expected[cut.exact], rtol=0, atol=1e-11)
    assert (cut.pops <= max_pops).all()


def test_a_product_beyond_the_range_lists_its_sets_in_order():
    sets, log_prob = Product(np.array([[900.0, -800.0, 1500.0]])).top(8)
    costs = [0, 800, 900, 1500, 1700, 2300, 2400, 3200]
    np.testing.assert_allclose(log_prob[0], -np.array(costs, float), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(sets[0, :2], [[1, 0, 1], [1, 1, 1]])
