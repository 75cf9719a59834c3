import numpy as np
import pytest
from numpy.testing import assert_allclose

from setwise import metrics
from setwise.errors import DataError

LOG_PROB = np.log([0.5, 0.25, 0.125])


def test_sum_and_mean():
    total = metrics.conditional_log_likelihood_loss(LOG_PROB)
    assert_allclose(total, 6 * np.log(2), rtol=1e-14)
    mean = metrics.conditional_log_likelihood_loss(LOG_PROB, normalize=True)
    assert_allclose(mean, 2 * np.log(2), rtol=1e-14)


def test_a_doubled_row_is_a_row_of_weight_two():
    for normalize in (False, True):
        doubled = metrics.conditional_log_likelihood_loss(
            LOG_PROB[[0, 0, 1, 2]], normalize=normalize
        )
        weighted = metrics.conditional_log_likelihood_loss(
            LOG_PROB, normalize=normalize, sample_weight=[2, 1, 1]
        )
        assert_allclose(weighted, doubled, rtol=1e-14)


def test_an_impossible_set_costs_everything_unless_it_does_not_count():
    log_prob = np.array([-1.0, -np.inf])
    assert metrics.conditional_log_likelihood_loss(log_prob) == np.inf
    assert metrics.conditional_log_likelihood_loss(log_prob, sample_weight=[1, 0]) == 1


@pytest.mark.parametrize("wrong", [[0.5, 0.25], [-1.0, np.nan]])
def test_probabilities_and_nan_are_refused(wrong):
    with pytest.raises(DataError, match="logarithms of probabilities"):
        metrics.conditional_log_likelihood_loss(wrong)


@pytest.mark.parametrize("wrong", [[], [[-1.0]], -1.0])
def test_one_number_per_row(wrong):
    with pytest.raises(DataError, match="one number per row"):
        metrics.conditional_log_likelihood_loss(wrong)


def test_rounding_over_zero_is_forgiven():
    assert_allclose(metrics.conditional_log_likelihood_loss([1e-12]), 0, atol=1e-11)
