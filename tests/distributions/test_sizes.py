"""Size polynomials against products without any division, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from setwise.distributions import BernoulliMixture, Product


def without_one(p, left_out, max_size):
    """Coefficients of the product over all labels but one, as fractions."""
    f = [Fraction(1)] + [Fraction(0)] * max_size
    for label, probability in enumerate(p):
        if label != left_out:
            below = [Fraction(0), *f[:-1]]
            f = [(1 - probability) * a + probability * b for a, b in zip(f, below)]
    return f


@pytest.mark.parametrize(
    "logits",
    [
        np.zeros(12),  # one half throughout: errors neither shrink nor grow
        np.full(12, 1e-9),
        np.linspace(-8, 8, 12),
        np.array([-40.0, 40.0] * 6),  # beyond what one minus p can tell
        np.array([-1.0] + [-50.0] * 11),
        np.array([30.0] * 11 + [0.1]),
        np.full(12, 2.0),  # dividing from the wrong end would lose a factor of 7 a step
    ],
)
@pytest.mark.parametrize("S", [3, 12])
def test_size_marginals_equal_the_exact_products(logits, S):
    odds = [Fraction(float(np.exp(z))) for z in logits]
    p = [e / (1 + e) for e in odds]
    expected = [[float(p[i] * c) for c in without_one(p, i, S)[:S]] for i in range(len(p))]
    joint = Product(logits[None]).size_marginals(S)[0]
    error = np.abs(joint - np.array(expected))
    assert (error <= 1e-13 * Product(logits[None]).marginals()[0][:, None]).all()


@pytest.mark.parametrize("spread", [0.0, 1.0, 20.0])
def test_many_labels_sum_to_marginals_and_sizes(spread):
    random = np.random.default_rng(0)
    n, K, L = 3, 4, 300
    logits = random.normal(0, spread, (n, K, L))
    dist = BernoulliMixture(np.log(random.dirichlet(np.ones(K), n)), logits)
    joint, sizes = dist.sizes(L)
    np.testing.assert_allclose(sizes.sum(axis=1), np.ones(n), rtol=1e-12, atol=0)
    np.testing.assert_allclose(joint.sum(axis=2), dist.marginals(), rtol=1e-11, atol=1e-13)
    counted = sizes[:, 1:] * np.arange(1, L + 1)
    np.testing.assert_allclose(joint.sum(axis=1), counted, rtol=1e-9, atol=1e-13)


def test_sizes_asked_for_are_a_part_of_all_sizes():
    random = np.random.default_rng(1)
    dist = BernoulliMixture(np.log([[0.3, 0.7]]), random.normal(0, 2, (1, 2, 30)))
    joint, sizes = dist.sizes(30)
    np.testing.assert_array_equal(dist.size_marginals(4), joint[:, :, :4])
    np.testing.assert_array_equal(dist.size_distribution(4), sizes[:, :5])
