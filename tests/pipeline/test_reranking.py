import json

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.data.split import IterativeKFold, holdout
from setwise.metrics import set_accuracy
from setwise.pipeline import FitSettings
from setwise.pipeline.build import Choice, bare_model
from setwise.pipeline.judging import Fold, Judged, value_of
from setwise.pipeline.reranking import reranked_average, reranked_labels

SETTINGS = FitSettings(folds=3)


@pytest.fixture(scope="module")
def rows():
    """Two labels exclude each other, which binary relevance does not know, and a third."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    first = X[:, 0] + 0.8 * random.normal(size=300) > 0
    third = X[:, 1] > -0.3
    return X, sparse.csr_array(np.column_stack([first, ~first, third]).astype(np.int8))


def in_folds(Y):
    return [Fold(*part) for part in IterativeKFold(3, random_state=0).split(None, Y)]


def apart(Y):
    return [Fold(*holdout(Y, test_size=0.5, random_state=0))]


def judged(name, options, rows, folds, expected=1.0):
    X, Y = rows
    choice = Choice(name, options)
    models = [bare_model(choice, SETTINGS).fit(X[fold.train], Y[fold.train]) for fold in folds]
    answers = [m.predict_dist(X[fold.judges]) for m, fold in zip(models, folds, strict=True)]
    predicted = sparse.csr_array(np.concatenate([answer.mode()[0] for answer in answers]))
    log_prob = np.concatenate(
        [answer.log_prob(Y[fold.judges]) for answer, fold in zip(answers, folds, strict=True)]
    )
    value = value_of(predicted, Y, folds, "set_accuracy")
    return Judged(choice, value, predicted, log_prob, answers, expected)


@pytest.mark.parametrize("split", [in_folds, apart])
@pytest.mark.parametrize("target", ["set_accuracy", "f1"])
def test_what_is_chosen_is_judged_in_the_order_of_the_judges(rows, split, target):
    folds = split(rows[1])
    settings = FitSettings(target=target, folds=3)
    parts = [
        judged("BinaryRelevance", {"C": 0.01}, rows, folds),
        judged("BinaryRelevance", {"C": 1.0}, rows, folds),
    ]
    for found in (
        reranked_labels(parts, rows[1], folds, settings),
        reranked_average(parts, rows[1], folds, settings, np.inf),
    ):
        truth = rows[1][np.concatenate([fold.judges for fold in folds])].toarray()
        right = (found.predicted.toarray() == truth).all(axis=1)
        if target == "set_accuracy":
            assert found.value == pytest.approx(right.mean(), rel=1e-12)
            assert found.value > 0.6
            assert (found.predicted[:, [0, 1]].sum(axis=1) == 1).mean() > 0.95  # as in training
        assert (found.predicted.sum(axis=1) > 0).all()


def test_folds_that_were_fitted_already_say_what_a_reranker_of_its_own_folds_says(rows):
    X, Y = rows
    reranker = sw.Reranker(sw.BinaryRelevance(C=1.0), n_folds=3, random_state=0).fit(X, Y)
    folds = in_folds(Y)
    found = reranked_labels(
        [judged("BinaryRelevance", {"C": 1.0}, rows, folds)], Y, folds, SETTINGS
    )
    assert found.choice.options["n_candidates"] == 10
    assert found.value == pytest.approx(reranker.out_of_fold_correct_.mean(), abs=1e-12)


def test_few_candidates_are_looked_at_where_most_rows_have_one_label(rows):
    X, Y = rows
    one_label = sparse.csr_array(Y[:, :2])
    folds = in_folds(one_label)
    part = judged("BinaryRelevance", {"C": 1.0}, (X, one_label), folds)
    found = reranked_labels([part], one_label, folds, SETTINGS)
    assert found.choice == Choice("BRRerank", {"C": 1.0, "n_candidates": 5})


def test_only_binary_relevance_is_reranked_alone(rows):
    folds = in_folds(rows[1])
    assert reranked_labels([judged("PowerSet", {}, rows, folds)], rows[1], folds, SETTINGS) is None


def test_models_weigh_alike_and_those_that_take_too_long_are_left_out(rows):
    folds = in_folds(rows[1])
    parts = [
        judged("PowerSet", {}, rows, folds, expected=100.0),
        judged("BinaryRelevance", {"C": 1.0}, rows, folds, expected=1.0),
        judged("PairwiseCRF", {}, rows, folds, expected=2.0),
    ]
    found = reranked_average(parts, rows[1], folds, SETTINGS, 50.0)
    members = found.choice.options["members"]
    assert [member["model"] for member in members] == ["BinaryRelevance", "PairwiseCRF"]
    assert [member["weight"] for member in members] == [0.5, 0.5]
    assert found.expected == 3.0
    assert reranked_average(parts, rows[1], folds, SETTINGS, 2.0) is None


def test_targets_that_sets_are_not_chosen_for_are_not_reranked(rows):
    folds = in_folds(rows[1])
    parts = [judged("BinaryRelevance", {"C": C}, rows, folds) for C in (0.1, 1.0)]
    hamming = FitSettings(target="hamming", folds=3)
    assert reranked_labels(parts, rows[1], folds, hamming) is None
    assert reranked_average(parts, rows[1], folds, hamming, np.inf) is None


def test_the_choice_makes_the_model_that_was_judged(rows):
    X, Y = rows
    folds = in_folds(Y)
    inside = {"inside": {"model": "PowerSet", "options": {"C": 3.0}}}
    parts = [
        judged("BinaryRelevance", {"C": 1.0}, rows, folds),
        judged("KernelModel", {**inside, "n_landmarks": 40}, rows, folds),
    ]
    choice = reranked_average(parts, Y, folds, SETTINGS, np.inf).choice
    model = bare_model(Choice(choice.name, json.loads(json.dumps(choice.options))), SETTINGS)
    assert isinstance(model, sw.Reranker)
    assert (model.n_folds, model.n_training_sets) == (3, 10)
    first, second = model.estimator.estimators
    assert (first.C, second.estimator.C, second.n_landmarks) == (1.0, 3.0, 40)
    assert set_accuracy(Y, model.fit(X, Y).predict(X)) > 0.75
