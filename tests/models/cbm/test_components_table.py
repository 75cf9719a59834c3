"""The table of components: weights, label rates, typical features."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import softmax

from setwise.errors import MissingDependency
from setwise.models.cbm import CBM
from setwise.models.cbm.components_table import label_rates, mean_weights
from setwise.storage import load


@pytest.fixture(scope="module")
def data():
    """Two kinds of rows, told apart by the first feature; labels 0 and 1, or 2."""
    random = np.random.default_rng(0)
    kind = random.random(400) < 0.7
    X = random.normal(size=(400, 3))
    X[:, 0] = np.where(kind, 3, -3) + random.normal(size=400) / 2
    chance = np.where(kind[:, None], [0.95, 0.7, 0.02], [0.02, 0.02, 0.9])
    return X, (random.random((400, 3)) < chance).astype(int), kind


@pytest.fixture(scope="module", params=[None, "labels"], ids=["own", "shared"])
def model(request, data):
    return CBM(2, max_iter=8, n_starts=3, sharing=request.param).fit(data[0], data[1])


def test_clusters_are_found(data, model):
    _, Y, kind = data
    table = model.components(label_names=["lake", "water", "car"], feature_names="abc")
    assert len(table) == 2
    first, second = table
    assert_allclose([first.weight, second.weight], [kind.mean(), 1 - kind.mean()], atol=0.03)
    assert [label for label, _ in first.labels] == ["lake", "water"]
    assert [label for label, _ in second.labels] == ["car"]
    assert_allclose([rate for _, rate in first.labels], Y[kind][:, :2].mean(axis=0), atol=0.05)
    # One feature tells the two apart: for one component it speaks, for the other its negative.
    assert (first.features[0][0] == "a") != (second.features[0][0] == "a")
    assert {first.number, second.number} == {0, 1}


def test_weights_are_the_mean_of_the_gate(data, model):
    X, _, _ = data
    expected = np.exp(model.predict_dist(X).log_pi).mean(axis=0)
    assert_allclose(model.weights_, expected, rtol=1e-5)


def test_rates_are_weighted_by_responsibility(data, model):
    X, Y, _ = data
    dist = model.predict_dist(X)
    p = 1 / (1 + np.exp(-dist.logits.astype(np.float64)))
    log_lik = np.log(np.where(Y[:, None, :] > 0, p, 1 - p)).sum(axis=2)
    shares = softmax(dist.log_pi + log_lik, axis=1)
    expected = shares.T @ Y / shares.sum(axis=0)[:, None]
    # Own classifiers: from the last M-step, and smoothed by a tenth of a row.
    assert_allclose(model.label_rates_, expected, atol=1e-6 if model.sharing else 0.01)


def test_row_weights_count(data):
    X, Y, _ = data
    weight = np.where(np.arange(400) < 300, 1.0, 0.0)
    model = CBM(2, max_iter=3, n_starts=2, sharing="labels").fit(X, Y, sample_weight=weight)
    scaled = model.scaling_.transform(X[:300])
    assert_allclose(model.weights_, mean_weights(model.members_, scaled, np.ones(300)), rtol=1e-5)
    rates = label_rates(model.members_, scaled, sparse.csr_array(Y[:300]), np.ones(300))
    assert_allclose(model.label_rates_, rates, rtol=1e-5)


def test_members_share_the_weight(data, model):
    X, Y, _ = data
    twice, scaled = model.members_ * 2, model.scaling_.transform(X)
    weights = mean_weights(twice, scaled, np.ones(400))
    assert_allclose(weights, np.tile(model.weights_, 2) / 2, rtol=1e-5)
    assert label_rates(twice, scaled, sparse.csr_array(Y), np.ones(400)).shape == (4, 3)


def test_dicts_frames_and_text(model):
    table = model.components()
    assert json.loads(json.dumps(table.to_dict())) == table.to_dict()
    frame = table.to_frame()
    assert frame.index.tolist() == [record.number for record in table]
    assert_allclose(frame["weight"].sum(), 1, rtol=1e-6)
    assert frame["labels"].iloc[0] == tuple(label for label, _ in table[0].labels)
    assert "Components, the heaviest first" in str(table)
    assert "x0" in str(table)
    assert repr(table) == "<ComponentTable of 2 components>"


def test_without_pandas_a_sentence(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r"setwise\[pandas\]"):
        model.components().to_frame()


def test_storage_keeps_the_table(model, tmp_path):
    model.save(tmp_path / "model.sw")
    assert load(tmp_path / "model.sw").components().to_dict() == model.components().to_dict()


def test_a_tree_of_components_has_no_typical_features(data):
    X, Y, _ = data
    table = CBM(3, max_iter=2, n_starts=2, gate="tree").fit(X, Y).components()
    assert not any(record.features for record in table)
    assert "typical features" not in str(table)
