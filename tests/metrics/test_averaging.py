import numpy as np
import pytest
from numpy.testing import assert_allclose

from setwise.errors import DataError
from setwise.metrics.averaging import checked_weights, divided, mean_of_defined


def test_mean_leaves_out_nan_and_its_weight():
    values, weights = np.array([1.0, np.nan, 4.0]), np.array([2.0, 100.0, 1.0])
    assert_allclose(mean_of_defined(values, weights), 6 / 3, rtol=1e-15)


def test_mean_of_nothing_is_nan():
    assert np.isnan(mean_of_defined(np.array([])))
    assert np.isnan(mean_of_defined(np.array([np.nan])))
    assert np.isnan(mean_of_defined(np.array([1.0, np.nan]), np.array([0.0, 1.0])))


def test_divided_by_zero():
    numbers = divided(np.array([1, 0]), np.array([2, 0]), zero_division=0.25)
    assert numbers.tolist() == [0.5, 0.25]


def test_no_weights_are_none():
    assert checked_weights(None, 3) is None


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1, 1], "each of the 3 rows"),
        ([[1, 1, 1]], r"shape \(1, 3\)"),
        ([1, -1, 1], "row 1 has -1.0"),
        ([1, 1, np.nan], "row 2 has nan"),
        ([np.inf, 1, 1], "row 0 has inf"),
        ([0, 0, 0], "every sample_weight is 0"),
    ],
)
def test_unusable_weights(weights, sentence):
    with pytest.raises(DataError, match=sentence):
        checked_weights(weights, 3)
