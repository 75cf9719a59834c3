"""Classifier chains: against scikit-learn's, orders, searches, odd input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as TheirChain

import setwise as sw
from setwise.distributions.chain_search import SEARCHES
from setwise.errors import DataError, LabelMismatch
from setwise.models.chains import ClassifierChain
from setwise.models.chains.order import learn_order


def rows(n=150, d=4, L=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.3).astype(int)
    Y[:, L - 1] = (Y[:, 0] + Y[:, 1] + random.normal(0, 0.3, n) > 0.5) & (Y[:, 2] == 0)
    return X, Y


def test_greedy_in_the_given_order_is_scikit_learns_chain():
    X, Y = rows()
    order = [3, 1, 4, 0, 2]
    theirs = TheirChain(LogisticRegression(C=0.7, tol=1e-9, max_iter=1000), order=order).fit(X, Y)
    ours = ClassifierChain(order, search="greedy", C=0.7, C_labels=0.7).fit(X, Y)
    assert ours.order_.tolist() == order
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for place, label in enumerate(order):
        coefficients = theirs.estimators_[place].coef_[0]
        np.testing.assert_allclose(ours.weights_[:, label], coefficients[:4], atol=2e-3)
        parents = ours.label_weights_[order[:place], label]
        np.testing.assert_allclose(parents, coefficients[4:], atol=2e-3)


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_predicts_and_exact_ones_agree(search):
    X, Y = rows()
    model = ClassifierChain(search=search, C=10).fit(X, Y)
    exact = ClassifierChain(search="exhaustive", C=10).fit(X, Y).predict_dist(X)
    log_prob = model.predict_dist(X).mode()[1]
    assert (log_prob <= exact.mode()[1] + 1e-9).all()
    if search in ("a_star", "uniform_cost", "beam"):
        np.testing.assert_array_equal(model.predict(X), exact.mode()[0])


def test_orders():
    X, Y = rows()
    Y[:, 3] = np.arange(len(Y)) % 10 == 0
    by_count = ClassifierChain("frequency").fit(X, Y).order_
    assert (np.diff(Y.sum(axis=0)[by_count]) <= 0).all()
    assert ClassifierChain("given").fit(X, Y).order_.tolist() == [0, 1, 2, 3, 4]
    first, second = (ClassifierChain("random", random_state=s).fit(X, Y).order_ for s in (1, 2))
    assert first.tolist() != second.tolist()
    weight = np.where(Y[:, 3] == 1, 100.0, 1.0)
    assert ClassifierChain("frequency").fit(X, Y, sample_weight=weight).order_[0] == 3
    names = list("abcde")
    sets = [{names[i] for i in np.flatnonzero(y)} for y in Y]
    assert ClassifierChain(list("edcba")).fit(X, sets).order_.tolist() == [4, 3, 2, 1, 0]


def test_a_learnt_order_follows_algorithm_2():
    """The same greedy choices with scikit-learn's regressions, each fitted from nothing."""
    X, Y = rows(n=200, L=4)
    Y = Y.astype(float)
    train, test = np.arange(150), np.arange(150, 200)
    weight = np.random.default_rng(0).lognormal(0, 2, 200)
    found = learn_order(X, Y, train, test, C=1.0, C_labels=4.0, weight=weight)
    chosen = []
    while len(chosen) < 4:
        Z = np.hstack([X, 2 * Y[:, chosen]])
        scores = {}
        for label in set(range(4)) - set(chosen):
            model = LogisticRegression(tol=1e-8, max_iter=1000)
            model.fit(Z[train], Y[train, label], sample_weight=weight[train])
            log_p = model.predict_log_proba(Z[test])
            scores[label] = weight[test] @ log_p[np.arange(50), Y[test, label].astype(int)]
        chosen.append(max(scores, key=scores.get))
    assert found.tolist() == chosen
    even = np.where(np.arange(200) < 150, weight, 1.0)  # held-out rows that all count alike
    assert learn_order(X, Y, train, test, C=1.0, C_labels=4.0, weight=even).tolist() != chosen
    model = ClassifierChain("learned").fit(X, Y.astype(int))
    assert sorted(model.order_.tolist()) == [0, 1, 2, 3]


def test_the_chain_knows_what_independent_labels_cannot():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    coin = random.random(400) < 0.5
    Y = np.column_stack([coin, ~coin]).astype(int)
    model = ClassifierChain(C_labels=100).fit(X, Y)
    assert (model.predict(X).sum(axis=1) == 1).all()
    assert model.predict_dist(X).correlation()[:, 0, 1].max() < -0.8


def test_correlated_constant_and_single_labels():
    X, Y = rows()
    for Z in (
        np.repeat(Y[:, :1], 4, axis=1),  # the same label four times
        np.column_stack([Y[:, 0], 1 - Y[:, 0], Y[:, 0]]),
        np.column_stack([Y[:, 0], np.zeros(len(Y), int), np.ones(len(Y), int)]),
        Y[:, :1],
    ):
        for order in ("frequency", "learned"):
            model = ClassifierChain(order, C=100).fit(X, Z)
            dist = model.predict_dist(X)
            assert np.isfinite(dist.log_prob(Z)).all()
            assert np.isfinite(model.predict_proba(X)).all()
    twins = ClassifierChain(C=100, C_labels=1000).fit(X, np.repeat(Y[:, :1], 3, axis=1))
    predicted = twins.predict(X)
    assert (predicted == predicted[:, :1]).all()


def test_what_cannot_be_is_refused():
    X, Y = rows()
    sets = [{"abcde"[i] for i in np.flatnonzero(y)} for y in Y]
    for options, message in [
        ({"order": "best"}, "order is one of"),
        ({"order": [0, 1, 2, 3]}, "name each label once"),
        ({"order": [0, 1, 2, 3, 3]}, "name each label once"),
        ({"search": "best"}, "search is one of"),
        ({"width": 0}, "width"),
        ({"C": 0}, "C is a number"),
        ({"C": "best"}, "auto"),
        ({"C_labels": -1.0}, "C_labels"),
    ]:
        with pytest.raises(DataError, match=message):
            ClassifierChain(**options).fit(X, Y)
    with pytest.raises(LabelMismatch, match="'z', which is no label"):
        ClassifierChain(list("abcdz")).fit(X, sets)


def test_weights_are_repetitions_and_groups_are_heeded():
    X, Y = rows(80)
    weight = np.arange(80) % 3
    repeated = np.repeat(np.arange(80), weight)
    weighted = ClassifierChain().fit(X, Y, sample_weight=weight.astype(float))
    plain = ClassifierChain().fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=1e-4)
    groups = np.arange(80) // 4
    ClassifierChain("learned", C="auto").fit(X, Y, groups=groups)


def test_auto_chooses_a_strength():
    X, Y = rows()
    noise = np.random.default_rng(1).normal(size=(150, 30))
    model = ClassifierChain(C="auto").fit(np.hstack([X, noise]), Y)
    assert model.chosen_["C"] < 1


def test_sparse_rows_give_the_same_model(tmp_path):
    X, Y = rows()
    dense, thin = ClassifierChain().fit(X, Y), ClassifierChain().fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(
        thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=2e-3
    )
    dense.save(tmp_path / "chain.setwise")
    loaded = sw.load(tmp_path / "chain.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), dense.predict_proba(X))


@pytest.mark.parametrize("target", ["set_accuracy", "hamming", "f1"])
def test_decisions_work(target):
    X, Y = rows()
    assert ClassifierChain(target=target).fit(X, Y).predict(X).shape == Y.shape
