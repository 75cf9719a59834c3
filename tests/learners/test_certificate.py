import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit

from setwise.learners import certificate
from setwise.learners.certificate import duality_gaps
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
    """Weights (d + 1, L) to all digits."""
    bank = LogisticBank(
        1 / loss.ridge, penalise_bias=bias == "penalised", fit_bias=bias != "none", tol=1e-14
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


def test_targets_in_turns_are_targets_at_once(monkeypatch):
    with Workers(1) as workers:
        loss, *_ = random_loss(0, workers, own=True, L=19)
        W = np.random.default_rng(0).normal(size=(6, 19))
        arguments = loss, W, 0.1 * W, np.full(60, 0.2)
        whole = duality_gaps(*arguments)
        monkeypatch.setattr(certificate, "MOST_LOGITS", 60 * 8)
        np.testing.assert_allclose(duality_gaps(*arguments), whole, rtol=1e-9)
    assert np.isfinite(whole).any()
