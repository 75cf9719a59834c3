import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from setwise.errors import DataError
from setwise.learners.bank_inputs import (
    check_distributions,
    check_rows,
    check_targets,
    check_values,
    check_weights,
    column,
    share_of_absent,
    smoothed_log_odds,
)
from setwise.learners.in_threads import in_threads, thread_count


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_rows([1.0, 2.0]), "X must be"),
        (lambda: check_rows([[np.nan]]), "X holds a NaN"),
        (lambda: check_rows(sparse.csr_array([[np.inf]])), "X holds a NaN"),
        (lambda: check_rows([[1.0, 2.0]], 3), "2 features but the learner was fitted on 3"),
        (lambda: check_targets([[0], [1]], 3), "2 rows but X has 3"),
        (lambda: check_targets([[0], [-1]], 2), "targets must lie in"),
        (lambda: check_targets([[0, 1]], 1, 3), "2 targets but the fitted state has 3"),
        (lambda: check_values([[np.nan]], 1), "targets hold a NaN"),
        (lambda: check_values(np.zeros((2, 2, 2)), 2), "T must be"),
        (lambda: check_distributions([[0.5, 0.4]], 1), "row 0 of T sums to 0.9"),
        (lambda: check_weights([1.0, 2.0], 3, 1), "sample_weight has shape"),
        (lambda: check_weights([1.0, -2.0], 2, 1), "must be finite and not negative"),
        (lambda: check_weights([[0.0, 1.0]], 1, 2), "weights of a target are all zero"),
        (lambda: thread_count(0), "n_jobs must not be 0"),
    ],
)
def test_bad_input_gets_a_sentence(check, message):
    with pytest.raises(DataError, match=message):
        check()


def test_containers_and_precision_stay():
    assert check_rows(np.ones((2, 2), np.float32)).dtype == np.float32
    assert check_rows(sparse.coo_array([[1, 2]])).format == "csr"
    assert check_targets([0, 1], 2).shape == (2, 1)
    assert check_weights(None, 3, 2).shape == (3, 1)


def test_repeated_entries_and_wide_indices_are_put_right():
    repeated = sparse.csr_array(
        (np.ones(3), np.array([1, 1, 0], np.int64), np.array([0, 3], np.int64)), (1, 2)
    )
    rows = check_rows(repeated)
    np.testing.assert_array_equal(rows.toarray(), [[1.0, 2.0]])
    assert (rows.nnz, rows.indices.dtype, repeated.nnz) == (2, np.int32, 3)


def test_columns_of_dense_and_sparse_are_the_same():
    T = np.array([[0.0, 0.5], [1.0, 0.0]])
    for number in range(2):
        np.testing.assert_array_equal(column(sparse.csc_array(T), number), T[:, number])
        np.testing.assert_array_equal(column(T, number), T[:, number])
    np.testing.assert_array_equal(column(np.ones((3, 1)), 7), np.ones(3))


def test_smoothing_is_finite_and_sums_to_one():
    np.testing.assert_allclose(expit(smoothed_log_odds(3.0, 3.0)), 3.5 / 4, rtol=1e-12)
    mass = np.array([2.0, 0.0, 0.0])
    assert 0 < share_of_absent(mass).sum() < 1


def test_tasks_come_back_in_order():
    assert in_threads(lambda i: i * i, 5, 2) == [0, 1, 4, 9, 16]
    assert thread_count(-1) == thread_count(None) >= 1
