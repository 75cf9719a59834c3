"""MLkNN and BRkNN against plain counting."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import setwise as sw
from setwise.errors import DataError


def rows(n=80, d=4, L=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.6).astype(int)


def plain_mlknn(X, Y, X_test, k, s, count_self):
    """The posteriors (m, L), row by row and label by label, as in the paper."""
    n, L = Y.shape
    prior = (s + Y.sum(axis=0)) / (2 * s + n)
    having, lacking = np.zeros((L, k + 1)), np.zeros((L, k + 1))
    distance = cdist(X, X)
    if not count_self:
        np.fill_diagonal(distance, np.inf)
    for i in range(n):
        count = Y[np.argsort(distance[i], kind="stable")[:k]].sum(axis=0)
        for label in range(L):
            (having if Y[i, label] else lacking)[label, count[label]] += 1
    p = np.empty((len(X_test), L))
    for i, x in enumerate(X_test):
        near = np.argsort(cdist(x[None], X)[0], kind="stable")[:k]
        for label, j in enumerate(Y[near].sum(axis=0)):
            on = prior[label] * (s + having[label, j]) / (s * (k + 1) + having[label].sum())
            off = (1 - prior[label]) * (s + lacking[label, j])
            off /= s * (k + 1) + lacking[label].sum()
            p[i, label] = on / (on + off)
    return p


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
@pytest.mark.parametrize("count_self", [False, True])
@pytest.mark.parametrize(("k", "s"), [(10, 1.0), (3, 0.2)])
def test_posteriors_are_those_of_the_paper(as_csr, count_self, k, s):
    (X, Y), (X_test, _) = rows(), rows(20, seed=1)
    expected = plain_mlknn(X, Y, X_test, k, s, count_self)
    model = sw.MLkNN(k, smoothing=s, count_self=count_self, allow_empty=True)
    if as_csr:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    p = model.fit(X, Y).predict_proba(X_test)
    np.testing.assert_allclose(p, expected, atol=1e-10)


def test_tables_are_distributions():
    X, Y = rows()
    model = sw.MLkNN(4).fit(X, Y)
    assert model.given_label_.shape == (5, 5)
    np.testing.assert_allclose(model.given_label_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.given_none_.sum(axis=1), 1, rtol=1e-12)


def test_a_row_that_knows_itself_takes_neighbours_for_surer_than_they_are():
    X, Y = rows(seed=3)
    odds = [sw.MLkNN(1, count_self=own, allow_empty=True).fit(X, Y).log_odds_ for own in (0, 1)]
    assert (np.abs(odds[1]) > np.abs(odds[0])).all()


def test_weights_count_rows_but_not_neighbours():
    X, Y = rows()
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    model = sw.MLkNN(3).fit(X, Y, sample_weight=weight)
    kept = weight > 0
    np.testing.assert_array_equal(model.rows_, X[kept])
    np.testing.assert_allclose(model.prior_, (1 + weight @ Y) / (2 + weight.sum()), rtol=1e-12)


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_brknn_is_the_share_of_the_neighbours(as_csr):
    (X, Y), (X_test, _) = rows(), rows(20, seed=1)
    near = np.argsort(cdist(X_test, X), axis=1)[:, :7]
    share = Y[near].mean(axis=1)
    if as_csr:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    model = sw.BRkNN(7, smoothing=0.25, allow_empty=True, target="hamming").fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X_test), (7 * share + 0.25) / 7.5, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X_test), share > 0.5)


def test_a_heavy_neighbour_counts_for_more():
    X = np.array([[0.0], [1.0], [10.0]])
    Y = np.array([[1, 0], [0, 1], [1, 1]])
    model = sw.BRkNN(2, smoothing=1e-9, allow_empty=True)
    p = model.fit(X, Y, sample_weight=[3.0, 1.0, 1.0]).predict_proba(np.array([[0.4]]))
    np.testing.assert_allclose(p, [[0.75, 0.25]], atol=1e-6)


@pytest.mark.parametrize("model", [sw.MLkNN, sw.BRkNN])
def test_more_neighbours_than_rows_are_all_of_them(model):
    X, Y = rows(6)
    many = model(50, allow_empty=True).fit(X, Y)
    assert many.n_neighbours_ == (5 if model is sw.MLkNN else 6)
    assert many.predict(X).shape == Y.shape


@pytest.mark.parametrize("model", [sw.MLkNN, sw.BRkNN])
def test_odd_settings_are_refused_in_a_sentence(model):
    X, Y = rows(10)
    for odd in ({"k": 0}, {"k": 2.5}, {"smoothing": 0}, {"smoothing": "some"}, {"smoothing": None}):
        with pytest.raises(DataError, match=next(iter(odd))):
            model(**odd).fit(X, Y)


@pytest.mark.parametrize("model", [sw.MLkNN, sw.BRkNN])
def test_frames_and_names_go_in_and_out(model):
    pandas = pytest.importorskip("pandas")
    X, Y = rows()
    frame = pandas.DataFrame(Y, columns=list("abcde"))
    predicted = (
        model()
        .fit(pandas.DataFrame(X, columns=list("wxyz")), frame)
        .predict(pandas.DataFrame(X, columns=list("wxyz")))
    )
    assert list(predicted.columns) == list("abcde")
    np.testing.assert_array_equal(predicted.to_numpy(), model().fit(X, Y).predict(X))
