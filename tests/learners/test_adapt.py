import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from setwise.errors import DataError
from setwise.learners.adapt import EPSILON, AdaptedBank, AdaptedGate, hard_rows


def problem(seed=0, n=80, d=4, L=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    T = (rng.random((n, L)) < expit(2 * X[:, :L])).astype(float)
    return X, T, rng.random(n) + 0.1


@pytest.mark.parametrize("weighted", [True, False])
def test_hard_targets_give_the_plain_classifier(weighted):
    X, T, weight = problem()
    weight = weight if weighted else None
    bank = AdaptedBank(LogisticRegression()).fit(X, T, weight)
    for number in range(3):
        plain = LogisticRegression().fit(X, T[:, number], weight)
        np.testing.assert_allclose(
            expit(bank.logits(X)[:, number]), plain.predict_proba(X)[:, 1], rtol=1e-9
        )


def test_hard_classes_give_the_plain_classifier():
    X, T, weight = problem()
    classes = T.argmax(axis=1)
    gate = AdaptedGate(LogisticRegression()).fit(X, np.eye(3)[classes], weight)
    plain = LogisticRegression().fit(X, classes, weight).predict_proba(X)
    np.testing.assert_allclose(np.exp(gate.log_proba(X)), plain, rtol=1e-4)


def test_soft_targets_give_what_soft_targets_mean():
    X, _, weight = problem()
    T = softmax(X[:, :3] + 0.3, axis=1)
    gate = AdaptedGate(LogisticRegression(tol=1e-8), threshold=0).fit(X, T, weight)
    copies = LogisticRegression(tol=1e-8).fit(
        np.tile(X, (3, 1)), np.repeat(np.arange(3), len(X)), (T * weight[:, None]).T.ravel()
    )
    np.testing.assert_allclose(np.exp(gate.log_proba(X)), copies.predict_proba(X), rtol=1e-4)
    bank = AdaptedBank(LogisticRegression(tol=1e-8), threshold=0).fit(X, T, weight)
    target = T[:, 0]
    copies = LogisticRegression(tol=1e-8).fit(
        np.tile(X, (2, 1)),
        np.repeat([0, 1], len(X)),
        np.r_[(1 - target) * weight, target * weight],
    )
    np.testing.assert_allclose(
        expit(bank.logits(X)[:, 0]), copies.predict_proba(X)[:, 1], rtol=1e-4
    )


@given(st.integers(0, 1000), st.floats(0, 0.49))
@settings(max_examples=40, deadline=None)
def test_every_row_keeps_its_weight_whatever_is_dropped(seed, threshold):
    T = np.random.default_rng(seed).dirichlet(np.full(5, 0.3), size=20)
    rows, classes, shares = hard_rows(T, threshold)
    np.testing.assert_allclose(np.bincount(rows, shares, minlength=20), 1, rtol=1e-12)
    dropped = np.setdiff1d(np.arange(100), rows * 5 + classes)
    assert (T.ravel()[dropped] <= threshold).all()


def test_constant_targets_are_smoothed():
    X, T, _ = problem(n=9)
    T = np.c_[np.zeros(9), np.ones(9), np.full(9, 1e-4)]
    bank = AdaptedBank(LogisticRegression()).fit(X, T)
    assert bank.estimators_ == [None, None, None]
    np.testing.assert_allclose(
        expit(bank.logits(X[:2])), [[0.05, 0.95, (9e-4 + 0.5) / 10]] * 2, rtol=1e-9
    )


def test_classes_without_mass_and_single_classes():
    X, _, _ = problem(n=9)
    T = np.zeros((9, 3))
    T[:4, 0] = T[4:, 2] = 1
    p = np.exp(AdaptedGate(LogisticRegression()).fit(X, T).log_proba(X))
    np.testing.assert_allclose(p[:, 1], 0.05, rtol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    alone = AdaptedGate(LogisticRegression()).fit(X, [[1.0, 0.0]] * 9)
    np.testing.assert_allclose(np.exp(alone.log_proba(X[:1])), [[0.95, 0.05]], rtol=1e-5)


def test_no_probability_is_zero_or_one():
    X, T, _ = problem()
    tree = DecisionTreeClassifier(random_state=0)
    logits = AdaptedBank(tree).fit(X, T).logits(X)
    np.testing.assert_allclose(np.abs(logits), np.log(1 / EPSILON - 1), rtol=1e-9)
    gate = AdaptedGate(tree).fit(X, np.eye(3)[T.argmax(axis=1)])
    assert (gate.log_proba(X) > np.log(EPSILON) - 1e-3).all()


def test_pipelines_sparse_rows_and_threads():
    X, T, weight = problem()
    pipeline = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
    dense = AdaptedBank(pipeline).fit(X, T, weight).logits(X)
    thin = AdaptedBank(pipeline, n_jobs=2).fit(sparse.csr_array(X), sparse.csr_array(T), weight)
    np.testing.assert_allclose(thin.logits(sparse.csr_array(X)), dense, rtol=1e-6)


def test_warm_start_continues_the_same_classifiers():
    X, T, _ = problem()
    bank = AdaptedBank(LogisticRegression(warm_start=True, tol=1e-8), warm_start=True).fit(X, T)
    before = bank.estimators_[0]
    assert bank.fit(X, T).estimators_[0] is before
    assert before.n_iter_[0] <= 1
    cold = AdaptedBank(LogisticRegression()).fit(X, T)
    before = cold.estimators_[0]
    assert cold.fit(X, T).estimators_[0] is not before


def test_classifiers_without_weights_take_hard_targets_only():
    X, T, weight = problem()
    bank = AdaptedBank(KNeighborsClassifier()).fit(X, T)
    assert np.isfinite(bank.logits(X)).all()
    for targets, weights in ((T, weight), (0.1 + 0.8 * T, None)):
        with pytest.raises(DataError, match="KNeighborsClassifier.fit takes no sample_weight"):
            bank.fit(X, targets, weights)


def test_classifiers_without_probabilities_get_a_sentence():
    X, T, _ = problem()
    with pytest.raises(DataError, match="Perceptron has no predict_proba; wrap it"):
        AdaptedBank(Perceptron()).fit(X, T)
    with pytest.raises(DataError, match="threshold must lie in"):
        AdaptedGate(LogisticRegression(), threshold=0.7).fit(X, T)


def test_no_threads_get_a_sentence():
    X, T, _ = problem()
    with pytest.raises(DataError, match="n_jobs must not be 0"):
        AdaptedBank(LogisticRegression(), n_jobs=0).fit(X, T)


def test_a_warm_start_with_other_targets_gets_a_sentence():
    X, T, _ = problem()
    bank = AdaptedBank(LogisticRegression(), warm_start=True).fit(X, T)
    with pytest.raises(DataError, match="T has 2 targets but the fitted state has 3; pass the"):
        bank.fit(X, T[:, :2])
    gate = AdaptedGate(LogisticRegression(), warm_start=True).fit(X, softmax(T, axis=1))
    with pytest.raises(DataError, match="T has 2 targets but the fitted state has 3; pass the"):
        gate.fit(X, softmax(T[:, :2], axis=1))
    bank.warm_start = gate.warm_start = False
    assert bank.fit(X, T[:, :2]).logits(X).shape == (80, 2)
    assert gate.fit(X, softmax(T[:, :2], axis=1)).log_proba(X).shape == (80, 2)
