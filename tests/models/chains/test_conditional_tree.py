"""Conditional trees: the branching, the pairs, and the model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import setwise as sw
from setwise.distributions.label_tree import parents_first
from setwise.errors import DataError, LabelMismatch
from setwise.models.chains import conditional_tree
from setwise.models.chains.branching import maximum_branching
from setwise.models.chains.conditional_tree import ConditionalTree, pair_scores


def rows(n=160, d=4, L=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.3).astype(int)
    Y[:, 1] = Y[:, 0] ^ (random.random(n) < 0.1)
    return X, Y


def is_forest(parents):
    try:
        parents_first(np.asarray(parents))
    except DataError:
        return False
    return True


@pytest.mark.parametrize("L", [1, 2, 3, 4, 5])
def test_the_branching_is_the_best_of_all_forests(L):
    random = np.random.default_rng(L)
    forests = [np.array(p) for p in product(range(-1, L), repeat=L) if is_forest(p)]
    for number in range(30):
        scores, alone = random.normal(size=(L, L)), random.normal(size=L) - number % 3
        if number % 5 == 0:
            scores, alone = np.round(scores), np.round(alone)

        def worth(parents, scores=scores, alone=alone):
            own = np.arange(L)
            return np.where(parents < 0, alone, scores[np.maximum(parents, 0), own]).sum()

        found = maximum_branching(scores, alone)
        assert is_forest(found)
        np.testing.assert_allclose(worth(found), max(map(worth, forests)), rtol=1e-12)


def test_pairs_are_scored_as_by_scikit_learn():
    X, Y = rows()
    Y = Y.astype(float)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    train, test = np.arange(120), np.arange(120, 160)
    scores = pair_scores(X, Y, train, test, C=1.0, C_labels=4.0, weight=weight)
    for child in range(4):
        for parent in range(4):
            extra = Y[:, [parent]] * 2 if parent != child else Y[:, :0]
            Z = np.hstack([X, extra])
            model = LogisticRegression(tol=1e-8, max_iter=1000)
            model.fit(Z[train], Y[train, child], sample_weight=weight[train])
            log_p = model.predict_log_proba(Z[test])[np.arange(40), Y[test, child].astype(int)]
            np.testing.assert_allclose(scores[parent, child], weight[test] @ log_p, rtol=2e-2)


def test_the_tree_finds_what_hangs_together():
    X, Y = rows(n=400)
    model = ConditionalTree().fit(X, Y)
    assert model.parents_[1] == 0 or model.parents_[0] == 1
    independent = sw.BinaryRelevance().fit(X, Y)
    ours, theirs = model.predict_dist(X).log_prob(Y), independent.predict_dist(X).log_prob(Y)
    assert ours.mean() > theirs.mean() + 0.1


def test_the_penalty_is_looked_for_with_the_parents_that_are_learnt(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    Y = (X + random.normal(size=(120, 3)) > 0).astype(float)
    Y[:, 1] = Y[:, 0]
    asked = []
    real = conditional_tree.best_strength

    def listening(X, Y, weight, parts, edges, C_labels, **options):
        asked.append((edges.copy(), options.get("first")))
        return real(X, Y, weight, parts, edges, C_labels, **options)

    monkeypatch.setattr(conditional_tree, "best_strength", listening)
    model = ConditionalTree(C="auto").fit(X, Y)
    (without, _), (with_parents, first) = asked
    assert not without.any()
    assert with_parents[0, 1] or with_parents[1, 0]
    assert first > 0
    assert model.chosen_["C"] > 0
    ConditionalTree([-1, 0, -1], C="auto").fit(X, Y)
    assert len(asked) == 3
    assert asked[2][0][0, 1]


def test_given_parents():
    X, Y = rows()
    assert ConditionalTree([-1, 0, 1, 1]).fit(X, Y).parents_.tolist() == [-1, 0, 1, 1]
    sets = [{"abcd"[i] for i in np.flatnonzero(y)} for y in Y]
    model = ConditionalTree(["b", None, "a", "a"]).fit(X, sets)
    assert model.parents_.tolist() == [1, -1, 0, 0]
    assert model.label_weights_[1] == 0
    for structure, error, message in [
        ([0, 0, 0, 0], DataError, "cycle"),
        ([-1, 0], DataError, "one a label"),
        (["z", None, None, None], LabelMismatch, "no label"),
        ("best", DataError, "learned"),
    ]:
        with pytest.raises(error, match=message):
            ConditionalTree(structure).fit(X, sets)


def test_odd_labels_weights_groups_and_storage(tmp_path):
    X, Y = rows()
    n = len(Y)
    for Z in (
        np.repeat(Y[:, :1], 3, axis=1),
        np.column_stack([Y[:, 0], 1 - Y[:, 0]]),
        np.column_stack([Y[:, 0], np.zeros(n, int), np.ones(n, int)]),
        Y[:, :1],
    ):
        model = ConditionalTree(C=100).fit(X, Z)
        assert np.isfinite(model.predict_dist(X).log_prob(Z)).all()
    weight = np.zeros(n)
    weight[:80] = 1
    part = ConditionalTree([-1, 0, 1, 1]).fit(X, Y, sample_weight=weight)
    alone = ConditionalTree([-1, 0, 1, 1]).fit(X[:80], Y[:80])
    np.testing.assert_allclose(part.predict_proba(X), alone.predict_proba(X), atol=1e-4)
    model = ConditionalTree(C="auto").fit(X, Y, groups=np.arange(n) // 4)
    assert model.chosen_["C"] > 0
    model.save(tmp_path / "tree.setwise")
    loaded = sw.load(tmp_path / "tree.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
