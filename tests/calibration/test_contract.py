"""The calibrating estimators through scikit-learn's checks, and through ours."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import setwise as sw

OTHER_VALUES = "passes a target with values other than 0 and 1, which is refused with a sentence"
ONE_DIMENSION = "passes or expects a single, flat target; label sets are (n, L)"
FOLDS = "folds are dealt by rows: a row that comes twice is in two of them, a heavy one in one"
EXPECTED_FAILURES = {
    "check_classifier_data_not_an_array": OTHER_VALUES,
    "check_estimator_sparse_array": OTHER_VALUES,
    "check_estimator_sparse_matrix": OTHER_VALUES,
    "check_estimators_dtypes": OTHER_VALUES,
    "check_fit2d_1feature": OTHER_VALUES,
    "check_sample_weights_not_an_array": OTHER_VALUES,
    "check_sample_weights_not_overwritten": OTHER_VALUES,
    "check_sample_weights_pandas_series": OTHER_VALUES,
    "check_sample_weights_shape": OTHER_VALUES,
    "check_classifiers_classes": ONE_DIMENSION,
    "check_classifiers_one_label_sample_weights": ONE_DIMENSION,
    "check_classifiers_train": ONE_DIMENSION,
    "check_classifiers_multilabel_representation_invariance": (
        "passes nested lists of 0 and 1, which may be a matrix or label sets; we ask which"
    ),
    "check_sample_weight_equivalence_on_dense_data": FOLDS,
    "check_sample_weight_equivalence_on_sparse_data": FOLDS,
}
OF_RERANKERS = {
    "check_classifier_multioutput": (
        "expects the labels above one half, which is another set than the best candidate"
    ),
    "check_classifiers_multilabel_output_format_predict_proba": (
        "expects probabilities over 0, but a label that no candidate has is given none"
    ),
}


def expected_failures(model):
    return EXPECTED_FAILURES | (OF_RERANKERS if isinstance(model, sw.Reranker) else {})


QUICK = {"n_folds": 2, "kind": "isotonic", "n_jobs": 1}
ESTIMATORS = {
    "SetCalibrator": sw.SetCalibrator(**QUICK),
    "Reranker": sw.Reranker(sw.BinaryRelevance(n_jobs=1), **QUICK),
    "BRRerank": sw.BRRerank(C=1.0, **QUICK),
}


@parametrize_with_checks(list(ESTIMATORS.values()), expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    return X, (X @ random.normal(size=(3, 4)) > 0.2).astype(int)


every = pytest.mark.parametrize("name", ESTIMATORS)


@every
def test_permuting_labels_permutes_the_answer(rows, name, monkeypatch):
    X, Y = rows
    order = [2, 0, 3, 1]
    monkeypatch.setattr(
        "setwise.calibration.cross_fit.fold_numbers", lambda rows, n, seed: np.arange(rows.n) % 2
    )
    plain = ESTIMATORS[name].fit(X, Y).predict_with_confidence(X)
    permuted = ESTIMATORS[name].fit(X, Y[:, order]).predict_with_confidence(X)
    np.testing.assert_array_equal(permuted[0], plain[0][:, order])
    np.testing.assert_allclose(permuted[1], plain[1], atol=1e-5)


@every
def test_odd_shapes_work(rows, name):
    X, Y = rows
    assert ESTIMATORS[name].fit(X[:2], Y[:2]).predict(X).shape == (60, 4)
    assert ESTIMATORS[name].fit(X, Y[:, :1]).predict(X).shape == (60, 1)
    assert ESTIMATORS[name].fit(np.zeros_like(X), Y).predict(X).shape == (60, 4)
    for same in (np.zeros_like(Y), np.ones_like(Y)):
        sets, confidence = ESTIMATORS[name].fit(X, same).predict_with_confidence(X)
        np.testing.assert_array_equal(sets, same)
        assert confidence.min() > 0.9


@every
def test_every_one_is_exported(name):
    assert type(ESTIMATORS[name]) is getattr(sw, name)


def test_a_saved_one_is_read_where_nothing_else_was_imported(rows, tmp_path):
    path = tmp_path / "model.setwise"
    ESTIMATORS["SetCalibrator"].fit(*rows).save(path)
    code = f"import setwise; print(type(setwise.load({str(path)!r})).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "SetCalibrator", done.stderr
