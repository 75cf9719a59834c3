"""The power set method: multi-class regression over the label sets that training has."""

import tracemalloc
import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.errors import DataError, NotConverged
from setwise.learners import SoftmaxRegression

SETS = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]])


def rows(n=120, seed=0):
    """Rows of one of four sets each, the likelier the nearer."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    scores = X @ random.normal(size=(4, len(SETS))) + random.gumbel(size=(n, len(SETS)))
    which = scores.argmax(axis=1)
    which[: len(SETS)] = np.arange(len(SETS))  # each is there
    return X, SETS[which], which


def reference(X, which, C, **options):
    return LogisticRegression(C=C, tol=1e-9, max_iter=5000).fit(X, which, **options)


def probabilities(model, X, sets):
    """p(y|x) of each of some sets, (n, m)."""
    dist = model.predict_dist(X)
    return np.stack([np.exp(dist.log_prob(np.tile(one, (X.shape[0], 1)))) for one in sets], axis=1)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_it_is_logistic_regression_with_sets_as_classes(C, as_csr):
    X, Y, which = rows()
    expected = reference(X, which, C).predict_proba(X)
    X = sparse.csr_array(X) if as_csr else X
    # By default the solver ends a little earlier.
    for learner, atol in ((SoftmaxRegression(C, tol=1e-10), 1e-4), ("logistic", 5e-4)):
        model = sw.PowerSet(learner, C=C).fit(X, Y)
        np.testing.assert_allclose(probabilities(model, X, SETS), expected, atol=atol)
        np.testing.assert_allclose(model.predict_proba(X), expected @ SETS, atol=atol)


def test_weights_are_those_of_the_reference():
    X, Y, which = rows()
    weight = np.random.default_rng(1).uniform(0, 3, len(X))
    learner = SoftmaxRegression(1.0, tol=1e-10)
    model = sw.PowerSet(learner).fit(X, Y, sample_weight=weight)
    expected = reference(X, which, 1.0, sample_weight=weight).predict_proba(X)
    np.testing.assert_allclose(probabilities(model, X, SETS), expected, atol=1e-4)


def test_sets_that_training_does_not_have_are_impossible():
    X, Y, _ = rows()
    model = sw.PowerSet().fit(X, Y)
    every = np.array(list(product([0, 1], repeat=3)))
    p = probabilities(model, X, every)
    known = np.array([(one == SETS).all(axis=1).any() for one in every])
    assert known.sum() == len(SETS)
    np.testing.assert_array_equal(p[:, ~known], 0)
    np.testing.assert_allclose(p[:, known].sum(axis=1), 1, rtol=1e-9)
    unseen = model.predict_dist(X).log_prob(np.tile([0, 1, 0], (len(X), 1)))
    np.testing.assert_array_equal(unseen, -np.inf)


def test_predictions_are_the_likeliest_of_the_known_sets():
    X, Y, which = rows()
    model = sw.PowerSet(C=10).fit(X, Y)
    best = reference(X, which, 10).predict(X)
    np.testing.assert_array_equal(model.predict(X), SETS[best])


def test_the_support_is_recorded():
    X, Y, which = rows()
    model = sw.PowerSet().fit(X, Y)
    assert {tuple(one) for one in model.sets_.toarray()} == {tuple(one) for one in SETS}
    assert model.sets_.shape == SETS.shape
    only = sw.PowerSet().fit(X[which == 2], Y[which == 2])
    np.testing.assert_array_equal(only.sets_.toarray(), [[1, 1, 0]])
    np.testing.assert_array_equal(only.predict(X[:3]), [[1, 1, 0]] * 3)


def test_rows_without_weight_add_no_class():
    X, Y, which = rows()
    weight = (which != 1).astype(float)
    model = sw.PowerSet().fit(X, Y, sample_weight=weight)
    without = sw.PowerSet().fit(X[which != 1], Y[which != 1])
    assert model.sets_.shape == (3, 3)
    np.testing.assert_array_equal(probabilities(model, X, SETS[[1]]), 0)
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-6)


def test_an_empty_set_is_a_class_but_may_be_forbidden():
    X, Y, which = rows()
    Y = Y * (which != 0)[:, None]
    free, forbidden = sw.PowerSet().fit(X, Y), sw.PowerSet(allow_empty=False).fit(X, Y)
    assert (free.predict(X).sum(axis=1) == 0).any()
    assert (forbidden.predict(X).sum(axis=1) > 0).all()
    p = probabilities(forbidden, X, SETS)
    rest = probabilities(free, X, SETS[1:])
    np.testing.assert_allclose(p[:, 1:], rest / rest.sum(axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize(
    "learner",
    ["logistic", "elastic", "boosting", DecisionTreeClassifier(max_depth=2, random_state=0)],
    ids=["logistic", "elastic", "boosting", "tree"],
)
def test_any_learner_is_saved_and_loaded(learner, tmp_path):
    X, Y, _ = rows()
    model = sw.PowerSet(learner, max_iter=20, C=1.0).fit(X, [set(np.flatnonzero(y)) for y in Y])
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.sets_.toarray(), model.sets_.toarray())
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict_sets(X) == model.predict_sets(X)
    assert model.score(X, [set(np.flatnonzero(y)) for y in Y]) > 0.4


def many_classes(n=3000, m=2000, L=14, d=6, seed=0):
    """Rows of m sets, of which some come twice and more."""
    random = np.random.default_rng(seed)
    numbers = random.choice(2**L, m, replace=False)
    which = np.concatenate([np.arange(m), random.integers(m, size=n - m)])
    Y = (numbers[which][:, None] >> np.arange(L)) & 1
    X = Y @ random.normal(size=(L, d)) + random.normal(size=(n, d))
    return X, Y.astype(np.int8)


def test_thousands_of_classes_need_no_matrix_of_rows_by_classes():
    X, Y = many_classes()
    sw.PowerSet(dtype="float32").fit(X[:5], Y[:5])  # kernels are loaded and compiled
    model = sw.PowerSet(max_iter=3)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model.fit(X, Y)
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.sets_.shape[0] == 2000
    assert model.gate_.weights_.dtype == np.float32
    assert largest < 3000 * 2000 * 4 / 2  # half of such a matrix in single precision


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_it_learns_what_a_matrix_of_targets_teaches(as_csr):
    X, Y = many_classes(400, 300)
    X = sparse.csr_array(X) if as_csr else X
    sets, which = np.unique(Y, axis=0, return_inverse=True)
    dense = SoftmaxRegression(max_iter=4, tol=0).fit(X, np.eye(len(sets))[which])
    model = sw.PowerSet(SoftmaxRegression(max_iter=4, tol=0)).fit(X, Y)
    order = [tuple(one) for one in model.sets_.toarray()]
    place = np.array([order.index(tuple(one)) for one in sets])
    np.testing.assert_allclose(model.gate_.log_proba(X)[:, place], dense.log_proba(X), atol=1e-6)
    assert model.gate_.objective_ == pytest.approx(dense.objective_, rel=1e-9)


def test_many_rows_are_answered_a_batch_at_a_time(monkeypatch):
    X, Y, _ = rows()
    model = sw.PowerSet().fit(X, Y)
    whole = model.predict_dist(X)
    monkeypatch.setattr("setwise.models.powerset.BATCH_CELLS", 50)
    parts = model.predict_dist(X)
    assert type(parts).__name__ == "Batched"
    np.testing.assert_allclose(parts.marginals(), whole.marginals(), rtol=1e-12)
    np.testing.assert_allclose(parts.log_prob(Y), whole.log_prob(Y), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), whole.mode()[0])


def test_the_precision_can_be_chosen():
    X, Y, _ = rows()
    for dtype, expected in (("auto", np.float64), ("float32", np.float32)):
        assert sw.PowerSet(dtype=dtype).fit(X, Y).gate_.weights_.dtype == expected
    with pytest.raises(DataError, match="dtype"):
        sw.PowerSet(dtype="int8").fit(X, Y)
