import numpy as np
import pytest

from setwise.decisions import ExpectedF1, LikelyLabels, MostLikelySet
from setwise.distributions import Product
from setwise.distributions.size_estimates import SizeEstimates
from setwise.errors import DataError


@pytest.fixture
def dist():
    random = np.random.default_rng(0)
    return SizeEstimates(random.uniform(0, 0.3, (7, 4, 3)), random.uniform(0, 0.2, 7))


def test_exact_estimates_give_the_exact_decision():
    product = Product(np.random.default_rng(1).normal(size=(40, 5)))
    joint, sizes = product.sizes(5)
    dist = SizeEstimates(joint, sizes[:, 0])
    np.testing.assert_array_equal(ExpectedF1().decide(dist), ExpectedF1().decide(product))
    np.testing.assert_array_equal(LikelyLabels().decide(dist), LikelyLabels().decide(product))
    np.testing.assert_allclose(dist.size_distribution(5), sizes, rtol=1e-9)
    np.testing.assert_allclose(dist.marginals(), product.marginals(), rtol=1e-9)


def test_the_decision_is_best_among_all_sets_whatever_the_estimates_sum_to(dist):
    sets = np.array([[number >> bit & 1 for bit in range(4)] for number in range(16)])
    worth = 2 / (np.arange(1, 4)[None, :] + sets.sum(axis=1)[:, None])  # (16, T)
    value = np.einsum("ml,nls,ms->nm", sets, dist.estimates, worth)
    chosen = ExpectedF1().decide(dist)
    own = np.array([value[row, (sets == y).all(axis=1).argmax()] for row, y in enumerate(chosen)])
    np.testing.assert_allclose(own, value.max(axis=1), rtol=1e-12)


def test_sizes_are_a_distribution(dist):
    np.testing.assert_allclose(dist.size_distribution(3).sum(axis=1), 1, rtol=1e-12)
    assert dist.size_distribution(6).shape == (7, 7)
    np.testing.assert_array_equal(dist.size_distribution(6)[:, 4:], 0)
    np.testing.assert_array_equal(dist.size_marginals(5)[:, :, :3], dist.estimates)
    never = SizeEstimates(dist.estimates, dist.empty, allow_empty=False)
    np.testing.assert_array_equal(never.size_distribution(3)[:, 0], 0)


def test_what_needs_a_joint_probability_is_refused_in_a_sentence(dist):
    for ask, what in (
        (lambda: dist.log_prob(np.zeros((7, 4), dtype=int)), "log-probability"),
        (lambda: MostLikelySet().decide(dist), "likeliest set"),
        (lambda: dist.sample(2), "sample"),
        (dist.correlation, "correlation"),
    ):
        with pytest.raises(DataError, match=f"no probability of a set, and so no {what}"):
            ask()
    with pytest.raises(DataError, match="estimates"):
        SizeEstimates(dist.estimates[0], dist.empty)


def test_rows_are_taken(dist):
    np.testing.assert_array_equal(dist[[3, 1]].marginals(), dist.marginals()[[3, 1]])
