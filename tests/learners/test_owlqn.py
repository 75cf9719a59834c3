"""OWL-QN: minima with magnitudes, against coordinate descent and a closed form."""

import numpy as np
import pytest

from setwise.learners import ElasticNetBank
from setwise.learners.owlqn import minimise_sparse


def problem(seed=0, n=80, d=12):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X[:, 0] - X[:, 1] + random.logistic(size=n) > 0).astype(float)


def logistic(X, t, ridge):
    def smooth(v):
        z = X @ v
        value = np.logaddexp(0, z).sum() - t @ z + ridge / 2 * v @ v
        return float(value), X.T @ (1 / (1 + np.exp(-z)) - t) + ridge * v

    return smooth


def test_the_lasso_of_separate_variables_is_soft_thresholding():
    centre = np.array([3.0, -2.0, 0.5, -0.2])
    curvature = np.array([1.0, 4.0, 2.0, 0.5])

    def smooth(v):
        return float(curvature @ (v - centre) ** 2 / 2), curvature * (v - centre)

    found = minimise_sparse(smooth, np.zeros(4), np.ones(4), max_iter=100, tol=1e-14)
    expected = np.sign(centre) * np.maximum(np.abs(centre) - 1 / curvature, 0)
    assert found.converged
    np.testing.assert_allclose(found.v, expected, atol=1e-6)
    np.testing.assert_array_equal(found.v == 0, expected == 0)


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_an_elastic_net_is_that_of_coordinate_descent(start):
    X, t = problem()
    l1, l2 = 3.0, 2.0
    centred = np.hstack([X, np.ones((80, 1))])
    magnitudes = np.append(np.full(12, l1), 0.0)
    found = minimise_sparse(
        lambda v: _with_free_bias(centred, t, l2, v),
        np.full(13, start),
        magnitudes,
        max_iter=500,
        tol=1e-12,
    )
    penalty, ratio = (l1 + l2) / 80, l1 / (l1 + l2)
    bank = ElasticNetBank(penalty, l1_ratio=ratio, tol=1e-9).fit(X, t[:, None])
    np.testing.assert_allclose(found.v[:-1], bank.weights_.toarray()[:, 0], atol=1e-4)
    np.testing.assert_allclose(found.v[-1], bank.biases_[0], atol=1e-4)
    assert 0 < (found.v == 0).sum() < 12


def _with_free_bias(X, t, ridge, v):
    value, slopes = logistic(X, t, ridge)(v)
    return value - ridge / 2 * v[-1] ** 2, slopes - ridge * v * (np.arange(len(v)) == len(v) - 1)


def test_no_step_raises_the_objective_and_the_cap_is_told():
    X, t = problem()
    smooth, magnitudes = logistic(X, t, 0.1), np.full(12, 2.0)
    values = []
    for cap in range(9):
        found = minimise_sparse(smooth, np.zeros(12), magnitudes, max_iter=cap, tol=1e-12)
        assert found.n_iter == cap
        assert not found.converged
        total = smooth(found.v)[0] + magnitudes @ np.abs(found.v)
        np.testing.assert_allclose(found.value, total, rtol=1e-12)
        values.append(found.value)
    assert (np.diff(values) < 0).all()


def test_without_magnitudes_it_is_plain_l_bfgs():
    X, t = problem()
    found = minimise_sparse(
        logistic(X, t, 1.0), np.zeros(12), np.zeros(12), max_iter=200, tol=1e-12
    )
    assert found.converged
    np.testing.assert_allclose(logistic(X, t, 1.0)(found.v)[1], 0, atol=1e-3)
