import numpy as np
import pytest

from setwise.calibration.prior import SetPrior


@pytest.fixture
def rows():
    return np.random.default_rng(0).integers(0, 2, size=(40, 3))


def test_shares_are_counts(rows):
    prior = SetPrior().fit(rows)
    asked = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 1]])
    expected = [(rows == one).all(axis=1).mean() for one in asked]
    np.testing.assert_allclose(prior.shares(asked), expected, rtol=1e-12)
    np.testing.assert_allclose(prior.shares_.sum(), 1, rtol=1e-12)


def test_a_set_that_was_never_seen_has_share_zero_and_counts_as_half_a_row():
    prior = SetPrior().fit(np.array([[1, 0], [1, 0], [0, 1], [1, 0]]))
    np.testing.assert_array_equal(prior.shares(np.array([[1, 1], [0, 0]])), 0)
    np.testing.assert_allclose(
        prior.log_shares(np.array([[1, 1], [0, 1]])), np.log([1 / 8, 3 / 8]), rtol=1e-12
    )


def test_weights_count_rows(rows):
    weights = np.random.default_rng(1).integers(0, 3, size=40)
    weighted, repeated = SetPrior().fit(rows, weights), SetPrior().fit(np.repeat(rows, weights, 0))
    np.testing.assert_allclose(weighted.shares(rows), repeated.shares(rows), rtol=1e-12)


def test_rows_without_weight_are_as_if_absent():
    Y = np.array([[1, 0], [1, 1], [0, 1]])
    weighted, without = SetPrior().fit(Y, [2.0, 0.0, 1.0]), SetPrior().fit(Y[[0, 2]], [2.0, 1.0])
    np.testing.assert_array_equal(weighted.sets_.toarray(), without.sets_.toarray())
    np.testing.assert_array_equal(weighted.shares_, without.shares_)
    assert weighted.half_row_ == without.half_row_ == 0.25
