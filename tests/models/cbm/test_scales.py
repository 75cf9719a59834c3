"""Features of any scale, and constant ones: what they change, and what they do not."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from setwise.errors import DataError


def different_scales(X, Y):
    return X * 10.0 ** np.array([-8, -3, 2, 8]), Y


def some_constant_features(X, Y):
    return np.hstack([X, np.full((len(X), 1), 7.3), np.zeros((len(X), 1))]), Y


def test_all_scales_are_learnt_from_alike_in_dense_rows(small_rows, quick):
    X, Y = small_rows()
    scaled, _ = different_scales(X, Y)
    for options in ({}, {"learner": "elastic"}, {"sharing": "labels"}, {"gate": "tree"}):
        plain, other = quick(**options).fit(X, Y), quick(**options).fit(scaled, Y)
        np.testing.assert_allclose(other.predict_proba(scaled), plain.predict_proba(X), atol=0.02)


def test_the_unit_of_sparse_rows_does_not_matter_and_large_columns_do_not_spoil_it(
    small_rows, quick
):
    X, Y = small_rows()
    thin = sparse.csr_array(np.where(X > 0, X, 0))
    plain = quick().fit(thin, Y)
    for unit in (1e-8, 1e8):
        other = quick().fit(thin * unit, Y).predict_proba(thin * unit)
        np.testing.assert_allclose(other, plain.predict_proba(thin), atol=0.02)


@pytest.mark.parametrize("options", [{}, {"learner": "elastic"}, {"gate": "tree"}])
def test_all_scales_are_learnt_from_in_sparse_rows(small_rows, quick, options):
    X, Y = small_rows()
    thin = sparse.csr_array(np.where(X > 0, X, 0))
    right = (quick(**options).fit(thin, Y).predict(thin) == Y).mean()
    for powers in ([-8, 0, 0, 0], [8, 0, 0, 0], [-8, -3, 2, 8], [-8, -8, 8, 8]):
        other = sparse.csr_array(thin @ sparse.diags_array(10.0 ** np.array(powers)))
        fitted = quick(**options, C=100.0).fit(other, Y)
        assert (fitted.predict(other) == Y).mean() > right - 0.05, powers


def test_sparse_columns_of_similar_size_keep_their_proportions(small_rows, quick):
    X, Y = small_rows()
    thin = sparse.csr_array(np.where(X > 0, X, 0) * [1, 2, 3, 6])
    scaled = quick().fit(thin, Y).scaling_.transform(thin)
    np.testing.assert_allclose(scaled.data / thin.data, scaled.data[0] / thin.data[0], rtol=1e-6)
    assert np.square(scaled.toarray()).sum() == pytest.approx(len(Y), rel=1e-6)
    far = sparse.csr_array(thin.toarray() * [1, 1, 1, 1e6])
    scaled = quick().fit(far, Y).scaling_.transform(far).toarray() / np.maximum(far.toarray(), 1e-9)
    factors = scaled.max(axis=0)
    np.testing.assert_allclose(factors[:3], factors[0], rtol=1e-6)
    assert factors[3] < 1e-4 * factors[0]


def test_constant_and_repeated_features_add_nothing(small_rows, quick):
    X, Y = small_rows()
    plain = quick().fit(X, Y).predict_proba(X)
    more, _ = some_constant_features(X, Y)
    np.testing.assert_allclose(quick().fit(more, Y).predict_proba(more), plain, atol=1e-3)
    wide = np.hstack([X, X, X])
    # Each of three copies has a third of the length, so that the penalty is the same.
    np.testing.assert_allclose(quick().fit(wide, Y).predict_proba(wide), plain, atol=1e-3)


def test_a_constant_that_changes_in_new_rows_is_no_news(small_rows, quick):
    X, Y = some_constant_features(*small_rows())
    fitted = quick().fit(X, Y)
    other = X.copy()
    other[:, 4:] = [1e3, -5.0]
    np.testing.assert_array_equal(fitted.predict_proba(other), fitted.predict_proba(X))


@pytest.mark.parametrize(
    "options",
    [
        {"scale": "none", "learner": "logistic"},
        {"scale": "none", "sharing": "labels"},
    ],
)
def test_numbers_that_are_not_scaled_may_not_overflow_the_precision(
    small_rows, quick, assert_sound, options, form
):
    X, Y = small_rows()
    with pytest.raises(DataError, match="sums overflow in float32"):
        quick(**options).fit(form(X * 1e30), Y)
    assert_sound(quick(**options, dtype="float64").fit(form(X * 1e8), Y), form(X * 1e8))


@pytest.mark.parametrize("learner", ["boosting", DecisionTreeClassifier()])
def test_trees_take_numbers_as_large_as_single_precision_holds(
    small_rows, quick, assert_sound, learner, form
):
    X, Y = small_rows()
    fitted = quick(learner=learner).fit(form(X * 1e30), Y)
    assert_sound(fitted, form(X * 1e30))
    with pytest.raises(DataError, match="single precision cannot hold"):
        quick(learner=learner).fit(form(X * 1e100), Y)
