import numpy as np
import pytest
from scipy import sparse
from sklearn.frozen import FrozenEstimator

import setwise as sw
from setwise.calibration.cross_fit import TrainingRows, cross_fit, fitted, fold_numbers, judge_apart
from setwise.calibration.first_stage import FirstStage
from setwise.errors import DataError
from setwise.models import BinaryRelevance

OPTIONS = {"n_folds": 3, "label_calibration": "isotonic", "allow_empty": True, "random_state": 0}


def training(X, Y, weight=None, groups=None):
    return TrainingRows(X, sparse.csr_array(Y.astype(np.int8)), weight, groups)


class Spy(BinaryRelevance):
    """Remembers what it learnt from."""

    def _learn(self, X, Y, sample_weight, groups):
        said = {"X_": X, "weight_": sample_weight, "groups_": groups}
        return super()._learn(X, Y, sample_weight, groups) | said


def test_every_row_is_in_one_fold(data):
    part = fold_numbers(training(*data), 5, 0)
    assert np.bincount(part).tolist() == [48] * 5


def test_rows_of_a_group_stay_together(data):
    groups = np.random.default_rng(0).integers(0, 40, size=240)
    part = fold_numbers(training(*data, groups=groups), 5, 0)
    assert all(len(np.unique(part[groups == g])) == 1 for g in np.unique(groups))
    assert np.bincount(part).min() > 30


def test_rows_without_weight_change_no_fold(data):
    X, Y = data
    weight = (np.random.default_rng(0).random(240) < 0.7).astype(float)
    groups = np.random.default_rng(1).integers(0, 40, size=240)
    counted = np.flatnonzero(weight)
    for groups_or_none in (None, groups):
        rows = training(X, Y, weight, groups_or_none)
        part = fold_numbers(rows, 4, 0)
        np.testing.assert_array_equal(part[counted], fold_numbers(rows.taken(counted), 4, 0))
    assert all(len(np.unique(part[groups == g])) == 1 for g in np.unique(groups))


def test_two_rows_with_weight_are_in_two_folds(data):
    weight = np.zeros(240)
    weight[[7, 9]] = 1
    part = fold_numbers(training(*data, weight=weight), 5, 0)
    assert sorted(part[[7, 9]]) == [0, 1]


@pytest.mark.parametrize(
    ("rows", "groups", "weight"),
    [(1, None, None), (9, np.zeros(9), None), (3, None, np.array([0.0, 2.0, 0.0]))],
)
def test_one_row_or_group_cannot_be_split(data, rows, groups, weight):
    X, Y = data
    with pytest.raises(DataError, match="only 1 sample or group"):
        fold_numbers(training(X[:rows], Y[:rows], weight, groups), 5, 0)


def test_models_are_copies_that_learn_with_weights_and_groups(data):
    X, Y = data
    weight, groups = np.linspace(1, 2, 240), np.arange(240) // 2
    estimator = Spy(C=0.3)
    model = fitted(estimator, training(X, Y, weight, groups), False)
    assert model.C == 0.3
    assert not model.allow_empty_
    assert not hasattr(estimator, "bank_")
    np.testing.assert_array_equal(model.weight_, weight)
    np.testing.assert_array_equal(model.groups_, groups)


def test_a_frozen_model_stays_as_it_is(data):
    X, Y = data
    model = BinaryRelevance().fit(X[:100], Y[:100])
    crossed = cross_fit(FrozenEstimator(model), training(X[100:], Y[100:]), **OPTIONS)
    assert crossed.model is model
    assert all(answer.model is model for answer in crossed.answers)


def test_every_fold_is_judged_by_what_has_not_seen_it(data):
    X, Y = data
    groups = np.arange(240) // 3
    crossed = cross_fit(Spy(), training(X, Y, groups=groups), **OPTIONS)
    seen_by_final = {tuple(row) for row in crossed.model.X_}
    assert len(seen_by_final) == 240
    for number, (answer, prior) in enumerate(zip(crossed.answers, crossed.priors)):
        inside = np.flatnonzero(crossed.part == number)
        np.testing.assert_array_equal(answer.rows, inside)
        seen = {tuple(row) for row in answer.model.X_}
        assert seen == {tuple(row) for row in X[crossed.part != number]}
        assert not set(groups[inside]) & set(answer.model.groups_)
        outside = Y[crossed.part != number]
        for one, share in zip(prior.sets_.toarray(), prior.shares_):
            np.testing.assert_allclose(share, (outside == one).all(axis=1).mean(), rtol=1e-9)
    np.testing.assert_allclose(crossed.priors[-1].shares(Y[:1]), (Y[0] == Y).all(axis=1).mean())


@pytest.mark.parametrize("own_only", [True, False])
def test_features_are_those_of_the_folds_in_the_order_of_the_rows(data, own_only):
    X, Y = data
    crossed = cross_fit(BinaryRelevance(), training(X, Y), **OPTIONS)
    template = FirstStage(4, 2, own_only=own_only)
    features = crossed.features(template)
    assert features.candidates.n_rows == 240
    assert (np.diff(features.candidates.row) >= 0).all()
    for number, stage in enumerate(crossed.stages(template)):
        rows = np.flatnonzero(crossed.part == number)
        alone = stage.features(stage.distribution(X[rows]))
        own = np.isin(features.candidates.row, rows)
        np.testing.assert_array_equal(features.candidates.row[own], rows[alone.candidates.row])
        np.testing.assert_array_equal(
            features.candidates.sets[np.flatnonzero(own)].toarray(), alone.candidates.sets.toarray()
        )
        for name, values in alone.numbers.items():
            np.testing.assert_allclose(features.numbers[name][own], values, rtol=1e-6, atol=1e-9)


def test_without_a_last_fit_there_is_no_model_of_all_rows(data):
    assert cross_fit(BinaryRelevance(), training(*data), refit=False, **OPTIONS).model is None


def test_calibration_rows_are_judged_by_the_model_of_the_others(data):
    X, Y = data
    rows, apart = training(X[:150], Y[:150]), training(X[150:], Y[150:])
    crossed = judge_apart(Spy(), rows, apart, **OPTIONS)
    np.testing.assert_array_equal(crossed.model.X_, X[:150])
    assert all(answer.model is crossed.model for answer in crossed.answers)
    assert crossed.rows is apart
    for prior in crossed.priors:
        np.testing.assert_allclose(
            prior.shares(Y[:1]), (Y[:150] == Y[0]).all(axis=1).mean(), rtol=1e-9
        )
    assert len(crossed.labels) == len(crossed.priors) == 4


def test_only_independent_labels_are_calibrated_one_by_one(data):
    for model, calibrated in ((BinaryRelevance(), True), (sw.PowerSet(), False)):
        crossed = cross_fit(model, training(*data), **OPTIONS)
        assert all((curves is not None) == calibrated for curves in crossed.labels)
        assert len(crossed.labels) == 4
