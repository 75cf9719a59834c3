"""The statistical promise itself, with populations whose truth is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from setwise.calibration.autoaccept import AutoAccept
from setwise.calibration.promise_check import Population, check_promise, resampled_breaks
from setwise.errors import DataError

U = (np.arange(5000) + 0.5) / 5000
SURE = U**0.25
CHANCES = {
    "calibrated": (SURE, SURE, 600),
    "over-confident": (SURE, SURE**2, 600),
    "just below target": (U, np.full(5000, 0.899), 600),
    "just below target, few rows": (U, np.full(5000, 0.899), 40),
    "just below target, near it": (U, np.where(U > 0.8, 0.97, 0.88), 600),
    "a plateau just below target": (np.where(U > 0.9, 1, 0.5), np.where(U > 0.9, 0.98, 0.89), 600),
    "plateaus": (np.ceil(SURE * 10) / 10, SURE, 600),
    "small plateaus": (np.ceil(SURE * 300) / 300, SURE, 600),
}


def population(name):
    confidence, chance, n = CHANCES[name]
    return Population(confidence, chance, np.ones(5000)), n


@pytest.mark.parametrize("name", CHANCES)
def test_promise_is_kept(name):
    check = check_promise(*population(name), n_draws=1000, random_state=1)
    assert check.limit == 73
    assert check.breaks <= 73


@pytest.mark.parametrize("name", ["calibrated", "just below target", "small plateaus"])
def test_plain_threshold_breaks_it(name):
    check = check_promise(*population(name), n_draws=300)
    assert check.plain_breaks > 0.4 * 300
    assert check.plain_coverage > check.coverage


def test_it_accepts_much_where_it_can():
    check = check_promise(*population("calibrated"), n_draws=300)
    assert check.n_found > 0.8 * 300
    assert check.coverage > 0.3  # 0.66 could be accepted if the truth were known


def test_fixed_thresholds_keep_it_where_correctness_does_not_rise():
    chance = np.where((U > 0.55) & (U < 0.6), 0.3, 0.94)
    falling = Population(U, chance, np.ones(5000))
    check = check_promise(falling, 500, thresholds=np.arange(90, 0, -5) / 100, n_draws=1000)
    assert 0 < check.breaks <= 73
    assert check.n_found > 100


def test_groups_keep_it_if_declared_and_break_it_if_not():
    truth, _ = population("calibrated")
    random, groups = np.random.default_rng(0), np.repeat(np.arange(200), 10)
    chosen = []
    for _ in range(300):
        rows = (np.repeat(part, 10) for part in truth.draw(200, random))
        chosen.append(AutoAccept().fit(*rows, groups=groups).threshold_)
    breaks = (truth.above(np.array(chosen))[1] < 0.9).sum()
    limit = binom.ppf(0.999, 300, 0.05)
    assert breaks <= limit
    assert check_promise(truth, 200, copies=10, n_draws=300).breaks > 2 * limit


def test_check_draws_what_the_rule_is_fitted_on():
    truth, n = population("calibrated")
    check = check_promise(truth, n, n_draws=20, random_state=5)
    random = np.random.default_rng(5)
    fitted = [AutoAccept().fit(*truth.draw(n, random)).threshold_ for _ in range(20)]
    coverage, accuracy = truth.above(np.array(fitted))
    assert check.n_found == np.isfinite(fitted).sum()
    assert check.breaks == (accuracy < 0.9).sum()
    assert_allclose(check.coverage, coverage.mean(), rtol=1e-12)


def test_population_knows_its_truth():
    truth = Population(np.array([0.2, 0.9, 0.5]), np.array([0.1, 1.0, 0.5]), np.array([2, 1, 1]))
    coverage, accuracy = truth.above(np.array([np.inf, 0.9, 0.5, 0.3, 0.0]))
    assert_allclose(coverage, [0, 0.25, 0.5, 0.5, 1], rtol=1e-12)
    assert_allclose(accuracy, [np.nan, 1, 0.75, 0.75, 0.425], rtol=1e-12)
    confidence, correct = truth.draw(20_000, np.random.default_rng(0))
    assert_allclose(np.mean(confidence == 0.2), 0.5, atol=0.02)
    assert_allclose(correct[confidence == 0.2].mean(), 0.1, atol=0.02)


def test_resampled_pool_keeps_the_promise():
    pool = population("calibrated")[0].draw(2000, np.random.default_rng(0))
    check = resampled_breaks(*pool, n_rows=600, n_draws=500)
    assert check.kept
    assert check.n_found > 300
    assert check.plain_breaks > 150


def test_resampling_counts_groups_not_rows():
    # One group of 900 wrong rows among 100 right ones: 99% of the groups are right.
    confidence = np.full(1000, 0.5)
    correct = np.repeat([1, 0], [100, 900])
    groups = np.concatenate([np.arange(100), np.full(900, 100)])
    check = resampled_breaks(confidence, correct, groups, n_draws=50)
    assert check.breaks == 0
    assert check.n_found > 40
    assert resampled_breaks(confidence, correct, n_draws=50).n_found == 0


def test_resampling_draws_as_many_as_there_are_groups():
    groups = np.arange(280) // 10  # 28 groups are one too few
    assert resampled_breaks(np.full(280, 0.5), np.ones(280), groups, n_draws=5).n_found == 0
    assert resampled_breaks(np.full(280, 0.5), np.ones(280), n_draws=5).n_found == 5


def test_bad_input_gets_a_sentence():
    with pytest.raises(DataError, match="groups has shape"):
        resampled_breaks([0.5, 0.5], [1, 0], [1])
    with pytest.raises(DataError, match="n_draws"):
        resampled_breaks([0.5], [1], n_draws=0)
    with pytest.raises(DataError, match="target_accuracy"):
        resampled_breaks([0.5], [1], target_accuracy=2)
