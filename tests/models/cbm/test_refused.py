"""Input and parameters that are refused, with a sentence; an earlier fit stays."""

import numpy as np
import pytest
from scipy import sparse

from setwise.errors import DataError

NAN, INF = float("nan"), float("inf")


def with_value(array, value):
    changed = array.astype(float)
    changed[3, 1] = value
    return changed


REFUSED = {
    "NaN in X": (lambda X, Y: ((with_value(X, NAN), Y), {}), "X contains NaN"),
    "infinity in X": (lambda X, Y: ((with_value(X, INF), Y), {}), "X contains infinity"),
    "NaN in sparse X": (
        lambda X, Y: ((sparse.csr_array(with_value(X, NAN)), Y), {}),
        "X contains NaN",
    ),
    "NaN in Y": (lambda X, Y: ((X, with_value(Y, NAN)), {}), "0 or 1|0 and 1"),
    "infinity in Y": (lambda X, Y: ((X, with_value(Y, INF)), {}), "0 or 1|0 and 1"),
    "two in Y": (lambda X, Y: ((X, with_value(Y, 2)), {}), "0 or 1|0 and 1"),
    "minus one in Y": (lambda X, Y: ((X, 2 * Y - 1), {}), "0 or 1|0 and 1"),
    "halves in Y": (lambda X, Y: ((X, with_value(Y, 0.5)), {}), "0 or 1|0 and 1"),
    "flat Y": (lambda X, Y: ((X, Y[:, 0]), {}), "reshape a single 0/1 label"),
    "no Y": (lambda X, Y: ((X, None), {}), "pass the rows' label sets"),
    "no labels": (lambda X, Y: ((X, Y[:, :0]), {}), "pass at least one"),
    "no rows": (lambda X, Y: ((X[:0], Y[:0]), {}), "minimum of 1 is required"),
    "no features": (lambda X, Y: ((X[:, :0], Y), {}), "minimum of 1 is required"),
    "more rows in Y": (lambda X, Y: ((X[:-1], Y), {}), "pass the same rows"),
    "words in X": (lambda X, Y: ((np.full(X.shape, "a"), Y), {}), "could not convert string"),
    "no weight": (
        lambda X, Y: ((X, Y), {"sample_weight": np.zeros(len(X))}),
        "zero everywhere; give some row a weight|at least one non-zero",
    ),
    "weight below zero": (
        lambda X, Y: ((X, Y), {"sample_weight": -np.ones(len(X))}),
        "[Nn]egative",
    ),
    "NaN as weight": (
        lambda X, Y: ((X, Y), {"sample_weight": np.full(len(X), NAN)}),
        "sample_weight contains NaN",
    ),
    "too few weights": (lambda X, Y: ((X, Y), {"sample_weight": np.ones(3)}), "sample_weight"),
    "too few groups": (lambda X, Y: ((X, Y), {"groups": np.ones(3)}), "pass one a row"),
    "huge numbers": (lambda X, Y: ((X * 1e200, Y), {}), "sums overflow in float64"),
    "huge sparse numbers": (
        lambda X, Y: ((sparse.csr_array(X * 1e200), Y), {}),
        "sums overflow in float64",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_a_sentence_and_an_earlier_fit_stays(small_rows, quick, case):
    X, Y = small_rows()
    fitted = quick().fit(X, Y)
    before, state = fitted.predict_proba(X), dict(vars(fitted))
    make, message = REFUSED[case]
    given, options = make(X, Y)
    with pytest.raises(ValueError, match=message):
        fitted.fit(*given, **options)
    assert vars(fitted) == state
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    with pytest.raises(ValueError, match=message):
        quick().fit(*given, **options)


def test_new_rows_far_from_all_others_give_numbers_or_a_sentence(
    small_rows, quick, assert_sound, kind, form
):
    X, Y = small_rows()
    fitted = quick(**kind).fit(form(X), Y)
    far = np.sign(X) * 1e10
    assert_sound(fitted, form(far))
    with pytest.raises(DataError, match="look for wrong entries"):
        fitted.predict(form(np.sign(X) * 1e100))
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(form(with_value(X, NAN)))
    with pytest.raises(ValueError, match="features"):
        fitted.predict(form(X[:, :2]))


def boom(*args, **options):
    raise RuntimeError("boom")


@pytest.mark.parametrize(
    "where", ["em.EM._normalise", "model.component_facts", "model.without_idle"]
)
def test_a_fit_that_fails_halfway_leaves_the_earlier_one(
    small_rows, quick, kind, where, monkeypatch
):
    X, Y = small_rows()
    fitted = quick(**kind).fit(X, Y)
    before, state = fitted.predict_proba(X), dict(vars(fitted))
    monkeypatch.setattr(f"setwise.models.cbm.{where}", boom)
    with pytest.raises(RuntimeError, match="boom"):
        fitted.fit(X[:, :2], 1 - Y[:, :2])
    assert vars(fitted) == state
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"n_components": "many"}, "n_components"),
        ({"C": 0.0}, "C"),
        ({"C": NAN}, "C"),
        ({"C": "strong"}, "C"),
        ({"smoothing": 0.0}, "smoothing must be"),
        ({"smoothing": NAN}, "smoothing must be"),
        ({"smoothing": INF}, "smoothing"),
        ({"l1_ratio": 2.0}, "l1_ratio"),
        ({"tol": NAN}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"min_responsibility": 0.7}, "min_responsibility"),
        ({"min_responsibility": "small"}, "min_responsibility"),
        ({"min_label_share": -0.1}, "min_label_share"),
        ({"max_iter": 0}, "max_iter"),
        ({"dtype": "float16"}, "dtype must be float32 or float64"),
        ({"scale": "most"}, "scale must be one of"),
        ({"sharing": "all"}, "sharing must be"),
        ({"learner": "forest"}, "learner must be one of"),
        ({"gate": "forest"}, "gate must be one of"),
        ({"validation_share": 1.5, "stopping": "held_out"}, "validation_share"),
        ({"allow_empty": "maybe"}, "allow_empty"),
        ({"target": "luck"}, "target"),
        ({"n_samples": 0}, "n_samples"),
    ],
    ids=str,
)
def test_parameters_that_mean_nothing_are_refused(small_rows, quick, options, message):
    with pytest.raises(DataError, match=message):
        quick(**options).fit(*small_rows())
