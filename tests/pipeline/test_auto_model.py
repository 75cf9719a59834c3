"""The default of ``setwise fit`` for features and label sets as arrays."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import setwise as sw
from setwise.data.labels import as_binary_csr
from setwise.decisions import decision_for
from setwise.errors import DataError
from setwise.pipeline import AutoModel, FitSettings
from setwise.pipeline import auto_model as module
from setwise.pipeline import choose as choosing
from setwise.pipeline.build import Choice, with_confidence
from setwise.pipeline.candidates import Candidate
from setwise.pipeline.compared import Chosen

OTHER_VALUES = "passes a target with values other than 0 and 1, which is refused with a sentence"
ONE_DIMENSION = "passes or expects a single, flat target; label sets are (n, L)"
EXPECTED_FAILURES = {
    "check_classifier_data_not_an_array": OTHER_VALUES,
    "check_estimator_sparse_array": OTHER_VALUES,
    "check_estimator_sparse_matrix": OTHER_VALUES,
    "check_estimators_dtypes": OTHER_VALUES,
    "check_fit2d_1feature": OTHER_VALUES,
    "check_classifiers_classes": ONE_DIMENSION,
    "check_classifiers_one_label_sample_weights": ONE_DIMENSION,
    "check_classifiers_train": ONE_DIMENSION,
    "check_classifiers_multilabel_representation_invariance": (
        "passes nested lists of 0 and 1, which may be a matrix or label sets; we ask which"
    ),
    **dict.fromkeys(
        [
            f"check_sample_weights_{what}"
            for what in ("list", "not_an_array", "not_overwritten", "pandas_series", "shape")
        ]
        + [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")],
        "passes weights, which are refused with a sentence",
    ),
}
NO_TIME = 1e-6  # seconds, in which only the first candidate is tried


@parametrize_with_checks(
    [AutoModel(budget=NO_TIME, n_folds=2, n_jobs=1)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    """The first two labels follow from a feature each, on scales of their own."""
    random = np.random.default_rng(0)
    X = random.normal(size=(160, 3))
    Y = (X[:, :2] + 0.3 * random.normal(size=(160, 2)) > 0).astype(int)
    return X * [1.0, 100.0, 1e-2] + [0.0, 50.0, 0.0], np.column_stack([Y, Y[:, 0] & Y[:, 1]])


@pytest.fixture
def few_models(monkeypatch):
    choices = [Choice("BinaryRelevance", {"C": C}) for C in (1e-6, 1.0)]
    candidates = [Candidate(choice) for choice in choices]
    monkeypatch.setattr(choosing, "candidates_for", lambda *_, **__: candidates)
    monkeypatch.setattr(choosing, "_best_C", lambda *_: 1.0)


def test_it_fits_what_the_command_would_choose_to_standardised_rows(rows, few_models):
    X, Y = rows
    for target in ("hamming", "f1", "macro_f1"):
        model = AutoModel(target, random_state=3).fit(X[:120], Y[:120])
        mean, spread = X[:120].mean(axis=0), X[:120].std(axis=0)
        scaled, settings = (X - mean) / spread, FitSettings(target=target, folds=5, seed=3)
        labels = as_binary_csr(Y[:120])
        chosen = choosing.choose(scaled[:120], labels, None, settings)
        assert model.choice_ == {"model": chosen.choice.name, "options": chosen.choice.options}
        assert model.reason_ == chosen.reason
        assert [one["value"] for one in model.trials_] == [one["value"] for one in chosen.trials]
        own = with_confidence(chosen.choice, settings).fit(scaled[:120], labels)
        sets, confidence = own.predict_with_confidence(scaled[120:])
        np.testing.assert_array_equal(model.predict(X[120:]), sets.toarray())
        np.testing.assert_allclose(model.predict_confidence(X[120:]), confidence, atol=1e-9)
        np.testing.assert_allclose(
            model.predict_proba(X[120:]), own.predict_dist(scaled[120:]).marginals(), atol=1e-9
        )
        np.testing.assert_array_equal(model.out_of_fold_correct_, own.out_of_fold_correct_)


def test_without_time_the_first_is_taken_and_the_rest_is_said_to_be_left_out(rows):
    model = AutoModel(budget=NO_TIME).fit(*rows)
    assert model.choice_["model"] == "BinaryRelevance"
    assert len(model.trials_) > 5
    for trial in model.trials_[1:]:
        assert (trial["value"], trial["note"]) == (None, "no time was left to try it")


def test_what_is_chosen_for_f1_is_as_sure_as_the_whole_set_is_right(rows, monkeypatch):
    X, Y = rows
    choice = Choice("BRRerank", {"C": 1.0})
    monkeypatch.setattr(module, "choose", lambda *_: Chosen(choice, [], "as told"))
    model = AutoModel("f1", n_folds=2).fit(X, Y)
    assert (model.model_.target, model.model_.confidence_in) == ("f1", "set_accuracy")
    assert set(np.unique(model.out_of_fold_correct_)) == {0.0, 1.0}


def test_sets_come_as_they_went_in(rows, few_models):
    X, Y = rows
    names = np.array(["a", "b", "both"])
    sets = [tuple(names[row == 1].tolist()) for row in Y]
    model = AutoModel("hamming", n_folds=2).fit(X, sets)
    assert model.label_names_ == ("a", "b", "both")
    found = model.predict_sets(X)
    assert np.mean([one == other for one, other in zip(found, sets, strict=True)]) > 0.6
    assert model.score(X, sets) == pytest.approx(
        np.mean([one == other for one, other in zip(found, sets, strict=True)]), rel=1e-12
    )
    model.fit(sparse.csr_array(X), sparse.csr_array(Y))
    sets, confidence = model.predict_with_confidence(sparse.csr_array(X))
    assert sparse.issparse(sets)
    assert ((confidence >= 0) & (confidence <= 1)).all()


@pytest.mark.parametrize("scale", ["auto", "as_given"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_one_that_was_saved_is_the_same(rows, few_models, tmp_path, form, scale):
    X, Y = form(rows[0]), rows[1]
    model = AutoModel(n_folds=2, scale=scale).fit(X, Y)
    assert (model.scale_ is None) == (scale == "as_given")
    model.save(tmp_path / "model.setwise")
    for copy in (pickle.loads(pickle.dumps(model)), sw.load(tmp_path / "model.setwise")):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        np.testing.assert_array_equal(copy.predict_confidence(X), model.predict_confidence(X))
        assert copy.trials_ == model.trials_


def test_rows_as_given_are_not_scaled(rows, few_models):
    X, Y = rows
    model = AutoModel(scale="as_given", n_folds=2).fit(X, Y)
    sets, confidence = model.model_.predict_with_confidence(X)
    np.testing.assert_array_equal(model.predict(X), sets.toarray())
    np.testing.assert_array_equal(model.predict_confidence(X), confidence)


def test_groups_stay_together_everywhere(rows, monkeypatch):
    X, Y = rows
    groups, seen = np.arange(len(X)) // 4, []
    choice = Choice("BinaryRelevance", {"C": 1.0})
    choose, wrap = module.choose, module.with_confidence
    monkeypatch.setattr(
        choosing, "candidates_for", lambda *_, **__: [Candidate(choice), Candidate(choice)]
    )
    monkeypatch.setattr(
        module,
        "choose",
        lambda X, Y, groups, *more: (seen.append(groups), choose(X, Y, groups, *more))[1],
    )

    def watched(choice, settings):
        model = wrap(choice, settings)
        fit = model.fit
        model.fit = lambda X, Y, groups: (seen.append(groups), fit(X, Y, groups=groups))[1]
        return model

    monkeypatch.setattr(module, "with_confidence", watched)
    AutoModel(n_folds=2).fit(X, Y, groups=groups)
    assert len(seen) == 2
    assert all(given is groups for given in seen)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "accuracy"}, "target must be one of .*set_accuracy"),
        ({"target": decision_for("f1")}, "target must be one of"),
        ({"budget": 0}, "budget is a number of seconds over zero, not 0"),
        ({"budget": "long"}, "budget is a number of seconds over zero, not 'long'"),
        ({"random_state": -1}, "random_state is a whole number from 0 up, not -1"),
        ({"keep_rows": "no"}, "keep_rows is true or false, not 'no'"),
        ({"scale": "length"}, "scale.*'length'"),
        ({"n_folds": 1}, "n_folds is a whole number from 2 up, not 1"),
    ],
)
def test_what_it_does_not_know_is_refused_and_an_earlier_fit_kept(rows, few_models, options, words):
    model = AutoModel(n_folds=2).fit(*rows)
    before = model.predict(rows[0])
    model.set_params(**options)
    with pytest.raises(DataError, match=words):
        model.fit(*rows)
    np.testing.assert_array_equal(model.predict(rows[0]), before)


def test_it_says_what_it_tries_if_asked(rows, few_models, capsys):
    clone(AutoModel(n_folds=2)).fit(*rows)
    assert capsys.readouterr() == ("", "")
    AutoModel(n_folds=2, verbose=1).fit(*rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "choosing a scale"
    assert sum(line.startswith("trying BinaryRelevance on") for line in lines) == 2
    assert lines[-2].endswith("to 160 rows")
    assert lines[-1].startswith("AutoModel: 160 rows, 3 labels")


def test_what_may_be_accepted_unread_follows_from_its_training_rows(rows, few_models):
    X, Y = rows
    model = AutoModel(n_folds=2).fit(X, Y)
    rule = sw.AutoAccept(target_accuracy=0.5).fit(
        model.out_of_fold_confidence_, model.out_of_fold_correct_, out_of_fold=True
    )
    accepted = rule.accept(model.predict_confidence(X))
    assert accepted.any()
    assert (model.predict(X) == Y).all(axis=1)[accepted].mean() > 0.5


def test_without_a_seed_chance_is_asked_for_one(rows, few_models, monkeypatch):
    seeds, choose = [], module.choose
    monkeypatch.setattr(
        module, "choose", lambda *given: (seeds.append(given[3].seed), choose(*given))[1]
    )
    for _ in range(2):
        AutoModel(n_folds=2, random_state=None).fit(*rows)
    assert seeds[0] != seeds[1]


def test_numbers_of_numpy_are_numbers(rows, few_models):
    plain = AutoModel(budget=500, n_folds=2, random_state=3, n_jobs=1).fit(*rows)
    numbers = {"budget": 500, "n_folds": 2, "random_state": 3, "n_jobs": 1}
    options = {name: np.int64(value) for name, value in numbers.items()}
    np.testing.assert_array_equal(
        AutoModel(**options).fit(*rows).predict(rows[0]), plain.predict(rows[0])
    )


def test_weights_are_refused(rows):
    with pytest.raises(DataError, match="takes no sample_weight; leave it out"):
        AutoModel().fit(*rows, np.ones(len(rows[0])))


@pytest.mark.parametrize("allow_empty", [True, False])
def test_whether_the_empty_set_may_be_predicted_is_told(rows, few_models, allow_empty):
    X, Y = rows
    empty = (Y == 0).all(axis=1)
    assert empty.sum() > 20
    model = AutoModel(n_folds=2, allow_empty=allow_empty).fit(X, Y)
    found = model.predict(X[empty])
    assert (found == 0).all(axis=1).any() == allow_empty
    wrapped = sw.SetCalibrator(AutoModel(n_folds=2), n_folds=2, allow_empty=allow_empty)
    found = wrapped.fit(X, Y).predict(X[empty])
    assert (found == 0).all(axis=1).any() == allow_empty


def test_scikit_learns_frames_do_not_get_in_its_way(rows, few_models):
    X, Y = rows
    model = AutoModel(n_folds=2)
    before = model.fit(X, Y).predict(X)
    with sklearn.config_context(transform_output="pandas"):
        np.testing.assert_array_equal(model.fit(X, Y).predict(X), before)


@pytest.mark.slow
def test_with_all_its_candidates_several_models_are_taken_together():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 5))
    Y = (X[:, :3] * X[:, 1:4] + 0.5 * X[:, 2:5] > 0).astype(int)
    model = AutoModel().fit(X[:300], Y[:300])
    assert model.choice_["model"] in ("Reranker", "ModelAverage")
    independent = sw.BinaryRelevance().fit(X[:300], Y[:300])
    assert model.score(X[300:], Y[300:]) > independent.score(X[300:], Y[300:]) + 0.1
