import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit

from setwise.learners import certificate
from setwise.learners.certificate import duality_gaps, gradient_gaps
from setwise.learners.design import rows_of
from setwise.learners.logistic import LogisticBank
from setwise.learners.losses import BankLoss, padded
from setwise.learners.workers import Workers

BIASES = ("free", "penalised", "none")


def random_loss(seed, workers, *, bias="free", own=False, container=np.asarray, n=60, d=5, L=7):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    T = expit(X @ random.normal(size=(d, L)) + 3 * random.normal(size=(n, L)))
    weight = 0.1 + random.random((n, L if own else 1))
    penalties = np.ones((d + 1, 1))
    penalties[-1] = bias != "free"
    rows = rows_of(container(X), bias=bias != "none")
    wide = padded(weight) if own else weight
    loss = BankLoss(rows, padded(T), wide, 1 / random.uniform(0.1, 10, L), penalties, workers)
    return loss, X, T, weight


def minima(loss, X, T, weight, bias):
    """Weights (d + 1, L), to as many digits as can always be proven."""
    bank = LogisticBank(
        1 / loss.ridge, penalise_bias=bias == "penalised", fit_bias=bias != "none", tol=1e-12
    ).fit(X, T, weight)
    return np.vstack([bank.weights_, bank.biases_])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("bias", BIASES)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 1000), away=st.sampled_from([1e-4, 1e-2, 0.1, 1.0]))
def test_no_gap_is_below_the_distance_to_the_minimum(container, own, bias, seed, away):
    """Whatever displacements are asked for."""
    with Workers(1) as workers:
        loss, *data = random_loss(seed, workers, bias=bias, own=own, container=container)
        best = minima(loss, *data, bias)
        random = np.random.default_rng(seed)
        W = best + away * random.normal(size=best.shape)
        W[-1] *= bias != "none"
        steps = random.choice([0.0, away, 100 * away]) * random.normal(size=W.shape)
        gaps = duality_gaps(loss, W, steps, 0.1 * data[-1].mean(axis=1))
        excess = loss.evaluate(W)[0] - loss.evaluate(best)[0]
    assert (gaps >= excess * (1 - 1e-9) - 1e-12).all()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bias", BIASES)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 1000), away=st.sampled_from([1e-4, 1e-2, 0.1]))
def test_gradients_alone_bound_the_distance_too(container, bias, seed, away):
    """Also by the curvature of a few rows; without an imbalance it is the same as in a pass."""
    with Workers(1) as workers:
        loss, *data = random_loss(seed, workers, bias=bias, container=container)
        best = minima(loss, *data, bias)
        W = best + away * np.random.default_rng(seed).normal(size=best.shape)
        W[-1] *= bias != "none"
        values, G = loss.evaluate(W)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(certificate, "block_rows", lambda L: 20)
            gaps = gradient_gaps(loss, W, G)
        assert (gaps >= (values - loss.evaluate(best)[0]) * (1 - 1e-9) - 1e-12).all()
        if bias != "free":
            whole = duality_gaps(loss, W, 0 * W, 0 * data[-1][:, 0])
            np.testing.assert_allclose(gaps, whole, rtol=1e-9)
        elif away == 1e-4:
            assert np.isfinite(gaps).all()


def test_a_bias_that_is_off_shows_in_the_gap():
    """Without features nothing but the balance of the shares can tell."""
    with Workers(1) as workers:
        T, penalties = np.tile([[0.0], [1.0], [1.0]], (10, 1)), np.array([[1.0], [0.0]])
        rows = rows_of(np.zeros((30, 1)), bias=True)
        loss = BankLoss(rows, T, np.ones((30, 1)), np.ones(1), penalties, workers)
        best = np.array([[0.0], [np.log(2)]])
        W = best + np.array([[0.0], [0.1]])
        gap = duality_gaps(loss, W, np.zeros((2, 1)), np.ones(30))
        excess = loss.evaluate(W)[0] - loss.evaluate(best)[0]
    np.testing.assert_allclose(gap, excess, rtol=0.1)


@pytest.mark.parametrize("bias", BIASES)
def test_newton_steps_make_the_gap_tight(bias):
    """Rows of about the same curvature: then the whole excess is a Newton step's promise."""
    with Workers(1) as workers:
        loss, X, _, weight = random_loss(0, workers, bias=bias, n=2000, L=1)
        random = np.random.default_rng(0)
        T = expit(0.3 * X @ random.normal(size=(5, 1)) + 0.1 * random.normal(size=(2000, 1)))
        loss = BankLoss(loss.rows, T, weight, loss.ridge, loss.penalties, workers)
        best = minima(loss, X, T, weight, bias)
        W = best + 1e-3 * random.normal(size=best.shape) * ([[1]] * 5 + [[bias != "none"]])
        value, G = loss.evaluate(W)
        pull = 0.23 * weight[:, 0]
        ridge = loss.penalties[:, 0] * loss.ridge[0]
        steps = np.linalg.solve(loss.rows.gram(pull) + np.diag(ridge), G)
        gaps = duality_gaps(loss, W, steps, pull)
        plain = duality_gaps(loss, W, 0 * steps, pull)
        excess = value - loss.evaluate(best)[0]
    np.testing.assert_allclose(gaps, excess, rtol=0.1)
    assert plain > 10 * gaps


def test_targets_in_turns_are_targets_at_once():
    """Those of which a second pass is made, and those of which none is, alike."""
    with Workers(1) as workers:
        loss, *_ = random_loss(0, workers, own=True, L=19)
        W = np.random.default_rng(0).normal(size=(6, 19))
        steps, pull = 0.1 * W, np.full(60, 0.2)
        whole = duality_gaps(loss, W, steps, pull)
        parts = [np.arange(first, min(first + 8, 19)) for first in range(0, 19, 8)]
        turns = [duality_gaps(loss.taken(p), W[:, p], steps[:, p], pull) for p in parts]
    np.testing.assert_allclose(np.concatenate(turns), whole, rtol=1e-9)
    assert np.isfinite(whole).any()


def exact_gaps(loss, X, T, weight, W, steps, pull):
    """The gap at the shares that ``certificate`` describes, shifted until they balance."""
    Z, moves = (X @ V[:-1] + V[-1] for V in (W, steps))
    p, q = expit(Z), expit(-Z)
    room = np.minimum(p, q) / 4
    s = p - np.clip(pull[:, None] * moves / weight, -room, room)
    shift = (weight * (s - T)).sum(axis=0) / (weight * p * q).sum(axis=0)
    s = s - shift * p * q
    divergence = s * np.log(s / p) + (1 - s) * np.log((1 - s) / q)
    short = X.T @ (weight * (T - s)) - loss.ridge * W[:-1]
    return (weight * divergence).sum(axis=0) + (short**2).sum(axis=0) / (2 * loss.ridge)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000), away=st.sampled_from([1e-4, 1e-2, 0.1]))
def test_both_passes_bound_the_gap_of_balanced_shares(seed, away):
    """The first without having seen them: ``enough`` leaves it at that."""
    with Workers(1) as workers:
        loss, *data = random_loss(seed, workers)
        random = np.random.default_rng(seed)
        best = minima(loss, *data, "free")
        W = best + away * random.normal(size=best.shape)
        arguments = W, away * random.normal(size=W.shape), np.full(60, 0.1)
        tight = duality_gaps(loss, *arguments)
        loose = duality_gaps(loss, *arguments, np.full(7, np.inf))
        exact = exact_gaps(loss, *data, *arguments)
    feasible = np.isfinite(loose)
    assert (tight <= loose).all()
    assert (tight >= exact * (1 - 1e-9))[feasible].all()
    assert feasible.any() or away > 0.01


def test_a_second_pass_makes_an_imbalance_cheaper():
    """Rows far from the origin: the bound of the first pass is large, and not the last word."""
    with Workers(1) as workers:
        loss, X, T, weight = random_loss(3, workers)
        far = BankLoss(rows_of(X + 100, bias=True), *vars_after_rows(loss))
        best = minima(far, X + 100, T, weight, "free")
        W = best + np.array([[0.0]] * 5 + [[0.01]])
        arguments = far, W, np.zeros_like(W), np.ones(60)
        tight = duality_gaps(*arguments)
        loose = duality_gaps(*arguments, np.full(7, np.inf))
    assert (tight < 0.9 * loose).all()


def vars_after_rows(loss):
    return loss.T, loss.weight, loss.ridge, loss.penalties, loss.workers
