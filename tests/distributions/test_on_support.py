import numpy as np
import pytest
from scipy import sparse

from setwise.distributions import BernoulliMixture, Product, Support
from setwise.distributions.base import Distribution
from setwise.distributions.batched import Batched
from setwise.distributions.experts import OpinionPool
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


def wide(logits, log_weights, allow_empty=True):
    """Two rows, whose components are told by what all their log-odds are near to."""
    random = np.random.default_rng(2)
    z = np.asarray(logits)[None, :, None] + random.normal(size=(2, len(logits), 4))
    log_pi = np.tile(log_weights, (2, 1)) - np.logaddexp.reduce(log_weights)
    return BernoulliMixture(log_pi, z, allow_empty)


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize(
    "distribution",
    [
        {"logits": [-90.0, -120.0], "log_weights": [0.0, -3.0]},  # products below the range
        {"logits": [200.0, -1.0], "log_weights": [0.0, 0.0]},  # a component sure of all labels
        {"logits": [800.0, -800.0], "log_weights": [0.0, 0.0]},
        {"logits": [-700.0, -650.0], "log_weights": [0.0, -1.0]},  # lifted where none may be empty
        {"logits": [1.0, 900.0], "log_weights": [0.0, -np.inf]},  # a component that is out
        {"logits": list(np.linspace(-9, 9, 19)), "log_weights": [0.0] * 19},  # more than a lane
    ],
)
def test_scores_of_a_list_are_log_probabilities_whatever_their_range(distribution, allow_empty):
    mixture = wide(**distribution, allow_empty=allow_empty)
    listed = SETS if allow_empty else np.delete(SETS, 2, axis=0)
    one_by_one = [mixture.log_prob(np.tile(labels, (2, 1))) for labels in listed]
    found = mixture.on_support(listed).log_scores
    np.testing.assert_allclose(found, np.stack(one_by_one, axis=1), rtol=1e-11, atol=1e-11)


def batched(allow_empty):
    whole = mixture(allow_empty)
    return Batched(lambda numbers: whole.rows(numbers), np.arange(6), 4, 4, allow_empty)


def pool(allow_empty):
    listed = Support(SETS, np.random.default_rng(1).normal(size=(6, len(SETS))), allow_empty)
    log_pi = np.log(np.full((6, 2), 0.5))
    return OpinionPool(log_pi, [mixture(allow_empty), listed], n_models=2, places=(0, 1))


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize(
    "make", [mixture, batched, pool, lambda e: Product(mixture().logits[:, 0], e)]
)
def test_sets_of_a_row_are_asked_at_once(make, allow_empty):
    distribution = make(allow_empty)
    row = np.array([0, 0, 0, 2, 3, 3, 5])  # none for two of them
    sets = sparse.csr_array(SETS[[0, 2, 3, 1, 1, 0, 2]].astype(np.int8))
    found = distribution.log_prob_of(sets, row)
    one_by_one = [distribution.rows([r]).log_prob(sets[[i]])[0] for i, r in enumerate(row)]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-12)
    general = Distribution.log_prob_of(distribution, sets, row)
    np.testing.assert_allclose(general, one_by_one, rtol=1e-12)
    nothing = distribution.log_prob_of(sets[:0], row[:0])
    assert nothing.shape == (0,)


def test_opinions_are_those_of_each_model():
    row, sets = np.array([1, 1, 4]), sparse.csr_array(SETS[[0, 3, 1]].astype(np.int8))
    opinions = pool(True).opinions_of(sets, row)
    for place, model in enumerate(pool(True).experts):
        np.testing.assert_allclose(opinions[:, place], model.log_prob_of(sets, row), rtol=1e-12)
    assert mixture().opinions_of(sets, row).shape == (3, 0)
