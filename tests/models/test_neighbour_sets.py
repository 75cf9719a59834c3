"""LPkNN against plain counting of its neighbours' sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist

import setwise as sw
from setwise.errors import DataError
from setwise.learners.nearest import nearest_with_distances
from setwise.models.neighbour_sets import DECAYS, SMOOTHINGS, likeliest_votes, votes


def rows(n=80, d=4, L=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.6).astype(int)


def plain(model, X, Y, X_test, weight=None):
    """p(y|x) of all 2^L sets, (m, 2^L), one neighbour after another."""
    weight = np.ones(len(X)) if weight is None else weight
    number = Y @ 2 ** np.arange(Y.shape[1])
    p = np.empty((len(X_test), 2 ** Y.shape[1]))
    prior = np.bincount(number, weight, minlength=p.shape[1]) / weight.sum()
    for i, x in enumerate(X_test):
        squared = cdist(x[None], X)[0] ** 2
        near = np.argsort(squared, kind="stable")[: model.k]
        p[i] = model.smoothing_ * prior
        for j in near:
            vote = np.exp(model.decay_ * (1 - squared[j] / model.typical_))
            p[i, number[j]] += weight[j] * vote
        p[i] /= p[i].sum()
    return p


def all_sets(L):
    return (np.arange(2**L)[:, None] >> np.arange(L)) & 1


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
@pytest.mark.parametrize("settings", [{}, {"decay": 0.0, "smoothing": 0.5}, {"decay": 5.0}])
def test_probabilities_of_all_sets_are_counted(as_csr, settings):
    (X, Y), (X_test, _) = rows(), rows(20, seed=1)
    model = sw.LPkNN(7, allow_empty=True, **settings)
    if as_csr:
        fitted = model.fit(sparse.csr_array(X), Y)
        dist = fitted.predict_dist(sparse.csr_array(X_test))
    else:
        dist = model.fit(X, Y).predict_dist(X_test)
    expected = plain(model, X, Y, X_test)
    for number, labels in enumerate(all_sets(3)):
        said = np.exp(dist.log_prob(np.tile(labels, (20, 1))))
        assert_allclose(said, expected[:, number], atol=1e-10)
    assert_allclose(dist.marginals(), expected @ all_sets(3), atol=1e-10)


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_by_cosine_the_length_of_rows_does_not_matter(as_csr):
    (X, Y), (X_test, _) = rows(), rows(20, seed=1)
    made = sparse.csr_array if as_csr else np.asarray
    length = np.random.default_rng(3).uniform(0.1, 10, size=(80, 1))
    expected = sw.LPkNN(7).fit(X / np.linalg.norm(X, axis=1, keepdims=True), Y)
    X_one = X_test / np.linalg.norm(X_test, axis=1, keepdims=True)
    model = sw.LPkNN(7, metric="cosine").fit(made(X * length), Y)
    assert_allclose(model.predict_proba(made(5 * X_test)), expected.predict_proba(X_one), atol=1e-9)
    assert sparse.issparse(model.rows_) == as_csr


def test_new_rows_may_be_sparse_where_training_was_not():
    (X, Y), (X_test, _) = rows(), rows(20, seed=1)
    X, X_test = np.rint(3 * X), np.rint(3 * X_test)
    for made, other in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        model = sw.LPkNN(7).fit(made(X), Y)
        assert_allclose(
            model.predict_proba(other(X_test)), model.predict_proba(made(X_test)), atol=1e-9
        )


def test_weights_count_as_votes():
    (X, Y), (X_test, _) = rows(), rows(10, seed=1)
    weight = np.random.default_rng(2).integers(0, 3, size=len(X)).astype(float)
    model = sw.LPkNN(7, decay=2.0, smoothing=1.0, allow_empty=True).fit(X, Y, sample_weight=weight)
    kept = weight > 0
    expected = plain(model, X[kept], Y[kept], X_test, weight[kept])
    assert_allclose(model.predict_proba(X_test), expected @ all_sets(3), atol=1e-10)


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_chosen_votes_make_rows_likeliest(seed, k):
    random = np.random.default_rng(seed)
    agree = random.random((30, k)) < 0.5
    squared, weight = random.random((30, k)), random.integers(1, 3, (30, k)).astype(float)
    prior = random.choice([0.0, 0.1, 0.3], 30)
    decay, s = likeliest_votes(agree, squared, weight, prior, typical=0.5)
    counted = (prior > 0) | agree.any(axis=1)

    def likelihood(decay, s):
        w = weight * np.exp(decay * (1 - squared / 0.5))
        p = ((w * agree).sum(axis=1) + s * prior) / (w.sum(axis=1) + s)
        return np.log(p[counted]).mean()

    best = max(
        likelihood(*pair) for pair in np.array(np.meshgrid(DECAYS, SMOOTHINGS)).T.reshape(-1, 2)
    )
    assert_allclose(likelihood(decay, s), best, rtol=1e-9)


def test_what_is_given_stays_and_the_other_is_chosen_for_it():
    X, Y = rows(200)
    steep, smooth = (
        sw.LPkNN(decay=32.0).fit(X, Y),
        sw.LPkNN(smoothing=100.0).fit(X, Y),
    )
    assert (steep.decay_, smooth.smoothing_) == (32.0, 100.0)
    both = sw.LPkNN().fit(X, Y)
    assert steep.smoothing_ > both.smoothing_  # as steep votes are large
    assert smooth.decay_ != both.decay_


def test_judges_count_by_their_weight():
    """The same rows, of which those that agree count for more, or those that do not."""
    agree = np.repeat([[True], [False]], 20, axis=0)
    squared, weight, prior = np.ones((40, 1)), np.ones((40, 1)), np.full(40, 0.1)
    heavy = np.where(agree[:, 0], 50.0, 1.0)
    trusting = likeliest_votes(agree, squared, weight, prior, 1.0, judges=heavy)
    doubting = likeliest_votes(agree, squared, weight, prior, 1.0, judges=heavy[::-1])
    assert trusting[1] < doubting[1]


def test_a_decay_that_is_given_counts_where_no_row_can_be_held_out():
    X, Y = rows()
    flat, steep = (sw.LPkNN(20, decay=decay).fit(X, Y, groups=np.zeros(80)) for decay in (0.0, 8.0))
    assert steep.typical_ > 0
    assert np.abs(steep.predict_proba(X) - flat.predict_proba(X)).max() > 0.1


def test_many_sets_are_answered_in_batches(monkeypatch):
    (X, Y), (X_test, _) = rows(), rows(20, seed=1)
    model = sw.LPkNN(7, allow_empty=False).fit(X, Y)
    whole = model.predict_dist(X_test)
    monkeypatch.setattr("setwise.models.neighbour_sets.BATCH_CELLS", 5 * model.sets_.shape[0])
    parts = model.predict_dist(X_test)
    assert type(parts) is not type(whole)
    assert_allclose(parts.marginals(), whole.marginals(), rtol=1e-12)
    assert parts.mode()[0].any(axis=1).all()  # no empty set


def test_near_copies_in_a_group_do_not_make_it_trust_its_neighbours():
    """Rows come in pairs of copies with the same random set, which other rows do not share."""
    random = np.random.default_rng(0)
    X, number = random.normal(size=(150, 3)).repeat(2, axis=0), np.arange(150).repeat(2)
    Y = random.integers(0, 2, size=(150, 4)).repeat(2, axis=0)
    alone = sw.LPkNN(5).fit(X, Y)
    grouped = sw.LPkNN(5).fit(X, Y, groups=number)
    assert alone.decay_ >= 8
    assert grouped.decay_ <= 2


def test_votes_stay_finite_and_are_alike_where_all_rows_are_one():
    assert np.isfinite(votes(np.array([[0.0, 1e-300]]), 1e-300, 1e6)).all()
    X, (_, Y) = np.zeros((40, 2)), rows(40)
    p = sw.LPkNN(40, allow_empty=True).fit(X, Y).predict_proba(X[:1])
    assert_allclose(p[0], Y.mean(axis=0), atol=1e-10)


def test_one_row_is_learnt_by_heart():
    model = sw.LPkNN().fit(np.zeros((1, 2)), [{"a"}])
    assert model.predict_sets(np.ones((2, 2))) == [("a",), ("a",)]


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_distances_are_true(as_csr):
    X, asking = rows()[0], rows(9, seed=1)[0]
    made = sparse.csr_array if as_csr else np.asarray
    numbers, squared = nearest_with_distances(made(asking), made(X), 5)
    expected = cdist(asking, X) ** 2
    assert_allclose(squared, np.sort(expected, axis=1)[:, :5], rtol=1e-9)
    assert_allclose(np.take_along_axis(expected, numbers, axis=1), squared, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k is a whole number from 1 up"),
        ({"metric": "far"}, "metric must be one of"),
        ({"decay": -1.0}, "decay is a number from zero up"),
        ({"decay": "fast"}, "decay is a number from zero up"),
        ({"smoothing": 0.0}, "smoothing"),
    ],
)
def test_odd_settings_get_a_sentence(settings, message):
    with pytest.raises(DataError, match=message):
        sw.LPkNN(**settings).fit(*rows())
