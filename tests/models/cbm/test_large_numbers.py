"""Many rows, heavy rows, demanding thresholds: what rounding would spoil."""

import pickle

import numpy as np
import pytest

import setwise as sw
from setwise.models.cbm.features import working_basis


def rows(n=30, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    Y = (X @ random.normal(size=(3, 4)) > 0.2).astype(int)
    Y[:, 0] = 1
    return X, Y


def test_directions_that_are_small_beside_others_are_kept_however_many_rows():
    random = np.random.default_rng(0)
    a = random.normal(size=200_000)
    X = np.column_stack([a, a + 0.01 * random.normal(size=len(a))]).astype(np.float32)
    assert working_basis(X, np.ones(len(X))).shape == (2, 2)
    assert working_basis(np.column_stack([X, X[:, 0]]), np.ones(len(X))).shape == (3, 2)


@pytest.mark.parametrize("weight", [1e-3, 1.0, 3e5, 1e8])
def test_rows_may_weigh_much_or_little(weight):
    X, Y = rows()
    model = sw.CBM(3, max_iter=3).fit(X, Y, sample_weight=np.full(30, weight))
    assert np.isfinite(model.predict_dist(X).log_prob(Y)).all()
    labels_alone = sw.BernoulliMixtureModel(2).fit(Y, sample_weight=np.full(30, weight))
    assert np.isfinite(labels_alone.objective_)


@pytest.mark.parametrize("sharing", [None, "labels"])
def test_a_row_keeps_a_component_whatever_the_threshold(sharing):
    X, Y = rows()
    model = sw.CBM(20, min_responsibility=0.4, sharing=sharing, max_iter=3).fit(X, Y)
    assert np.isfinite(model.predict_dist(X).log_prob(Y)).all()


@pytest.mark.parametrize("gate", ["logistic", "tree", "elastic"])
def test_components_without_rows_do_not_end_the_climb(gate):
    X, Y = rows(seed=1)
    model = sw.CBM(20, gate=gate, tol=1e-6).fit(X[:5], Y[:5])
    assert len(model.history_) > 2


def test_sets_without_weight_are_as_if_absent_also_where_there_are_many():
    random = np.random.default_rng(0)
    Y = random.integers(0, 2, (6000, 16))
    weight = np.ones(6000)
    weight[2900:] = 0
    model = sw.BernoulliMixtureModel(2, n_starts=1, max_iter=3).fit(Y, sample_weight=weight)
    alone = sw.BernoulliMixtureModel(2, n_starts=1, max_iter=3).fit(Y[:2900])
    np.testing.assert_allclose(model.means_, alone.means_)


@pytest.mark.parametrize("sharing", [None, "labels"])
def test_a_model_does_not_carry_its_training_rows(sharing):
    X, Y = rows(n=4000)
    model = sw.CBM(2, sharing=sharing, max_iter=2).fit(X, Y)
    assert len(pickle.dumps(model)) < X.nbytes / 4


def test_trees_see_the_features_in_their_own_precision():
    X = 1.7e9 + np.arange(60.0)[:, None]
    Y = np.column_stack([X[:, 0] > 1.7e9 + 30, X[:, 0] <= 1.7e9 + 30]).astype(int)
    model = sw.CBM(2, "boosting", max_iter=10).fit(X, Y)
    assert model.score(X, Y) > 0.9
