"""Dependency networks: Gibbs sampling against enumeration, the documented failure, the contract."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.calibration import Reranker, SetCalibrator
from setwise.errors import DataError, NotConverged
from setwise.models.dependency import model as dependency
from setwise.models.dependency.gibbs import (
    draw_luck,
    linear_samples,
    step_samples,
    without_empty_rows,
)
from setwise.models.dependency.stuck import pairs_by_correlation, pairs_by_weight, stuck_rows


def rows(n=150, seed=0):
    """Three labels, the second mostly with the first."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    Y = (X @ random.normal(size=(2, 3)) + random.logistic(size=(n, 3)) > 0.3).astype(int)
    Y[:, 1] = Y[:, 0] ^ (random.random(n) < 0.2)
    return X, Y


def stationary(base, weights, order):
    """What ordered sweeps settle to for one row, (2^L,), from the matrix of their transitions."""
    L = len(base)
    sets = np.array(list(product([0, 1], repeat=L)))
    sweep = np.eye(2**L)
    for label in order:
        p = expit(base[label] + np.delete(sets, label, 1) @ np.delete(weights[:, label], label))
        step = np.zeros((2**L, 2**L))
        for number, y in enumerate(sets):
            for value in (0, 1):
                y = y.copy()
                y[label] = value
                step[number, y @ 2 ** np.arange(L)[::-1]] = p[number] if value else 1 - p[number]
        sweep = sweep @ step
    values, vectors = np.linalg.eig(sweep.T)
    found = np.real(vectors[:, np.argmax(np.real(values))])
    return sets, found / found.sum()


def shares(samples, sets):
    """How often each of some sets was drawn, (n, m), of samples (S, n, L)."""
    powers = 2 ** np.arange(sets.shape[1])[::-1]
    numbers = samples @ powers
    return np.stack([(numbers == one @ powers).mean(axis=0) for one in sets], axis=1)


def test_sweeps_settle_to_the_stationary_distribution_of_their_transitions():
    random = np.random.default_rng(1)
    base, weights = random.normal(size=(2, 3)), 1.5 * random.normal(size=(3, 3))
    np.fill_diagonal(weights, 0)  # conditionals of no joint distribution: not symmetric
    order = np.array([2, 0, 1])
    luck = draw_luck(np.zeros(3), n_chains=50, burn_in=30, n_samples=60_000, random_state=0)
    samples = linear_samples(base, weights, order, luck)
    assert samples.shape == (60_000, 2, 3)
    drawn = shares(samples, np.array(list(product([0, 1], repeat=3))))
    for row in range(2):
        sets, expected = stationary(base[row], weights, order)
        np.testing.assert_allclose(drawn[row], expected, atol=0.01)
        np.testing.assert_allclose(samples[:, row].mean(axis=0), expected @ sets, atol=0.01)
        _, other = stationary(base[row], weights, [0, 1, 2])
        assert np.abs(other - expected).max() > 0.015  # the order matters, and it is this one


def test_a_fitted_networks_marginals_and_mode_agree_with_enumeration():
    X, Y = rows()
    fitted = sw.DependencyNetwork(n_samples=20_000, n_chains=20).fit(X, Y)
    base = X[:8] @ fitted.weights_ + fitted.biases_
    dist = fitted.predict_dist(X[:8])
    told, modes = dist.marginals(), dist.mode()
    for row in range(8):
        sets, p = stationary(base[row], fitted.label_weights_, fitted.order_)
        np.testing.assert_allclose(told[row], p @ sets, atol=0.02)
        best = p[(sets == modes[0][row]).all(axis=1)][0]
        assert best > p.max() - 0.02
        np.testing.assert_allclose(np.exp(modes[1][row]), best, atol=0.02)


def test_the_kernel_does_what_the_slow_sampler_does():
    random = np.random.default_rng(2)
    base, weights = random.normal(size=(5, 4)), random.normal(size=(4, 4))
    np.fill_diagonal(weights, 0)
    order = np.array([3, 1, 0, 2])
    luck = draw_luck(random.normal(size=4), n_chains=3, burn_in=2, n_samples=10, random_state=7)
    assert luck.n_samples == 12  # as many from each chain

    def conditional(turn, numbers, others):
        label = order[turn]
        return base[numbers, label] + others @ weights[np.delete(order, turn), label]

    np.testing.assert_array_equal(
        linear_samples(base, weights, order, luck),
        step_samples(conditional, np.arange(5), order, luck),
    )


def test_the_conditionals_are_logistic_regressions_on_features_and_other_labels():
    X, Y = rows()
    fitted = sw.DependencyNetwork(C=2.0, C_labels=2.0).fit(X, Y)
    for label in range(3):
        both = np.hstack([X, np.delete(Y, label, axis=1)])
        alone = sw.BinaryRelevance(C=2.0).fit(both, Y[:, [label]])
        weights = alone.bank_.weights_[:, 0]
        np.testing.assert_allclose(fitted.weights_[:, label], weights[:2], atol=5e-3)
        others = np.delete(fitted.label_weights_[:, label], label)
        np.testing.assert_allclose(others, weights[2:], atol=5e-3)
    np.testing.assert_array_equal(np.diag(fitted.label_weights_), 0)


@pytest.mark.parametrize("together", [True, False])
def test_labels_that_decide_each_other_are_reported_and_the_answers_are_useless(together):
    """x tells all about two labels, but each tells more about the other: x is not listened to."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 1))
    first = X[:, 0] + 0.5 * random.normal(size=400) > 0
    Y = np.column_stack([first, first if together else ~first]).astype(int)
    with pytest.warns(NotConverged, match="decide each other.*lower C_labels"):
        fitted = sw.DependencyNetwork(C_labels=1000).fit(X, Y)
    assert fitted.stuck_ == 1
    good = sw.PairwiseCRF().fit(X, Y)
    assert good.score(X, Y) > 0.8
    assert fitted.score(X, Y) < 0.6  # by chance: a half
    far = np.array([[-3.0], [3.0]])  # nobody could doubt these
    assert np.abs(np.diff(good.predict_proba(far), axis=0)).min() > 0.95
    assert np.abs(np.diff(fitted.predict_proba(far), axis=0)).max() < 0.05


def test_what_helps_against_it_silences_the_warning():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 1))
    first = X[:, 0] + 0.5 * random.normal(size=400) > 0
    Y = np.column_stack([first, ~first]).astype(int)
    fitted = sw.DependencyNetwork(C_labels=1).fit(X, Y)  # a warning would be an error
    assert fitted.stuck_ == 0
    assert fitted.score(X, Y) > 0.8


def test_rows_are_stuck_where_both_states_of_a_pair_are_stable():
    Y = np.array([[1, 0, 0], [1, 0, 1]])
    weights = np.array([[0.0, -12.0, 0.0], [-12.0, 0.0, 0.0], [0.0, 9.0, 0.0]])
    base = np.array([6.0, 6.0, 0.0])

    def log_odds(label, given):
        return base[label] + given @ weights[:, label]

    assert pairs_by_weight(weights).tolist() == [[0, 1]]
    found = stuck_rows(Y, pairs_by_weight(weights), log_odds)
    assert found.share == 0.5  # in the second row the third label turns the second on
    assert found.pair == (0, 1)
    assert stuck_rows(Y, pairs_by_weight(0 * weights), log_odds) == (0.0, None)


def test_pairs_of_labels_that_vary_are_looked_at_strongest_first():
    Y = np.array([[1, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 0.0]])
    Y = np.column_stack([Y, np.ones(4)])
    pairs = pairs_by_correlation(Y)
    assert pairs[0].tolist() == [0, 1]
    assert 4 not in pairs


def test_a_tree_learner_is_sampled_and_warned_about_too():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 1))
    first = X[:, 0] + 0.5 * random.normal(size=200) > 0
    Y = np.column_stack([first, ~first]).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    few = {"n_chains": 4, "burn_in": 5, "n_samples": 20}
    with pytest.warns(NotConverged, match="decide each other"):
        fitted = sw.DependencyNetwork(tree, **few).fit(X, Y)
    assert fitted.banks_ is not None
    assert fitted.stuck_ > 0.9


@pytest.mark.parametrize("learner", ["elastic", "boosting"])
def test_other_learners_are_fitted_saved_and_loaded(learner, tmp_path):
    X, Y = rows()
    few = {"n_chains": 5, "burn_in": 5, "n_samples": 50, "max_iter": 20}
    fitted = sw.DependencyNetwork(learner, **few).fit(X, [set(np.flatnonzero(y)) for y in Y])
    assert (fitted.banks_ is None) == (learner == "elastic")
    fitted.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert fitted.score(X, [set(np.flatnonzero(y)) for y in Y]) > 0.35


def test_an_elastic_net_is_the_same_in_either_sampler():
    X, Y = rows()
    fitted = sw.DependencyNetwork("elastic", C=0.5, C_labels=10).fit(X, Y)
    label = fitted.order_[1]
    others = np.delete(fitted.order_, 1)
    scaled = np.sqrt(10 / 0.5) * Y[:, others]
    alone = sw.BinaryRelevance("elastic", C=0.5).fit(np.hstack([X, scaled]), Y[:, [label]])
    own = alone.bank_.weights_.toarray()[:, 0]
    np.testing.assert_allclose(fitted.weights_[:, label], own[:2], atol=1e-9)
    np.testing.assert_allclose(
        fitted.label_weights_[others, label], np.sqrt(10 / 0.5) * own[2:], atol=1e-9
    )


def test_one_label_is_a_logistic_regression():
    X, Y = rows()
    fitted = sw.DependencyNetwork(n_samples=5000).fit(X, Y[:, :1])
    expected = sw.BinaryRelevance().fit(X, Y[:, :1]).predict_proba(X)
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=0.03)


def test_what_a_row_is_told_depends_on_the_row_alone():
    X, Y = rows()
    fitted = sw.DependencyNetwork().fit(X, Y)
    whole = fitted.predict_dist(X)
    np.testing.assert_array_equal(
        fitted.predict_dist(X[[7, 3]]).marginals(), whole.marginals()[[7, 3]]
    )


def test_many_rows_are_answered_in_batches(monkeypatch):
    X, Y = rows()
    fitted = sw.DependencyNetwork().fit(X, Y)
    whole = fitted.predict_dist(X)
    monkeypatch.setattr(dependency, "BATCH_CELLS", 40_000)
    parts = fitted.predict_dist(X)
    assert type(parts).__name__ == "Batched"
    np.testing.assert_array_equal(parts.marginals(), whole.marginals())
    np.testing.assert_array_equal(parts.mode()[0], whole.mode()[0])


def test_a_set_that_was_not_drawn_has_no_probability():
    X, Y = rows()
    dist = sw.DependencyNetwork(n_samples=20, n_chains=2).fit(X, Y).predict_dist(X)
    every = [np.tile(y, (len(X), 1)) for y in product([0, 1], repeat=3)]
    p = np.exp(np.column_stack([dist.log_prob(y) for y in every]))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    np.testing.assert_allclose(20 * p, np.round(20 * p), atol=1e-9)
    assert (p == 0).any()


def test_where_no_set_may_be_empty_a_row_of_empty_draws_gets_its_likeliest_label():
    samples = np.zeros((4, 2, 3), np.int8)
    samples[1, 0, 2] = 1
    filled = without_empty_rows(samples, np.array([0, 1]))
    assert filled[:, 0].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert filled[:, 1].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]]
    X, Y = rows()
    keep = Y.any(axis=1)
    fitted = sw.DependencyNetwork(n_samples=4, n_chains=2).fit(X[keep], Y[keep])
    nothing = -200 * np.linalg.lstsq(fitted.weights_.T, np.ones(3), rcond=None)[0]
    odds = nothing @ fitted.weights_ + fitted.biases_
    assert (odds + fitted.label_weights_.clip(0).sum(axis=0) < -30).all()  # all draws are empty
    np.testing.assert_array_equal(fitted.predict(nothing[None]), [np.arange(3) == odds.argmax()])


def test_the_best_strength_is_found_on_held_out_rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 30))
    Y = (X[:, :3] + random.logistic(size=(200, 3)) > 0).astype(int)
    fitted = sw.DependencyNetwork(C="auto").fit(X, Y)
    assert fitted.chosen_["C"] < 1
    with pytest.raises(DataError, match='"auto" is for the learner "logistic"'):
        sw.DependencyNetwork("elastic", C="auto").fit(X, Y)


def test_a_doubled_row_is_one_of_weight_two():
    X, Y = rows(80)
    weight = np.random.default_rng(0).integers(0, 3, size=80)
    repeated = np.repeat(np.arange(80), weight)
    heavy = sw.DependencyNetwork().fit(X, Y, sample_weight=weight)
    doubled = sw.DependencyNetwork().fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(heavy.label_weights_, doubled.label_weights_, atol=1e-3)
    np.testing.assert_allclose(heavy.predict_proba(X), doubled.predict_proba(X), atol=0.01)


def test_dense_sparse_and_framed_features_agree():
    X, Y = rows()
    plain = sw.DependencyNetwork().fit(X, Y)
    of_sparse = sw.DependencyNetwork().fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(of_sparse.predict_proba(X), plain.predict_proba(X), atol=0.02)
    assert sparse.issparse(of_sparse.predict(sparse.csr_array(X)))
    framed = sw.DependencyNetwork().fit(
        pd.DataFrame(X, columns=list("xy")), pd.DataFrame(Y, columns=list("abc"))
    )
    assert list(framed.predict(pd.DataFrame(X, columns=list("xy"))).columns) == list("abc")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"learner": "forest"}, "learner must be one of"),
        ({"C": 0}, "C is a number over zero"),
        ({"C": None}, 'C is a number over zero or "auto", not None'),
        ({"C_labels": -1}, "C_labels is a number over zero"),
        ({"C_labels": "auto"}, "C_labels is a number over zero, not 'auto'"),
        ({"n_chains": 0}, "n_chains is a whole number from 1 up"),
        ({"n_samples": 0}, "n_samples is a whole number from 1 up"),
        ({"burn_in": -1}, "burn_in is a whole number from 0 up"),
        ({"max_iter": 0}, "max_iter is a whole number from 1 up"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(DataError, match=words):
        sw.DependencyNetwork(**parameters).fit(*rows(20))


def test_each_decision_a_calibrator_and_a_reranker_take_it():
    X, Y = rows(100)
    few = {"n_samples": 100, "burn_in": 10}
    for target in ("set_accuracy", "f1", "hamming", "jaccard", "micro_f1", "macro_f1"):
        assert sw.DependencyNetwork(target=target, **few).fit(X, Y).predict(X).shape == Y.shape
    for wrapper in (Reranker, SetCalibrator):
        wrapped = wrapper(sw.DependencyNetwork(**few), kind="isotonic_by_size", n_folds=2)
        sets, confidence = wrapped.fit(X, Y).predict_with_confidence(X)
        assert np.asarray(sets).shape == Y.shape
        assert ((confidence >= 0) & (confidence <= 1)).all()


@pytest.mark.data
def test_scene_is_no_worse_than_the_published_set_accuracy():
    """Li 2016, Table 2: 59.9."""
    scene = sw.load_dataset("scene")
    fitted = sw.DependencyNetwork(C=0.1, C_labels=0.1).fit(scene.X_train, scene.Y_train)
    assert fitted.score(scene.X_test, scene.Y_test) > 0.64
