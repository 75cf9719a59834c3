import numpy as np
import pytest
from scipy import sparse

from setwise.learners import tiled
from setwise.learners.design import DenseRows, SparseRows
from setwise.learners.losses import BankLoss, SoftmaxLoss
from setwise.learners.softmax import SoftmaxRegression
from setwise.learners.tiled import TiledRows, rows_for
from setwise.learners.whitening import Diagonal, Triangular, whitened
from setwise.learners.workers import Workers

L = 304  # two tiles, of which the second is not full; as wide as a bank fills its columns up to
precisions = pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])


@pytest.fixture(autouse=True)
def _few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(tiled, "MOST_LOGITS", 16 * L)


def random_problem(dtype=np.float64, *, bias=True):
    """Rows by stripes and in tiles, weights of rows, weights and penalties."""
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 7)) * (random.random((50, 7)) < 0.7)
    X[3] = 0
    X = sparse.csr_array(X.astype(dtype))
    rows = SparseRows(X, bias=bias), TiledRows(X, bias=bias, n_targets=L)
    penalties = np.append(np.ones(7), 0)[:, None].astype(dtype)
    weight, W = random.random((50, 1)).astype(dtype), random.normal(size=(8, L)).astype(dtype)
    return random, rows, weight, W, penalties


def evaluated(kind, rows, T, weight, ridge, penalties, W, n_threads=2):
    with Workers(n_threads) as workers:
        return kind(rows, T, weight, ridge, penalties, workers).evaluate(W)


@precisions
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("of_classes", [False, True])
def test_softmax_is_that_of_stripes(dtype, rtol, bias, of_classes):
    random, rows, weight, W, penalties = random_problem(dtype, bias=bias)
    T = random.integers(0, L, 50) if of_classes else random.dirichlet(np.ones(L), 50).astype(dtype)
    (loss, G), (tiled_loss, tiled_G) = (
        evaluated(SoftmaxLoss, kind, T, weight, 0.5, penalties, W) for kind in rows
    )
    np.testing.assert_allclose(tiled_loss, loss, rtol=rtol)
    np.testing.assert_allclose(tiled_G, G, rtol=rtol, atol=rtol * np.abs(G).max())


@precisions
def test_bank_is_that_of_stripes(dtype, rtol):
    random, rows, weight, W, penalties = random_problem(dtype)
    T, ridge = random.random((50, L)).astype(dtype), random.random(L)
    (loss, G), (tiled_loss, tiled_G) = (
        evaluated(BankLoss, kind, T, weight, ridge, penalties, W) for kind in rows
    )
    np.testing.assert_allclose(tiled_loss, loss, rtol=rtol)
    np.testing.assert_allclose(tiled_G, G, rtol=rtol, atol=rtol * np.abs(G).max())


def test_sums_do_not_depend_on_the_number_of_threads():
    random, (_, rows), weight, W, penalties = random_problem(np.float32)
    T = random.integers(0, L, 50)
    (loss, G), (other_loss, other_G) = (
        evaluated(SoftmaxLoss, rows, T, weight, 0.5, penalties, W, n) for n in (1, 3)
    )
    np.testing.assert_array_equal(loss, other_loss)
    np.testing.assert_array_equal(G, other_G)


@pytest.mark.parametrize("bias", [False, True])
def test_rows_take_a_diagonal(bias):
    """The loss of scaled rows is the loss as a function of V, W = R V, and so is its gradient."""
    random, rows, weight, W, penalties = random_problem(bias=bias)
    T, R = random.integers(0, L, 50), Diagonal(1 + random.random(8), np.dtype(float))
    with Workers(2) as workers:
        plain, scaled = (
            whitened(SoftmaxLoss(kind, T, weight, 0.5, penalties, workers), R) for kind in rows
        )
        assert plain.whitening is R
        assert scaled.whitening is not R
        (loss, G), (tiled_loss, tiled_G) = plain.evaluate(W), scaled.evaluate(W)
    np.testing.assert_allclose(tiled_loss, loss, rtol=1e-12)
    np.testing.assert_allclose(tiled_G, G, rtol=1e-12, atol=1e-12 * np.abs(G).max())


def test_rows_do_not_take_a_triangle():
    _, (_, rows), weight, _, penalties = random_problem()
    R = Triangular(np.eye(8) + 0.1, np.dtype(float))
    with Workers(1) as workers:
        loss = SoftmaxLoss(rows, np.zeros(50, int), weight, 0.5, penalties, workers)
        assert whitened(loss, R).whitening is R


def test_many_targets_on_sparse_rows_are_tiled():
    X = sparse.csr_array(np.eye(3))
    assert isinstance(rows_for(X, tiled.MANY_TARGETS, bias=True), TiledRows)
    assert not isinstance(rows_for(X, tiled.MANY_TARGETS - 1, bias=True), TiledRows)
    assert isinstance(rows_for(X.toarray(), tiled.MANY_TARGETS, bias=True), DenseRows)


def test_the_optimum_of_many_classes_is_that_of_dense_rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 6)) * (random.random((400, 6)) < 0.6)
    T = sparse.csr_array(np.eye(130)[random.integers(0, 130, 400)])
    gates = [
        SoftmaxRegression(C=2.0, tol=1e-10, max_iter=1000).fit(rows, T)
        for rows in (X, sparse.csr_array(X))
    ]
    objectives = [gate.objective_ for gate in gates]
    np.testing.assert_allclose(objectives[1], objectives[0], rtol=1e-9)
    np.testing.assert_allclose(gates[1].weights_, gates[0].weights_, rtol=0, atol=1e-4)
