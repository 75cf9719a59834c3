import json

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.data.split import IterativeKFold, holdout
from setwise.metrics import f1, set_accuracy
from setwise.pipeline import FitSettings, reranking
from setwise.pipeline.build import BOOSTERS, Choice, bare_model
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
        reranked_labels(parts, rows[1], folds, settings, np.inf),
        reranked_average(parts, rows[1], folds, settings, np.inf),
    ):
        truth = rows[1][np.concatenate([fold.judges for fold in folds])].toarray()
        right = (found.predicted.toarray() == truth).all(axis=1)
        if target == "set_accuracy":
            assert found.value == pytest.approx(right.mean(), rel=1e-12)
            assert found.value > 0.6
            assert (found.predicted[:, [0, 1]].sum(axis=1) == 1).mean() > 0.95  # as in training
        else:
            assert found.value == pytest.approx(f1(truth, found.predicted), rel=1e-12)
            assert found.value > 0.75


@pytest.fixture(scope="module")
def rows_of_rare_sets():
    """Six labels of noise: many sets are seen once, so that their counts would tell of a row."""
    random = np.random.default_rng(0)
    X = random.normal(size=(240, 3))
    score = X @ random.normal(size=(3, 6)) + 1.5 * random.normal(size=(240, 6))
    return X, sparse.csr_array((score > 0.3).astype(np.int8))


@pytest.mark.parametrize("given", ["rows", "rows_of_rare_sets"])
def test_folds_that_were_fitted_already_say_what_a_reranker_of_its_own_folds_says(given, request):
    X, Y = given = request.getfixturevalue(given)
    reranker = sw.Reranker(sw.BinaryRelevance(C=1.0), n_folds=3, n_boosters=BOOSTERS).fit(X, Y)
    folds = in_folds(Y)
    found = reranked_labels(
        [judged("BinaryRelevance", {"C": 1.0}, given, folds)], Y, folds, SETTINGS, np.inf
    )
    assert found.choice.options["n_candidates"] == 10
    assert found.value == pytest.approx(reranker.out_of_fold_correct_.mean(), abs=1e-12)


def test_rows_of_a_group_are_in_one_fold_of_the_calibrator(rows, monkeypatch):
    _, Y = rows
    groups = np.arange(300) // 10
    train, judges = holdout(Y, test_size=0.5, groups=groups, random_state=0)
    folds = [Fold(train, judges, groups[judges])]
    seen = []
    watched = reranking.from_answers
    monkeypatch.setattr(
        reranking, "from_answers", lambda *a, **k: (seen.append(a[:2]), watched(*a, **k))[1]
    )
    parts = [judged("BinaryRelevance", {"C": 1.0}, rows, folds)]
    assert reranked_labels(parts, Y, folds, SETTINGS, np.inf) is not None
    ((given, part),) = seen
    np.testing.assert_array_equal(given.groups, groups[judges])
    assert len(np.unique(part)) == 3
    assert all(len(np.unique(part[given.groups == group])) == 1 for group in given.groups)


def test_nothing_is_reranked_where_a_single_group_judges(rows):
    _, Y = rows
    groups = np.arange(300) // 150
    folds = [Fold(np.arange(150), np.arange(150, 300), groups[150:])]
    parts = [judged("BinaryRelevance", {"C": C}, rows, folds) for C in (0.1, 1.0)]
    assert reranked_labels(parts, Y, folds, SETTINGS, np.inf) is None
    assert reranked_average(parts, Y, folds, SETTINGS, np.inf) is None


def test_listing_sets_takes_seconds_of_the_last_fit_for_all_rows(rows, monkeypatch):
    _, Y = rows
    folds = apart(Y)
    parts = [judged("BinaryRelevance", {"C": 1.0}, rows, folds, expected=5.0)]
    clock = iter([100.0, 103.0] * 2)
    monkeypatch.setattr(reranking.time, "perf_counter", lambda: next(clock))
    found = reranked_labels(parts, Y, folds, SETTINGS, 11.1)
    assert found.expected == pytest.approx(5 + 3 * 300 / 150, rel=1e-9)
    assert reranked_labels(parts, Y, folds, SETTINGS, 10.9) is None


def test_fewer_models_are_reranked_where_listing_their_sets_takes_long(rows, monkeypatch):
    folds = apart(rows[1])
    parts = [
        judged("BinaryRelevance", {"C": 0.1}, rows, folds, expected=2.0),
        judged("PowerSet", {}, rows, folds, expected=5.0),
        judged("BinaryRelevance", {"C": 1.0}, rows, folds, expected=1.0),
    ]
    clock = iter([0.0, 2.0, 10.0, 11.0])
    monkeypatch.setattr(reranking.time, "perf_counter", lambda: next(clock))
    found = reranked_average(parts, rows[1], folds, SETTINGS, 10.0)  # 8 and 4 of reranking
    assert [member["options"] for member in found.choice.options["members"]] == [
        {"C": 0.1},
        {"C": 1.0},
    ]
    assert found.expected == pytest.approx(3 + 2, rel=1e-9)


def test_few_candidates_are_looked_at_where_most_rows_have_one_label(rows):
    X, Y = rows
    one_label = sparse.csr_array(Y[:, :2])
    folds = in_folds(one_label)
    part = judged("BinaryRelevance", {"C": 1.0}, (X, one_label), folds)
    found = reranked_labels([part], one_label, folds, SETTINGS, np.inf)
    assert found.choice == Choice("BRRerank", {"C": 1.0, "n_candidates": 5})


def test_only_binary_relevance_is_reranked_alone(rows):
    folds = in_folds(rows[1])
    parts = [judged("PowerSet", {}, rows, folds)]
    assert reranked_labels(parts, rows[1], folds, SETTINGS, np.inf) is None


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
    assert 3.0 < found.expected < 50.0
    assert reranked_average(parts, rows[1], folds, SETTINGS, 2.0) is None


def test_targets_that_sets_are_not_chosen_for_are_not_reranked(rows):
    folds = in_folds(rows[1])
    parts = [judged("BinaryRelevance", {"C": C}, rows, folds) for C in (0.1, 1.0)]
    hamming = FitSettings(target="hamming", folds=3)
    assert reranked_labels(parts, rows[1], folds, hamming, np.inf) is None
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
