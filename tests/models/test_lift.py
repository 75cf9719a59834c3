import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import setwise as sw
from setwise.errors import DataError
from setwise.models import lift
from setwise.models.lift_centres import k_means, squared_distances


def rows(n=120, L=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)) * (random.random((n, 4)) < 0.8)
    return X, (X @ random.normal(size=(4, L)) > 0.5).astype(int)


def test_distances_are_euclidean():
    random = np.random.default_rng(0)
    X, C = random.normal(size=(6, 3)), random.normal(size=(4, 3))
    expected = ((X[:, None] - C) ** 2).sum(axis=2)
    for A in (X, sparse.csr_array(X)):
        for B in (C, sparse.csr_array(C)):
            np.testing.assert_allclose(squared_distances(A, B), expected, rtol=1e-10)


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_centres_are_means_of_their_nearest_rows(as_given):
    X, _ = rows()
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(X))
    centres = k_means(as_given(X), 5, weight, np.random.default_rng(0), max_iter=200)
    nearest = squared_distances(X, centres).argmin(axis=1)
    assert len(np.unique(nearest)) == 5
    for number, centre in enumerate(centres):
        own = nearest == number
        np.testing.assert_allclose(
            np.average(X[own], axis=0, weights=weight[own]), centre, atol=1e-9
        )


def test_clear_clusters_are_found():
    random = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    X = np.repeat(means, 20, axis=0) + random.normal(size=(60, 2))
    centres = k_means(X, 3, np.ones(60), random)
    assert np.sqrt(squared_distances(means, centres)).min(axis=1).max() < 1


def test_more_centres_than_different_rows_are_no_trouble():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 3, axis=0)
    centres = k_means(X, 4, np.ones(6), np.random.default_rng(0))
    assert centres.shape == (4, 2)
    assert squared_distances(X, centres).min(axis=1).max() == 0


def test_every_label_has_so_many_centres_as_the_paper_says():
    X, Y = rows()
    model = sw.LIFT(ratio=0.2, max_centres=None).fit(X, Y)
    rarer = np.minimum(Y.sum(axis=0), (1 - Y).sum(axis=0))
    expected = 2 * np.ceil(0.2 * rarer).astype(int)
    np.testing.assert_array_equal(np.bincount(model.combination_.indices, minlength=3), expected)
    assert model.centres_.shape == (expected.sum(), 4)
    assert sw.LIFT(ratio=0.2, max_centres=2).fit(X, Y).centres_.shape == (12, 4)


def test_it_is_a_logistic_regression_on_standardised_distances():
    X, Y = rows()
    model = sw.LIFT(C=0.5).fit(X, Y)
    own = model.combination_.indices == 1
    distances = np.sqrt(squared_distances(X, model.centres_[own]))
    standard = (distances - distances.mean(axis=0)) / distances.std(axis=0)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=5000).fit(standard, Y[:, 1])
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], theirs.predict_proba(standard)[:, 1], atol=1e-4
    )


def test_it_learns_what_no_linear_model_can():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    Y = np.column_stack([(X**2).sum(axis=1) < 1, X[:, 0] * X[:, 1] > 0]).astype(int)
    model = sw.LIFT(target="hamming", C=10).fit(X[:300], Y[:300])
    linear = sw.BinaryRelevance(target="hamming").fit(X[:300], Y[:300])
    assert sw.metrics.hamming_loss(Y[300:], model.predict(X[300:])) < 0.12
    assert sw.metrics.hamming_loss(Y[300:], linear.predict(X[300:])) > 0.3


def test_sparse_rows_give_the_same_and_centres_stay_sparse_where_they_are_many(monkeypatch):
    X, Y = rows()
    dense = sw.LIFT().fit(X, Y)
    small = sw.LIFT().fit(sparse.csr_array(X), Y)
    monkeypatch.setattr(lift, "DENSE_CELLS", 0)
    large = sw.LIFT().fit(sparse.csr_array(X), Y)
    assert isinstance(small.centres_, np.ndarray)
    assert sparse.issparse(large.centres_)
    for model in (small, large):
        np.testing.assert_allclose(
            model.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-5
        )


def test_a_label_that_all_rows_have_or_none_gets_its_smoothed_frequency():
    X, Y = rows()
    Y[:, 0], Y[:, 1] = 0, 1
    p = sw.LIFT(allow_empty=True).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(p[:, 0], 0.5 / 121, rtol=1e-6)
    np.testing.assert_allclose(p[:, 1], 120.5 / 121, rtol=1e-6)


def test_threads_change_nothing():
    X, Y = rows()
    one, two = (sw.LIFT(n_jobs=n).fit(X, Y).predict_proba(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ratio": 0}, "ratio is over zero"),
        ({"max_centres": 0}, "max_centres"),
        ({"C": -1}, "C is a number over zero"),
        ({"C": "auto"}, "C is a number over zero, not 'auto'"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.LIFT(**settings).fit(*rows())
