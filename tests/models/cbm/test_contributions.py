"""Contributions are derivatives: along the features, of log-odds of marginals and of weights."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import logit

from setwise.errors import DataError
from setwise.models.cbm import CBM
from setwise.models.cbm.contributions import (
    Row,
    feature_names,
    gate_contributions,
    label_contributions,
)

STEP = 1e-5


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 6)) * (random.random((300, 6)) < 0.7)
    scores = X @ random.normal(size=(6, 5)) + random.normal(size=(300, 1))
    return X, (scores > 0.3).astype(int)


def fitted(rows, *, as_sparse=False, **how):
    X, Y = rows
    how = {"n_components": 3, "max_iter": 4, "n_starts": 2, "dtype": "float64"} | how
    return CBM(**how).fit(sparse.csr_array(X) if as_sparse else X, Y)


def finite_differences(model, x, answer):
    """How ``answer`` (a,) moves with each scaled feature, times the feature's value, (d, a)."""
    scaled, found = model.scaling_.transform(x), []
    dense = scaled.toarray() if sparse.issparse(scaled) else scaled
    for column in range(dense.shape[1]):
        ends = []
        for step in (STEP, -STEP):
            moved = dense.copy()
            moved[0, column] += step
            ends.append(answer(sparse.csr_array(moved) if sparse.issparse(x) else moved))
        found.append((ends[0] - ends[1]) / (2 * STEP) * dense[0, column])
    return np.array(found)


def scattered(row, contributions):
    full = np.zeros((row.n_features, contributions.shape[1]))
    full[row.columns] = contributions
    return full


def parts_of(model, scaled):
    members, L = model.members_, len(model.label_names_)
    log_pi = np.hstack([member.log_weights(scaled) for member in members]) - np.log(len(members))
    Z = np.zeros((1, log_pi.shape[1], L))
    first = 0
    for member in members:
        last = first + len(member.components_)
        member.fill_logits(scaled, Z[:, first:last])
        first = last
    return log_pi[0], 1 / (1 + np.exp(-Z[0]))


@pytest.fixture(params=["dense", "sparse", "shared", "one component", "two members"])
def model(request, rows):
    if request.param == "two members":
        first, second = fitted(rows), fitted(rows, random_state=1, n_components=2)
        first.members_ += second.members_
        return first
    return {
        "dense": lambda: fitted(rows),
        "sparse": lambda: fitted(rows, as_sparse=True),
        "shared": lambda: fitted(rows, sharing="labels"),
        "one component": lambda: fitted(rows, n_components=1),
    }[request.param]()


def one_of(model, rows):
    x = rows[0][[4]]
    return sparse.csr_array(x) if model.scaling_.mean_ is None else x


def test_of_labels(model, rows):
    x, labels = one_of(model, rows), np.array([3, 0, 4])
    row = Row.of(model.scaling_.transform(x))
    found = label_contributions(model.members_, model.predict_dist(x), row, labels)

    def log_odds(scaled):
        log_pi, p = parts_of(model, scaled)
        return logit(np.exp(log_pi) @ p)[labels]

    expected = finite_differences(model, x, log_odds)
    assert np.abs(expected).max() > 0.01
    assert_allclose(scattered(row, found), expected, rtol=1e-4, atol=1e-7)


def test_of_the_gate(model, rows):
    x = one_of(model, rows)
    row = Row.of(model.scaling_.transform(x))
    found = gate_contributions(model.members_, model.predict_dist(x).log_pi[0], row)
    expected = finite_differences(model, x, lambda scaled: parts_of(model, scaled)[0])
    assert_allclose(scattered(row, found), expected, rtol=1e-4, atol=1e-7)


def test_a_gate_that_is_a_tree_has_none(rows):
    model = fitted(rows, gate="tree")
    row, dist = Row.of(model.scaling_.transform(rows[0][[4]])), model.predict_dist(rows[0][[4]])
    assert gate_contributions(model.members_, dist.log_pi[0], row) is None
    assert label_contributions(model.members_, dist, row, np.arange(5)).shape == (6, 5)


def test_names_of_features():
    assert feature_names(None, None, 2) == ["x0", "x1"]
    assert feature_names(None, np.array(["a", "b"]), 2) == ["a", "b"]
    assert feature_names(["c", "d"], np.array(["a", "b"]), 2) == ["c", "d"]
    with pytest.raises(DataError, match="1 names.*2 features"):
        feature_names(["a"], None, 2)
