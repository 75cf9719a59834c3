import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, binomtest

from setwise.calibration.accept_curve import (
    accuracy_coverage,
    between,
    lower_bound,
    upper_bound,
)
from setwise.errors import DataError

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]) | st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_bounds_equal_scipy(level):
    for n in (1, 2, 7, 50, 1000):
        for k in {0, 1, n // 2, n - 1, n}:
            low = binomtest(k, n, alternative="greater").proportion_ci(level).low
            high = binomtest(k, n, alternative="less").proportion_ci(level).high
            assert_allclose(lower_bound(k, n, level), low, rtol=1e-9, atol=1e-12)
            assert_allclose(upper_bound(k, n, level), high, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [1, 5, 30, 200])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bounds_hold_as_often_as_they_say_for_every_accuracy(n, level):
    """By summing the binomial distribution, not by drawing from it."""
    k = np.arange(n + 1)
    lower, upper = lower_bound(k, n, level), upper_bound(k, n, level)
    for accuracy in np.linspace(0.01, 0.99, 99):
        chance = binom.pmf(k, n, accuracy)
        assert chance[lower <= accuracy].sum() >= level - 1e-9
        assert chance[upper >= accuracy].sum() >= level - 1e-9


@given(ROWS)
def test_curve_equals_a_loop(rows):
    confidence, correct = (np.array(part, dtype=float) for part in zip(*rows))
    curve = accuracy_coverage(confidence, correct, 0.9)
    assert len(curve.threshold) == len(set(confidence.tolist()))
    for place, value in enumerate(sorted(set(confidence.tolist()), reverse=True)):
        over = confidence >= value
        assert_array_equal(confidence >= curve.threshold[place], over)
        assert_allclose(curve.coverage[place], over.mean(), rtol=1e-12)
        assert_allclose(curve.accuracy[place], correct[over].mean(), rtol=1e-12)
        assert_allclose(
            curve.lower[place], lower_bound(correct[over].sum(), over.sum(), 0.9), rtol=1e-9
        )
        assert_allclose(
            curve.upper[place], upper_bound(correct[over].sum(), over.sum(), 0.9), rtol=1e-9
        )
    assert (curve.lower <= curve.accuracy).all()
    assert (curve.accuracy <= curve.upper).all()


@given(ROWS, st.data())
def test_a_row_of_weight_three_is_three_rows(rows, data):
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    times[0] = 3
    confidence, correct = (np.array(part, dtype=float) for part in zip(*rows))
    weighted = accuracy_coverage(confidence, correct, sample_weight=times)
    repeated = accuracy_coverage(np.repeat(confidence, times), np.repeat(correct, times))
    for name, expected in vars(repeated).items():
        assert_allclose(getattr(weighted, name), expected, rtol=1e-9, atol=1e-12, err_msg=name)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10, unique=True))
def test_thresholds_part_neighbours(values):
    falling = np.sort(values)[::-1]
    thresholds = between(falling)
    assert (thresholds <= falling).all()
    assert (thresholds[:-1] > falling[1:]).all()


def test_bad_input_gets_a_sentence():
    with pytest.raises(DataError, match="confidence_level must lie"):
        accuracy_coverage([0.5], [1], 1.0)
    with pytest.raises(DataError, match="correct must be 0 or 1"):
        accuracy_coverage([0.5], [0.5])
    with pytest.raises(DataError, match="sample_weight needs one number"):
        accuracy_coverage([0.5], [1], sample_weight=[1, 2])
