"""What the solver finds is the optimum: scipy's, and by its conditions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax

import setwise as sw
from setwise.errors import NotConverged
from setwise.models.crf.listed import OnList
from setwise.models.crf.potentials import all_sets, linear_part, of_pairs


@pytest.mark.parametrize("inference", ["support", "exact"])
def test_the_optimum_is_that_of_four_free_weights_a_pair(inference, rows, by_hand, every):
    """The objective of the thesis, minimised by scipy with all four weights, is the same field."""
    X, Y = rows(40)
    C = 2.0
    fitted = sw.PairwiseCRF(inference=inference, C=C).fit(X, Y)
    sets = fitted.sets_.toarray() if inference == "support" else every
    which = np.array([int(np.flatnonzero((sets == y).all(axis=1))[0]) for y in Y])
    pairs = list(zip(*np.triu_indices(4, 1)))
    indicators = np.zeros((len(sets), len(pairs), 4))
    for number, (first, second) in enumerate(pairs):
        value = 2 * sets[:, first] + sets[:, second]
        indicators[np.arange(len(sets)), number, value] = 1
    indicators = indicators.reshape(len(sets), -1)

    def scores(v):
        W, b, theta = v[:12].reshape(3, 4), v[12:16], v[16:]
        return (X @ W + b) @ sets.T + indicators @ theta

    def objective(v):
        log_p = log_softmax(scores(v), axis=1)
        R = np.exp(log_p)
        R[np.arange(len(Y)), which] -= 1
        by_label = R @ sets
        free = np.concatenate([v[:12], np.zeros(4), v[16:]])
        gradient = C * np.concatenate(
            [(X.T @ by_label).ravel(), by_label.sum(axis=0), indicators.T @ R.sum(axis=0)]
        )
        loss = -C * log_p[np.arange(len(Y)), which].sum() + free @ free / 2
        return loss, gradient + free

    best = minimize(objective, np.zeros(16 + 24), jac=True, options={"gtol": 1e-8, "maxiter": 5000})
    np.testing.assert_allclose(fitted.objective_, best.fun, rtol=1e-5)
    np.testing.assert_allclose(
        by_hand(fitted, X, sets), log_softmax(scores(best.x), axis=1), atol=0.03
    )
    theta = best.x[16:].reshape(-1, 2, 2)
    np.testing.assert_allclose(of_pairs(fitted.interactions_) / 4, theta[:, 0, 0], atol=0.01)
    np.testing.assert_allclose(theta[:, 0, 0], -theta[:, 0, 1], atol=1e-5)


def test_an_elastic_net_has_zeros_and_meets_its_optimality_conditions(rows, loss_of):
    X, Y = rows(60)
    X = np.hstack([X, np.random.default_rng(4).normal(size=(60, 5))])
    C, ratio = 0.2, 0.7
    fitted = sw.PairwiseCRF("elastic", C=C, l1_ratio=ratio, inference="exact").fit(X, Y)
    W, Q = fitted.weights_, fitted.interactions_
    assert 0.2 < (W == 0).mean() < 1
    likelihood = OnList(csr_array(all_sets(4).astype(float)), Y @ [1, 2, 4, 8], np.ones(60))
    biases = fitted.biases_ + linear_part(Q)
    _, R, by_pair = loss_of(likelihood, X @ W + biases, Q)
    slack = 0.02  # of the largest slope that a zero weight may have
    for weights, slopes, square in (
        (W, C * X.T @ R, 1 - ratio),
        (of_pairs(Q), C * of_pairs(by_pair), (1 - ratio) / 4),
    ):
        slopes = slopes + square * weights
        there = weights != 0
        assert there.any()
        np.testing.assert_allclose(slopes[there], -ratio * np.sign(weights[there]), atol=slack)
        assert (np.abs(slopes[~there]) <= ratio + slack).all()
    np.testing.assert_allclose(R.sum(axis=0), 0, atol=0.05)


@pytest.mark.parametrize("inference", ["support", "exact", "pruned"])
def test_a_doubled_row_is_one_of_weight_two(inference, rows):
    X, Y = rows(50)
    weight = np.random.default_rng(0).integers(0, 3, size=50)
    repeated = np.repeat(np.arange(50), weight)
    heavy = sw.PairwiseCRF(inference=inference).fit(X, Y, sample_weight=weight)
    doubled = sw.PairwiseCRF(inference=inference).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(heavy.predict_proba(X), doubled.predict_proba(X), atol=1e-4)


def test_labels_that_all_rows_have_or_none_keep_their_smoothed_odds(rows):
    X, Y = rows()
    Y[:, 0], Y[:, 1] = 1, 0
    for inference in ("support", "exact", "pruned"):
        fitted = sw.PairwiseCRF(inference=inference).fit(X, Y)
        p = fitted.predict_proba(X)
        assert (p[:, 0] > 0.97).all()
        assert (p[:, 1] < 0.03).all()
        np.testing.assert_array_equal(fitted.weights_[:, :2], 0)
        np.testing.assert_array_equal(fitted.interactions_[:2], 0)


def test_a_solver_that_stops_short_says_so(rows):
    with pytest.warns(NotConverged, match="raise max_iter"):
        sw.PairwiseCRF(max_iter=2).fit(*rows())
