import numpy as np
import pytest
from scipy import sparse

from setwise import storage
from setwise.calibration import SetCalibrator
from setwise.models import CLEMS, LabelSizeF1, PDSparse
from setwise.pipeline import FitSettings, fit_table
from setwise.pipeline.evaluation import judge
from setwise.pipeline.named_sets import BELIEF, NamedSets, SetNamer


def rows(n=400, seed=0):
    """Two labels that can be told, and one that is chance."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    Y = (X + random.normal(scale=[0.2, 1.0, 50.0], size=(n, 3)) > 0).astype(np.int8)
    return X, Y


@pytest.mark.parametrize(
    "model", [PDSparse(), CLEMS(), LabelSizeF1()], ids=lambda m: type(m).__name__
)
def test_the_predicted_set_is_the_one_that_the_model_names(model):
    X, Y = rows()
    alone = model.fit(X, Y).predict(X)
    around = SetNamer(model).fit(X, Y)
    np.testing.assert_array_equal(around.predict(X), alone)
    calibrated = SetCalibrator(SetNamer(model), n_folds=2, kind="isotonic").fit(X, Y)
    sets, confidence = calibrated.predict_with_confidence(X)
    np.testing.assert_array_equal(sets, alone)
    assert len(np.unique(confidence)) > 1


def test_labels_are_as_likely_as_words_of_the_model_came_true():
    """Two numbers a label, those of rows that the model had not seen."""
    X, Y = rows(3000)
    fitted = SetCalibrator(SetNamer(PDSparse()), n_folds=2, kind="constant").fit(X, Y)
    new, truth = rows(3000, seed=1)
    named = fitted.predict(new)
    said = fitted.stages_[0].distribution(new).marginals()
    for label in range(3):
        for word in (0, 1):
            own = named[:, label] == word
            assert len(np.unique(said[own, label])) == 1
            if own.sum() > 300:
                np.testing.assert_allclose(said[own, label][0], truth[own, label].mean(), atol=0.05)


def test_probabilities_of_labels_are_kept_where_a_model_has_them():
    X, Y = rows()
    model = LabelSizeF1().fit(X, Y)
    np.testing.assert_allclose(
        SetNamer(LabelSizeF1()).fit(X, Y).predict_proba(X), model.predict_proba(X), atol=1e-6
    )
    only_named = SetNamer(CLEMS()).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(np.unique(only_named.round(9)), [1 - BELIEF, BELIEF], rtol=1e-6)


def test_rows_of_named_sets_keep_what_was_named():
    named = np.eye(3, dtype=np.int8)
    some = NamedSets.of(named, np.full((3, 3), 0.5)).rows(np.array([2, 0]))
    np.testing.assert_array_equal(some.named, named[[2, 0]])
    assert some.logits.shape == (2, 3)


def test_the_empty_set_is_named_only_where_it_may_be():
    X, Y = rows()
    Y[Y.sum(axis=1) == 0, 0] = 1
    model = SetNamer(PDSparse()).fit(X, sparse.csr_array(Y))
    assert not model.allow_empty_
    assert model.predict(X).sum(axis=1).min() >= 1


def test_a_table_model_of_it_is_stored_and_says_where_its_confidence_comes_from(
    train_table, test_table, tmp_path
):
    settings = FitSettings(labels=("tags",), model="PDSparse", folds=2, promise="exact")
    model = fit_table(train_table, settings)
    assert model.note.startswith("PDSparse has no probability of sets (its scores rank labels")
    model.save(tmp_path / "model.setwise")
    again = storage.load(tmp_path / "model.setwise")
    before, after = (one.predict(test_table, top=2, probabilities=True) for one in (model, again))
    assert before.sets == after.sets
    assert before.alternatives == after.alternatives
    np.testing.assert_allclose(before.probabilities, after.probabilities, rtol=1e-12)
    judged = judge(model, test_table)
    surer = judged.confidence >= np.median(judged.confidence)
    assert judged.correct[surer].mean() > judged.correct[~surer].mean() + 0.1
    np.testing.assert_allclose(judged.confidence.mean(), judged.correct.mean(), atol=0.1)
