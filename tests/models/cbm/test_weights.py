"""Weights of rows: none, few, tiny and large."""

import numpy as np
import pytest


def test_rows_without_weight_are_as_if_they_were_not_there(small_rows, quick, assert_sound, kind):
    X, Y = small_rows()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    X[weight == 0] *= 50
    Y[weight == 0] = 1 - Y[weight == 0]
    some, none = weight > 0, quick(**kind, allow_empty=True).fit(X, Y, sample_weight=weight)
    alone = quick(**kind, allow_empty=True).fit(X[some], Y[some])
    assert_sound(none, X[some])
    np.testing.assert_allclose(none.predict_proba(X[some]), alone.predict_proba(X[some]), atol=1e-5)


def test_one_row_with_weight_is_enough(small_rows, quick, assert_sound, kind, form):
    X, Y = small_rows()
    weight = np.zeros(len(X))
    weight[7] = 3.0
    fitted = quick(**kind).fit(form(X), Y, sample_weight=weight)
    assert_sound(fitted, form(X))
    np.testing.assert_array_equal(fitted.predict(form(X))[7], Y[7])


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_weights_of_any_size_leave_numbers(small_rows, quick, assert_sound, size):
    X, Y = small_rows()
    assert_sound(quick().fit(X, Y, sample_weight=np.full(len(X), size)), X)


def test_rows_without_weight_may_hold_any_number(small_rows, quick, assert_sound, kind, form):
    X, Y = small_rows()
    weight = np.ones(len(X))
    weight[[0, 7]] = 0
    days = np.datetime64("2026-01-01") + np.arange(len(X)) // 3
    far = X.copy()
    far[[0, 7], 1] = [1e200, -1e200]
    busy = weight > 0
    for options in ({}, {"scale": "none", "stopping": "held_out"}, {"bootstrap": True}):
        model = quick(**kind, **options, allow_empty=True)
        alone = model.fit(form(X[busy]), Y[busy], groups=days[busy]).predict_proba(form(X))
        model.fit(form(far), Y, sample_weight=weight, groups=days)
        assert_sound(model, form(X))
        np.testing.assert_array_equal(model.predict_proba(form(X)), alone)
