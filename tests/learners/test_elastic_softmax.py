import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from setwise.errors import DataError, NotConverged
from setwise.learners.elastic_balance import balanced, best_shift
from setwise.learners.elastic_softmax import ElasticNetSoftmax
from setwise.storage import load, save


def problem(seed=0, n=120, d=10, K=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    T = softmax(2 * X[:, :K] + rng.normal(size=(n, K)), axis=1)
    return X, T, rng.random(n) + 0.1


def objective(X, T, weight, weights, bias, penalty, l1_ratio):
    loss = -(weight @ (T * log_softmax(X @ weights + bias, axis=1)).sum(axis=1)) / weight.sum()
    return loss + penalty * (
        l1_ratio * np.abs(weights).sum() + (1 - l1_ratio) / 2 * (weights**2).sum()
    )


def gate_objective(gate, X, T, weight):
    weights = gate.weights_.toarray()
    return objective(X, T, weight, weights, gate.biases_, gate.penalty, gate.l1_ratio)


@pytest.mark.parametrize(
    ("penalty", "l1_ratio"), [(0.1, 0.5), (0.01, 0.0), (0.01, 0.5), (0.01, 1.0)]
)
def test_optimum_is_that_of_saga(penalty, l1_ratio):
    X, T, weight = problem()
    classes = T.argmax(axis=1)
    T = np.eye(4)[classes]
    gate = ElasticNetSoftmax(penalty, l1_ratio=l1_ratio, tol=1e-6).fit(X, T, weight)
    theirs = LogisticRegression(
        C=1 / (penalty * weight.sum()), l1_ratio=l1_ratio, solver="saga", tol=1e-7, max_iter=10**5
    ).fit(X, classes, weight)
    reached = objective(X, T, weight, theirs.coef_.T, theirs.intercept_, penalty, l1_ratio)
    np.testing.assert_allclose(gate_objective(gate, X, T, weight), reached, rtol=1e-7)


@given(st.integers(0, 1000), st.sampled_from([0.003, 0.02, 0.1]), st.sampled_from([0.3, 1.0]))
@settings(max_examples=15, deadline=None)
def test_optimality_conditions_hold(seed, penalty, l1_ratio):
    X, T, weight = problem(seed, n=60, d=6)
    gate = ElasticNetSoftmax(penalty, l1_ratio=l1_ratio, tol=1e-5, max_iter=1000).fit(X, T, weight)
    weights = gate.weights_.toarray()
    residual = weight[:, None] * (T - np.exp(gate.log_proba(X))) / weight.sum()
    slope = X.T @ residual - penalty * (1 - l1_ratio) * weights
    zero = weights == 0
    assert (np.abs(slope[zero]) <= penalty * l1_ratio + 1e-5).all()
    np.testing.assert_allclose(
        slope[~zero], penalty * l1_ratio * np.sign(weights[~zero]), rtol=0, atol=1e-5
    )


def test_objective_never_rises_from_a_warm_start():
    X, T, weight = problem()
    gate = ElasticNetSoftmax(0.005, tol=1e-10, max_iter=1, warm_start=True)
    values = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for _ in range(8):
            values.append(gate_objective(gate.fit(X, T, weight), X, T, weight))
        before = gate_objective(gate, X, T[:, ::-1], weight)
        after = gate_objective(gate.fit(X, T[:, ::-1], weight), X, T[:, ::-1], weight)
    assert (np.diff(values) <= 1e-14).all()
    assert after < before


def test_sparse_rows_give_what_dense_ones_give():
    X, T, weight = problem()
    dense = ElasticNetSoftmax(0.01, tol=1e-6).fit(X, T, weight)
    thin = ElasticNetSoftmax(0.01, tol=1e-6).fit(sparse.csr_array(X), T, weight)
    assert sparse.issparse(thin.weights_)
    np.testing.assert_allclose(thin.log_proba(sparse.csr_array(X)), dense.log_proba(X), atol=1e-6)


def test_a_class_without_mass_gets_a_small_share():
    X, T, _ = problem(n=30)
    T = np.insert(T, 1, 0.0, axis=1)
    gate = ElasticNetSoftmax(0.01).fit(X, T)
    p = np.exp(gate.log_proba(X))
    np.testing.assert_allclose(p[:, 1], 0.5 / 31, rtol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    without = ElasticNetSoftmax(0.01).fit(X, np.delete(T, 1, axis=1)).log_proba(X)
    np.testing.assert_allclose(p[:, [0, 2, 3, 4]], np.exp(without) * (30.5 / 31), rtol=1e-9)


def test_a_single_class_is_certain_but_for_half_a_row():
    gate = ElasticNetSoftmax(0.01).fit(np.arange(3.0)[:, None], [[1, 0]] * 3)
    np.testing.assert_allclose(np.exp(gate.log_proba([[5.0]])), [[3.5 / 4, 0.5 / 4]], rtol=1e-12)


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=6), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
@settings(max_examples=60, deadline=None)
def test_no_other_shift_has_a_smaller_penalty(weights, l1_ratio):
    row = np.array(weights)

    def cost(shift):
        left = row - shift
        return l1_ratio * np.abs(left).sum() + (1 - l1_ratio) / 2 * (left**2).sum()

    best = best_shift(row[None], l1_ratio)[0]
    others = np.linspace(-3, 3, 301)
    assert cost(best) <= min(cost(shift) for shift in others) + 1e-12
    moved = balanced(sparse.csr_array(row[None]), l1_ratio).toarray()[0]
    np.testing.assert_allclose(cost(row[0] - moved[0]), cost(best), rtol=1e-9, atol=1e-12)


def test_stored_gate_predicts_the_same(tmp_path):
    X, T, weight = problem()
    gate = ElasticNetSoftmax(0.01).fit(X, T, weight)
    save(gate, tmp_path / "gate")
    np.testing.assert_array_equal(load(tmp_path / "gate").log_proba(X), gate.log_proba(X))


def test_stopping_short_says_what_to_try():
    X, T, weight = problem()
    with pytest.warns(NotConverged, match="softmax stopped at max_iter=1 .* raise max_iter"):
        ElasticNetSoftmax(1e-3, max_iter=1).fit(X, T, weight)


def test_targets_that_are_no_distributions_get_a_sentence():
    X, T, _ = problem()
    with pytest.raises(DataError, match="of T sums to 0.5, not to 1"):
        ElasticNetSoftmax().fit(X, 0.5 * T)


def test_distributions_that_are_all_the_same_converge():
    """There is nothing to learn but biases, and slopes are nothing but rounding."""
    X, _, _ = problem()
    shares = [0.2, 0.3, 0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotConverged)
        gate = ElasticNetSoftmax().fit(X, np.tile(shares, (len(X), 1)))
    np.testing.assert_allclose(np.exp(gate.log_proba(X)), np.tile(shares, (len(X), 1)), atol=1e-6)
