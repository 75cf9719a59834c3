from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import setwise as sw
from setwise.calibration.candidates import listed_candidates, opinions_of, top_candidates
from setwise.calibration.cross_fit import TrainingRows, cross_fit
from setwise.calibration.features import NUMBERS, agreement, features_of
from setwise.calibration.first_stage import (
    FirstStage,
    FoldAnswer,
    folds_of,
    marginals_of,
    place_of_labels,
)
from setwise.calibration.labelwise import LabelCalibrator
from setwise.calibration.prior import SetPrior
from setwise.data.labels import binary_csr
from setwise.distributions import Product, Support
from setwise.distributions.batched import Batched
from setwise.distributions.experts import OpinionPool
from setwise.errors import DataError


@pytest.fixture(scope="module")
def stage_of(data):
    X, Y = data
    prior = SetPrior().fit(Y[:120])

    def make(model=None, labels=None, **options):
        stage = FirstStage(**options)
        stage.model_ = (sw.BinaryRelevance() if model is None else model).fit(X[:120], Y[:120])
        stage.labels_, stage.place_, stage.prior_ = labels, 0, prior
        return stage

    return make


def as_sets(candidates):
    sets = candidates.sets.toarray()
    return [{tuple(one) for one in sets[candidates.row == r]} for r in range(candidates.n_rows)]


def test_candidates_are_the_likeliest_and_those_of_training(stage_of, data):
    X = data[0][120:]
    stage = stage_of(n_candidates=3, n_training_sets=4)
    distribution = stage.distribution(X)
    found = stage.features(distribution).candidates
    likeliest = as_sets(top_candidates(distribution, 3))
    listed = as_sets(listed_candidates(distribution, stage.prior_.sets_, 4))
    assert as_sets(found) == [one | other for one, other in zip(likeliest, listed)]
    assert as_sets(stage_of(n_candidates=3).features(distribution).candidates) == likeliest


def test_for_f1_the_set_of_highest_expected_f1_is_a_candidate_too(stage_of, data):
    X = data[0][120:]
    stage = stage_of(n_candidates=1, for_f1=True)
    distribution = stage.distribution(X)
    features = stage.features(distribution)
    assert len(features.candidates) > len(X)
    every = np.array(list(product([0, 1], repeat=4)))
    p = np.exp([distribution.log_prob(np.tile(one, (len(X), 1))) for one in every])  # (16, n)
    f1 = 2 * (every @ every.T) / np.maximum(every.sum(axis=1)[:, None] + every.sum(axis=1), 1)
    best, likeliest = every[np.argmax(f1 @ p, axis=0)], every[np.argmax(p, axis=0)]
    expected = [{tuple(one), tuple(other)} for one, other in zip(best, likeliest)]
    assert as_sets(features.candidates) == expected


def test_a_set_that_its_model_does_not_know_can_be_a_candidate(stage_of, data):
    """The best set for F1 may be one that no row of training has."""
    stage = stage_of(sw.PowerSet(), n_candidates=1, for_f1=True)
    features = stage.features(stage.distribution(data[0][120:]))
    assert (features.score == -np.inf).any()
    assert np.isfinite(features.matrix(tuple(NUMBERS)).toarray()).all()


@pytest.mark.parametrize("target", ["set_accuracy", "f1", "hamming"])
def test_the_models_own_answer_is_seen_among_its_rivals(stage_of, data, target):
    X = data[0][120:]
    model = sw.BinaryRelevance(target=target)
    alone = stage_of(model, n_candidates=20, own_only=True)  # 20 are all sets of four labels
    distribution = alone.distribution(X)
    found = alone.features(distribution)
    np.testing.assert_array_equal(found.candidates.sets.toarray(), alone.model_.predict(X))
    np.testing.assert_array_equal(found.candidates.row, np.arange(len(X)))
    everything = features_of(top_candidates(distribution, 20), alone.prior_)
    sets = everything.candidates.sets.toarray()
    for row, one in enumerate(found.candidates.sets.toarray()):
        same = (everything.candidates.row == row) & (sets == one).all(axis=1)
        for name, values in everything.numbers.items():
            np.testing.assert_allclose(
                found.numbers[name][row], values[same][0], rtol=1e-6, atol=1e-9, err_msg=name
            )


def test_of_an_average_each_models_opinion_is_known(stage_of, data):
    X = data[0][120:]
    members = [sw.BinaryRelevance(C=0.01), sw.PowerSet(C=10.0)]
    stage = stage_of(sw.ModelAverage(members, weights="equal"), n_candidates=3)
    distribution = stage.distribution(X)
    found = stage.features(distribution)
    row, sets = found.candidates.row, found.candidates.sets
    opinions = found.numbers["opinions"]
    for place, model in enumerate(stage.model_.models_):
        own = model.predict_dist(X[row]).log_prob(sets)
        np.testing.assert_allclose(opinions[:, place], own, rtol=1e-9)
    batched = Batched(
        lambda rows: stage.model_.predict_dist(X[rows]), np.arange(len(X)), 4, 7, True
    )
    np.testing.assert_allclose(opinions_of(batched, found.candidates), opinions, rtol=1e-9)
    agreed = found.numbers["agreement"]
    np.testing.assert_array_equal(agreed, agreement(found.candidates, opinions))
    names = ("score", "opinions", "agreement", "size")
    assert found.matrix(names).shape[1] == len(found.signs(names)) == 6 + 4
    assert found.signs(names)[:6] == [1, 1, 1, 1, 1, 0]
    alone = stage_of(members[0], n_candidates=3)
    own = alone.features(alone.distribution(X)).numbers
    assert own["opinions"].shape[1] == own["agreement"].shape[1] == 0


def test_opinions_keep_their_places_where_models_are_left_out(stage_of, data):
    X = data[0][120:]
    members = [sw.BinaryRelevance(C=0.01), sw.BinaryRelevance(), sw.PowerSet(C=10.0)]
    stage = stage_of(sw.ModelAverage(members, weights=[0.5, 0.0, 0.5]), n_candidates=3)
    found = stage.features(stage.distribution(X))
    row, sets = found.candidates.row, found.candidates.sets
    first, last = (m.predict_dist(X[row]).log_prob(sets) for m in stage.model_.models_)
    expected = np.column_stack([first, found.score, last])
    np.testing.assert_allclose(found.numbers["opinions"], expected, rtol=1e-9)
    free = stage_of(sw.ModelAverage(weights="equal"), n_candidates=3)
    assert free.features(free.distribution(X)).numbers["opinions"].shape[1] == 0


def test_folds_may_leave_out_different_models():
    random = np.random.default_rng(2)
    X = random.normal(size=(200, 3))
    Y = (X + random.logistic(size=(200, 3)) > 0).astype(int)
    members = [sw.BinaryRelevance(C=1.0), sw.PowerSet(C=1.0), sw.BinaryRelevance(C=0.1)]
    model = sw.Reranker(sw.ModelAverage(members), n_folds=3, ensemble=True).fit(X, Y)
    kept = {tuple(np.flatnonzero(stage.model_.all_weights_)) for stage in model.stages_}
    assert len(kept) > 1
    assert model.predict_confidence(X).shape == (200,)


def test_labels_are_calibrated_before_sets_are_listed(stage_of, data):
    X, Y = data
    raw = stage_of().model_.predict_proba(X[120:])
    curves = LabelCalibrator().fit(raw, Y[120:])
    stage = stage_of(labels=curves)
    np.testing.assert_allclose(
        stage.distribution(X[120:]).marginals(), curves.predict(raw), rtol=1e-9
    )


def test_folds_are_outside_and_inside():
    part = np.array([1, 0, 2, 1])
    found = [(list(outside), list(inside)) for outside, inside in folds_of(part)]
    assert found == [([0, 2, 3], [1]), ([1, 2], [0, 3]), ([0, 1, 3], [2])]


@pytest.mark.parametrize("allow_empty", [True, False])
def test_marginals_are_put_back_in_the_order_of_the_rows(data, allow_empty):
    X, Y = data
    model = sw.BinaryRelevance(allow_empty=allow_empty).fit(X, Y)
    parts = [np.array([4, 1, 3]), np.array([0, 2])]
    answers = [FoldAnswer(model, rows, model.predict_dist(X[rows])) for rows in parts]
    free = sw.BinaryRelevance(allow_empty=True).fit(X, Y)
    np.testing.assert_allclose(marginals_of(answers, 5), free.predict_proba(X[:5]), rtol=1e-9)


def halved(product):
    return Product(product.logits / 2, product.allow_empty)


@pytest.mark.parametrize("is_batched", [False, True])
def test_independent_labels_are_calibrated_inside_an_average_too(is_batched):
    z = np.random.default_rng(0).normal(size=(7, 3))
    support = Support(np.eye(3, dtype=int), np.random.default_rng(1).normal(size=(7, 3)), False)

    def pool(rows):
        parts = [support.rows(rows), Product(z[rows], allow_empty=False)]
        return OpinionPool(np.log(np.full((len(rows), 2), 0.5)), parts, n_models=2, places=(0, 1))

    whole = Batched(pool, np.arange(7), 3, 2, False) if is_batched else pool(np.arange(7))
    assert whole.independent_places() == (1,)
    assert_allclose(whole.independent_marginals(1), 1 / (1 + np.exp(-z)), rtol=1e-12)
    asked = np.tile([1, 0, 0], (7, 1))
    of_each = (sparse.csr_array(asked), np.arange(7))
    changed = whole.with_labels(halved, 1).opinions_of(*of_each)
    before = whole.opinions_of(*of_each)
    assert_allclose(changed[:, 0], before[:, 0], rtol=1e-12)  # that of the support
    assert_allclose(changed[:, 1], Product(z / 2, False).log_prob(asked), rtol=1e-9)
    assert np.abs(changed[:, 1] - before[:, 1]).max() > 0.1


def test_a_model_of_whole_sets_has_no_labels_to_calibrate():
    support = Support(np.eye(3, dtype=int), np.zeros((2, 3)))
    lazy = Batched(support.rows, np.arange(2), 3, 1)
    for dist in (support, lazy):
        assert dist.independent_places() == ()
        assert_allclose(dist.with_labels(halved, 0).marginals(), dist.marginals(), rtol=1e-12)
    with pytest.raises(DataError, match="labels are not independent"):
        support.independent_marginals(0)


def test_labels_are_calibrated_of_a_model_that_no_fold_leaves_out():
    z = np.zeros((1, 2))

    def pool(*places):
        parts = [Product(z + place) for place in places]
        weights = np.log(np.full((1, len(places)), 1 / len(places)))
        return OpinionPool(weights, parts, n_models=3, places=places)

    assert place_of_labels([pool(0, 1, 2), pool(1, 2), pool(0, 2)]) == 2
    assert place_of_labels([pool(0, 1), pool(1, 2), pool(0)]) is None
    assert place_of_labels([Product(z), Product(z)]) == 0
    changed = pool(0, 2).with_labels(halved, 2)
    assert [part.logits[0, 0] for part in changed.experts] == [0, 1]
    assert pool(0, 2).with_labels(halved, 1).experts[1].logits[0, 0] == 2


@pytest.mark.parametrize("kept", [(0, 1), (1,)])
def test_the_last_model_decides_too_whose_labels_are_calibrated(data, monkeypatch, kept):
    """An average of all rows that leaves a model out which all folds have."""
    X, Y = data
    average = sw.ModelAverage([sw.BinaryRelevance(), sw.BRkNN()], weights="equal")
    learn = sw.ModelAverage._learn

    def leaving_out(self, X, Y, *more):
        found = learn(self, X, Y, *more)
        if X.shape[0] < 150:
            return found
        weights = np.zeros(2)
        weights[list(kept)] = 1 / len(kept)
        models = [found["models_"][place] for place in kept]
        return {"models_": models, "weights_": weights[list(kept)], "all_weights_": weights}

    monkeypatch.setattr(sw.ModelAverage, "_learn", leaving_out)
    rows = TrainingRows(X[:150], binary_csr(Y[:150]), None, None)
    options = {"n_folds": 3, "allow_empty": True, "random_state": 0}
    crossed = cross_fit(average, rows, label_calibration="isotonic", **options)
    assert crossed.place == kept[0]
    assert crossed.final(FirstStage()).place_ == kept[0]
