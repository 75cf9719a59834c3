"""LSF: labels and sizes together, by plain scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import setwise as sw
from setwise.decisions import maximise_f1
from setwise.errors import DataError
from setwise.models.label_size import pair_targets


def rows(n=200, seed=0, L=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, (X @ random.normal(size=(3, L)) + random.normal(size=(n, L)) > 0.2).astype(int)


def logistic(X, t, C=1.0):
    return LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(X, t)


def binary(X, Y, X_test, T):
    """P(y_l = 1, |y| = s), a regression for each pair that training has."""
    size = np.minimum(Y.sum(axis=1), T)
    estimates = np.zeros((len(X_test), Y.shape[1], T))
    for label in range(Y.shape[1]):
        for s in range(1, T + 1):
            t = (Y[:, label] == 1) & (size == s)
            if t.any():
                estimates[:, label, s - 1] = logistic(X, t).predict_proba(X_test)[:, 1]
    return estimates


def multinomial(X, Y, X_test, T):
    size = np.minimum(Y.sum(axis=1), T)
    estimates = np.zeros((len(X_test), Y.shape[1], T))
    for label in range(Y.shape[1]):
        on = Y[:, label] == 1
        p = logistic(X, on).predict_proba(X_test)[:, 1]
        # Of two classes scikit-learn penalises one vector of weights, a softmax both.
        sizes = logistic(X[on], size[on], C=2.0 if len(np.unique(size[on])) == 2 else 1.0)
        estimates[:, label, sizes.classes_ - 1] = p[:, None] * sizes.predict_proba(X_test)
    return estimates


@pytest.mark.parametrize(
    ("as_csr", "max_size"), [(False, None), (True, 2)], ids=["dense X", "sparse X, two sizes"]
)
@pytest.mark.parametrize("way", [binary, multinomial])
def test_estimates_are_those_of_regressions_one_by_one(way, max_size, as_csr):
    (X, Y), (X_test, _) = rows(), rows(40, seed=1)
    T = max_size or 4
    expected = way(X, Y, X_test, T)
    empty = logistic(X, Y.sum(axis=1) == 0).predict_proba(X_test)[:, 1]
    if as_csr:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    model = sw.LabelSizeF1(way.__name__, max_size=max_size).fit(X, Y)
    dist = model.predict_dist(X_test)
    np.testing.assert_allclose(dist.size_marginals(T), expected, atol=2e-3)
    np.testing.assert_allclose(dist.empty, empty, atol=2e-3)
    chosen, _ = maximise_f1(*dist.sizes(T))
    np.testing.assert_array_equal(model.predict(X_test), chosen)


def test_pairs_are_those_that_training_has():
    Y = sparse.csr_array(np.array([[1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 1, 1]]))
    pairs, targets = pair_targets(Y, 2)
    assert pairs.tolist() == [1, 3, 4, 5]  # label 0 of two, 1 of two, 2 of one, 2 of two or more
    np.testing.assert_array_equal(
        targets.toarray(), [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 1]]
    )


def test_many_rows_are_answered_a_batch_at_a_time(monkeypatch):
    (X, Y), (X_test, _) = rows(), rows(40, seed=1)
    model = sw.LabelSizeF1().fit(X, Y)
    whole = model.predict(X_test), model.predict_proba(X_test)
    monkeypatch.setattr("setwise.models.label_size.BATCH_CELLS", 100)
    np.testing.assert_array_equal(model.predict(X_test), whole[0])
    np.testing.assert_allclose(model.predict_proba(X_test), whole[1], rtol=1e-12)


def test_it_gives_a_better_f1_than_likely_labels():
    X, Y = rows(600)
    model, likely = sw.LabelSizeF1("multinomial"), sw.BinaryRelevance(target="hamming")
    scores = [sw.metrics.f1(Y, one.fit(X, Y).predict(X)) for one in (model, likely)]
    assert scores[0] > scores[1]


@pytest.mark.parametrize("way", ["binary", "multinomial"])
def test_there_is_no_likeliest_set(way):
    X, Y = rows()
    model = sw.LabelSizeF1(way, target="set_accuracy").fit(X, Y)
    with pytest.raises(DataError, match="no probability of a set"):
        model.predict(X)


@pytest.mark.parametrize("way", ["binary", "multinomial"])
@pytest.mark.parametrize("learner", ["elastic", "boosting", LogisticRegression()])
def test_any_learner_is_saved_and_loaded(way, learner, tmp_path):
    X, Y = rows(60)
    max_iter = 3 if learner == "boosting" else 200
    model = sw.LabelSizeF1(way, learner=learner, max_iter=max_iter).fit(X, Y)
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict_sets(X) == model.predict_sets(X)


def test_rows_without_weight_are_as_if_absent():
    X, Y = rows()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    for way in ("binary", "multinomial"):
        model = sw.LabelSizeF1(way).fit(X, Y, sample_weight=weight)
        without = sw.LabelSizeF1(way).fit(X[weight > 0], Y[weight > 0])
        np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-5)


def test_labels_and_sizes_that_never_come_are_no_trouble():
    X, Y = rows()
    Y[:, 1] = 0
    Y[:, 2] *= Y.sum(axis=1) == 1  # only alone
    for way in ("binary", "multinomial"):
        model = sw.LabelSizeF1(way).fit(X, Y)
        assert model.predict_proba(X)[:, 1].max() < 0.05
        np.testing.assert_array_equal(model.predict_dist(X).size_marginals(4)[:, 2, 1:], 0)


def test_without_any_label_in_training_a_set_is_empty_only_if_it_may():
    X, Y = rows(30)
    Y[:] = 0
    assert not sw.LabelSizeF1().fit(X, Y).predict(X).any()
    for way in ("binary", "multinomial"):
        model = sw.LabelSizeF1(way, allow_empty=False).fit(X, Y)
        assert model.predict(X).any(axis=1).all()
        np.testing.assert_array_equal(
            model.predict(X),
            sw.BinaryRelevance(target="f1", allow_empty=False).fit(X, Y).predict(X),
        )


def test_odd_settings_are_refused_in_a_sentence():
    X, Y = rows(20)
    for odd in ({"way": "third"}, {"max_size": 0}, {"max_size": 1.5}, {"C": "auto"}):
        with pytest.raises(DataError, match=next(iter(odd))):
            sw.LabelSizeF1(**odd).fit(X, Y)
