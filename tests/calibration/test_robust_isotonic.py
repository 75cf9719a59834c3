import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from setwise.calibration.noise import NoiseRates, mean_noisy_likelihood
from setwise.calibration.robust_isotonic import RobustIsotonic, robust_accuracy
from setwise.errors import DataError
from setwise.learners.isotonic import Isotonic, limits
from setwise.storage import load, save

GRID = np.linspace(-0.1, 1.1, 61)


def problem(seed, n=60, uniform=False):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 11, size=n) / 10  # with ties
    noise = NoiseRates(0.3, 0.1) if uniform else NoiseRates(rng.uniform(0, 0.6, n), 0.1)
    right = rng.random(n) < score
    judged = np.where(right, rng.random(n) >= noise.alpha, rng.random(n) < noise.beta)
    return score, judged.astype(float), rng.random(n) + 0.1, noise


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_for_uniform_rates_both_forms_are_isotonic_regression_on_another_scale(seed):
    score, judged, weight, noise = problem(seed, uniform=True)
    q = Isotonic().fit(score, judged, weight).predict(GRID)  # P(judged right), in [beta, 1 - alpha]
    for form in ("likelihood", "squared"):
        curve = RobustIsotonic(form=form).fit(score, judged, weight, noise=noise)
        knots = curve.knots_
        at = Isotonic().fit(score, judged, weight).predict(knots)
        expected = np.clip((at - 0.1) / 0.6, *limits(weight))
        np.testing.assert_allclose(curve.predict(knots), expected, rtol=1e-9)
    assert q.max() <= 1


@pytest.mark.parametrize("form", ["likelihood", "squared"])
def test_without_noise_it_is_isotonic_regression(form):
    score, judged, weight, _ = problem(0)
    ours = RobustIsotonic(form=form).fit(score, judged, weight).predict(GRID)
    plain = Isotonic(probabilities=True).fit(score, judged, weight).predict(GRID)
    np.testing.assert_allclose(ours, plain, rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_likelihood_form_is_the_best_rising_curve(seed):
    score, judged, weight, noise = problem(seed)
    curve = RobustIsotonic().fit(score, judged, weight, noise=noise)
    ours = mean_noisy_likelihood(curve.predict(score), judged, noise, weight)
    knots, place = np.unique(score, return_inverse=True)
    least, greatest = limits(weight)

    def loss(steps):  # rising by construction
        c = np.clip(least + np.cumsum(np.abs(steps)), least, greatest)
        return mean_noisy_likelihood(c[place], judged, noise, weight)

    start = np.diff(curve.predict(knots), prepend=least)
    other = np.full(len(knots), 0.9 / len(knots))
    found = min(
        minimize(loss, x0, method="Powell", options={"maxiter": 20_000, "xtol": 1e-8}).fun
        for x0 in (start, other)
    )
    assert ours <= found + 1e-7
    squared = RobustIsotonic(form="squared").fit(score, judged, weight, noise=noise)
    assert ours < mean_noisy_likelihood(squared.predict(score), judged, noise, weight)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_curves_rise_and_are_probabilities(seed):
    score, judged, weight, noise = problem(seed)
    for form in ("likelihood", "squared"):
        curve = RobustIsotonic(form=form).fit(score, judged, weight, noise=noise)
        values = curve.predict(GRID)
        assert (np.diff(values) >= -1e-12).all()
        assert values.min() > 0
        assert values.max() < 1


@pytest.mark.parametrize("form", ["likelihood", "squared"])
def test_rows_without_weight_do_not_count(form):
    score, judged, weight, noise = problem(0)
    weight[::3] = 0
    used = weight > 0
    ours = RobustIsotonic(form=form).fit(score, judged, weight, noise=noise)
    part = RobustIsotonic(form=form)
    part.fit(score[used], judged[used], weight[used], noise=noise.of_rows(used))
    np.testing.assert_array_equal(ours.predict(GRID), part.predict(GRID))


def test_accuracy_is_the_mean_target_clipped():
    judged = np.repeat([1.0, 0.0], [30, 70])
    assert robust_accuracy(judged) == pytest.approx(0.3, rel=1e-9)
    assert robust_accuracy(judged, noise=NoiseRates(0.5)) == pytest.approx(0.6, rel=1e-9)
    # More are judged right than these rates allow.
    assert robust_accuracy(judged, noise=NoiseRates(0.8)) == pytest.approx(1 - 0.5 / 101, rel=1e-9)
    noise = NoiseRates(np.repeat([0.1, 0.6], 50))
    squared = robust_accuracy(judged, noise=noise, form="squared")
    assert squared == pytest.approx(noise.shifted_targets(judged).mean(), rel=1e-9)
    grid = np.linspace(0.01, 0.99, 981)
    losses = [mean_noisy_likelihood(np.full(100, c), judged, noise) for c in grid]
    assert robust_accuracy(judged, noise=noise) == pytest.approx(grid[np.argmin(losses)], abs=1e-3)


def test_curves_are_stored(tmp_path):
    score, judged, weight, noise = problem(0)
    curve = RobustIsotonic(form="squared").fit(score, judged, weight, noise=noise)
    save(curve, tmp_path / "curve")
    again = load(tmp_path / "curve")
    np.testing.assert_array_equal(again.predict(GRID), curve.predict(GRID))
    assert again.form == "squared"


def test_what_cannot_be_fitted_gets_a_sentence():
    score, judged, _, noise = problem(0)
    with pytest.raises(DataError, match="form must be"):
        RobustIsotonic(form="kl").fit(score, judged)
    with pytest.raises(DataError, match="60 rates but there are 59 rows"):
        RobustIsotonic().fit(score[1:], judged[1:], noise=noise)
