import numpy as np
import pytest

from setwise.distributions import BernoulliMixture, Product, Support
from setwise.distributions.base import Distribution
from setwise.errors import LabelMismatch

SETS = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])


def mixture(allow_empty=True):
    random = np.random.default_rng(0)
    log_pi = np.log(random.dirichlet(np.ones(3), size=6))
    return BernoulliMixture(log_pi, random.normal(scale=3, size=(6, 3, 4)), allow_empty)


@pytest.mark.parametrize("allow_empty", [True, False])
def test_probabilities_are_those_given_the_list(allow_empty):
    listed = np.random.default_rng(1).normal(size=(6, len(SETS)))
    others = Support(
        np.vstack([SETS[1:], [[1, 1, 0, 0]]]), listed, allow_empty
    )  # without the first
    product = Product(mixture().logits[:, 0], allow_empty)
    for distribution in (mixture(allow_empty), product, others):
        p = np.stack([np.exp(distribution.log_prob(np.tile(s, (6, 1)))) for s in SETS], axis=1)
        support = distribution.on_support(SETS)
        found = np.stack([np.exp(support.log_prob(np.tile(s, (6, 1)))) for s in SETS], axis=1)
        np.testing.assert_allclose(found, p / p.sum(axis=1, keepdims=True), rtol=1e-9)
        general = Distribution.on_support(distribution, SETS)
        np.testing.assert_allclose(general.marginals(), support.marginals(), rtol=1e-9)


def test_blocks_make_no_difference(monkeypatch):
    whole = mixture().on_support(SETS).marginals()
    monkeypatch.setattr("setwise.distributions.blocks.BLOCK_ELEMENTS", 20)
    np.testing.assert_array_equal(mixture().on_support(SETS).marginals(), whole)


def test_sets_of_other_labels_are_refused():
    with pytest.raises(LabelMismatch, match="the sets have 3 labels, but the distribution has 4"):
        mixture().on_support(SETS[:, :3])
