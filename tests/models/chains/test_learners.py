"""Chains of other learners than logistic regressions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.distributions.chain import Chain
from setwise.distributions.step_chain import StepChain
from setwise.errors import DataError
from setwise.learners import ElasticNetBank
from setwise.models.chains import ClassifierChain, MixtureOfExperts
from setwise.models.chains.steps import (
    conditional_of,
    elastic_steps,
    fit_steps,
    labels_before,
    learnt_steps,
)


def rows(n=120, d=3, L=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.3).astype(int)
    Y[:, 3] = Y[:, 0] ^ Y[:, 1] ^ (random.random(n) < 0.05)  # no linear chain can have it
    return X, Y


def test_greedy_chains_of_any_classifier_are_scikit_learns():
    X, Y = rows()
    for learner in (GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)):
        order = [1, 0, 3, 2]
        ours = ClassifierChain(order, learner=learner, search="greedy", allow_empty=True).fit(X, Y)
        theirs = TheirChain(learner, order=order).fit(X, Y)
        assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99  # but for ties at one half


def test_logistic_regression_as_a_classifier_is_the_linear_chain():
    X, Y = rows()
    linear = ClassifierChain(C=0.5, C_labels=0.5).fit(X, Y)
    steps = ClassifierChain(learner=LogisticRegression(C=0.5, tol=1e-8)).fit(X, Y)
    np.testing.assert_allclose(steps.predict_proba(X), linear.predict_proba(X), atol=1e-3)
    np.testing.assert_array_equal(steps.predict(X), linear.predict(X))


def test_elastic_chains_are_linear():
    X, Y = rows()
    model = ClassifierChain(learner="elastic", C=0.1).fit(X, Y)
    dist = model.predict_dist(X)
    assert isinstance(dist, Chain)
    assert (model.weights_ == 0).any()
    # The same place by place, with labels that count sqrt(C_labels / C) times.
    before = labels_before(model.order_)
    banks = fit_steps(
        X, Y, model.order_, before, lambda: ElasticNetBank(C=0.1, max_iter=200), scale=10.0
    )
    steps = StepChain(conditional_of(banks, X, 10.0, 30.0), np.arange(len(X)), model.order_)
    np.testing.assert_allclose(
        dist.log_prob(Y), replace(steps, allow_empty=dist.allow_empty).log_prob(Y), rtol=1e-6
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("is_weighted", [True, False])
def test_places_of_an_elastic_chain_share_columns_and_nothing_else(form, is_weighted):
    X, Y = rows()
    X, order = form(np.round(X, 1)), np.array([2, 0, 3, 1])
    weight = np.arange(len(Y)) % 3.0 if is_weighted else None
    bank, asked = ElasticNetBank(C=0.3), {"scale": 2.0, "weight": weight}
    shared = elastic_steps(X, Y, order, bank, **asked)
    apart = learnt_steps(X, Y, order, labels_before(order), lambda: ElasticNetBank(C=0.3), **asked)
    assert (shared["label_weights_"] != 0).any()
    for name in ("weights_", "biases_", "label_weights_"):
        np.testing.assert_allclose(shared[name], apart[name], rtol=1e-9, atol=1e-12)


def test_trees_learn_what_no_linear_chain_can(tmp_path):
    X, Y = rows(300)
    order = [0, 1, 2, 3]
    linear = ClassifierChain(order).fit(X, Y)
    boosted = ClassifierChain(order, learner="boosting", max_iter=30).fit(X, Y)
    gain = boosted.predict_dist(X).log_prob(Y).mean() - linear.predict_dist(X).log_prob(Y).mean()
    assert gain > 0.3
    boosted.save(tmp_path / "chain.setwise")
    loaded = sw.load(tmp_path / "chain.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), boosted.predict_proba(X))
    for target in ("hamming", "f1"):
        model = ClassifierChain(learner=GaussianNB(), target=target).fit(X, Y)
        assert model.predict(X).shape == Y.shape


def test_weights_and_sparse_rows():
    X, Y = rows()
    weight = (np.arange(120) < 80).astype(float)
    learner = DecisionTreeClassifier(max_depth=3, random_state=0)
    part = ClassifierChain("learned", learner=learner).fit(X, Y, sample_weight=weight)
    assert part.predict(X).shape == Y.shape
    plain = ClassifierChain(learner=learner).fit(X[:80], Y[:80])
    same = ClassifierChain(learner=learner).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(same.predict_proba(X), plain.predict_proba(X), rtol=1e-9)
    thin = ClassifierChain(learner=learner).fit(sparse.csr_array(X), Y)
    dense = ClassifierChain(learner=learner).fit(X, Y)
    np.testing.assert_allclose(
        thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), rtol=1e-7
    )


def test_what_cannot_be_is_refused():
    X, Y = rows()
    with pytest.raises(DataError, match="auto"):
        ClassifierChain(learner="boosting", C="auto").fit(X, Y)
    with pytest.raises(DataError, match="learner must be"):
        ClassifierChain(learner="best").fit(X, Y)
    with pytest.raises(DataError, match="experts are"):
        MixtureOfExperts(ClassifierChain(learner="boosting")).fit(X, Y)
