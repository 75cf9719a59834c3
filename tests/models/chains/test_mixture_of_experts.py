"""Mixtures of experts: what EM promises, growth, prediction, odd input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import setwise as sw
from setwise.errors import DataError
from setwise.models.chains.classifier_chain import ClassifierChain
from setwise.models.chains.conditional_tree import ConditionalTree, edges_of
from setwise.models.chains.experts_em import (
    Mixture,
    Strengths,
    e_step,
    fit_expert,
    penalised,
    run_em,
)
from setwise.models.chains.mixture_of_experts import GATES, MixtureOfExperts, surely_positive
from setwise.models.chains.network import chain_parents


def two_worlds(n=400, seed=0):
    """Labels that are equal where the first feature is positive, and opposite where it is not."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    coin = random.random(n) < 0.5
    other = np.where(X[:, 0] > 0, coin, ~coin) ^ (random.random(n) < 0.03)
    third = X[:, 1] + random.normal(0, 0.5, n) > 0
    return X, np.column_stack([coin, other, third]).astype(int)


EXPERTS = [ClassifierChain("learned"), ConditionalTree()]
experts = pytest.mark.parametrize("expert", EXPERTS, ids=["chains", "trees"])


def test_responsibilities_are_the_posterior():
    log_joint = np.log([[0.1, 0.3], [0.2, 0.2]])
    shares, evidence = e_step(log_joint)
    np.testing.assert_allclose(shares, [[0.25, 0.75], [0.5, 0.5]], rtol=1e-12)
    np.testing.assert_allclose(evidence, np.log([0.4, 0.4]), rtol=1e-12)


@pytest.mark.parametrize("structure", ["chain", "tree"])
@pytest.mark.parametrize("weighted", [False, True])
def test_em_never_lowers_what_it_raises(structure, weighted):
    X, labels = two_worlds()
    Y = labels.astype(float)
    random = np.random.default_rng(1)
    weight = random.uniform(0, 2, len(Y)) if weighted else np.ones(len(Y))
    edges = chain_parents(np.arange(3)) if structure == "chain" else edges_of(np.array([-1, 0, 1]))
    strengths = Strengths(2.0, 20.0, 1.0)
    parts = tuple(
        fit_expert(X, Y, edges, weight * random.uniform(0.1, 1, len(Y)), strengths)
        for _ in range(3)
    )
    start = Mixture((edges,) * 3, parts, None)
    mixture, history = run_em(
        start, X, Y, weight, strengths, shares=random.dirichlet(np.ones(3), len(Y)), max_iter=40,
        tol=-np.inf,
    )  # fmt: skip
    assert len(history) == 39
    assert history[-1] > history[0] + 20
    assert (np.diff(history) >= -1e-6 * np.abs(history[:-1])).all()
    evidence = logsumexp(mixture.log_joint(X, Y), axis=1)
    assert penalised(mixture, evidence, weight, strengths) >= history[-1] - 1e-6


@experts
def test_experts_learn_what_one_cannot(expert):
    X, Y = two_worlds()
    new, truth = two_worlds(seed=1)
    model = MixtureOfExperts(expert, max_experts=4).fit(X, Y)
    assert len(model.structures_) > 1
    # The mean that growth stopped at is the last one that fell, or there are as many as may be.
    assert (np.diff(model.growth_[: len(model.structures_)]) > 0).all()
    one = MixtureOfExperts(expert, max_experts=1).fit(X, Y)
    several, single = (m.predict_dist(new).log_prob(truth).mean() for m in (model, one))
    assert several > single + 0.2
    assert model.score(new, truth) >= one.score(new, truth) - 0.02


@experts
def test_one_expert_is_the_model_itself(expert):
    X, Y = two_worlds()
    mixture = MixtureOfExperts(expert, max_experts=1).fit(X, Y)
    structure = mixture.structures_[0]
    chain = isinstance(expert, ClassifierChain)
    alone = (ClassifierChain(structure) if chain else ConditionalTree(structure)).fit(X, Y)
    np.testing.assert_allclose(mixture.predict_proba(X), alone.predict_proba(X), atol=2e-3)
    assert mixture.gate_ is None
    learnt = clone(expert).fit(X, Y)
    np.testing.assert_array_equal(structure, learnt.order_ if chain else learnt.parents_)


def test_growth_goes_on_only_where_it_is_more_than_noise():
    gains = np.array([0.5, -0.3, 0.4, 0.1])  # mean 0.175, standard error 0.155
    assert surely_positive(gains, np.ones(4))
    assert not surely_positive(gains - 0.05, np.ones(4))
    assert not surely_positive(np.zeros(4), np.ones(4))
    doubled = np.concatenate([gains, gains]) - 0.05  # error 0.110: rows, not weights, count
    assert surely_positive(doubled, np.ones(8))
    assert not surely_positive(gains - 0.05, np.full(4, 2.0))


@experts
def test_the_threshold_algorithm_proves_and_annealing_comes_close(expert):
    X, Y = two_worlds()
    model = MixtureOfExperts(expert, max_experts=3).fit(X, Y)
    dist = model.predict_dist(X)
    found = dist.searched(2)
    assert (found.gap == 0).all()
    every = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    scores = np.stack([dist.log_prob(np.tile(y, (len(X), 1))) for y in every], axis=1)
    np.testing.assert_allclose(logsumexp(scores, axis=1), np.zeros(len(X)), atol=1e-9)
    best = -np.sort(-scores, axis=1)[:, :2]
    np.testing.assert_allclose(found.log_prob, best, rtol=1e-9, atol=1e-9)
    walk = MixtureOfExperts(expert, max_experts=3, annealing=150).fit(X, Y)
    assert (walk.predict_dist(X).mode()[1] >= best[:, 0] - 1e-6).mean() > 0.95


def test_rows_without_weight_are_as_if_absent():
    X, Y = two_worlds(120)
    weight = np.ones(120)
    weight[90:] = 0
    part = MixtureOfExperts(max_experts=2).fit(X, Y, sample_weight=weight)
    alone = MixtureOfExperts(max_experts=2).fit(X[:90], Y[:90])
    np.testing.assert_allclose(part.predict_proba(X), alone.predict_proba(X), atol=1e-6)


def test_one_or_two_groups_are_learnt_from_as_few_rows_are():
    X, Y = two_worlds(60)
    for groups in (np.zeros(60), np.arange(60) % 2):
        model = MixtureOfExperts(max_experts=2).fit(X, Y, groups=groups)
        assert len(model.weights_) == 1
        assert model.growth_ == []


@experts
def test_storage_groups_decisions_and_odd_labels(expert, tmp_path):
    X, Y = two_worlds(100)
    model = MixtureOfExperts(expert, max_experts=2).fit(X, Y, groups=np.arange(100) // 2)
    model.save(tmp_path / "mixture.setwise")
    loaded = sw.load(tmp_path / "mixture.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for target in ("hamming", "f1"):
        tuned = MixtureOfExperts(expert, max_experts=2, target=target).fit(X, Y)
        assert tuned.predict(X).shape == Y.shape
    for Z in (Y[:, :1], np.zeros_like(Y), np.repeat(Y[:, :1], 3, axis=1), 1 - np.zeros_like(Y)):
        odd = MixtureOfExperts(expert, max_experts=2).fit(X, Z)
        assert np.isfinite(odd.predict_dist(X).log_prob(Z)).all()
    assert MixtureOfExperts(expert).fit(X[:3], Y[:3]).predict(X).shape == Y.shape


def test_other_structures_and_strengths():
    X, Y = two_worlds(150)
    for expert in (
        ClassifierChain("random"),
        ClassifierChain([2, 0, 1]),
        ConditionalTree([-1, 0, 0]),
        ClassifierChain("frequency", C="auto", search="beam"),
    ):
        model = MixtureOfExperts(expert, max_experts=2).fit(X, Y)
        assert model.predict(X).shape == Y.shape
    assert model.chosen_["C"] > 0


def test_the_gate_has_the_penalty_that_held_out_rows_like_best():
    X, Y = two_worlds()
    tree = ConditionalTree([-1, 0, -1], C=0.5)
    auto = MixtureOfExperts(tree, max_experts=2).fit(X, Y)
    scores = {}
    for share in GATES:
        fixed = MixtureOfExperts(tree, max_experts=2, C_gate=0.5 * share).fit(X, Y)
        assert "C_gate" not in fixed.chosen_
        scores[0.5 * share] = fixed.growth_[1]
    assert auto.chosen_ == {"C_gate": max(scores, key=scores.get)}
    assert auto.growth_[1] == pytest.approx(max(scores.values()), rel=1e-9)
    assert len(set(scores.values())) == len(GATES)


def test_what_cannot_be_is_refused():
    X, Y = two_worlds(50)
    for options, message in [
        ({"expert": sw.BinaryRelevance()}, "ClassifierChain or a ConditionalTree"),
        ({"expert": ClassifierChain(search="greedy")}, "annealing=150"),
        ({"expert": ClassifierChain("best")}, "order is one of"),
        ({"max_experts": 0}, "max_experts"),
        ({"C_gate": 0.0}, "C_gate is"),
        ({"annealing": -1}, "annealing"),
    ]:
        with pytest.raises(DataError, match=message):
            MixtureOfExperts(**options).fit(X, Y)
