import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from setwise.learners import nearest
from setwise.learners.nearest import nearest_rows


def by_sorting(asking, X, k, own=False):
    distance = cdist(asking, X)
    if own:
        np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :k]


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def container(request):
    return request.param


@pytest.mark.parametrize("own", [False, True])
def test_they_are_those_of_a_sorted_list(container, own, monkeypatch):
    monkeypatch.setattr(nearest, "BLOCK_CELLS", 200)  # many blocks, the last of them short
    random = np.random.default_rng(0)
    X = random.normal(size=(61, 7)) * (random.random((61, 7)) < 0.6)
    asking = X if own else random.normal(size=(13, 7))
    found = nearest_rows(container(asking), container(X), 5, own=own)
    np.testing.assert_array_equal(found, by_sorting(asking, X, 5, own))


def test_of_equal_rows_the_first_are_taken(container):
    X = np.repeat([[0.1, 0.7], [5.3, 1.1]], 6, axis=0)[[0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]]
    found = nearest_rows(container(X[:2]), container(X), 4)
    np.testing.assert_array_equal(found, [[0, 2, 4, 6], [1, 3, 5, 7]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "values"), [(60, 4, 3), (300, 8, 2)])
def test_of_whole_numbers_that_tie_the_first_are_taken(container, n, d, values, dtype):
    """Far more rows tie than are picked to be put in order by their true distances."""
    X = np.random.default_rng(3).integers(0, values, size=(n, d)).astype(dtype)
    stored = container(X)
    np.testing.assert_array_equal(
        nearest_rows(stored, stored, 5, own=True), by_sorting(X, X, 5, own=True)
    )
    np.testing.assert_array_equal(nearest_rows(stored[:20], stored, 5), by_sorting(X[:20], X, 5))


def test_whole_numbers_far_from_the_origin_tie_as_well():
    X = 1e8 + np.random.default_rng(0).integers(0, 2, size=(300, 8))
    np.testing.assert_array_equal(nearest_rows(X, X, 5, own=True), by_sorting(X, X, 5, own=True))


def test_far_from_the_origin_rounding_does_not_decide():
    X = 1e8 + np.random.default_rng(0).normal(size=(40, 3))
    np.testing.assert_array_equal(nearest_rows(X, X, 3, own=True), by_sorting(X, X, 3, own=True))
    single = (1000 + np.random.default_rng(0).normal(size=(300, 3))).astype(np.float32)
    expected = by_sorting(single.astype(np.float64), single.astype(np.float64), 3)
    np.testing.assert_array_equal(nearest_rows(single, single, 3), expected)


def test_all_rows_and_none(container):
    X = container(np.arange(4.0)[:, None])
    np.testing.assert_array_equal(nearest_rows(X, X, 3, own=True)[0], [1, 2, 3])
    assert nearest_rows(X, X, 0).shape == (4, 0)
    assert nearest_rows(X[:0], X, 2).shape == (0, 2)


def test_threads_make_no_difference(container, monkeypatch):
    monkeypatch.setattr(nearest, "BLOCK_CELLS", 100)
    X = container(np.random.default_rng(0).normal(size=(50, 4)))
    np.testing.assert_array_equal(nearest_rows(X, X, 4, n_jobs=1), nearest_rows(X, X, 4, n_jobs=3))
