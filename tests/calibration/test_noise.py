import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from setwise.calibration.noise import (
    LEAST_CURVATURE,
    NO_NOISE,
    SCORE_LIMIT,
    NoiseRates,
    mean_noisy_likelihood,
    noisy_likelihood,
    noisy_likelihood_derivatives,
    pull_back,
    surrogate_kl,
    surrogate_kl_derivatives,
    surrogate_squared,
    unbiased,
)
from setwise.errors import DataError
from setwise.storage import load, save

RATES = [(0.0, 0.0), (0.2, 0.0), (0.5, 0.0), (0.3, 0.1), (0.0, 0.4), (0.6, 0.2)]
rates = st.tuples(st.floats(0, 0.97), st.floats(0, 0.97)).filter(lambda pair: sum(pair) < 0.98)
SCORES = np.concatenate([np.linspace(-7.9, 7.9, 40), [-12.0, -8.5, 8.5, 12.0]])


def mean_over_judgements(loss, right, alpha, beta):
    """E over v~ of loss(v~), where the truth is ``right``."""
    chance = 1 - alpha if right else beta
    return chance * loss(1.0) + (1 - chance) * loss(0.0)


@given(rates, st.floats(0.001, 0.999), st.booleans())
def test_surrogates_are_unbiased_for_every_confidence_and_truth(pair, c, right):
    noise, v = NoiseRates(*pair), float(right)
    score, m = np.log(c / (1 - c)), 1 / (1 - sum(pair))
    close = {"rtol": 1e-9, "atol": 1e-12 * m * m}
    squared = mean_over_judgements(lambda j: surrogate_squared(c, j, noise), right, *pair)
    np.testing.assert_allclose(squared, (c - v) ** 2, **close)
    kl = mean_over_judgements(lambda j: surrogate_kl(score, j, noise), right, *pair)
    np.testing.assert_allclose(kl, -np.log(c if right else 1 - c), **close)
    anything = mean_over_judgements(lambda j: unbiased(c**3, np.cos(c), j, noise), right, *pair)
    np.testing.assert_allclose(anything, np.cos(c) if right else c**3, **close)


@pytest.mark.parametrize(("alpha", "beta"), RATES)
def test_surrogate_of_kl_is_equation_4_4_and_its_gradient_4_6(alpha, beta):
    noise, c, m = NoiseRates(alpha, beta), expit(SCORES[:40]), 1 / (1 - alpha - beta)
    for v in (0.0, 1.0):
        loss = -m * ((1 - v - alpha) * np.log(1 - c) + (v - beta) * np.log(c))
        np.testing.assert_allclose(surrogate_kl(SCORES[:40], v, noise), loss, rtol=1e-9)
        defined = unbiased(-np.log(1 - c), -np.log(c), v, noise)
        np.testing.assert_allclose(defined, loss, rtol=1e-9)
        gradient, _ = surrogate_kl_derivatives(SCORES[:40], v, noise)
        expected = m * (c - v + (1 - c) * beta - c * alpha)
        np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), RATES)
@pytest.mark.parametrize("judged", [0.0, 1.0, 0.3])
def test_gradients_are_finite_differences(alpha, beta, judged):
    noise, step = NoiseRates(alpha, beta), 1e-5

    def held(score):
        return surrogate_kl(score, judged, noise) + pull_back(score, noise)[0]

    def likelihood(score):
        return noisy_likelihood(score, judged, noise)

    derivatives = [surrogate_kl_derivatives, noisy_likelihood_derivatives]
    for loss, derivative in zip([held, likelihood], derivatives):
        numeric = (loss(SCORES + step) - loss(SCORES - step)) / (2 * step)
        np.testing.assert_allclose(
            derivative(SCORES, judged, noise)[0], numeric, rtol=1e-5, atol=1e-8
        )


@pytest.mark.parametrize(("alpha", "beta"), RATES)
def test_curvatures_are_second_differences_or_their_least_value(alpha, beta):
    noise, step, score = NoiseRates(alpha, beta), 1e-4, SCORES[:40]
    c = expit(score)

    def second_of(derivatives, judged):
        ahead, behind = (
            derivatives(score + step, judged, noise),
            derivatives(score - step, judged, noise),
        )
        return (ahead[0] - behind[0]) / (2 * step)

    kl = second_of(surrogate_kl_derivatives, 1.0)
    least = LEAST_CURVATURE * (1 / (1 - alpha - beta) - 1)
    np.testing.assert_allclose(
        surrogate_kl_derivatives(score, 1.0, noise)[1], np.maximum(kl, least), rtol=1e-4
    )
    q = noise.judged_right(c)  # the Fisher information is the mean over judgements
    fisher = q * second_of(noisy_likelihood_derivatives, 1.0) + (1 - q) * second_of(
        noisy_likelihood_derivatives, 0.0
    )
    expected = np.maximum(fisher, LEAST_CURVATURE * c * (1 - c))
    ours = noisy_likelihood_derivatives(score, 1.0, noise)[1]
    np.testing.assert_allclose(ours, expected, rtol=1e-4)
    assert (ours > 0).all()


@pytest.mark.parametrize(("alpha", "beta"), RATES)
def test_derivatives_are_finite_anywhere(alpha, beta):
    far = np.array([-1e4, -800.0, -40.0, 40.0, 800.0, 1e4])
    for judged in (0.0, 1.0):
        noise = NoiseRates(alpha, beta)
        assert np.isfinite(noisy_likelihood(far, judged, noise)).all()
        for derivatives in (noisy_likelihood_derivatives, surrogate_kl_derivatives):
            assert np.isfinite(derivatives(far, judged, noise)).all()


@pytest.mark.parametrize(("alpha", "beta"), RATES[1:])
@pytest.mark.parametrize("judged", [0.0, 1.0])
def test_surrogate_of_kl_comes_to_rest_near_the_limit_and_by_short_steps(alpha, beta, judged):
    noise, score = NoiseRates(alpha, beta), np.zeros(1)
    longest = 0.0
    for _ in range(200):  # all rows judged alike: without the limit, without end
        gradient, curvature = surrogate_kl_derivatives(score, judged, noise)
        step = -gradient / curvature
        longest = max(longest, float(abs(step[0])))
        score = score + 0.1 * step
    t = noise.shifted_targets(judged)
    assert longest <= 1 / LEAST_CURVATURE + 2
    assert abs(score[0]) <= SCORE_LIMIT + 1.01
    assert t < 0 or t > 1 or abs(score[0]) > 5
    if t < 0 or t > 1:
        assert abs(score[0]) > SCORE_LIMIT


def test_without_noise_losses_and_derivatives_are_the_plain_ones():
    v = np.arange(len(SCORES)) % 2
    c = expit(SCORES)
    loss = -np.log(np.where(v, c, expit(-SCORES)))
    np.testing.assert_allclose(surrogate_kl(SCORES, v, NO_NOISE), loss, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(noisy_likelihood(SCORES, v, NO_NOISE), loss, rtol=1e-9)
    for derivatives in (surrogate_kl_derivatives, noisy_likelihood_derivatives):
        gradient, curvature = derivatives(SCORES, v, NO_NOISE)
        np.testing.assert_allclose(gradient, c - v, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(curvature, c * (1 - c), rtol=1e-9)


def test_rates_of_rows_follow_the_rows():
    alpha, v = np.array([0.1, 0.3, 0.5]), np.array([0, 1, 1])
    noise = NoiseRates(alpha, 0.1)
    np.testing.assert_allclose(noise.weights(), [1 / 0.8, 1 / 0.6, 1 / 0.4], rtol=1e-12)
    np.testing.assert_allclose(noise.shifted_targets(v), [-0.125, 1.5, 2.25], rtol=1e-12)
    for rows in ([2, 0], slice(1, None), np.array([True, False, True])):
        part = noise.of_rows(rows)
        np.testing.assert_array_equal(part.alpha, alpha[rows])
        assert part.beta == 0.1
    assert not noise.is_uniform
    assert not noise.is_none
    assert NoiseRates([0.2, 0.2], 0.1).is_uniform
    assert NO_NOISE.is_none
    assert NoiseRates(0.2).of_rows([0]) == NoiseRates(0.2)
    alpha[0] = 0.9  # what was given is not what is kept
    assert noise.alpha[0] == 0.1
    with pytest.raises(ValueError):
        noise.alpha[0] = 0.9


@pytest.mark.parametrize(
    ("alpha", "beta", "words"),
    [
        (0.5, 0.5, "less than 1, not 1"),
        (np.array([0.1, 0.8]), 0.3, "less than 1, not 1.1"),
        (np.nan, 0.0, "alpha must lie"),
        (0.0, [0.1, np.nan], "beta must lie .* nan"),
        (-0.1, 0.0, "alpha must lie .* -0.1"),
        (0.0, 1.0, "beta must lie"),
        (np.zeros((2, 2)), 0.0, "shape"),
        ([0.1, 0.2], [0.1, 0.2, 0.3], "2 and 3 rows"),
    ],
)
def test_impossible_rates_get_a_sentence(alpha, beta, words):
    with pytest.raises(DataError, match=words):
        NoiseRates(alpha, beta)


def test_rates_of_other_rows_get_a_sentence():
    with pytest.raises(DataError, match="2 rates but there are 3 rows"):
        NoiseRates([0.1, 0.2]).check_rows(3)
    assert NoiseRates(0.1).check_rows(3) == NoiseRates(0.1)


@pytest.mark.parametrize("noise", [NoiseRates(0.2, 0.1), NoiseRates(np.array([0.1, 0.3]))])
def test_rates_are_stored_and_pickled(noise, tmp_path):
    save(noise, tmp_path / "rates")
    assert load(tmp_path / "rates") == noise
    assert pickle.loads(pickle.dumps(noise)) == noise
    assert noise != NO_NOISE


def test_mean_likelihood_is_least_at_the_true_confidence():
    noise, truth = NoiseRates(0.3, 0.1), 0.7
    q = noise.judged_right(truth)
    weight = [q, 1 - q]  # as many judgements of either kind as there are
    grid = np.linspace(0.01, 0.99, 99)
    losses = [mean_noisy_likelihood([c, c], [1, 0], noise, weight) for c in grid]
    assert grid[np.argmin(losses)] == pytest.approx(truth, abs=1e-9)
