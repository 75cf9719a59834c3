import numpy as np
import pytest

from setwise.decisions import DECISIONS, LikelyLabels, MostLikelySet, decision_for, rank_labels
from setwise.distributions import BernoulliMixture, Product
from setwise.errors import DataError


def mixture(n=20, K=3, L=5, seed=0):
    random = np.random.default_rng(seed)
    log_pi = np.log(random.dirichlet(np.ones(K), size=n))
    return BernoulliMixture(log_pi, random.normal(scale=2, size=(n, K, L)))


def test_the_mode_is_the_most_likely_of_all_sets():
    distribution = mixture()
    sets = (np.arange(32)[:, None] >> np.arange(5)) & 1
    log_prob = np.stack([distribution.log_prob(np.tile(s, (20, 1))) for s in sets])
    decided = MostLikelySet().decide(distribution)
    np.testing.assert_allclose(distribution.log_prob(decided), log_prob.max(axis=0), rtol=1e-9)


def test_likely_labels_have_the_smallest_expected_hamming_loss():
    distribution = mixture(seed=1)
    marginals = distribution.marginals()
    decided = LikelyLabels().decide(distribution)
    loss = np.where(decided == 1, 1 - marginals, marginals)
    assert (loss <= 0.5).all()
    assert decided.dtype == np.int8


def test_rankings_follow_the_marginals():
    distribution = Product(np.array([[0.0, 3.0, 0.0, -1.0]]))
    np.testing.assert_array_equal(rank_labels(distribution), [[1, 0, 2, 3]])


def test_every_target_has_a_decision_of_its_own():
    for target, decision in DECISIONS.items():
        assert decision.target == target
        assert isinstance(decision_for(target), decision)
    given = LikelyLabels()
    assert decision_for(given) is given
    with pytest.raises(DataError, match="target must be one of set_accuracy, f1, .*got 'accuracy'"):
        decision_for("accuracy")
