import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from setwise import storage
from setwise.errors import DataError
from setwise.models.topics import TunedSVM
from setwise.models.topics.tuned_svm import WEIGHTS, held_out_of_label


def rows(n=150, d=12, seed=0):
    random = np.random.default_rng(seed)
    X = random.poisson(0.6, size=(n, d)).astype(float)
    Z = X @ random.normal(size=(d, 4)) + random.normal(size=(n, 4))
    cuts = [np.quantile(z, q) for z, q in zip(Z.T, (0.5, 0.8, 0.9, 0.6))]
    return X, (cuts < Z).astype(int)


X, Y = rows()


def reference(X, y, times, fit_intercept=False, weight=None):
    svm = LinearSVC(
        C=1.0, class_weight={1: times}, fit_intercept=fit_intercept, tol=1e-8, max_iter=100_000
    )
    return svm.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_plain_svms_are_those_of_liblinear(fit_intercept):
    model = TunedSVM(tune=False, tol=1e-8, max_iter=100_000, fit_intercept=fit_intercept).fit(X, Y)
    scaled = normalize(X)
    for label in range(4):
        other = reference(scaled, Y[:, label], 1.0, fit_intercept)
        np.testing.assert_allclose(model.coef_[label], other.coef_[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(model.intercept_[label], other.intercept_, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(model.weights_, 1)


def test_weights_of_positives_are_the_most_accurate_on_the_hold_out():
    model = TunedSVM(tol=1e-6, max_iter=20_000, fit_intercept=False).fit(X, Y)
    scaled = normalize(X)
    seed = int(np.random.default_rng(0).integers(2**62))
    for label in range(4):
        y = Y[:, label]
        train, test = held_out_of_label(y == 1, np.ones(150, bool), np.random.default_rng(seed))
        own = (y == 0).sum() / y.sum()
        scores = {
            times: (
                reference(scaled[train], y[train], times).predict(scaled[test]) == y[test]
            ).sum()
            for times in sorted({*WEIGHTS, own})
        }
        best = [times for times, score in scores.items() if score == max(scores.values())]
        assert model.weights_[label] == min(best, key=lambda times: abs(times - 1))
        other = reference(scaled, y, model.weights_[label])
        np.testing.assert_allclose(model.coef_[label], other.coef_[0], rtol=1e-2, atol=1e-3)
    assert len(set(model.weights_)) > 1


def test_sample_weights_weigh_the_loss():
    weight = np.random.default_rng(0).integers(0, 3, size=150).astype(float)
    model = TunedSVM(tune=False, tol=1e-8, max_iter=100_000, fit_intercept=False)
    model.fit(X, Y, sample_weight=weight)
    kept = weight > 0
    other = reference(normalize(X)[kept], Y[kept, 0], 1.0, weight=weight[kept])
    np.testing.assert_allclose(model.coef_[0], other.coef_[0], rtol=1e-4, atol=1e-5)


def test_a_tenth_of_each_kind_is_held_out_and_a_single_row_is_on_both_sides():
    present = np.ones(41, bool)
    train, test = held_out_of_label(np.arange(41) < 20, present, np.random.default_rng(0))
    assert sorted([*train, *test]) == list(range(41))
    assert (np.sum(test < 20), np.sum(test >= 20)) == (2, 2)
    train, test = held_out_of_label(np.arange(41) == 7, present, np.random.default_rng(0))
    assert 7 in train
    assert 7 in test


def test_probabilities_are_calibrated_and_follow_margins():
    model = TunedSVM().fit(X, Y)
    p, margins = model.predict_proba(X), model.margins(X)
    np.testing.assert_array_equal(model.rank_scores(X), margins)
    np.testing.assert_allclose(p.mean(axis=0), Y.mean(axis=0), atol=0.12)
    for label in range(4):
        assert (np.diff(p[np.argsort(margins[:, label]), label]) >= -1e-9).all()


def test_threads_labels_and_sparse_rows_change_nothing():
    one, two = (TunedSVM(n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    order = [2, 0, 3, 1]
    permuted = TunedSVM().fit(sparse.csr_array(X), Y[:, order])
    np.testing.assert_allclose(permuted.coef_, one.coef_[order], rtol=1e-6, atol=1e-9)


def test_saving_pickling_and_cloning_keep_the_model(tmp_path):
    model = TunedSVM(C=2.0).fit(X, Y)
    model.save(tmp_path / "model.setwise")
    copies = pickle.loads(pickle.dumps(model)), storage.load(tmp_path / "model.setwise")
    for copy in copies:
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert clone(model).C == 2.0


def test_odd_shapes_work():
    for part in (slice(0, 1), slice(0, 2), slice(0, 5)):
        assert TunedSVM().fit(X[part], Y[part]).predict(X).shape == (150, 4)
    for same in (np.zeros_like(Y), np.ones_like(Y)):
        np.testing.assert_array_equal(TunedSVM().fit(X, same).predict(X), same)
    nothing = np.zeros_like(X)
    p = TunedSVM().fit(nothing, Y).predict_proba(nothing)
    np.testing.assert_allclose(p[0], Y.mean(axis=0), atol=0.05)


def test_rows_are_scaled_as_asked():
    same = TunedSVM(normalize=None).fit(normalize(X, "l1"), Y)
    np.testing.assert_allclose(TunedSVM(normalize="l1").fit(X, Y).coef_, same.coef_, rtol=1e-5)
    with pytest.raises(DataError, match="normalize"):
        TunedSVM(normalize="max").fit(X, Y)
