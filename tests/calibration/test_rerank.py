import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import setwise as sw
from setwise.calibration import BRRerank, Reranker, SetCalibrator
from setwise.calibration.kinds import KINDS
from setwise.distributions.shortlist import Shortlist
from setwise.errors import DataError
from setwise.models import CBM, BinaryRelevance, PowerSet

NAMES = ["beach", "city", "sea", "sunset"]
QUICK = {"kind": "isotonic_by_size", "n_folds": 2}


def right(sets, Y):
    return (np.asarray(sets) == Y).all(axis=1)


def tuples(sets):
    return {tuple(one) for one in np.asarray(sets)}


@pytest.fixture(scope="module")
def joint():
    """Labels that come together, which independent labels do not know."""

    def rows(n, seed):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, 4))
        kinds = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0], [0, 0, 0, 1]])
        z = X @ np.random.default_rng(77).normal(size=(4, 4))
        return X, kinds[np.argmax(z + random.gumbel(size=(n, 4)), axis=1)]

    return rows


@pytest.fixture(scope="module")
def fitted(data):
    return Reranker(BinaryRelevance(), n_folds=3).fit(*data)


def test_the_answer_is_the_candidate_of_highest_confidence(fitted, new_rows):
    X = new_rows[0][:100]
    sets, confidence = fitted.predict_with_confidence(X)
    listed = fitted.predict_candidates(X)
    space = sw.LabelSpace(range(4))
    for row, candidates in enumerate(listed):
        said = [value for _, value in candidates]
        assert said == sorted(said, reverse=True)
        assert len({names for names, _ in candidates}) == len(candidates) == 10
        assert candidates[0][0] == space.decode(sets[row : row + 1])[0]
        assert candidates[0][1] == confidence[row]
    np.testing.assert_array_equal(fitted.predict(X), sets)
    assert fitted.predict_sets(X) == space.decode(sets)
    np.testing.assert_array_equal(fitted.predict_confidence(X), confidence)


def test_candidates_are_the_models_likeliest_sets(fitted, new_rows):
    X = new_rows[0][:50]
    sets, _ = fitted.stages_[0].distribution(X).top(10)
    space = sw.LabelSpace(range(4))
    for likeliest, candidates in zip(sets, fitted.predict_candidates(X)):
        assert {names for names, _ in candidates} == set(space.decode(likeliest))


def test_with_one_candidate_nothing_is_reranked(data, new_rows):
    X, Y = data
    model = Reranker(BinaryRelevance(), n_candidates=1, label_calibration=None, **QUICK).fit(X, Y)
    np.testing.assert_array_equal(
        model.predict(new_rows[0]), BinaryRelevance().fit(X, Y).predict(new_rows[0])
    )


def test_sets_of_training_may_be_candidates_too(joint):
    X, Y = joint(300, 0)
    model = Reranker(BinaryRelevance(), n_candidates=1, n_training_sets=9, **QUICK).fit(X, Y)
    for candidates in model.predict_candidates(X[:20]):
        names = {names for names, _ in candidates}
        assert {(0, 1), (2, 3), (0, 1, 2), (3,)} <= names
        assert len(candidates) <= 5


def test_it_beats_the_model_where_labels_go_together():
    """Three pairs of labels, none of them likelier than one half for most rows."""

    def pairs(n, seed):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, 3))
        return X, np.repeat(np.eye(3, dtype=int), 2, axis=1)[
            np.argmax(X + random.gumbel(size=(n, 3)), axis=1)
        ]

    X, Y = pairs(500, 1)
    new_X, new_Y = pairs(1000, 2)
    plain = BinaryRelevance().fit(X, Y).score(new_X, new_Y)
    model = BRRerank(C=1.0, n_folds=3).fit(X, Y)
    sets, confidence = model.predict_with_confidence(new_X)
    assert right(sets, new_Y).mean() > plain + 0.1
    assert abs(confidence.mean() - right(sets, new_Y).mean()) < 0.05
    assert model.score(new_X, new_Y) == right(sets, new_Y).mean()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["set_accuracy", "f1"])
def test_every_kind_gives_probabilities(data, new_rows, kind, target):
    model = Reranker(
        BinaryRelevance(), kind=kind, target=target, n_folds=2, n_candidates=4, n_training_sets=3
    ).fit(data[0][:120], data[1][:120])
    X = new_rows[0][:200]
    confidence = model.predict_confidence(X)
    assert ((confidence >= 0) & (confidence <= 1)).all()
    log_prob = model.predict_dist(X).top(7)[1]
    assert (np.exp(log_prob).sum(axis=1) <= 1 + 1e-9).all()


def test_for_f1_the_answer_has_the_highest_expected_f1(make_rows, new_rows):
    X, Y = make_rows(400, seed=2)
    sets, confidence = (
        Reranker(BinaryRelevance(), target="f1", n_folds=3).fit(X, Y)
    ).predict_with_confidence(new_rows[0])

    def f1(sets):
        total = sets.sum(axis=1) + new_rows[1].sum(axis=1)
        both = (sets & new_rows[1]).sum(axis=1)
        return np.where(total == 0, 1.0, 2 * both / np.maximum(total, 1))

    assert abs(confidence.mean() - f1(sets).mean()) < 0.05
    likeliest = Reranker(BinaryRelevance(), n_folds=3).fit(X, Y).predict(new_rows[0])
    assert f1(sets).mean() > f1(likeliest).mean()


@pytest.mark.parametrize("ensemble", [False, True])
def test_sets_chosen_for_f1_may_say_how_likely_they_are_right(
    make_rows, new_rows, ensemble, tmp_path
):
    X, Y = make_rows(400, seed=2)
    given = {"target": "f1", "n_folds": 3, "ensemble": ensemble}
    by_f1 = Reranker(BinaryRelevance(), **given).fit(X, Y).predict(new_rows[0])
    model = Reranker(BinaryRelevance(), confidence_in="set_accuracy", **given).fit(X, Y)
    sets, confidence = model.predict_with_confidence(new_rows[0])
    np.testing.assert_array_equal(sets, by_f1)
    correct = right(sets, new_rows[1])
    assert abs(confidence.mean() - correct.mean()) < 0.08
    assert np.mean((confidence - correct) ** 2) < 0.9 * correct.mean() * (1 - correct.mean())
    assert set(model.out_of_fold_correct_) == {0.0, 1.0}
    gap = model.out_of_fold_confidence_.mean() - model.out_of_fold_correct_.mean()
    assert abs(gap) < 0.05
    said = dict(model.predict_candidates(new_rows[0][:1])[0])
    assert said[tuple(np.flatnonzero(sets[0]))] == confidence[0]
    model.save(tmp_path / "model.setwise")
    again = sw.load(tmp_path / "model.setwise").predict_confidence(new_rows[0])
    np.testing.assert_array_equal(again, confidence)


def test_candidates_and_the_rest_are_one_distribution(fitted, new_rows):
    X = new_rows[0][:60]
    batches = fitted.predict_dist(X)
    assert batches.n_rows == 60
    dist = batches.rows(slice(0, 60))
    assert isinstance(dist, Shortlist)
    sets, log_prob = dist.top(20)
    np.testing.assert_allclose(np.exp(log_prob).sum(axis=1) + dist.rest, 1, rtol=1e-6)
    space = sw.LabelSpace(range(4))
    for row, candidates in enumerate(fitted.predict_candidates(X)):
        listed = np.isfinite(log_prob[row])
        assert set(space.decode(sets[row][listed])) == {names for names, _ in candidates}
        # By the formula, from the confidences alone.
        c = np.clip([value for _, value in candidates], 1e-9, 1 - 1e-9)
        mass = (c / (1 - c)) ** fitted.normaliser_.slope_
        p = mass / (mass.sum() + np.exp(fitted.normaliser_.level_))
        encoded = space.encode([names for names, _ in candidates]).toarray()
        found = [dist.rows([row]).log_prob(one[None])[0] for one in encoded]
        np.testing.assert_allclose(np.exp(found), p, rtol=1e-5)
    np.testing.assert_allclose(fitted.predict_proba(X), dist.marginals(), rtol=1e-12)


def test_the_distribution_is_calibrated(joint):
    """The normalised probability of the likeliest set, and of none of them, in the mean."""
    model = BRRerank(C=1.0, n_candidates=3, n_folds=3).fit(*joint(600, 3))
    new_X, new_Y = joint(2000, 4)
    dist = model.predict_dist(new_X)
    sets, log_prob = dist.mode()
    assert abs(np.exp(log_prob).mean() - right(sets, new_Y).mean()) < 0.05
    listed = np.isfinite(dist.log_prob(new_Y))
    assert abs(1 - dist.rows(np.arange(2000)).rest.mean() - listed.mean()) < 0.05


def test_batches_of_rows_change_nothing(fitted, new_rows, monkeypatch):
    X = new_rows[0][:30]
    sets, confidence = fitted.predict_with_confidence(X)
    marginals = fitted.predict_proba(X)
    monkeypatch.setattr("setwise.decisions.base.BATCH_CELLS", 100)
    monkeypatch.setattr("setwise.calibration.rerank.BATCH_CELLS", 100)
    again, said = fitted.predict_with_confidence(X)
    np.testing.assert_array_equal(again, sets)
    np.testing.assert_allclose(said, confidence, rtol=1e-9)
    np.testing.assert_allclose(fitted.predict_proba(X), marginals, rtol=1e-9)


@pytest.mark.parametrize("model", [CBM(n_components=2, max_iter=3), PowerSet()])
def test_any_model_with_a_distribution_serves(joint, model):
    X, Y = joint(300, 5)
    new_X, new_Y = joint(500, 6)
    fitted = Reranker(model, n_training_sets=2, **QUICK).fit(X, Y)
    sets, confidence = fitted.predict_with_confidence(new_X)
    assert abs(confidence.mean() - right(sets, new_Y).mean()) < 0.1
    assert fitted.predict(new_X).sum(axis=1).min() >= 1


@pytest.mark.parametrize("n_training_sets", [0, 6])
def test_no_empty_set_is_predicted_where_training_has_none(make_rows, new_rows, n_training_sets):
    X, Y = make_rows(200, seed=12, empty=False)
    far = 5 * new_rows[0]
    for ensemble in (False, True):
        model = Reranker(n_training_sets=n_training_sets, ensemble=ensemble, **QUICK).fit(X, Y)
        assert model.predict(far).sum(axis=1).min() >= 1
        assert not model.predict_dist(far).allow_empty
        assert all(names for row in model.predict_candidates(far[:50]) for names, _ in row)
    Y[:20] = 0
    refused = Reranker(n_training_sets=n_training_sets, allow_empty=False, **QUICK).fit(X, Y)
    assert refused.predict(far).sum(axis=1).min() >= 1
    assert Reranker(n_training_sets=n_training_sets, **QUICK).fit(X, Y).allow_empty_


def test_a_frozen_model_goes_by_its_own_training(data, make_rows):
    """It may answer with the empty set, though no row that it is calibrated on has one."""
    frozen = FrozenEstimator(BinaryRelevance().fit(*data))
    X, Y = make_rows(200, seed=12, empty=False)
    model = Reranker(frozen, n_candidates=1, **QUICK).fit(X, Y)
    sets = model.predict(X)
    assert (sets.sum(axis=1) == 0).any()
    np.testing.assert_array_equal(model.predict_dist(X).mode()[0], sets)


def test_an_ensemble_averages_confidence(data, new_rows):
    model = Reranker(BinaryRelevance(), ensemble=True, n_folds=3, kind="none").fit(*data)
    X = new_rows[0][:40]
    listed, said = set(), {}
    for stage in model.stages_:
        features = stage.features(stage.distribution(X))
        sets = features.candidates.sets.toarray()
        listed |= {(row, tuple(one)) for row, one in zip(features.candidates.row, sets)}
    for row, one in listed:  # what one of them lists all of them judge
        asked = np.array([one])
        scores = [stage.distribution(X[[row]]).log_prob(asked)[0] for stage in model.stages_]
        said[row, tuple(np.flatnonzero(one))] = np.exp(scores).mean()
    for row, candidates in enumerate(model.predict_candidates(X)):
        for names, confidence in candidates:
            np.testing.assert_allclose(confidence, said.pop((row, names)), rtol=1e-6)
    assert not said
    assert model.predict_dist(X).top(2)[0].shape == (40, 2, 4)


def test_rows_to_calibrate_on_may_be_given(data, make_rows):
    model = Reranker(**QUICK).fit(*data, calibration_data=make_rows(100, seed=6))
    assert model.out_of_fold_confidence_.shape == (100,)
    assert model.predict(data[0]).shape == data[1].shape


@pytest.mark.parametrize("learner", ["logistic", "elastic", "boosting", LogisticRegression()])
def test_any_learner_serves_without_a_word_about_its_penalty(data, learner):
    X, Y = data
    model = BRRerank(learner, max_iter=20, **QUICK).fit(X[:80], Y[:80])
    assert model.predict(X).shape == Y.shape
    numbers = {stage.model_.C for stage in model.stages_}
    assert all(isinstance(C, float) for C in numbers)


def test_it_is_the_reranker_of_binary_relevance(data):
    X, Y = data
    short = BRRerank(C=0.3, **QUICK).fit(X, Y).predict_confidence(X)
    long = Reranker(BinaryRelevance(C=0.3, max_iter=1000), **QUICK).fit(X, Y).predict_confidence(X)
    np.testing.assert_array_equal(short, long)
    chosen = BinaryRelevance(C="auto", max_iter=1000).fit(X, Y).chosen_["C"]
    assert chosen == BRRerank(**QUICK).fit(X, Y).stages_[0].model_.C


def test_rows_without_weight_are_as_if_absent(data, make_rows):
    X, Y = data
    odd_X, odd_Y = make_rows(80, seed=11)
    weight = np.concatenate([np.ones(240), np.zeros(80)])
    model = BRRerank(n_training_sets=3, n_folds=3, kind="isotonic_by_size")
    with_them = model.fit(np.vstack([X, odd_X]), np.vstack([Y, 1 - odd_Y]), weight)
    said = with_them.predict_confidence(X)
    np.testing.assert_allclose(said, model.fit(X, Y, np.ones(240)).predict_confidence(X), atol=0.02)


def test_labels_go_out_in_the_container_in_which_they_came(data):
    X, Y = data
    model = Reranker(**QUICK)
    expected = model.fit(X, Y).predict(X)
    for given, kind in (
        (sparse.csr_array(Y), sparse.csr_array),
        (pd.DataFrame(Y, columns=NAMES), pd.DataFrame),
        (pl.DataFrame(Y, schema=NAMES), pl.DataFrame),
    ):
        found = model.fit(X, given).predict(X)
        assert isinstance(found, kind)
        values = found.toarray() if sparse.issparse(found) else found.to_numpy()
        np.testing.assert_array_equal(values, expected)
    model.fit(X, sw.LabelSpace(NAMES).decode(Y))
    assert model.predict_sets(X) == sw.LabelSpace(NAMES).decode(expected)
    assert set(model.predict_candidates(X[:1])[0][0][0]) <= set(NAMES)


@pytest.mark.parametrize(
    ("kind", "ensemble"), [*((kind, False) for kind in KINDS), ("isotonic", True)]
)
def test_a_saved_one_is_the_same(data, kind, ensemble, tmp_path):
    X, Y = data
    model = BRRerank(C=1.0, kind=kind, n_folds=2, n_candidates=3, ensemble=ensemble)
    model.fit(X[:80], sw.LabelSpace(NAMES).decode(Y[:80]))
    model.save(tmp_path / "model.setwise")
    for copy in (sw.load(tmp_path / "model.setwise"), pickle.loads(pickle.dumps(model))):
        assert copy.predict_candidates(X) == model.predict_candidates(X)
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert copy.get_params() == model.get_params()


def test_the_seed_decides_and_not_the_threads(data):
    X, Y = data
    said = [
        BRRerank(n_folds=2, random_state=seed, n_jobs=n_jobs).fit(X, Y).predict_confidence(X)
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    ]
    np.testing.assert_array_equal(said[0], said[1])
    assert np.abs(said[0] - said[2]).max() > 1e-6


@pytest.mark.parametrize("estimator", [SetCalibrator, Reranker, BRRerank])
def test_parameters_are_those_of_the_constructor(estimator):
    model = estimator(kind="tree", n_folds=7, features=("score",), n_candidates=3)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert (copy.kind, copy.n_folds, copy.features, copy.n_candidates) == ("tree", 7, ("score",), 3)
    assert ("estimator" in model.get_params()) == (estimator is not BRRerank)
    nested = Reranker(BinaryRelevance(C=3.0)).set_params(estimator__C=5.0)
    assert nested.estimator.C == 5.0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_candidates": 0}, "n_candidates is a whole number from 1 on, got 0"),
        ({"n_training_sets": -1}, "n_training_sets is a whole number from 1 on, got -1"),
        ({"n_boosters": 0}, "n_boosters is a whole number from 1 on, got 0"),
        ({"target": "hamming"}, '"set_accuracy" or "f1"'),
        ({"confidence_in": "hamming"}, '"set_accuracy" or "f1"'),
        ({"kind": "magic"}, "kind is one of"),
    ],
)
def test_bad_parameters_get_a_sentence(data, parameters, sentence):
    for estimator in (Reranker, BRRerank):
        with pytest.raises(DataError, match=sentence):
            estimator(**parameters).fit(*data)


@pytest.mark.parametrize("rates", [{"alpha": 0.1}, {"beta": np.full(240, 0.1)}])
def test_noise_rates_are_refused_in_a_sentence(data, rates):
    for estimator in (Reranker, BRRerank):
        with pytest.raises(DataError, match="do not combine: .*; use SetCalibrator"):
            estimator(**QUICK).fit(*data, **rates)
    assert Reranker(**QUICK).fit(*data, alpha=0.0).normaliser_.slope_ > 0
