"""Bernoulli mixtures on labels: EM climbs, starts compete, nothing is ever NaN."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.errors import DataError


def drawn(n=400, seed=0):
    """Two clusters over four labels, 3 : 1."""
    random = np.random.default_rng(seed)
    means = np.array([[0.9, 0.8, 0.1, 0.05], [0.1, 0.05, 0.7, 0.9]])
    cluster = random.random(n) < 0.25
    return (random.random((n, 4)) < means[cluster.astype(int)]).astype(int), means


def test_it_recovers_the_clusters_that_made_the_data():
    Y, means = drawn(4000)
    model = sw.BernoulliMixtureModel(2, random_state=0).fit(Y)
    np.testing.assert_allclose(model.weights_, [0.75, 0.25], atol=0.03)
    np.testing.assert_allclose(model.means_, means, atol=0.05)


def test_no_step_lowers_the_objective():
    Y, _ = drawn()
    history = np.array(sw.BernoulliMixtureModel(5, random_state=1, tol=0).fit(Y).history_)
    assert len(history) > 20
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()


def test_more_starts_reach_higher():
    random = np.random.default_rng(0)
    means = random.choice([0.05, 0.9], (6, 12))
    Y = (random.random((300, 12)) < means[random.integers(0, 6, 300)]).astype(int)
    seeds = range(5)
    one = [sw.BernoulliMixtureModel(6, n_starts=1, random_state=s).fit(Y) for s in seeds]
    many = [sw.BernoulliMixtureModel(6, n_starts=12, random_state=s).fit(Y) for s in seeds]
    assert np.mean([m.objective_ for m in many]) > np.mean([m.objective_ for m in one])


def test_the_objective_is_the_likelihood_with_its_prior():
    Y, _ = drawn()
    model = sw.BernoulliMixtureModel(3, smoothing=0.5, random_state=0).fit(Y)
    frequency = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    prior = frequency * np.log(model.means_) + (1 - frequency) * np.log1p(-model.means_)
    expected = model.log_prob(Y).sum() + 0.5 * prior.sum()
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


def test_probabilities_of_all_sets_sum_to_one_and_give_the_covariance():
    Y, _ = drawn()
    model = sw.BernoulliMixtureModel(3, random_state=0).fit(Y)
    sets = np.array(list(product([0, 1], repeat=4)))
    p = np.exp(model.log_prob(sets))
    assert p.sum() == pytest.approx(1)
    mean = p @ sets
    covariance = (sets * p[:, None]).T @ sets - np.outer(mean, mean)
    np.testing.assert_allclose(model.covariance(), covariance, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.distribution().log_prob(sets[:1])), p[:1])


def test_samples_have_the_moments_of_the_mixture():
    Y, _ = drawn()
    model = sw.BernoulliMixtureModel(2, random_state=0).fit(Y)
    S = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(S.mean(axis=0), model.weights_ @ model.means_, atol=0.02)
    np.testing.assert_allclose(np.cov(S.T), model.covariance(), atol=0.02)


@pytest.mark.parametrize(
    "Y",
    [np.zeros((5, 3), int), np.ones((5, 3), int), np.eye(3, dtype=int), np.array([[1, 0, 1]])],
    ids=["no labels", "all labels", "fewer sets than components", "one row"],
)
def test_components_that_empty_leave_no_nan(Y):
    model = sw.BernoulliMixtureModel(8, random_state=0).fit(Y)
    shares = model.responsibilities(Y)
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.objective_)
    assert ((model.means_ > 0) & (model.means_ < 1)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_weights_are_repetitions():
    Y, _ = drawn(60)
    times = np.random.default_rng(0).integers(0, 4, len(Y))
    weighted = sw.BernoulliMixtureModel(3, random_state=0).fit(Y, sample_weight=times)
    repeated = sw.BernoulliMixtureModel(3, random_state=0).fit(np.repeat(Y, times, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)


def test_sparse_labels_and_names_go_in():
    Y, _ = drawn()
    dense = sw.BernoulliMixtureModel(2, random_state=0).fit(Y)
    thin = sw.BernoulliMixtureModel(2, random_state=0).fit(sparse.csr_array(Y))
    np.testing.assert_array_equal(dense.means_, thin.means_)
    named = sw.BernoulliMixtureModel(2, random_state=0).fit([{"a", "b"}, {"c"}] * 9)
    assert {name for name, _ in named.clusters(least=0.5)[0]} in ({"a", "b"}, {"c"})


def test_it_is_saved_and_loaded(tmp_path):
    from setwise import storage

    Y, _ = drawn()
    model = sw.BernoulliMixtureModel(2, random_state=0).fit(Y)
    storage.save(model, tmp_path / "m")
    np.testing.assert_array_equal(sw.load(tmp_path / "m").log_prob(Y), model.log_prob(Y))


def test_what_it_cannot_do_it_says():
    with pytest.raises(DataError, match="smoothing must be above 0"):
        sw.BernoulliMixtureModel(2, smoothing=0).fit(np.eye(2, dtype=int))
    with pytest.raises(DataError, match="n_components is a whole number"):
        sw.BernoulliMixtureModel(0).fit(np.eye(2, dtype=int))
    with pytest.raises(DataError, match="at least one row"):
        sw.BernoulliMixtureModel(2).fit(np.zeros((0, 3), int))
    with pytest.raises(DataError, match="zero everywhere"):
        sw.BernoulliMixtureModel(2).fit(np.eye(2, dtype=int), sample_weight=[0, 0])


def test_starts_on_a_sample_of_the_sets_end_about_as_high(monkeypatch):
    from setwise.models import bernoulli_mixture

    random = np.random.default_rng(0)
    means = random.choice([0.05, 0.6], (4, 14))
    Y = (random.random((1500, 14)) < means[random.integers(0, 4, 1500)]).astype(int)
    whole = sw.BernoulliMixtureModel(4, random_state=0, tol=1e-8).fit(Y)
    monkeypatch.setattr(bernoulli_mixture, "ENOUGH_SETS", 200)
    sampled = sw.BernoulliMixtureModel(4, random_state=0, tol=1e-8).fit(Y)
    assert sampled.objective_ == pytest.approx(whole.objective_, rel=0.01)
    assert (np.diff(sampled.history_) >= -1e-9 * abs(sampled.objective_)).all()
