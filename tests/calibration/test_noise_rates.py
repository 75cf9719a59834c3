"""When unknown rates can be known: an honest test of each way."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest

from setwise.calibration.noise import NoiseRates
from setwise.calibration.noise_rates import (
    anchored_rates,
    exact_interval,
    grid_searched_rates,
    noise_bounds,
)
from setwise.calibration.robust_isotonic import RobustIsotonic
from setwise.calibration.robust_platt import RobustPlatt
from setwise.errors import DataError
from setwise.learners.isotonic import Isotonic

ALPHAS = np.arange(0, 0.65, 0.05)


def judgements(seed, n, alpha, beta=0.0, least=0.0, greatest=1.0):
    """Scores, true confidences between least and greatest, truths and noisy judgements."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 3, size=n)
    c = least + (greatest - least) * expit(2 * score)
    right = rng.random(n) < c
    judged = np.where(right, rng.random(n) >= alpha, rng.random(n) < beta)
    return score, c, right, judged


def search(curve, seed, alpha, n=20_000, **options):
    score, _, _, judged = judgements(seed, n, alpha, **options.pop("truth", {}))
    fit, apart = slice(0, n // 2), slice(n // 2, None)
    return grid_searched_rates(
        lambda noise: curve().fit(score[fit], judged[fit], noise=noise).predict(score[apart]),
        judged[apart],
        alphas=ALPHAS,
        **options,
    )


@pytest.mark.parametrize("greatest", [1.0, 0.7])
def test_grid_search_over_flexible_calibrators_says_that_it_cannot_know(greatest):
    found = search(RobustIsotonic, 0, 0.3, truth={"greatest": greatest})
    assert not found.identified
    low, high = found.ranges()["alpha"]
    assert low == 0
    # All that is known is the bound: alpha <= 1 - max P(judged right).
    assert high == pytest.approx(1 - 0.7 * greatest, abs=0.051)
    within = found.alpha < 1 - 0.7 * greatest - 0.1
    assert found.flat[within].all()
    assert np.ptp(found.loss[within]) < 3e-3  # what the ends of an isotonic curve cost, not 0.01
    assert found.loss[-1] > found.loss[0] + 0.01 or greatest < 1


def test_the_same_judgements_fit_every_rate_within_the_bounds():
    noise, truth = NoiseRates(0.3, 0.1), np.linspace(0.2, 0.8, 50)
    q = noise.judged_right(truth)
    for alpha in (0.0, 0.2, 1 - q.max()):
        for beta in (0.0, q.min()):
            other = NoiseRates(alpha, beta)
            c = other.shifted_targets(q)
            assert (c > -1e-12).all()
            assert (c < 1 + 1e-12).all()
            np.testing.assert_allclose(other.judged_right(c), q, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.2, 0.5])
def test_grid_search_over_sigmoids_finds_the_rate_where_the_truth_is_one(alpha):
    found = search(RobustPlatt, 1, alpha)
    assert found.identified
    assert found.best.alpha == pytest.approx(alpha, abs=0.051)
    low, high = found.ranges()["alpha"]
    assert low <= alpha + 1e-9
    assert high >= alpha - 1e-9


def test_grid_search_over_sigmoids_is_sure_and_wrong_where_the_truth_is_none():
    found = search(RobustPlatt, 2, 0.0, truth={"greatest": 0.7})
    assert found.identified
    assert found.best.alpha == pytest.approx(0.3, abs=0.051)  # there is no noise at all


def test_accuracy_on_noisy_rows_prefers_the_wrong_rate():
    by_likelihood = search(RobustPlatt, 1, 0.5)
    by_accuracy = search(RobustPlatt, 1, 0.5, criterion="accuracy")
    assert by_likelihood.best.alpha == pytest.approx(0.5, abs=0.051)
    assert by_accuracy.best.alpha < 0.35


def test_search_over_both_rates():
    found = search(RobustPlatt, 3, 0.3, truth={"beta": 0.1}, betas=np.arange(0, 0.3, 0.05))
    assert found.identified
    assert found.best.alpha == pytest.approx(0.3, abs=0.051)
    assert found.best.beta == pytest.approx(0.1, abs=0.051)


def test_bounds_hold_and_are_near_where_some_predictions_are_sure():
    for greatest, near in ((1.0, 0.06), (0.6, 0.4)):
        score, _, _, judged = judgements(4, 20_000, 0.3, 0.1, greatest=greatest)
        fit, apart = slice(0, 10_000), slice(10_000, None)
        q = Isotonic().fit(score[fit], judged[fit]).predict(score[apart])
        bounds = noise_bounds(q, judged[apart])
        assert 0.3 <= bounds.alpha <= 0.3 + near
        assert 0.1 <= bounds.beta <= 0.16
    assert bounds.alpha > 0.5  # nothing is surely right: the bound holds, and says little


def test_bounds_hold_as_often_as_they_promise_though_the_calibrator_follows_noise():
    held, plug_in = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        judged = rng.random(600) < 0.7  # all are right: alpha = 0.3
        q = rng.uniform(0.4, 1.0, 600)  # of a calibrator that knows nothing
        held += noise_bounds(q, judged).alpha >= 0.3
        plug_in += noise_bounds(q).alpha >= 0.3
    assert held >= 190
    assert plug_in == 0


@pytest.mark.parametrize(("alpha", "beta"), [(0.2, 0.0), (0.5, 0.1)])
def test_anchors_give_the_rates(alpha, beta):
    rng = np.random.default_rng(5)
    _, _, right, judged = judgements(5, 20_000, alpha, beta)
    known = rng.random(20_000) < 0.1
    found = anchored_rates(judged, known & right, known & ~right)
    assert found.alpha.rate == pytest.approx(alpha, abs=0.04)
    assert found.beta.rate == pytest.approx(beta, abs=0.03)
    assert found.alpha.low <= alpha <= found.alpha.high
    assert found.beta.low <= beta <= found.beta.high
    assert found.noise() == NoiseRates(found.alpha.rate, found.beta.rate)
    assert found.alpha.n_rows == (known & right).sum()


def test_intervals_are_those_of_clopper_and_pearson():
    for count, total in ((0, 5), (3, 20), (20, 20)):
        theirs = binomtest(count, total).proportion_ci(0.9, method="exact")
        np.testing.assert_allclose(exact_interval(count, total, 0.1), theirs, rtol=1e-9)


def test_what_is_unknown_gets_a_sentence():
    found = anchored_rates([1, 0], [1, 1], [0, 0])
    assert np.isnan(found.beta.rate)
    assert (found.beta.low, found.beta.high) == (0.0, 1.0)
    with pytest.raises(DataError, match="surely wrong, so beta is unknown"):
        found.noise()
    with pytest.raises(DataError, match="row 1 is both"):
        anchored_rates([1, 0], [1, 1], [0, 1])
    with pytest.raises(DataError, match="marked for each of 2 rows"):
        anchored_rates([1, 0], [1], [0, 1])
    with pytest.raises(DataError, match="0 or 1"):
        anchored_rates([1, 0.5], [1, 0], [0, 1])
    with pytest.raises(DataError, match="judged_right must hold a probability"):
        noise_bounds([0.5, np.nan])
    with pytest.raises(DataError, match="each of 1 rows"):
        noise_bounds([0.5], [1, 0])


def test_searches_without_a_meaning_get_a_sentence():
    def constant(noise):
        return np.full(3, 0.5)

    with pytest.raises(DataError, match="criterion must be"):
        grid_searched_rates(constant, [0, 1, 1], alphas=[0, 0.1], criterion="f1")
    with pytest.raises(DataError, match="at least two pairs"):
        grid_searched_rates(constant, [0, 1, 1], alphas=[0.5, 1.0])
    with pytest.raises(DataError, match="3 confidences for 2 judgements"):
        grid_searched_rates(constant, [0, 1], alphas=[0, 0.1])
