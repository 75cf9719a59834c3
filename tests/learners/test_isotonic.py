import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from setwise.errors import DataError
from setwise.learners.isotonic import Isotonic, IsotonicBank, rising_curve
from setwise.storage import load, save

GRID = np.linspace(-0.5, 2.5, 61)


def problem(seed, n=50):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 21, size=n) / 10  # with ties
    return score, rng.normal(score), rng.random(n) + 0.01


@given(st.integers(0, 10_000), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_curve_is_that_of_scikit_learn(seed, n):
    score, target, weight = problem(seed, n)
    ours = Isotonic().fit(score, target, weight).predict(GRID)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, target, weight).predict(GRID)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    assert (np.diff(ours) >= -1e-12).all()


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_doubled_row_is_weight_two(seed):
    score, target, _ = problem(seed)
    twice = np.where(np.arange(50) % 2, 2, 1)
    rows = np.repeat(np.arange(50), twice)
    weighted = Isotonic().fit(score, target, twice).predict(GRID)
    doubled = Isotonic().fit(score[rows], target[rows]).predict(GRID)
    np.testing.assert_allclose(weighted, doubled, rtol=1e-9, atol=1e-9)


def test_rows_without_weight_do_not_count():
    score, target, weight = problem(0)
    weight[::3] = 0
    used = weight > 0
    ours = Isotonic().fit(score, target, weight).predict(GRID)
    without = Isotonic().fit(score[used], target[used], weight[used]).predict(GRID)
    np.testing.assert_array_equal(ours, without)


def test_columns_of_a_bank_are_single_curves():
    columns = [problem(seed) for seed in range(4)]
    scores, T, weight = (np.column_stack(parts) for parts in zip(*columns))
    bank = IsotonicBank().fit(scores, T, weight)
    grid = np.repeat(GRID[:, None], 4, axis=1)
    for number, parts in enumerate(columns):
        np.testing.assert_array_equal(
            bank.predict(grid)[:, number], Isotonic().fit(*parts).predict(GRID)
        )


def test_flat_pieces_keep_only_their_ends():
    knots, values = rising_curve(np.arange(6.0), np.array([0, 0, 0, 1, 1, 1.0]), np.ones(6))
    np.testing.assert_array_equal(knots, [0, 2, 3, 5])
    np.testing.assert_array_equal(values, [0, 0, 1, 1])


def test_probabilities_stay_half_a_row_away_from_certainty():
    curve = Isotonic(probabilities=True).fit([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], [1, 1, 1, 2])
    np.testing.assert_allclose(curve.predict([-1.0, 9.0]), [0.5 / 6, 5.5 / 6], rtol=1e-12)
    constant = Isotonic(probabilities=True).fit([0.0, 1.0], [1, 1])
    np.testing.assert_allclose(constant.predict([0.5]), [2.5 / 3], rtol=1e-12)


def test_stored_curves_predict_the_same(tmp_path):
    scores, T = np.random.default_rng(0).random((2, 30, 3))
    bank = IsotonicBank(probabilities=True).fit(scores, T)
    save(bank, tmp_path / "bank")
    np.testing.assert_array_equal(load(tmp_path / "bank").predict(scores), bank.predict(scores))


def test_bad_input_gets_a_sentence():
    with pytest.raises(DataError, match="scores hold a NaN"):
        Isotonic().fit([0.0, np.nan], [0, 1])
    with pytest.raises(DataError, match="one number per row"):
        Isotonic().fit([[0.0]], [1])
    with pytest.raises(DataError, match="2 columns of scores, 1 in fit"):
        IsotonicBank().fit([[0.0]], [[1.0]]).predict([[0.0, 1.0]])


def test_no_rows_get_a_sentence():
    with pytest.raises(DataError, match="no rows to learn from"):
        Isotonic().fit([], [])
