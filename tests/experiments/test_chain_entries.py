"""Tables of chains: features as the models see them, models that can be made, cells that fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from setwise.experiments.chain_entries import CHAIN_ENTRIES, HONG_MODELS, Standardised
from setwise.experiments.measuring import made
from setwise.models import BinaryRelevance

ENTRIES = {entry.name: entry for entry in CHAIN_ENTRIES}


def rows(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) * [1, 50, 0.02] + [0, 300, 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (Z @ random.normal(size=(3, 3)) + random.normal(size=(n, 3)) > 0).astype(int)
    return X, Z, Y


def test_dense_features_are_standardised_by_the_training_rows():
    X, Z, Y = rows()
    constant = np.hstack([X, np.full((len(X), 1), 7.0)])
    model = Standardised(BinaryRelevance()).fit(constant, Y)
    plain = BinaryRelevance().fit(np.hstack([Z, np.zeros((len(X), 1))]), Y)
    moved = constant[:5] + np.array([0, 50, 0, 0])
    expected = plain.predict_proba((moved - constant.mean(axis=0)) / [*X.std(axis=0), 1.0])
    found = model.predict_dist(moved).marginals()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_sparse_rows_have_length_one():
    X, _, Y = rows()
    thin = np.where(X > 1, X, 0) / 300
    thin[3] = 0  # an empty document stays empty
    length = np.linalg.norm(thin, axis=1, keepdims=True)
    scaled = sparse.csr_array(thin / np.where(length > 0, length, 1))
    model = Standardised(BinaryRelevance()).fit(sparse.csr_array(thin), Y)
    plain = BinaryRelevance().fit(scaled, Y)
    found = model.predict_dist(sparse.csr_array(thin)).marginals()
    np.testing.assert_allclose(found, plain.predict_proba(scaled), atol=1e-6)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(thin)), plain.predict(scaled))


@pytest.mark.parametrize("spec", HONG_MODELS, ids=lambda spec: spec.name)
def test_every_model_of_the_table_chooses_its_penalty_and_predicts(spec):
    X, _, Y = rows()
    model = made(spec, seed=3).fit(X, Y)
    assert model.chosen_["C"] > 0
    assert model.model_.random_state == 3
    assert (model.predict_dist(X).mode()[0] == Y).mean() > 0.7


def test_ensembles_have_ten_chains_and_mixtures_ten_experts_at_most():
    inside = {spec.name: made(spec, 0).model for spec in HONG_MODELS}
    assert inside["ECC"].n_chains == inside["EPCC"].n_chains == 10
    assert inside["MCC"].max_experts == inside["MCTBN"].max_experts == 10
    assert inside["CC"].order == inside["PCC"].order == inside["MCC"].expert.order == "learned"


@pytest.mark.parametrize("name", ["chains", "chains-splits"])
def test_published_cells_belong_to_what_is_run(name):
    entry = ENTRIES[name]
    models = {spec.name for spec in entry.models}
    assert entry.published
    for data, model, measure in entry.published:
        assert data in entry.datasets
        assert model in models
        assert measure in (*entry.decisions, *entry.also)
    assert {key[0] for key in entry.published} == set(entry.datasets)
    assert {key[1] for key in entry.published} == models
