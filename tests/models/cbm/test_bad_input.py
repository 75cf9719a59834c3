"""Input of all kinds: it works sensibly, or it is refused with a sentence; nothing becomes NaN."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.errors import DataError

N = 60
QUICK = {"n_components": 4, "max_iter": 3, "n_starts": 2}
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
OTHERS = {
    "elastic": {"learner": "elastic"},
    "boosting": {"learner": "boosting"},
    "scikit-learn": {"learner": DecisionTreeClassifier(max_depth=2, random_state=0)},
    "shared": {"sharing": "labels"},
    "tree": {"gate": "tree"},
}
KINDS = pytest.mark.parametrize("options", [{}, *OTHERS.values()], ids=["logistic", *OTHERS])


def rows(n=N):
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 4))
    Y = X @ random.normal(size=(4, 3)) + 0.5 * random.normal(size=(N, 3)) > 0
    return X[:n], Y[:n].astype(int)


def model(**options):
    return sw.CBM(**QUICK | options)


def numbers(thing, path="model", seen=None):
    """All numbers that an object holds, with the way to them."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray) and thing.dtype.kind == "f":
        yield path, thing
    elif isinstance(thing, float):
        yield path, np.array(thing)
    elif sparse.issparse(thing):
        yield path, thing.data
    elif isinstance(thing, dict):
        for name, part in thing.items():
            yield from numbers(part, f"{path}[{name!r}]", seen)
    elif isinstance(thing, list | tuple):
        for place, part in enumerate(thing):
            yield from numbers(part, f"{path}[{place}]", seen)
    elif hasattr(thing, "__dict__"):
        for name, part in vars(thing).items():
            yield from numbers(part, f"{path}.{name}", seen)


def assert_sound(fitted, X):
    """Everything that was learnt, and everything that it says, is a number."""
    found = list(numbers(fitted))
    assert len(found) > 5
    assert [path for path, values in found if not np.isfinite(values).all()] == []
    p = fitted.predict_proba(X)
    assert ((p >= 0) & (p <= 1)).all()  # NaN is neither
    predicted = fitted.predict(X)
    assert np.isfinite(fitted.predict_dist(X).log_prob(predicted)).all()
    assert set(np.unique(predicted)) <= {0, 1}


def test_the_walk_finds_what_is_hidden():
    X, Y = rows()
    fitted = model().fit(X, Y)
    fitted.members_[0].components_[1].classifiers_.weights_[0, 0] = np.nan
    with pytest.raises(AssertionError, match=r"components_\[1\].classifiers_.weights_"):
        assert_sound(fitted, X)


# Input that works


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


@FORMS
@pytest.mark.parametrize("case", CASES)
def test_it_works(case, form):
    X, Y = case(*rows())
    X = form(X)
    for options in ({}, {"dtype": "float64"}, {"min_responsibility": 0.0, "min_label_share": 0.0}):
        assert_sound(model(**options).fit(X, Y), X)


@FORMS
@pytest.mark.parametrize("options", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("case", CHEAP)
def test_it_works_for_other_learners(case, options, form):
    X, Y = case(*rows())
    X = form(X)
    assert_sound(model(**options).fit(X, Y), X)


@KINDS
def test_a_set_that_all_rows_have_is_predicted(options):
    X, _ = rows()
    for Y in (np.tile([1, 0, 1], (N, 1)), np.zeros((N, 3), int), np.ones((N, 3), int)):
        fitted = model(**options).fit(X, Y)
        np.testing.assert_array_equal(fitted.predict(X), Y)
        assert np.abs(fitted.predict_proba(X) - Y).max() < 0.05


@KINDS
def test_a_label_that_no_row_has_is_unlikely_and_changes_little(options):
    X, Y = rows()
    fitted = model(**options).fit(*labels_without_rows(X, Y))
    assert fitted.predict_proba(X)[:, 3:].max() < 0.05
    assert not fitted.predict(X)[:, 3:].any()
    if "learner" not in options:  # whose trees follow the seed and the order
        alone = model(**options).fit(X, Y)
        assert (fitted.predict(X)[:, :3] == alone.predict(X)).mean() > 0.9


def test_one_row_is_what_is_predicted():
    X, Y = rows()
    for place in range(5):
        fitted = model(n_components=20).fit(X[[place]], Y[[place]])
        np.testing.assert_array_equal(fitted.predict(X[[place]]), Y[[place]])


def test_without_features_it_tells_frequencies():
    X, Y = no_features_but_zeros(*rows())
    for form in (np.asarray, sparse.csr_array):
        p = model().fit(form(X), Y).predict_proba(form(X))
        np.testing.assert_allclose(p, np.tile(Y.mean(axis=0), (N, 1)), atol=0.03)


def test_all_scales_are_learnt_from_alike_in_dense_rows():
    X, Y = rows()
    scaled, _ = different_scales(X, Y)
    for options in ({}, {"learner": "elastic"}, {"sharing": "labels"}, {"gate": "tree"}):
        plain, other = model(**options).fit(X, Y), model(**options).fit(scaled, Y)
        np.testing.assert_allclose(other.predict_proba(scaled), plain.predict_proba(X), atol=0.02)


def test_the_unit_of_sparse_rows_does_not_matter_and_large_columns_do_not_spoil_it():
    X, Y = rows()
    thin = sparse.csr_array(np.where(X > 0, X, 0))
    plain = model().fit(thin, Y)
    for unit in (1e-8, 1e8):
        other = model().fit(thin * unit, Y).predict_proba(thin * unit)
        np.testing.assert_allclose(other, plain.predict_proba(thin), atol=0.02)


@pytest.mark.parametrize("options", [{}, {"learner": "elastic"}, {"gate": "tree"}])
def test_all_scales_are_learnt_from_in_sparse_rows(options):
    X, Y = rows()
    thin = sparse.csr_array(np.where(X > 0, X, 0))
    right = (model(**options).fit(thin, Y).predict(thin) == Y).mean()
    for powers in ([-8, 0, 0, 0], [8, 0, 0, 0], [-8, -3, 2, 8], [-8, -8, 8, 8]):
        other = sparse.csr_array(thin @ sparse.diags_array(10.0 ** np.array(powers)))
        fitted = model(**options, C=100.0).fit(other, Y)
        assert (fitted.predict(other) == Y).mean() > right - 0.05, powers


def test_sparse_columns_of_similar_size_keep_their_proportions():
    X, Y = rows()
    thin = sparse.csr_array(np.where(X > 0, X, 0) * [1, 2, 3, 6])
    scaled = model().fit(thin, Y).scaling_.transform(thin)
    np.testing.assert_allclose(scaled.data / thin.data, scaled.data[0] / thin.data[0], rtol=1e-6)
    assert np.square(scaled.toarray()).sum() == pytest.approx(N, rel=1e-6)
    far = sparse.csr_array(thin.toarray() * [1, 1, 1, 1e6])
    scaled = model().fit(far, Y).scaling_.transform(far).toarray() / np.maximum(far.toarray(), 1e-9)
    factors = scaled.max(axis=0)
    np.testing.assert_allclose(factors[:3], factors[0], rtol=1e-6)
    assert factors[3] < 1e-4 * factors[0]


def test_constant_and_repeated_features_add_nothing():
    X, Y = rows()
    plain = model().fit(X, Y).predict_proba(X)
    more, _ = some_constant_features(X, Y)
    np.testing.assert_allclose(model().fit(more, Y).predict_proba(more), plain, atol=1e-3)
    wide = np.hstack([X, X, X])
    # Each of three copies has a third of the length, so that the penalty is the same.
    np.testing.assert_allclose(model().fit(wide, Y).predict_proba(wide), plain, atol=1e-3)


def test_a_constant_that_changes_in_new_rows_is_no_news():
    X, Y = some_constant_features(*rows())
    fitted = model().fit(X, Y)
    other = X.copy()
    other[:, 4:] = [1e3, -5.0]
    np.testing.assert_array_equal(fitted.predict_proba(other), fitted.predict_proba(X))


# How X comes


@KINDS
def test_rows_may_come_dense_and_go_sparse_or_the_other_way(options):
    X, Y = rows()
    X = np.where(X > -0.5, X + 2, 0)  # a mean that would be missed
    for form, other in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        fitted = model(**options).fit(form(X), Y)
        np.testing.assert_allclose(
            fitted.predict_proba(other(X)), fitted.predict_proba(form(X)), rtol=1e-6
        )
        assert fitted.predict_sets(other(X)) == fitted.predict_sets(form(X))


@KINDS
def test_entries_that_are_stored_in_parts_are_added_up(options):
    X, Y = rows()
    X = sparse.csr_array(np.where(X > 0, X, 0))
    parts = sparse.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )
    assert parts.nnz == 2 * X.nnz
    plain, other = model(**options).fit(X, Y), model(**options).fit(parts, Y)
    np.testing.assert_allclose(other.predict_proba(parts), plain.predict_proba(X), rtol=1e-6)
    assert parts.nnz == 2 * X.nnz  # and the caller's matrix is left alone


# Weights


@KINDS
def test_rows_without_weight_are_as_if_they_were_not_there(options):
    X, Y = rows()
    weight = (np.arange(N) % 3 > 0).astype(float)
    X[weight == 0] *= 50
    Y[weight == 0] = 1 - Y[weight == 0]
    some, none = weight > 0, model(**options, allow_empty=True).fit(X, Y, sample_weight=weight)
    alone = model(**options, allow_empty=True).fit(X[some], Y[some])
    assert_sound(none, X[some])
    np.testing.assert_allclose(none.predict_proba(X[some]), alone.predict_proba(X[some]), atol=1e-5)


@FORMS
@KINDS
def test_one_row_with_weight_is_enough(options, form):
    X, Y = rows()
    weight = np.zeros(N)
    weight[7] = 3.0
    fitted = model(**options).fit(form(X), Y, sample_weight=weight)
    assert_sound(fitted, form(X))
    np.testing.assert_array_equal(fitted.predict(form(X))[7], Y[7])


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_weights_of_any_size_leave_numbers(size):
    X, Y = rows()
    assert_sound(model().fit(X, Y, sample_weight=np.full(N, size)), X)


# Input that is refused

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
def test_it_is_refused_with_a_sentence_and_an_earlier_fit_stays(case):
    X, Y = rows()
    fitted = model().fit(X, Y)
    before, state = fitted.predict_proba(X), dict(vars(fitted))
    make, message = REFUSED[case]
    given, options = make(X, Y)
    with pytest.raises(ValueError, match=message):
        fitted.fit(*given, **options)
    assert vars(fitted) == state
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    with pytest.raises(ValueError, match=message):
        model().fit(*given, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"scale": "none", "learner": "logistic"},
        {"scale": "none", "sharing": "labels"},
    ],
)
@FORMS
def test_numbers_that_are_not_scaled_may_not_overflow_the_precision(options, form):
    X, Y = rows()
    with pytest.raises(DataError, match="sums overflow in float32"):
        model(**options).fit(form(X * 1e30), Y)
    assert_sound(model(**options, dtype="float64").fit(form(X * 1e8), Y), form(X * 1e8))


@pytest.mark.parametrize("learner", ["boosting", DecisionTreeClassifier()])
@FORMS
def test_trees_take_numbers_as_large_as_single_precision_holds(learner, form):
    X, Y = rows()
    fitted = model(learner=learner).fit(form(X * 1e30), Y)
    assert_sound(fitted, form(X * 1e30))
    with pytest.raises(DataError, match="single precision cannot hold"):
        model(learner=learner).fit(form(X * 1e100), Y)


@KINDS
@FORMS
def test_new_rows_far_from_all_others_give_numbers_or_a_sentence(options, form):
    X, Y = rows()
    fitted = model(**options).fit(form(X), Y)
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


@KINDS
@pytest.mark.parametrize(
    "where", ["em.EM._normalise", "model.component_facts", "model.without_idle"]
)
def test_a_fit_that_fails_halfway_leaves_the_earlier_one(options, where, monkeypatch):
    X, Y = rows()
    fitted = model(**options).fit(X, Y)
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
def test_parameters_that_mean_nothing_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        model(**options).fit(*rows())
