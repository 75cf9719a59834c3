import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import setwise as sw
from setwise import metrics
from setwise.calibration import SetCalibrator
from setwise.calibration.kinds import KINDS
from setwise.errors import DataError, LabelMismatch
from setwise.models import CBM, BinaryRelevance, PowerSet

NAMES = ["beach", "city", "sea", "sunset"]
QUICK = {"kind": "isotonic", "n_folds": 2}


def right(sets, Y):
    return (np.asarray(sets) == Y).all(axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_the_models_own_and_confidence_is_a_probability(data, new_rows, kind):
    X, Y = data
    fitted = SetCalibrator(BinaryRelevance(), kind=kind, n_folds=3, label_calibration=None)
    sets, confidence = fitted.fit(X, Y).predict_with_confidence(new_rows[0])
    np.testing.assert_array_equal(sets, BinaryRelevance().fit(X, Y).predict(new_rows[0]))
    np.testing.assert_array_equal(sets, fitted.predict(new_rows[0]))
    np.testing.assert_array_equal(confidence, fitted.predict_confidence(new_rows[0]))
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert fitted.out_of_fold_confidence_.shape == fitted.out_of_fold_correct_.shape == (240,)
    if kind != "none":
        assert abs(confidence.mean() - right(sets, new_rows[1]).mean()) < 0.1


def test_none_is_what_the_model_says(data, new_rows):
    X, Y = data
    fitted = SetCalibrator(BinaryRelevance(), kind="none", label_calibration=None, n_folds=2)
    expected = BinaryRelevance().fit(X, Y).predict_dist(new_rows[0]).mode()[1]
    np.testing.assert_allclose(
        fitted.fit(X, Y).predict_confidence(new_rows[0]), np.exp(expected), rtol=1e-9
    )


def test_constant_is_the_share_of_right_sets_out_of_fold(data):
    fitted = SetCalibrator(BinaryRelevance(), kind="constant", n_folds=3).fit(*data)
    # Of two thirds of the rows each, and then their mean: of all, as folds are equal.
    np.testing.assert_allclose(
        fitted.predict_confidence(data[0][:3]), fitted.out_of_fold_correct_.mean(), rtol=1e-9
    )


def test_isotonic_on_a_frozen_model_is_that_of_scikit_learn(make_rows, new_rows):
    """The mean of one curve for each two thirds of the rows; ours is cut off at its knots."""
    model = BinaryRelevance().fit(*make_rows(200, seed=3))
    X, Y = make_rows(300, seed=4)
    fitted = SetCalibrator(
        FrozenEstimator(model), kind="isotonic", n_folds=3, label_calibration=None
    ).fit(X, Y)
    sets, score = model.predict_dist(X).mode()
    new_score = model.predict_dist(new_rows[0]).mode()[1]
    folds = sw.IterativeKFold(3, random_state=0).split(None, Y)
    curves = []
    for train, _ in folds:
        curve = IsotonicRegression(out_of_bounds="clip").fit(score[train], right(sets, Y)[train])
        half = 0.5 / (len(train) + 1)
        curves.append(np.clip(curve.predict(new_score), half, 1 - half))
    np.testing.assert_allclose(
        fitted.predict_confidence(new_rows[0]), np.mean(curves, axis=0), atol=0.005
    )
    assert fitted.stages_[0].model_ is model


@pytest.mark.parametrize(
    "model", [CBM(n_components=2, max_iter=5), PowerSet(), BinaryRelevance(target="f1")]
)
def test_any_model_with_a_distribution_serves(data, new_rows, model):
    fitted = SetCalibrator(model, kind="isotonic", n_folds=3).fit(*data)
    sets, confidence = fitted.predict_with_confidence(new_rows[0])
    assert abs(confidence.mean() - right(sets, new_rows[1]).mean()) < 0.1
    assert fitted.predict_proba(new_rows[0]).shape == sets.shape


@pytest.mark.parametrize("kind", ["isotonic", "boosting"])
def test_for_f1_confidence_is_the_expected_f1(make_rows, new_rows, kind):
    fitted = SetCalibrator(BinaryRelevance(target="f1"), kind=kind, target="f1", n_folds=3)
    sets, confidence = fitted.fit(*make_rows(400, seed=2)).predict_with_confidence(new_rows[0])
    both, total = (sets & new_rows[1]).sum(axis=1), sets.sum(axis=1) + new_rows[1].sum(axis=1)
    f1 = np.where(total == 0, 1.0, 2 * both / np.maximum(total, 1))
    assert abs(confidence.mean() - f1.mean()) < 0.05
    high = confidence > np.median(confidence)
    assert abs(confidence[high].mean() - f1[high].mean()) < 0.08
    assert f1[high].mean() > f1[~high].mean() + 0.1


def test_boosting_sorts_better_than_the_models_own_probability(make_rows, new_rows):
    X, Y = make_rows(600, seed=2)
    model = SetCalibrator(BinaryRelevance(), n_folds=3).fit(X, Y)
    plain = SetCalibrator(BinaryRelevance(), kind="none", n_folds=3).fit(X, Y)
    losses = []
    for fitted in (model, plain):
        sets, confidence = fitted.predict_with_confidence(new_rows[0])
        losses.append(((confidence - right(sets, new_rows[1])) ** 2).mean())
    assert losses[0] < losses[1]


def test_rows_to_calibrate_on_may_be_given(data, make_rows, new_rows):
    X, Y = data
    apart = make_rows(300, seed=6)
    fitted = SetCalibrator(BinaryRelevance(), kind="isotonic", label_calibration=None)
    fitted.fit(X, Y, calibration_data=apart)
    np.testing.assert_array_equal(
        fitted.predict(new_rows[0]), BinaryRelevance().fit(X, Y).predict(new_rows[0])
    )
    assert fitted.out_of_fold_confidence_.shape == (300,)
    found = BinaryRelevance().fit(X, Y).predict(apart[0])
    np.testing.assert_array_equal(fitted.out_of_fold_correct_, right(found, apart[1]))
    frozen = SetCalibrator(
        FrozenEstimator(BinaryRelevance().fit(X, Y)), kind="isotonic", label_calibration=None
    ).fit(*apart)
    np.testing.assert_allclose(
        fitted.predict_confidence(new_rows[0]), frozen.predict_confidence(new_rows[0]), rtol=1e-9
    )


def test_rows_to_calibrate_on_may_have_weights_and_groups(data, make_rows):
    X, Y = make_rows(200, seed=6)
    groups = np.repeat([0, 1], 100)  # two of them and two folds: each is judged by the other
    model = SetCalibrator(BinaryRelevance(), kind="constant", n_folds=2, label_calibration=None)
    fitted = clone(model).fit(*data, calibration_data=(X, Y, None, groups))
    correct = fitted.out_of_fold_correct_
    wanted = np.repeat([correct[100:].mean(), correct[:100].mean()], 100)
    np.testing.assert_allclose(fitted.out_of_fold_confidence_, wanted, rtol=1e-9)
    weight = np.where(correct, 3.0, 1.0)
    heavy = clone(model).fit(*data, calibration_data=(X, Y, weight, groups))
    wanted = [np.average(correct[own], weights=weight[own]) for own in (groups == 1, groups == 0)]
    np.testing.assert_allclose(heavy.out_of_fold_confidence_[[0, 199]], wanted, rtol=1e-9)


def test_an_ensemble_predicts_by_the_models_of_the_folds(data, new_rows):
    fitted = SetCalibrator(BinaryRelevance(), kind="none", n_folds=3, ensemble=True).fit(*data)
    assert len(fitted.stages_) == 3
    X = new_rows[0][:200]
    sets, confidence = fitted.predict_with_confidence(X)
    said = np.zeros((200, 3))
    for number, stage in enumerate(fitted.stages_):
        said[:, number] = np.exp(stage.distribution(X).log_prob(sets))
    np.testing.assert_allclose(confidence, said.mean(axis=1), rtol=1e-6)
    others = [stage.distribution(X).mode()[0] for stage in fitted.stages_]
    assert all(any((one[row] == sets[row]).all() for one in others) for row in range(200))


def test_known_noise_of_the_judgements_is_corrected_for(make_rows, new_rows):
    """A third of the rows have sets that nobody would predict, so right ones seem wrong."""
    X, Y = make_rows(900, seed=8, noise=0.3)
    model = BinaryRelevance().fit(*make_rows(300, seed=9, noise=0.3))
    noisy = Y.copy()
    misjudged = np.random.default_rng(0).random(900) < 1 / 3
    noisy[misjudged, 1] ^= 1
    new_X, new_Y = make_rows(1000, seed=10, noise=0.3)
    # Of wrong sets few become right by a changed label: beta is small, and counted here.
    was = right(model.predict(X), Y)
    beta = right(model.predict(X), noisy)[~was].mean()

    def gap(**rates):
        fitted = SetCalibrator(FrozenEstimator(model), label_calibration=None, **QUICK)
        sets, confidence = fitted.fit(X, noisy, **rates).predict_with_confidence(new_X)
        return confidence.mean() - right(sets, new_Y).mean()

    assert gap() < -0.1
    assert abs(gap(alpha=1 / 3, beta=beta)) < 0.06
    assert abs(gap(alpha=np.full(900, 1 / 3), beta=beta)) < 0.06


def test_rows_without_weight_are_as_if_absent(data, make_rows):
    X, Y = data
    odd_X, odd_Y = make_rows(80, seed=11)
    weight = np.concatenate([np.ones(240), np.zeros(80)])
    for kind in ("isotonic_by_size", "boosting"):
        fitted = SetCalibrator(BinaryRelevance(), kind=kind, n_folds=3)
        with_them = fitted.fit(
            np.vstack([X, 100 * odd_X]), np.vstack([Y, 1 - odd_Y]), weight
        ).predict_confidence(X)
        without = fitted.fit(X, Y, np.ones(240)).predict_confidence(X)
        assert np.abs(with_them - without).max() < 0.02
    assert clone(fitted).fit(X, Y, np.r_[1, 1, np.zeros(238)]).predict(X).shape == Y.shape


def test_weights_say_how_much_a_row_counts(data):
    X, Y = data
    fitted = SetCalibrator(BinaryRelevance(C=1e6), kind="constant", label_calibration=None)
    once = fitted.fit(X, Y).predict_confidence(X[:1])
    weight = 1.0 + 9 * (fitted.out_of_fold_correct_ == 1)
    assert fitted.fit(X, Y, weight).predict_confidence(X[:1]) > once + 0.1


def test_no_empty_set_is_predicted_where_training_has_none(make_rows, new_rows):
    X, Y = make_rows(200, seed=12, empty=False)
    for model in (BinaryRelevance(), PowerSet(), CBM(n_components=2, max_iter=3)):
        fitted = SetCalibrator(model, **QUICK).fit(X, Y)
        assert not fitted.allow_empty_
        assert fitted.predict(5 * new_rows[0]).sum(axis=1).min() >= 1
    Y[0] = 0
    assert SetCalibrator(**QUICK).fit(X, Y).allow_empty_
    assert not SetCalibrator(allow_empty=False, **QUICK).fit(X, Y).allow_empty_


@pytest.mark.parametrize("kind", ["isotonic", "tree", "boosting"])
def test_an_answer_that_its_model_holds_for_impossible_has_confidence(make_rows, kind):
    """The likely labels may be none, even where no set of training is empty."""
    X, Y = make_rows(200, seed=12, empty=False)
    fitted = SetCalibrator(BinaryRelevance(target="hamming"), kind=kind, n_folds=2).fit(X, Y)
    sets, confidence = fitted.predict_with_confidence(X)
    nothing = sets.sum(axis=1) == 0
    assert nothing.any()
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert confidence[nothing].max() < 0.3


def test_labels_go_out_in_the_container_in_which_they_came(data):
    X, Y = data
    model = SetCalibrator(**QUICK)
    expected, confidence = model.fit(X, Y).predict_with_confidence(X)
    for given, kind in (
        (sparse.csr_matrix(Y), sparse.csr_matrix),
        (sparse.csr_array(Y), sparse.csr_array),
        (pd.DataFrame(Y, columns=NAMES), pd.DataFrame),
        (pl.DataFrame(Y, schema=NAMES), pl.DataFrame),
    ):
        found, said = model.fit(X, given).predict_with_confidence(X)
        assert isinstance(found, kind)
        values = found.toarray() if sparse.issparse(found) else found.to_numpy()
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(said, confidence)
    sets = sw.LabelSpace(NAMES).decode(Y)
    model.fit(X, sets, calibration_data=(X[:50], sets[:50]))
    assert model.predict_sets(X) == sw.LabelSpace(NAMES).decode(model.predict(X))
    assert list(model.classes_) == NAMES
    frame = pd.DataFrame(X, columns=list("abcde"))
    np.testing.assert_array_equal(model.fit(frame, Y).predict(frame), expected)
    packed = model.fit(sparse.csr_array(X), Y).predict(sparse.csr_array(X))
    assert metrics.set_accuracy(expected, packed) > 0.95


SETTINGS = [{"kind": kind} for kind in KINDS] + [
    {"kind": "boosting", "objective": "kl", "monotone": True, "features": "thesis"},
    {"kind": "tree", "monotone": True, "features": ("score", "lead")},
    {"kind": "isotonic", "ensemble": True, "label_calibration": "platt"},
    {"kind": "isotonic", "estimator": PowerSet(target="f1"), "target": "f1"},
    {"kind": "isotonic", "estimator": CBM(n_components=2, max_iter=2)},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_saved_one_is_the_same(data, settings, tmp_path):
    X, Y = data
    model = SetCalibrator(n_folds=2, **settings).fit(X[:100], sw.LabelSpace(NAMES).decode(Y[:100]))
    model.save(tmp_path / "model.setwise")
    for copy in (sw.load(tmp_path / "model.setwise"), pickle.loads(pickle.dumps(model))):
        assert copy.predict_sets(X) == model.predict_sets(X)
        np.testing.assert_array_equal(copy.predict_confidence(X), model.predict_confidence(X))
        assert str(copy.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(copy.out_of_fold_confidence_, model.out_of_fold_confidence_)


def test_one_around_a_frozen_model_can_be_saved(data, tmp_path):
    X, Y = data
    frozen = FrozenEstimator(BinaryRelevance().fit(X[:100], Y[:100]))
    model = SetCalibrator(frozen, **QUICK).fit(X[100:], Y[100:])
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_confidence(X), model.predict_confidence(X))
    np.testing.assert_array_equal(loaded.fit(X, Y).predict(X), model.fit(X, Y).predict(X))


@pytest.mark.parametrize("kind", ["boosting", "isotonic"])
def test_the_seed_decides_and_not_the_threads(data, kind):
    X, Y = data
    said = [
        SetCalibrator(kind=kind, n_folds=3, random_state=seed, n_jobs=n_jobs)
        .fit(X, Y)
        .predict_confidence(X)
        for seed, n_jobs in ((0, 1), (0, 1), (0, 2), (1, 1))
    ]
    np.testing.assert_array_equal(said[0], said[1])
    np.testing.assert_array_equal(said[0], said[2])
    assert np.abs(said[0] - said[3]).max() > 1e-6


def test_a_failed_fit_leaves_the_earlier_one(data):
    X, Y = data
    model = SetCalibrator(**QUICK).fit(X, Y)
    before = model.predict_confidence(X)
    with pytest.raises(DataError):
        model.set_params(kind="magic").fit(X[:, :2], Y)
    np.testing.assert_array_equal(model.predict_confidence(X), before)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kind": "magic"}, "kind is one of boosting, .* not 'magic'"),
        ({"objective": "magic"}, "objective is one of .* not 'magic'"),
        ({"features": "magic"}, "features are some of score, .* not .*'magic'"),
        ({"features": ("score", "magic")}, "features are some of score, .* not .*'magic'"),
        ({"features": None}, "features are some of score"),
        ({"features": ()}, "features are some of score"),
        ({"target": "magic"}, '"set_accuracy" or "f1", not of \'magic\''),
        ({"target": "hamming"}, '"set_accuracy" or "f1", not of \'hamming\''),
        ({"target": "micro_f1"}, '"set_accuracy" or "f1", not of \'micro_f1\''),
        ({"label_calibration": "magic"}, "labels are calibrated by one of .* not 'magic'"),
        ({"n_candidates": 0}, "n_candidates is a whole number from 1 on, got 0"),
        ({"n_folds": 1}, "n_folds is a whole number from 2 up, not 1"),
        ({"allow_empty": "magic"}, "allow_empty is True, False or"),
        ({"estimator": LogisticRegression()}, "a model of setwise, .* not LogisticRegression"),
    ],
)
def test_bad_parameters_get_a_sentence_before_anything_is_fitted(data, parameters, sentence):
    class Unused(BinaryRelevance):
        def _learn(self, *arguments):
            raise AssertionError("fitted in vain")

    with pytest.raises(DataError, match=sentence):
        SetCalibrator(**({"estimator": Unused()} | parameters)).fit(*data)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"X": np.zeros((1, 5)), "y": np.ones((1, 4), dtype=int)}, "only 1 sample or group"),
        ({"groups": np.zeros(240)}, "only 1 sample or group"),
        ({"sample_weight": np.eye(240)[0]}, "only 1 sample or group"),
        ({"calibration_data": 3}, r"calibration_data is a pair \(X, y\)"),
        ({"calibration_data": (np.zeros((3, 5)),)}, r"calibration_data is a pair \(X, y\)"),
        (
            {"calibration_data": (np.zeros((3, 5)), np.ones((2, 4)))},
            "3 rows of X but 2 label sets",
        ),
        ({"calibration_data": (np.zeros((3, 5)), np.ones((3, 2)))}, "2 columns but .* 4 labels"),
        ({"calibration_data": (np.zeros((3, 2)), np.ones((3, 4)))}, "2 features"),
        ({"alpha": 0.6, "beta": 0.5}, r"alpha \+ beta must be less than 1"),
        ({"alpha": np.zeros(3)}, "3 rates but there are 240 rows"),
    ],
)
def test_bad_input_gets_a_sentence(data, change, sentence):
    X, Y = data
    with pytest.raises(ValueError, match=sentence):
        SetCalibrator(**QUICK).fit(**({"X": X, "y": Y} | change))


def test_other_label_names_than_those_of_a_frozen_model_are_refused(data):
    X, Y = data
    model = BinaryRelevance().fit(X, sw.LabelSpace(NAMES).decode(Y))
    fitted = SetCalibrator(FrozenEstimator(model), **QUICK)
    for given in (
        Y[:, :3],
        pd.DataFrame(Y, columns=NAMES[::-1]),
        sw.LabelSpace([*NAMES[:3], "zoo"]).decode(Y),
    ):
        with pytest.raises(LabelMismatch, match="the frozen model knows 4 labels, 'beach'"):
            fitted.fit(X, given)
    assert fitted.fit(X, Y).predict(X).shape == Y.shape
    assert fitted.fit(X, pd.DataFrame(Y, columns=NAMES)).label_names_ == tuple(NAMES)
    with pytest.raises(NotFittedError):
        SetCalibrator(FrozenEstimator(BinaryRelevance()), **QUICK).fit(X, Y)
    with pytest.raises(LabelMismatch, match="'zoo' is not among the 4 labels"):
        SetCalibrator(**QUICK).fit(
            X, sw.LabelSpace(NAMES).decode(Y), calibration_data=(X[:2], [{"zoo"}, {"sea"}])
        )
