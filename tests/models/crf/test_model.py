"""The estimator: what it takes, refuses, stores and decides, and a published figure."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import setwise as sw
from setwise.calibration import Reranker, SetCalibrator
from setwise.errors import DataError


def test_dense_sparse_single_and_framed_features_agree(rows):
    X, Y = rows()
    plain = sw.PairwiseCRF().fit(X, Y)
    of_sparse = sw.PairwiseCRF().fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(of_sparse.predict_proba(X), plain.predict_proba(X), atol=1e-3)
    assert sparse.issparse(of_sparse.predict(sparse.csr_array(X)))
    single = sw.PairwiseCRF().fit(X.astype(np.float32), Y)
    assert single.weights_.dtype == np.float32
    np.testing.assert_allclose(single.predict_proba(X), plain.predict_proba(X), atol=2e-3)
    frame = pd.DataFrame(Y, columns=list("abcd"))
    framed = sw.PairwiseCRF().fit(pd.DataFrame(X, columns=list("xyz")), frame)
    assert list(framed.predict(pd.DataFrame(X, columns=list("xyz"))).columns) == list("abcd")


@pytest.mark.parametrize("inference", ["support", "exact", "pruned"])
def test_the_empty_set_may_be_forbidden(inference, rows):
    X, Y = rows()
    Y[:20] = 0
    free = sw.PairwiseCRF(inference=inference).fit(X, Y)
    never = sw.PairwiseCRF(inference=inference, allow_empty=False).fit(X, Y)
    assert (free.predict(X).sum(axis=1) == 0).any()
    assert (never.predict(X).sum(axis=1) > 0).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"learner": "boosting"}, "learner is one of logistic, elastic"),
        ({"inference": "loopy"}, "inference is one of support, pruned, exact"),
        ({"C": 0}, "C is a number over zero"),
        ({"C": "best"}, "C is a number over zero"),
        ({"C": None}, "C is a number over zero, not None"),
        ({"C_pairs": "auto"}, "C_pairs is a number over zero, not 'auto'"),
        ({"C_pairs": -1}, "C_pairs is a number over zero"),
        ({"l1_ratio": 0}, 'learner="logistic"'),
        ({"prune": 0.7}, "prune is between 0 and 0.5"),
        ({"max_free": 0}, "max_free is a whole number from 1 up"),
        ({"max_free": 40}, "max_free is at most 16"),
        ({"max_iter": 0}, "max_iter is a whole number from 1 up"),
    ],
)
def test_bad_parameters_are_refused(parameters, words, rows):
    with pytest.raises(DataError, match=words):
        sw.PairwiseCRF(**parameters).fit(*rows(10))


def test_exact_inference_is_for_few_labels(rows):
    X, _ = rows(10)
    Y = np.random.default_rng(0).integers(0, 2, size=(10, 16))
    with pytest.raises(DataError, match='up to 15 labels, but there are 16; use inference="supp'):
        sw.PairwiseCRF(inference="exact").fit(X, Y)


def test_features_whose_squares_overflow_are_refused(rows):
    X, Y = rows()
    with pytest.raises(DataError, match="scale the features"):
        sw.PairwiseCRF().fit(X * 1e200, Y)


@pytest.mark.parametrize("inference", ["support", "exact", "pruned"])
def test_it_is_saved_and_loaded(inference, tmp_path, rows):
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference=inference).fit(X, [set(np.flatnonzero(y)) for y in Y])
    fitted.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(loaded.pair_weights_, fitted.pair_weights_)


def test_each_decision_a_calibrator_and_a_reranker_take_it(rows):
    X, Y = rows()
    for target in ("set_accuracy", "f1", "hamming", "jaccard", "micro_f1", "macro_f1"):
        assert sw.PairwiseCRF(target=target).fit(X, Y).predict(X).shape == Y.shape
    for wrapper in (Reranker, SetCalibrator):
        wrapped = wrapper(sw.PairwiseCRF(), kind="isotonic_by_size", n_folds=2).fit(X, Y)
        sets, confidence = wrapped.predict_with_confidence(X)
        assert np.asarray(sets).shape == Y.shape
        assert ((confidence >= 0) & (confidence <= 1)).all()


def test_the_f1_decision_has_the_largest_expected_f1(rows, by_hand, every):
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference="exact", target="f1").fit(X, Y)
    p = np.exp(by_hand(fitted, X))
    both = every @ every.T
    total = every.sum(axis=1)[:, None] + every.sum(axis=1)
    f1 = np.where(total > 0, 2 * both / np.maximum(total, 1), 0)  # (chosen, true)
    expected = p @ f1.T  # (n, chosen)
    chosen = fitted.predict(X) @ [8, 4, 2, 1]
    np.testing.assert_allclose(expected[np.arange(len(X)), chosen], expected.max(axis=1), rtol=1e-9)


@pytest.mark.data
def test_scene_is_within_two_points_of_the_published_set_accuracy():
    """Li 2016, Table 2: 68.8, with a prior variance of 1."""
    scene = sw.load_dataset("scene")
    fitted = sw.PairwiseCRF(C=1.0).fit(scene.X_train, scene.Y_train)
    assert fitted.score(scene.X_test, scene.Y_test) > 0.668
