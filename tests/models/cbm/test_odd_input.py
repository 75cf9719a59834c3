"""Input of all kinds works sensibly; nothing becomes NaN."""

import numpy as np
import pytest
from scipy import sparse


def test_the_walk_finds_what_is_hidden(small_rows, quick, assert_sound):
    X, Y = small_rows()
    fitted = quick().fit(X, Y)
    fitted.members_[0].components_[1].classifiers_.weights_[0, 0] = np.nan
    with pytest.raises(AssertionError, match=r"components_\[1\].classifiers_.weights_"):
        assert_sound(fitted, X)


def some_rows_without_labels(X, Y):
    return X, Y * (np.arange(len(Y)) % 3 > 0)[:, None]


def labels_without_rows(X, Y):
    return X, np.hstack([Y, np.zeros((len(Y), 2), int)])


def labels_of_all_rows(X, Y):
    return X, np.hstack([Y, np.ones((len(Y), 2), int)])


def one_label(X, Y):
    return X, Y[:, :1]


def one_row(X, Y):
    return X[:1], Y[:1]


def fewer_rows_than_components(X, Y):
    return X[:3], Y[:3]


def one_feature(X, Y):
    return X[:, :1], Y


def repeated_columns(X, Y):
    return np.hstack([X, X, X]), np.hstack([Y, Y])


def repeated_rows(X, Y):
    return np.repeat(X[:5], 20, axis=0), np.repeat(Y[:5], 20, axis=0)


def some_constant_features(X, Y):
    return np.hstack([X, np.full((len(X), 1), 7.3), np.zeros((len(X), 1))]), Y


def only_constant_features(X, Y):
    return np.full((len(X), 2), 7.3), Y


def no_features_but_zeros(X, Y):
    return np.zeros((len(X), 2)), Y


def different_scales(X, Y):
    return X * 10.0 ** np.array([-8, -3, 2, 8]), Y


def a_large_mean(X, Y):
    return X + 1e6, Y


def one_far_row(X, Y):
    X = X.copy()
    X[3, 1] = 1e12
    return X, Y


def large_single_precision(X, Y):
    return (X * 1e30).astype(np.float32), Y


def the_same_set_everywhere(X, Y):
    return X, np.tile([1, 0, 1], (len(Y), 1))


def empty_sets_only(X, Y):
    return X, np.zeros_like(Y)


def full_sets_only(X, Y):
    return X, np.ones_like(Y)


CHEAP = [
    some_rows_without_labels,
    labels_without_rows,
    one_row,
    fewer_rows_than_components,
    only_constant_features,
    different_scales,
    the_same_set_everywhere,
]


CASES = [
    *CHEAP,
    labels_of_all_rows,
    one_label,
    one_feature,
    repeated_columns,
    repeated_rows,
    some_constant_features,
    no_features_but_zeros,
    a_large_mean,
    one_far_row,
    large_single_precision,
    empty_sets_only,
    full_sets_only,
]


@pytest.mark.parametrize("case", CASES)
def test_it_works(small_rows, quick, assert_sound, case, form):
    X, Y = case(*small_rows())
    X = form(X)
    for options in ({}, {"dtype": "float64"}, {"min_responsibility": 0.0, "min_label_share": 0.0}):
        assert_sound(quick(**options).fit(X, Y), X)


@pytest.mark.parametrize("case", CHEAP)
def test_it_works_for_other_learners(small_rows, quick, assert_sound, case, kind, form):
    X, Y = case(*small_rows())
    X = form(X)
    assert_sound(quick(**kind).fit(X, Y), X)


def test_a_set_that_all_rows_have_is_predicted(small_rows, quick, kind):
    X, _ = small_rows()
    for row in ([1, 0, 1], [0, 0, 0], [1, 1, 1]):
        Y = np.tile(row, (len(X), 1))
        fitted = quick(**kind).fit(X, Y)
        np.testing.assert_array_equal(fitted.predict(X), Y)
        assert np.abs(fitted.predict_proba(X) - Y).max() < 0.05


def test_a_label_that_no_row_has_is_unlikely_and_changes_little(small_rows, quick, kind):
    X, Y = small_rows()
    fitted = quick(**kind).fit(*labels_without_rows(X, Y))
    assert fitted.predict_proba(X)[:, 3:].max() < 0.05
    assert not fitted.predict(X)[:, 3:].any()
    if "learner" not in kind:  # whose trees follow the seed and the order
        alone = quick(**kind).fit(X, Y)
        assert (fitted.predict(X)[:, :3] == alone.predict(X)).mean() > 0.9


def test_one_row_is_what_is_predicted(small_rows, quick):
    X, Y = small_rows()
    for place in range(5):
        fitted = quick(n_components=20).fit(X[[place]], Y[[place]])
        np.testing.assert_array_equal(fitted.predict(X[[place]]), Y[[place]])


def test_without_features_it_tells_frequencies(small_rows, quick):
    X, Y = no_features_but_zeros(*small_rows())
    for form in (np.asarray, sparse.csr_array):
        p = quick().fit(form(X), Y).predict_proba(form(X))
        np.testing.assert_allclose(p, np.tile(Y.mean(axis=0), (len(X), 1)), atol=0.03)


def test_rows_may_come_dense_and_go_sparse_or_the_other_way(small_rows, quick, kind):
    X, Y = small_rows()
    X = np.where(X > -0.5, X + 2, 0)  # a mean that would be missed
    for form, other in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        fitted = quick(**kind).fit(form(X), Y)
        np.testing.assert_allclose(
            fitted.predict_proba(other(X)), fitted.predict_proba(form(X)), rtol=1e-6
        )
        assert fitted.predict_sets(other(X)) == fitted.predict_sets(form(X))


def test_entries_that_are_stored_in_parts_are_added_up(small_rows, quick, kind):
    X, Y = small_rows()
    X = sparse.csr_array(np.where(X > 0, X, 0))
    parts = sparse.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )
    assert parts.nnz == 2 * X.nnz
    plain, other = quick(**kind).fit(X, Y), quick(**kind).fit(parts, Y)
    np.testing.assert_allclose(other.predict_proba(parts), plain.predict_proba(X), rtol=1e-6)
    assert parts.nnz == 2 * X.nnz  # and the caller's matrix is left alone
