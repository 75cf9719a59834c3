import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_softmax, softmax

from setwise.learners import _lanes_kernel as lanes
from setwise.learners import _residual_kernel as kernels
from setwise.learners.design import STRIPE_WORK, rows_of
from setwise.learners.losses import BankLoss, SoftmaxLoss, padded
from setwise.learners.workers import Workers

precisions = pytest.mark.parametrize(("dtype", "units"), [(np.float32, 4), (np.float64, 8)])


def random_problem(dtype=np.float64, L=5, *, bias=True, container=np.asarray, seed=0):
    random = np.random.default_rng(seed)
    X = (random.normal(size=(40, 4)) * (random.random((40, 4)) < 0.7)).astype(dtype)
    rows = rows_of(container(X), bias=bias)
    penalties = np.array([[1], [1], [1], [1], [0]], dtype)
    return random, X, rows, penalties


@precisions
def test_residual_kernels_are_numpys(dtype, units):
    random = np.random.default_rng(0)
    logits = np.append(np.linspace(-30, 30, 1030), [0, 100, -100, 1e4, -1e4]).reshape(-1, 9)
    logits = logits.astype(dtype)
    T, weight = random.random(logits.shape).astype(dtype), random.random((len(logits), 9))
    weight = weight.astype(dtype)
    tolerance = units * np.finfo(dtype).eps
    for fill, w in ((kernels.logistic, weight[:, :1].copy()), (kernels.logistic_own, weight)):
        Z, loss = logits.copy(), np.zeros(9)
        fill(Z, T, w, loss)
        wide = logits.astype(float)
        np.testing.assert_allclose(Z, w * (expit(wide) - T), rtol=0, atol=tolerance)
        expected = (w * (np.logaddexp(0, wide) - T * wide)).sum(axis=0)
        np.testing.assert_allclose(loss, expected, rtol=20 * tolerance)


@precisions
def test_losses_keep_their_relative_precision_far_out(dtype, units):
    """A row that is certain has a loss of e^-z, not of zero."""
    Z, loss = np.full((1, 8), -20, dtype), np.zeros(8)
    kernels.logistic(Z, np.zeros((1, 8), dtype), np.ones((1, 1), dtype), loss)
    np.testing.assert_allclose(loss, np.log1p(np.exp(-20.0)), rtol=100 * np.finfo(dtype).eps)


@precisions
def test_softmax_kernel_is_numpys(dtype, units):
    random = np.random.default_rng(0)
    logits = (10 * random.normal(size=(50, 7))).astype(dtype)
    logits[0, 0] = 500
    T = random.dirichlet(np.ones(7), 50).astype(dtype)
    weight, Z, loss = random.random((50, 1)).astype(dtype), logits.copy(), np.zeros(7)
    kernels.softmax(Z, T, weight, loss)
    wide = logits.astype(float)
    tolerance = units * np.finfo(dtype).eps
    np.testing.assert_allclose(Z, weight * (softmax(wide, axis=1) - T), rtol=0, atol=tolerance)
    expected = -(weight * T * log_softmax(wide, axis=1)).sum()
    np.testing.assert_allclose(loss[0], expected, rtol=10 * tolerance)


def test_python_twins_of_lane_functions():
    assert lanes.exp(1.0) == np.exp(1.0)
    assert lanes.log1p(0.5) == np.log1p(0.5)
    assert lanes.unit(np.float32(3)).dtype == np.float32


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_bank_gradients_match_finite_differences(container, own, bias):
    random, _, rows, penalties = random_problem(container=container, bias=bias)
    T, weight = random.random((40, 5)), random.random((40, 5 if own else 1))
    ridge = random.random(5)
    weight = padded(weight) if own else weight
    with Workers(1) as workers:
        loss = BankLoss(rows, padded(T), weight, ridge, penalties, workers)
        W = random.normal(size=(5, 5))
        G, step = loss.evaluate(W)[1], 1e-6
        for j in range(4 + bias):
            shift = np.zeros_like(W)
            shift[j] = step
            slope = (loss.evaluate(W + shift)[0] - loss.evaluate(W - shift)[0]) / (2 * step)
            np.testing.assert_allclose(G[j], slope, rtol=1e-6, atol=1e-7)
        some = np.array([3, 1])
        np.testing.assert_allclose(
            loss.taken(some).evaluate(W[:, some])[0], loss.evaluate(W)[0][some], rtol=1e-12
        )


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_softmax_gradients_match_finite_differences(container):
    random, _, rows, penalties = random_problem(container=container)
    T, weight = random.dirichlet(np.ones(3), 40), random.random((40, 1))
    with Workers(1) as workers:
        loss = SoftmaxLoss(rows, T, weight, 0.3, penalties, workers)
        W = random.normal(size=(5, 3))
        G, step = loss.evaluate(W)[1], 1e-6
        for place in np.ndindex(W.shape):
            shift = np.zeros_like(W)
            shift[place] = step
            slope = (loss.evaluate(W + shift)[0] - loss.evaluate(W - shift)[0]) / (2 * step)
            np.testing.assert_allclose(G[place], slope[0], rtol=1e-6, atol=1e-7)


def test_gram_and_square_sums():
    random, X, rows, _ = random_problem()
    weight = random.random(40)
    wide = np.column_stack([X, np.ones(40)])
    gram = wide.T @ (weight[:, None] * wide)
    np.testing.assert_allclose(rows.gram(weight), gram, rtol=1e-9, atol=1e-12)
    for container in (np.asarray, sparse.csr_array):
        sums = rows_of(container(X), bias=True).square_sums(weight)
        np.testing.assert_allclose(sums, np.diag(gram), rtol=1e-9)


def test_gram_does_not_depend_on_threads():
    X = np.random.default_rng(0).normal(size=(20000, 30)).astype(np.float32)
    rows, weight = rows_of(X, bias=True), np.ones(20000)
    wide = np.column_stack([X.astype(float), np.ones(20000)])
    assert len(rows.X) * 30**2 > 2 * STRIPE_WORK  # more pieces than one
    for n_jobs in (1, 2):
        with Workers(n_jobs) as workers:
            gram = rows.gram(weight, workers)
        np.testing.assert_array_equal(gram, rows.gram(weight))
        np.testing.assert_allclose(gram, wide.T @ wide, rtol=1e-4, atol=0.1)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_longest_row(container):
    _, X, *_ = random_problem()
    rows = rows_of(container(X), bias=True)
    np.testing.assert_allclose(rows.longest_square, (X**2).sum(axis=1).max(), rtol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
def test_zero_weights_are_weights_that_are_nearly_zero(bias):
    random, _, rows, penalties = random_problem(bias=bias)
    T, W = padded(random.random((40, 5))), np.zeros((5, 5))
    W[-1] = random.normal(size=5)
    with Workers(1) as workers:
        loss = BankLoss(rows, T, np.ones((40, 1)), np.ones(5), penalties, workers)
        nearly = W + 1e-12
        np.testing.assert_allclose(loss.spreads(W), loss.spreads(nearly), rtol=1e-9)
        for exact, near in zip(loss.evaluate(W), loss.evaluate(nearly), strict=True):
            np.testing.assert_allclose(exact, near, rtol=1e-9, atol=1e-9)


def test_some_targets_are_those_targets():
    random, _, rows, penalties = random_problem()
    T, weight = random.random((40, 21)), random.random((40, 21))
    W, some = random.normal(size=(5, 21)), np.array([20, 3, 4, 5, 6, 0])
    with Workers(1) as workers:
        loss = BankLoss(rows, padded(T), padded(weight), np.ones(21), penalties, workers)
        whole, part = loss.evaluate(W), loss.taken(some).evaluate(W[:, some])
    np.testing.assert_allclose(part[0], whole[0][some], rtol=1e-12)
    np.testing.assert_allclose(part[1], whole[1][:, some], rtol=1e-12, atol=1e-12)


def test_padding():
    assert padded(np.ones((2, 9))).shape == (2, 16)
    assert padded(np.ones((2, 3))).shape == (2, 3)
    assert padded(np.ones((2, 9)))[:, 9:].sum() == 0


@pytest.mark.parametrize("bias", [True, False])
def test_products_of_features_are_the_same_for_sparse_rows(bias):
    random = np.random.default_rng(0)
    X, weight = random.normal(size=(30, 4)) * (random.random((30, 4)) < 0.5), random.random(30)
    wide = np.column_stack([X, np.full(30, float(bias))])
    for rows in (rows_of(X, bias=bias), rows_of(sparse.csr_array(X), bias=bias)):
        np.testing.assert_allclose(rows.gram(weight), (wide.T * weight) @ wide, rtol=1e-12)
        np.testing.assert_allclose(rows.square_sums(weight), np.diag(rows.gram(weight)), rtol=1e-12)
