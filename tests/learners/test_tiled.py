import numpy as np
import pytest
from scipy import sparse

from setwise.learners import tiled
from setwise.learners.design import DenseRows, SparseRows
from setwise.learners.losses import SoftmaxLoss
from setwise.learners.softmax import SoftmaxRegression
from setwise.learners.tiled import TiledRows, rows_for
from setwise.learners.whitening import Diagonal, DiagonalEach, Triangular, whitened
from setwise.learners.workers import Workers

K = 520  # three tiles, of which not all are as wide
precisions = pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])


@pytest.fixture(autouse=True)
def _few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(tiled, "MOST_LOGITS", 16 * K)


def random_problem(dtype=np.float64, *, bias=True):
    """Rows by stripes and in tiles, weights of rows, weights and penalties."""
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 7)) * (random.random((50, 7)) < 0.7)
    X[3] = 0
    X = sparse.csr_array(X.astype(dtype))
    rows = SparseRows(X, bias=bias), TiledRows(X, bias=bias, n_classes=K)
    penalties = np.append(np.ones(7), 0)[:, None].astype(dtype)
    weight, W = random.random((50, 1)).astype(dtype), random.normal(size=(8, K)).astype(dtype)
    return random, rows, weight, W, penalties


def evaluated(rows, T, weight, penalties, W, n_threads=2):
    with Workers(n_threads) as workers:
        return SoftmaxLoss(rows, T, weight, 0.5, penalties, workers).evaluate(W)


@precisions
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("of_classes", [False, True])
def test_losses_and_gradients_are_those_of_stripes(dtype, rtol, bias, of_classes):
    random, rows, weight, W, penalties = random_problem(dtype, bias=bias)
    T = random.integers(0, K, 50) if of_classes else random.dirichlet(np.ones(K), 50).astype(dtype)
    (loss, G), (tiled_loss, tiled_G) = (evaluated(kind, T, weight, penalties, W) for kind in rows)
    assert tiled_G.dtype == dtype
    np.testing.assert_allclose(tiled_loss, loss, rtol=rtol)
    np.testing.assert_allclose(tiled_G, G, rtol=rtol, atol=rtol * np.abs(G).max())


def test_gradients_of_biases_are_precise_where_rows_are_many(monkeypatch):
    monkeypatch.setattr(tiled, "MOST_LOGITS", 2**24)
    n, k = 30_000, 130
    rows = TiledRows(sparse.csr_array((n, 1), dtype=np.float32), bias=True, n_classes=k)
    weight, penalties = np.ones((n, 1), np.float32), np.array([[1], [0]], np.float32)
    _, G = evaluated(rows, np.zeros(n, int), weight, penalties, np.zeros((2, k), np.float32))
    np.testing.assert_allclose(G[-1, 1:], n / k, rtol=2e-6)


def test_sums_do_not_depend_on_the_number_of_threads():
    random, (_, rows), weight, W, penalties = random_problem(np.float32)
    T = random.integers(0, K, 50)
    (loss, G), (other_loss, other_G) = (evaluated(rows, T, weight, penalties, W, n) for n in (1, 3))
    np.testing.assert_array_equal(loss, other_loss)
    np.testing.assert_array_equal(G, other_G)


@precisions
@pytest.mark.parametrize("bias", [False, True])
def test_rows_take_a_diagonal(dtype, rtol, bias):
    """The loss of scaled rows is the loss as a function of V, W = R V, and so is its gradient."""
    random, rows, weight, W, penalties = random_problem(dtype, bias=bias)
    T, R = random.integers(0, K, 50), Diagonal(1 + random.random(8), np.dtype(dtype))
    with Workers(2) as workers:
        plain, scaled = (
            whitened(SoftmaxLoss(kind, T, weight, 0.5, penalties, workers), R) for kind in rows
        )
        assert plain.whitening is R
        assert scaled.whitening is not R
        (loss, G), (tiled_loss, tiled_G) = plain.evaluate(W), scaled.evaluate(W)
    assert tiled_G.dtype == dtype
    np.testing.assert_allclose(tiled_loss, loss, rtol=rtol)
    np.testing.assert_allclose(tiled_G, G, rtol=rtol, atol=2 * rtol * np.abs(G).max())


def test_scaled_rows_have_the_sums_of_their_squares():
    random, (_, rows), weight, _, _ = random_problem()
    scale, weight = 1 + random.random(8), weight[:, 0]
    gram = scale[:, None] * rows.gram(weight) * scale
    np.testing.assert_allclose(rows.scaled(scale).gram(weight), gram, rtol=1e-12)
    np.testing.assert_allclose(rows.scaled(scale).square_sums(weight), np.diag(gram), rtol=1e-12)


@pytest.mark.parametrize(
    "R",
    [Triangular(np.eye(8) + 0.1, np.dtype(float)), DiagonalEach(np.ones((8, K)), np.dtype(float))],
    ids=["triangle", "a diagonal for each class"],
)
def test_rows_take_nothing_else(R):
    _, (_, rows), weight, _, penalties = random_problem()
    with Workers(1) as workers:
        loss = SoftmaxLoss(rows, np.zeros(50, int), weight, 0.5, penalties, workers)
        assert whitened(loss, R).whitening is R


def test_many_classes_of_sparse_rows_are_tiled():
    X = sparse.csr_array(np.eye(3))
    assert isinstance(rows_for(X, tiled.MANY_CLASSES, bias=True), TiledRows)
    assert not isinstance(rows_for(X, tiled.MANY_CLASSES - 1, bias=True), TiledRows)
    assert isinstance(rows_for(X.toarray(), tiled.MANY_CLASSES, bias=True), DenseRows)


@pytest.mark.parametrize("fit_bias", [False, True])
@pytest.mark.parametrize("d", [6, 400], ids=["whole curvature", "its diagonal"])
def test_the_optimum_of_many_classes_is_that_of_dense_rows(d, fit_bias):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, d)) * (random.random((400, d)) < 4 / d)
    T = sparse.csr_array(np.eye(130)[np.append(np.arange(130), random.integers(0, 130, 270))])
    gates = [
        SoftmaxRegression(C=2.0, fit_bias=fit_bias, tol=1e-10, max_iter=1000).fit(rows, T)
        for rows in (X, sparse.csr_array(X))
    ]
    objectives = [gate.objective_ for gate in gates]
    np.testing.assert_allclose(objectives[1], objectives[0], rtol=1e-9)
    np.testing.assert_allclose(gates[1].weights_, gates[0].weights_, rtol=0, atol=1e-3)
    np.testing.assert_allclose(gates[1].biases_, gates[0].biases_, rtol=0, atol=1e-3)
