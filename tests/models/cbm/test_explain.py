"""Explanations: a hand-made mixture by enumeration, containers, and reflections in real data."""

from __future__ import annotations

import itertools
import json
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from rich.console import Console
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from setwise.data import load_dataset
from setwise.distributions import BernoulliMixture
from setwise.errors import DataError
from setwise.models.cbm import CBM
from setwise.models.cbm.explain import Limits, explain_row, one_row

NAMES = ["lake", "water", "sunset", "reflection", "car"]
PI = np.array([0.42, 0.33, 0.25])
P = np.array(
    [
        [0.95, 0.95, 0.70, 0.75, 0.01],  # a lake at sunset, with its reflection
        [0.30, 0.60, 0.75, 0.02, 0.01],
        [0.10, 0.20, 0.40, 0.01, 0.30],
    ]
)


def explained(**limits):
    row = BernoulliMixture(np.log(PI)[None], np.log(P / (1 - P))[None])
    return explain_row(row, row.mode()[0][0], NAMES, Limits(**limits))


def enumerated():
    sets = np.array(list(itertools.product([0, 1], repeat=5)))
    return sets, np.where(sets[:, None, :] > 0, P, 1 - P).prod(axis=2) @ PI


def named(chosen):
    return tuple(name for name, there in zip(NAMES, chosen) if there)


def test_the_reflection_is_lifted_by_the_lake():
    reflection = next(reason for reason in explained().labels if reason.label == "reflection")
    assert_allclose(reflection.marginal, PI @ P[:, 3], rtol=1e-9)
    assert reflection.marginal < 0.5
    assert (reflection.present, reflection.verdict) == (True, "lifted")
    assert [partner.label for partner in reflection.partners[:2]] == ["lake", "water"]
    assert all(partner.present and partner.correlation > 0 for partner in reflection.partners[:3])
    assert [label for label, _ in reflection.correlations[:2]] == ["lake", "water"]
    sets, p = enumerated()
    without = np.where(sets[:, 3] == 0, p, 0)
    assert reflection.best_with.labels == named(sets[p.argmax()])
    assert_allclose(reflection.best_with.probability, p.max(), rtol=1e-9)
    assert reflection.best_without.labels == named(sets[without.argmax()])
    assert_allclose(reflection.best_without.probability, without.max(), rtol=1e-9)
    assert reflection.beside_others > 0.5


def test_a_label_above_one_half_is_sunk():
    pi = np.array([0.4, 0.3, 0.3])
    p = np.array([[0.99, 0.01, 0.01], [0.01, 0.99, 0.45], [0.01, 0.99, 0.55]])
    row = BernoulliMixture(np.log(pi)[None], np.log(p / (1 - p))[None])
    told = explain_row(row, row.mode()[0][0], ["a", "b", "c"], Limits(n_near=0))
    assert told.sets[0].labels == ("a",)
    (sunk,) = told.sunk
    assert (sunk.label, sunk.present) == ("b", False)
    assert sunk.marginal > 0.5
    assert (sunk.partners[0].label, sunk.partners[0].present) == ("a", True)
    assert sunk.partners[0].correlation < -0.9
    assert sunk.best_without.labels == ("a",)
    assert sunk.best_with.probability < sunk.best_without.probability
    assert [reason.label for reason in told.lifted] == ["a"]
    assert told.lifted[0].partners[0].label == "b"
    assert not told.lifted[0].partners[0].present


def test_sets_marginals_and_components_by_enumeration():
    told, (sets, p) = explained(n_sets=4, n_components=2), enumerated()
    order = np.argsort(-p)[:4]
    assert [one.labels for one in told.sets] == [named(sets[place]) for place in order]
    assert_allclose([one.probability for one in told.sets], p[order], rtol=1e-9)
    marginals = dict(zip(NAMES, p @ sets))
    assert dict(told.marginals) == pytest.approx(marginals, rel=1e-9)
    assert [name for name, _ in told.marginals] == sorted(NAMES, key=marginals.get, reverse=True)
    assert [(part.number, len(part.labels)) for part in told.components] == [(0, 5), (1, 5)]
    assert_allclose([part.weight for part in told.components], PI[:2], rtol=1e-9)
    assert dict(told.components[0].labels) == pytest.approx(dict(zip(NAMES, P[0])), rel=1e-9)
    assert told.components[0].share > 0.9
    assert sum(part.share for part in explained().components) == pytest.approx(1, rel=1e-9)


def test_correlation_is_a_matrix_over_the_labels():
    told, (sets, p) = explained(), enumerated()
    labels = [NAMES.index(reason.label) for reason in told.labels]
    apart = sets - p @ sets
    covariance = (apart.T * p) @ apart
    deviation = np.sqrt(np.diag(covariance))
    expected = (covariance / np.outer(deviation, deviation))[np.ix_(labels, labels)]
    assert_allclose(np.array(told.correlation), expected, rtol=1e-8)


def test_dict_is_plain_and_text_tells_the_story():
    told = explained()
    again = json.loads(json.dumps(told.to_dict()))
    assert again == told.to_dict()
    assert again["sets"][0]["labels"] == list(told.sets[0].labels)
    text = str(told)
    assert "reflection is in the likeliest set although its marginal is 0.32" in text
    assert "lifted by lake +0." in text
    assert "because of" not in text  # no features are known
    console = Console(width=120, file=StringIO())
    console.print(told)
    assert "{lake, water, sunset, reflection}" in console.file.getvalue()
    assert repr(told).startswith("<Explanation of ('lake', 'water', 'sunset', 'reflection')")


def test_an_impossible_empty_set_is_never_told():
    row = BernoulliMixture(np.log([[1.0]]), np.array([[[-3.0, -4.0]]]), allow_empty=False)
    told = explain_row(row, row.mode()[0][0], ["a", "b"], Limits())
    assert [one.labels for one in told.sets] == [("a",), ("b",), ("a", "b")]
    (a, b) = told.labels
    assert (a.best_without.labels, b.best_with.labels) == (("b",), ("b",))


def test_a_prediction_that_is_not_the_mode_is_told():
    row = BernoulliMixture(np.log(PI)[None], np.log(P / (1 - P))[None])
    told = explain_row(row, np.array([0, 0, 0, 0, 1]), NAMES, Limits(n_near=0))
    assert told.predicted == ("car",)
    assert "car" in [reason.label for reason in told.labels]
    assert "Predicted for the target: {car}" in str(told)


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 4))
    Y = (X @ random.normal(size=(4, 3)) + random.normal(size=(200, 1)) > 0).astype(int)
    return X, Y


@pytest.fixture(scope="module")
def model(data):
    return CBM(n_components=3, max_iter=3, n_starts=2).fit(*data)


def test_one_row_in_any_shape(data, model):
    X, _ = data
    expected = model.explain(X[7]).to_dict()
    for x in (X[[7]], list(X[7]), [list(X[7])]):
        assert model.explain(x).to_dict() == expected
    assert model.explain_rows(X[5:9])[2].to_dict() == expected
    assert len(set(model.predict_sets(X[:20]))) > 1
    assert [told.predicted for told in model.explain_rows(X[:20])] == model.predict_sets(X[:20])
    with pytest.raises(DataError, match="one row, got 2; explain_rows takes several"):
        model.explain(X[:2])


def test_sparse_rows(data):
    X, Y = data
    X = sparse.csr_array(np.where(X > 0.3, X, 0))
    model = CBM(n_components=3, max_iter=3, n_starts=2).fit(X, Y)
    told = model.explain(X[[7]])
    assert model.explain(X[7]).to_dict() == told.to_dict()  # a vector
    assert model.explain(sparse.csr_matrix(X)[7]).to_dict() == told.to_dict()
    present = {f"x{column}" for column in X[[7]].indices}
    said = {name for r in told.labels for name, _ in (*r.features_for, *r.features_against)}
    assert said
    assert said <= present


def test_frames_give_names(data):
    X, Y = data
    frame = pd.DataFrame(X, columns=["height", "width", "depth", "age"])
    labels = pd.DataFrame(Y, columns=["a", "b", "c"])
    model = CBM(n_components=3, max_iter=3, n_starts=2).fit(frame, labels)
    told = model.explain(frame.iloc[[7]])
    assert model.explain(frame.iloc[7]).to_dict() == told.to_dict()  # a Series
    names = {name for reason in told.labels for name, _ in reason.features_for}
    assert names
    assert names <= set(frame.columns)
    assert {reason.label for reason in told.labels} <= {"a", "b", "c"}
    renamed = model.explain(frame.iloc[[7]], label_names="xyz", feature_names="pqrs")
    assert {reason.label for reason in renamed.labels} <= set("xyz")
    assert renamed.components[0].features[0][0] in set("pqrs")
    with pytest.raises(DataError, match="2 names.*3 labels"):
        model.explain(frame.iloc[[7]], label_names=["a", "b"])


def test_limits(data, model):
    X, _ = data
    told = model.explain(X[7], n_components=1, n_sets=2, n_features=0)
    assert (len(told.components), len(told.sets)) == (1, 2)
    assert not told.components[0].features
    with pytest.raises(DataError, match="n_sets is a whole number from 1 up"):
        model.explain(X[7], n_sets=0)
    with pytest.raises(DataError, match="n_near is a whole number from 0 up"):
        model.explain_rows(X[:1], n_near=-1)


def test_learners_that_are_not_linear_tell_no_features(data):
    class Opaque:
        """A fitted mixture that has no weights to show."""

        def __init__(self, member):
            self.member, self.gate_ = member, SimpleNamespace()
            self.components_ = [
                SimpleNamespace(classifiers_=SimpleNamespace(), labels=part.labels)
                for part in member.components_
            ]

        def __getattr__(self, name):
            return getattr(self.member, name)

    X, Y = data
    model = CBM(n_components=3, max_iter=3, n_starts=2).fit(X, Y)
    expected = model.explain(X[7])
    model.members_ = [Opaque(member) for member in model.members_]
    told = model.explain(X[7])
    assert told.sets == expected.sets
    assert expected.labels[0].features_for or expected.labels[0].features_against
    assert not any(reason.features_for or reason.features_against for reason in told.labels)
    assert not any(part.features for part in told.components)
    assert "speak for it" not in str(told)
    assert not model.components()[0].features


def test_shared_and_tree(data):
    X, Y = data
    how = {"n_components": 3, "max_iter": 2, "n_starts": 2}
    told = CBM(**how, sharing="labels", gate="tree").fit(X, Y).explain(X[7])
    assert any(reason.features_for for reason in told.labels)
    assert not any(part.features for part in told.components)


def test_members_of_an_ensemble_are_averaged(data):
    X, Y = data
    model = CBM(n_components=3, max_iter=3, n_starts=2).fit(X, Y)
    alone = model.explain(X[7], n_components=9)
    model.members_ = model.members_ * 2
    told = model.explain(X[7], n_components=9)
    assert len(told.components) == 2 * len(alone.components)
    assert sum(part.weight for part in told.components) == pytest.approx(1, rel=1e-6)
    weights = {part.number: part.weight for part in told.components}
    assert weights[0] == pytest.approx(weights[3], rel=1e-6)
    assert dict(told.marginals) == pytest.approx(dict(alone.marginals), rel=1e-5)
    one, two = dict(alone.labels[0].features_for), dict(told.labels[0].features_for)
    assert one == pytest.approx(two, rel=1e-4)


def test_one_row_keeps_tables():
    frame = pd.DataFrame({"a": [1.0]})
    assert one_row(frame) is frame
    assert one_row(sparse.csr_array([[0.0, 2.0]])[0]).shape == (1, 2)


def reflections(model, X, Y):
    """Rows with a label that thresholds miss, and the likeliest set, which is right, has."""
    dist = model.predict_dist(X)
    mode, _ = dist.mode()
    lifted = (mode == 1) & (dist.marginals() < 0.5)
    right = (mode == Y).all(axis=1) & (mode.sum(axis=1) >= 3)
    return np.flatnonzero(lifted.any(axis=1) & right), mode


def check_reflection(model, X, Y):
    """The reasoning of section 3.3, on the first row where a lifted label has partners above."""
    rows, mode = reflections(model, X, Y)
    assert len(rows) > 0
    for row in rows:
        told = model.explain(X[[row]])
        marginals = dict(told.marginals)
        for reason in told.lifted:
            helpers = [p for p in reason.partners if p.present and marginals[p.label] > 0.5]
            if not helpers:
                continue
            assert reason.label in model.predict_sets(X[[row]])[0]
            assert reason.marginal < 0.5 <= reason.beside_others
            assert all(helper.correlation > 0 for helper in helpers)
            # The same from the distribution itself.
            dist = model.predict_dist(X[[row]])
            label = model.label_names_.index(reason.label)
            other = model.label_names_.index(helpers[0].label)
            exact = dist.correlation()[0, label, other]
            assert helpers[0].correlation == pytest.approx(exact, rel=1e-6)
            dropped = mode[[row]].copy()
            dropped[0, label] = 0
            best, less = (float(np.exp(dist.log_prob(s)[0])) for s in (mode[[row]], dropped))
            assert less <= reason.best_without.probability * (1 + 1e-9)
            assert reason.best_without.probability < best
            assert reason.best_with.probability == pytest.approx(best, rel=1e-9)
            assert reason.beside_others == pytest.approx(best / (best + less), rel=1e-6)
            assert f"{reason.label} is in the likeliest set although" in str(told)
            return
    raise AssertionError("no lifted label has a partner above one half")


def test_a_tag_of_a_debian_package_is_lifted_by_others():
    data = load_dataset("debtags")
    tfidf = TfidfTransformer(sublinear_tf=True).fit(data.X_train)
    X, Y = tfidf.transform(data.X_train[:3000]), data.Y_train[:3000]
    common = np.sort(np.argsort(-np.asarray(Y.sum(axis=0)).ravel())[:60])
    names = [data.label_names[label] for label in common]
    Y = pd.DataFrame(Y[:, common].toarray(), columns=names)
    model = CBM(n_components=10, max_iter=3, n_starts=2).fit(X, Y)
    truth = data.Y_test[:600][:, common].toarray()
    check_reflection(model, tfidf.transform(data.X_test[:600]), truth)


@pytest.mark.data
def test_a_concept_of_a_video_shot_is_lifted_by_others():
    data = load_dataset("mediamill_small")
    X, Y = data.X_train, data.Y_train
    model = CBM(n_components=10, max_iter=5, n_starts=2).fit(X[:2000], Y[:2000])
    truth = Y[2000:].toarray() if sparse.issparse(Y) else np.asarray(Y[2000:])
    check_reflection(model, X[2000:], truth)
