"""Steps of a softmax on sparse rows: where they lead, and that none leads up."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax

from setwise.learners import sparse_softmax
from setwise.learners.softmax import SoftmaxRegression
from setwise.learners.sparse_softmax import Line, bordered, softmax_of
from setwise.learners.workers import Workers

C = 3.0


def rows(n=120, d=30, K=5, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.2, rng=random, dtype=dtype, format="csr")
    T = random.dirichlet(np.full(K, 0.3), size=n).astype(dtype)
    return sparse.csr_array(X), T, random.uniform(0.2, 2, n)


def objective(X, T, weight, W):
    log_p = log_softmax(X @ W[:-1] + W[-1], axis=1)
    return -(weight @ (T * log_p).sum(axis=1)) + (W[:-1] ** 2).sum() / (2 * C)


def problem(X, T, weight, workers=None):
    d = X.shape[1]
    scale = np.linspace(0.5, 2, d + 1).astype(X.dtype)
    ridge = np.append(np.full(d, 1 / C), 0.0)
    return softmax_of(bordered(X), T, weight, scale, ridge, workers or Workers(1)), scale[:, None]


def test_many_steps_end_where_softmax_regression_does():
    X, T, weight = rows()
    softmax, scale = problem(X, T, weight)
    W = scale * softmax.improved(np.zeros((31, 5)), max_iter=300, tol=1e-13)
    expected = SoftmaxRegression(C, tol=1e-12, max_iter=1000).fit(X, T, weight)
    assert objective(X, T, weight, W) == pytest.approx(expected.objective_ / C, rel=1e-9)
    np.testing.assert_allclose(W[:-1], expected.weights_, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_step_raises_the_objective(dtype):
    X, T, weight = rows(dtype=dtype)
    softmax, scale = problem(X, T, weight)
    V = np.random.default_rng(1).normal(scale=5, size=(31, 5)).astype(dtype)
    values = [objective(X, T, weight, scale * V)]
    for _ in range(40):
        V = softmax.improved(V, max_iter=1, tol=0.0)
        values.append(objective(X, T, weight, scale * V))
    rounding = 10 * np.finfo(dtype).eps * values[0]
    assert (np.diff(values) <= rounding).all()
    assert values[-1] < 0.9 * values[0]


def test_a_line_knows_the_objective_and_its_derivatives():
    X, T, weight = rows()
    softmax, scale = problem(X, T, weight)
    random = np.random.default_rng(2)
    V, d = random.normal(size=(2, 31, 5))
    full = sparse.hstack([X, np.ones((120, 1))], format="csr")
    line = Line(softmax, V, d, full @ (scale * V), full @ (scale * d))

    def value(length):
        return objective(X, T, weight, scale * (V + length * d))

    h = 1e-4
    for length in (0.0, 0.7):
        here = line.at(length)
        up, down = value(length + h), value(length - h)
        assert here.value == pytest.approx(value(length), rel=1e-12)
        assert here.slope == pytest.approx((up - down) / (2 * h), rel=1e-6)
        assert here.curvature == pytest.approx((up + down - 2 * value(length)) / h**2, rel=1e-4)


def test_threads_do_not_change_the_result(monkeypatch):
    monkeypatch.setattr(sparse_softmax, "STRIPE_WORK", 500)
    X, T, weight = rows(dtype=np.float32)
    found = []
    for count in (1, 3):
        with Workers(count) as workers:
            softmax, _ = problem(X, T, weight, workers)
            assert len(softmax.stripes) > 3
            start = np.zeros((31, 5), np.float32)
            found.append(softmax.improved(start, max_iter=5, tol=0.0))
    np.testing.assert_array_equal(*found)


def test_a_minimum_stays_where_it_is():
    X, T, weight = rows()
    softmax, _ = problem(X, T, weight)
    V = softmax.improved(np.zeros((31, 5)), max_iter=500, tol=0.0)
    again = softmax.improved(V, max_iter=5, tol=1e-9)
    np.testing.assert_allclose(again, V, rtol=1e-12)


def test_one_row_is_enough():
    X, T, weight = rows(n=1)
    softmax, scale = problem(X, T, weight)
    W = scale * softmax.improved(np.zeros((31, 5)), max_iter=50, tol=1e-9)
    p = np.exp(log_softmax(X @ W[:-1] + W[-1], axis=1))
    np.testing.assert_allclose(p, T, atol=1e-3)
