"""Chains, trees and mixtures are distributions: decisions, calibrators and rerankers take them."""

from __future__ import annotations

import numpy as np
import pytest

import setwise as sw
from setwise.calibration import Reranker, SetCalibrator
from setwise.models.chains import (
    ChainEnsemble,
    ClassifierChain,
    ConditionalTree,
    MixtureOfExperts,
)

MODELS = [
    ClassifierChain(),
    ConditionalTree(),
    ChainEnsemble(2),
    ChainEnsemble(3, voting="label", search="greedy"),
    MixtureOfExperts(max_experts=2),
]
models = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


def rows(n=150, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    Y = (X @ np.random.default_rng(5).normal(size=(3, 4)) + random.normal(size=(n, 4)) > 0.3) * 1
    Y[:, 1] = Y[:, 0]
    return X, Y


@models
def test_a_reranker_and_a_calibrator_take_it(model):
    X, Y = rows()
    for wrapper in (Reranker, SetCalibrator):
        wrapped = wrapper(model, kind="isotonic_by_size", n_folds=2).fit(X, Y)
        sets, confidence = wrapped.predict_with_confidence(X)
        assert np.asarray(sets).shape == Y.shape
        assert ((confidence >= 0) & (confidence <= 1)).all()


@models
def test_the_decision_for_f1_is_no_worse_than_the_mode_by_its_own_measure(model):
    X, Y = rows()
    dist = model.fit(X, Y).predict_dist(X)
    answer = sw.decisions.ExpectedF1(max_tail=0).answer(dist)
    samples, mode = dist.sample(400, 0), dist.mode()[0]

    def expected(sets):
        both = (samples * sets).sum(axis=2)
        total = samples.sum(axis=2) + sets.sum(axis=1)
        return (2 * both / np.maximum(total, 1)).mean(axis=0)

    assert (expected(answer.Y) >= expected(mode) - 0.12).all()
    assert expected(answer.Y).mean() >= expected(mode).mean() - 0.01
