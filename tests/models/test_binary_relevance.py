import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import setwise as sw
from setwise import metrics
from setwise.decisions import MicroF1Threshold
from setwise.errors import DataError, LabelMismatch
from setwise.models import BinaryRelevance
from setwise.models.strength import STRENGTHS

NAMES = ["beach", "sunset", "urban"]


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 4))
    Y = (X @ random.normal(size=(4, 3)) + random.normal(size=(150, 3)) > 0.3).astype(int)
    return X, Y


def test_it_is_scikit_learns_one_vs_rest(data):
    X, Y = data
    ours = BinaryRelevance(C=2.0).fit(X, Y).predict_proba(X)
    theirs = OneVsRestClassifier(LogisticRegression(C=2.0, tol=1e-10)).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(ours, theirs, atol=2e-4)


def test_labels_go_out_in_the_container_in_which_they_came(data):
    X, Y = data
    model = BinaryRelevance()
    expected = model.fit(X, Y).predict(X)
    assert isinstance(expected, np.ndarray)
    for given, kind in (
        (sparse.csr_matrix(Y), sparse.csr_matrix),
        (sparse.csr_array(Y), sparse.csr_array),
        (pd.DataFrame(Y, columns=NAMES), pd.DataFrame),
        (pl.DataFrame(Y, schema=NAMES), pl.DataFrame),
    ):
        found = model.fit(X, given).predict(X)
        assert isinstance(found, kind)
        values = found.toarray() if sparse.issparse(found) else found.to_numpy()
        np.testing.assert_array_equal(values, expected)
    assert list(model.predict(X).columns) == NAMES
    sets = sw.LabelSpace(NAMES).decode(Y)
    model.fit(X, sets)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.predict_sets(X) == sw.LabelSpace(NAMES).decode(expected)
    assert list(model.classes_) == NAMES


def test_features_may_be_sparse_or_a_frame(data):
    X, Y = data
    dense = BinaryRelevance(max_iter=2000).fit(X, Y)
    packed = BinaryRelevance(max_iter=2000).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(packed.predict_proba(X), dense.predict_proba(X), atol=1e-3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BinaryRelevance().fit(frame, Y)
    assert list(model.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("dcba")])


@pytest.mark.parametrize("learner", ["logistic", "elastic", "boosting", LogisticRegression()])
def test_every_learner_beats_the_commonest_set(data, learner):
    X, Y = data
    model = BinaryRelevance(learner, max_iter=60).fit(X[:100], Y[:100])
    truth = sparse.csr_array(Y[100:])
    common = np.tile(Y[:100].mean(axis=0) > 0.5, (50, 1)).astype(int)
    assert model.score(X[100:], Y[100:]) > metrics.set_accuracy(truth, common)
    dist = model.predict_dist(X[100:])
    assert np.isfinite(dist.log_prob(truth)).all()


@pytest.mark.parametrize("target", ["set_accuracy", "f1", "hamming", "f1_calibrated"])
def test_the_mode_of_independent_labels_is_the_likely_labels(data, target):
    X, Y = data
    model = BinaryRelevance(target=target).fit(X, Y)
    decided = model.predict(X)
    if target in ("set_accuracy", "hamming") and model.allow_empty_:
        np.testing.assert_array_equal(decided, model.predict_proba(X) > 0.5)
    assert decided.shape == Y.shape


@pytest.mark.parametrize(
    ("target", "average"),
    [("micro_f1", "micro"), ("macro_f1", "label"), ("f1_threshold", "instance")],
)
def test_tuned_thresholds_raise_the_measure_they_are_tuned_for(target, average):
    """Rare labels: one half is too high a threshold for any F1."""
    random = np.random.default_rng(1)
    X = random.normal(size=(1200, 5))
    Y = (X @ random.normal(size=(5, 4)) + 2 * random.normal(size=(1200, 4)) > 3).astype(int)
    train, test = slice(0, 800), slice(800, None)
    tuned = BinaryRelevance(target=target).fit(X[train], Y[train]).predict(X[test])
    plain = BinaryRelevance(target="hamming").fit(X[train], Y[train]).predict(X[test])
    assert metrics.f1(Y[test], tuned, average=average) > metrics.f1(Y[test], plain, average=average)


def test_empty_sets_are_predicted_only_where_training_has_one(data):
    X, Y = data
    without = Y.copy()
    without[Y.sum(axis=1) == 0, 0] = 1
    model = BinaryRelevance().fit(X, without)
    assert not model.allow_empty_
    assert model.predict(10 * X).sum(axis=1).min() >= 1
    assert BinaryRelevance().fit(X, Y).allow_empty_
    assert BinaryRelevance(allow_empty=True).fit(X, without).allow_empty_


def test_constant_and_unseen_labels_are_neither_certain_nor_an_error(data):
    X, Y = data
    Y = np.column_stack([Y, np.zeros(150), np.ones(150)]).astype(int)
    for learner in ("logistic", "elastic", "boosting", LogisticRegression()):
        p = BinaryRelevance(learner, max_iter=50).fit(X, Y).predict_proba(1e6 * X)
        assert ((p > 0) & (p < 1)).all()
        assert (p[:, 3] < 0.05).all()
        assert (p[:, 4] > 0.95).all()


def test_weights_count_rows(data):
    X, Y = data
    weights = np.random.default_rng(2).integers(0, 3, size=150)
    weighted = BinaryRelevance(max_iter=1000).fit(X, Y, sample_weight=weights)
    repeated = BinaryRelevance(max_iter=1000).fit(
        np.repeat(X, weights, 0), np.repeat(Y, weights, 0)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)


def test_it_works_in_scikit_learns_tools(data):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), BinaryRelevance())
    assert cross_val_score(pipeline, X, Y, cv=sw.IterativeKFold(3)).shape == (3,)
    search = GridSearchCV(BinaryRelevance(), {"C": [0.01, 1.0]}, cv=3).fit(X, Y)
    assert search.best_params_["C"] in (0.01, 1.0)
    copy = clone(BinaryRelevance("boosting", target="f1", C=3))
    assert copy.get_params()["C"] == 3
    assert copy.learner == "boosting"


@pytest.mark.parametrize("learner", ["logistic", "elastic", "boosting"])
@pytest.mark.parametrize("target", ["set_accuracy", "f1", "macro_f1"])
def test_a_saved_model_is_the_same_model(data, learner, target, tmp_path):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BinaryRelevance(learner, target=target, max_iter=20).fit(
        frame, sw.LabelSpace(NAMES).decode(Y)
    )
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert loaded.predict_sets(frame) == model.predict_sets(frame)
    assert list(loaded.feature_names_in_) == list("abcd")
    assert loaded.get_params() == model.get_params()


def test_a_scikit_learn_classifier_is_stored_without_pickle(data, tmp_path):
    X, Y = data
    model = BinaryRelevance(LogisticRegression(C=0.5)).fit(X, Y)
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.learner.C == 0.5


def test_a_failed_fit_leaves_the_earlier_one(data):
    X, Y = data
    model = BinaryRelevance().fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(LabelMismatch):
        model.fit(X[:, :2], Y[:10])
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": np.full((150, 3), 2)}, "labels are 0 or 1"),
        ({"y": np.zeros((150, 0))}, "no labels"),
        ({"X": np.full((150, 4), np.nan)}, "NaN"),
        ({"X": np.full((150, 4), np.inf)}, "infinity"),
        ({"sample_weight": np.zeros(150)}, "zero"),
        ({"sample_weight": -np.ones(150)}, "[Nn]egative"),
        ({"groups": np.ones(3)}, r"groups has shape \(3,\), but X has 150 rows"),
    ],
)
def test_bad_input_gets_a_sentence(data, change, sentence):
    X, Y = data
    with pytest.raises(ValueError, match=sentence):
        BinaryRelevance().fit(**({"X": X, "y": Y} | change))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"learner": "magic"}, "learner must be one of logistic, elastic, boosting"),
        ({"target": "magic"}, "target must be one of"),
    ],
)
def test_bad_parameters_get_a_sentence(data, parameters, sentence):
    with pytest.raises(DataError, match=sentence):
        BinaryRelevance(**parameters).fit(*data)


def test_any_scikit_learn_classifier_serves(data):
    X, Y = data
    forest = RandomForestClassifier(20, max_depth=3, random_state=0)
    p = BinaryRelevance(forest).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(
        p[:, 1], forest.fit(X, Y[:, 1]).predict_proba(X)[:, 1].clip(1e-6, 1 - 1e-6), atol=1e-5
    )


@pytest.mark.parametrize("allow_empty", ["auto", True, False])
def test_a_rule_is_tuned_as_it_is_used(data, allow_empty):
    """With or without the empty set, in tuning as in prediction."""
    seen = []

    class Spy(MicroF1Threshold):
        def tune(self, distribution, Y, sample_weight=None):
            seen.append(distribution.allow_empty)
            return super().tune(distribution, Y, sample_weight)

    X, Y = data
    model = BinaryRelevance(target=Spy(), allow_empty=allow_empty).fit(X, Y)
    assert seen == [model.allow_empty_] == [model.predict_dist(X).allow_empty]


def test_predictions_take_the_threads_they_are_given(data):
    assert BinaryRelevance(n_jobs=1).fit(*data).predict_dist(data[0]).n_jobs == 1


@pytest.fixture(scope="module")
def noisy():
    """Few rows of many features: a strong penalty is best."""
    random = np.random.default_rng(5)
    X = random.normal(size=(150, 40))
    return X, (X[:, :3] + 2 * random.normal(size=(150, 3)) > 0).astype(int)


@pytest.mark.parametrize("learner", ["logistic", "elastic"])
def test_the_penalty_that_held_out_rows_like_is_chosen(noisy, learner):
    X, Y = noisy
    model = BinaryRelevance(learner, C="auto", max_iter=300).fit(X, Y)
    C = model.chosen_["C"]
    assert C in STRENGTHS
    assert C < 1
    fixed = BinaryRelevance(learner, C=C, max_iter=300).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), fixed.predict_proba(X))
    assert fixed.chosen_ == {}
    assert model.C == "auto"
    train, test = sw.holdout(Y, test_size=0.2, random_state=0)

    def likelihood(C):
        fitted = BinaryRelevance(learner, C=C, max_iter=300, allow_empty=True).fit(
            X[train], Y[train]
        )
        return fitted.predict_dist(X[test]).log_prob(Y[test]).mean()

    place = STRENGTHS.index(C)
    for other in STRENGTHS[max(place - 1, 0) : place + 2]:
        assert likelihood(C) >= likelihood(other) - 1e-9


def test_a_weak_penalty_is_chosen_where_rows_are_many():
    random = np.random.default_rng(6)
    X = 0.05 * random.normal(size=(600, 3))  # small features need large weights
    Y = (X @ random.normal(size=(3, 2)) + 0.01 * random.normal(size=(600, 2)) > 0).astype(int)
    assert BinaryRelevance(C="auto").fit(X, Y).chosen_["C"] > 10


def test_rows_without_weight_choose_nothing(noisy):
    X, Y = noisy
    odd = np.vstack([X, 50 * X]), np.vstack([Y, 1 - Y])
    weight = np.repeat([1.0, 0.0], 150)
    chosen = BinaryRelevance(C="auto").fit(*odd, weight).chosen_
    assert chosen == BinaryRelevance(C="auto").fit(X, Y).chosen_


def test_held_out_rows_judge_by_their_weight(noisy, monkeypatch):
    """The last row alone counts among those held out, and it is a copy of one learnt from."""
    X, Y = noisy
    parts = np.arange(100), np.arange(100, 150)
    X, Y = X.copy(), Y.copy()
    X[149], Y[149] = X[0], Y[0]
    monkeypatch.setattr("setwise.models.binary_relevance.held_out_parts", lambda *given: parts)
    weight = np.ones(150)
    weight[100:149] = 1e-9
    assert BinaryRelevance(C="auto").fit(X, Y, weight).chosen_["C"] > 1
    assert BinaryRelevance(C="auto").fit(X, Y).chosen_["C"] < 1


def test_a_copy_with_the_chosen_penalty_is_not_fitted(noisy):
    X, Y = noisy
    auto = BinaryRelevance(C="auto", target="f1")
    copy = auto.with_chosen_C(X, sparse.csr_array(Y))
    assert BinaryRelevance(C="auto").fit(X, Y).chosen_["C"] == copy.C
    assert copy.target == "f1"
    assert not hasattr(copy, "bank_")
    assert auto.C == "auto"
    assert BinaryRelevance(C=3.0).with_chosen_C(X, sparse.csr_array(Y)).C == 3.0


@pytest.mark.parametrize(
    ("parameters", "change", "sentence"),
    [
        ({"learner": "boosting"}, {}, 'C="auto" is for the learners "logistic" and "elastic"'),
        ({"learner": LogisticRegression()}, {}, "not LogisticRegression"),
        ({"C": "magic"}, {}, "C is a number over zero or \"auto\", not 'magic'"),
        ({}, {"sample_weight": np.eye(150)[0]}, "only one row with weight"),
        ({}, {"groups": np.zeros(150)}, "only one group of rows with weight"),
    ],
)
def test_a_penalty_that_cannot_be_chosen_gets_a_sentence(noisy, parameters, change, sentence):
    X, Y = noisy
    with pytest.raises(DataError, match=sentence):
        BinaryRelevance(**({"C": "auto"} | parameters)).fit(X, Y, **change)


def test_a_chosen_penalty_is_saved(noisy, tmp_path):
    X, Y = noisy
    model = BinaryRelevance(C="auto").fit(X, Y)
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    assert loaded.chosen_ == model.chosen_
    assert loaded.C == "auto"
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
