import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, xlogy

from setwise.learners.dual import solve_block
from setwise.learners.dual_block import Block, Candidate, balancing_shift, row_norms, square_sums

biases = pytest.mark.parametrize("bias", ["free", "penalised", "none"])


def random_block(bias="free", *, n=50, d=8, L=4, C=2.0, seed=0):
    random = np.random.default_rng(seed)
    X = sparse.csr_array(random.normal(size=(n, d)) * (random.random((n, d)) < 0.5))
    T, cost = random.random((n, L)), C * random.random((n, L))
    return Block(X, row_norms(X), T, cost, bias)


def solved(block, start=None, **options):
    options = {"max_iter": 200, "tol": 1e-9, "random": np.random.default_rng(0)} | options
    return solve_block(block, start, **options)


@biases
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), scale=st.floats(0.01, 10))
def test_certificates_enclose_the_optimum(bias, seed, scale):
    """From any tau: the dual is below the optimum, the primal above, and both as documented."""
    block = random_block(bias, seed=seed)
    least = solved(block).values
    tau = scale * np.random.default_rng(seed).normal(size=block.T.shape)
    tau, candidate, dual = block.certified(tau, np.zeros(4))
    assert (dual <= least * (1 + 1e-8)).all()
    assert (candidate.primal >= least * (1 - 1e-8)).all()
    s = expit(tau)
    np.testing.assert_allclose(
        candidate.W, block.X.T @ (block.cost * (block.T - s)), rtol=1e-9, atol=1e-9
    )
    entropy = (block.cost * (xlogy(s, s) + xlogy(1 - s, 1 - s))).sum(axis=0)
    total = (block.cost * (block.T - s)).sum(axis=0)
    penalty = total**2 if bias == "penalised" else 0
    expected = -((candidate.W**2).sum(axis=0) + penalty) / 2 - entropy
    np.testing.assert_allclose(dual, expected, rtol=1e-6, atol=1e-6)
    if bias == "free":
        np.testing.assert_allclose(total, 0, rtol=0, atol=1e-8)


@biases
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_shares_end_at_the_sigmoids_of_their_logits(bias, C):
    block = random_block(bias, C=C, n=20, d=30)
    found = solved(block, max_iter=500)
    assert found.converged.all()
    s = expit(block.X @ found.weights[:-1] + found.weights[-1])
    gradient = found.weights[:-1] - block.X.T @ (block.cost * (block.T - s))
    np.testing.assert_allclose(gradient, 0, rtol=0, atol=1e-4 * max(C, 1))


@biases
def test_no_start_is_left_for_a_worse_point(bias):
    """Starts near the optimum, which one sweep from their logits would leave."""
    block = random_block(bias, C=100.0)
    near = solved(block, tol=1e-3)
    start = Candidate(near.weights[:-1].copy(), near.weights[-1].copy(), np.full(4, np.inf))
    again = solved(block, start, max_iter=1, tol=0)
    assert (again.values <= near.values * (1 + 1e-12)).all()


def test_a_hopeless_block_keeps_its_start():
    block = random_block(C=100.0)
    best = solved(block, max_iter=2000, tol=1e-12)
    start = Candidate(best.weights[:-1].copy(), best.weights[-1].copy(), np.full(4, np.inf))
    again = solved(block, start, max_iter=1, tol=0)
    np.testing.assert_allclose(again.weights, best.weights, rtol=1e-3, atol=1e-3)
    assert (again.values <= best.values * (1 + 1e-12)).all()


@given(seed=st.integers(0, 1000), scale=st.floats(0.1, 50))
@settings(deadline=None, max_examples=20)
def test_balancing_shift_balances(seed, scale):
    block = random_block(seed=seed)
    Z = scale * np.random.default_rng(seed).normal(size=block.T.shape)
    shift = balancing_shift(Z, block.T, block.cost)
    sums = (block.cost * (expit(Z + shift) - block.T)).sum(axis=0)
    np.testing.assert_allclose(sums, 0, rtol=0, atol=1e-9 * block.cost.sum())


def test_squares():
    random = np.random.default_rng(0)
    W = random.normal(size=(3000, 3)).astype(np.float32)
    np.testing.assert_allclose(square_sums(W), (W.astype(float) ** 2).sum(axis=0), rtol=1e-6)
    block = random_block()
    np.testing.assert_allclose(block.norms, (block.X.toarray() ** 2).sum(axis=1), rtol=1e-12)
