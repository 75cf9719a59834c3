"""Gradients of the likelihoods and of the objective, against small differences."""

import numpy as np
import pytest
from scipy import sparse

from setwise.data.labels import distinct_sets
from setwise.learners.workers import Workers
from setwise.models.crf import listed
from setwise.models.crf.listed import OnList
from setwise.models.crf.potentials import all_sets
from setwise.models.crf.pruned import OnFree, pruned
from setwise.models.crf.solve import Objective, Strength, fit_field


def likelihoods(rows):
    _, Y = rows(12)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(Y))
    support = distinct_sets(Y)
    on_support = OnList(support.sets.astype(float), support.inverse, weight)
    on_all = OnList(sparse.csr_array(all_sets(4).astype(float)), Y @ [1, 2, 4, 8], weight)
    logits = np.random.default_rng(2).normal(size=Y.shape) * 3
    on_free = OnFree(pruned(logits, limit=0.2, max_free=3, Y=Y), Y.astype(float), weight)
    return {"support": on_support, "exact": on_all, "pruned": on_free}


@pytest.mark.parametrize("kind", ["support", "exact", "pruned"])
def test_gradients_match_finite_differences(kind, monkeypatch, loss_of, rows):
    monkeypatch.setattr(listed, "BATCH_CELLS", 50)  # several batches
    monkeypatch.setattr(listed, "LEAST_ROWS", 1)
    likelihood = likelihoods(rows)[kind]
    random = np.random.default_rng(3)
    Z, pairs = random.normal(size=(12, 4)), random.normal(size=(4, 4))
    Q = np.triu(pairs, 1) + np.triu(pairs, 1).T
    _, R, by_pair = loss_of(likelihood, Z, Q)
    np.testing.assert_array_equal(by_pair, by_pair.T)
    step = 1e-5
    for place in np.ndindex(Z.shape):
        move = np.zeros_like(Z)
        move[place] = step
        slope = (loss_of(likelihood, Z + move, Q)[0] - loss_of(likelihood, Z - move, Q)[0]) / (
            2 * step
        )
        np.testing.assert_allclose(R[place], slope, rtol=1e-6, atol=1e-8)
    for place in zip(*np.triu_indices(4, 1)):
        move = np.zeros_like(Q)
        move[place] = move[place[::-1]] = step
        slope = (loss_of(likelihood, Z, Q + move)[0] - loss_of(likelihood, Z, Q - move)[0]) / (
            2 * step
        )
        np.testing.assert_allclose(by_pair[place], slope, rtol=1e-6, atol=1e-8)


def test_a_list_of_sets_agrees_with_plain_sums(rows):
    _, Y = rows(12)
    support = distinct_sets(Y)
    sets, weight = support.sets.toarray().astype(float), np.linspace(0.5, 2, 12)
    random = np.random.default_rng(3)
    Z, pairs = random.normal(size=(12, 4)), random.normal(size=(4, 4))
    Q = np.triu(pairs, 1) + np.triu(pairs, 1).T
    with Workers(1) as workers:
        found = OnList(support.sets.astype(float), support.inverse, weight).evaluate(Z, Q, workers)
    scores = Z @ sets.T + np.einsum("ml,lk,mk->m", sets, np.triu(Q, 1), sets)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    surplus = weight[:, None] * (P - (np.arange(len(sets)) == support.inverse[:, None]))
    by_pair = np.einsum("nm,ml,mk->lk", surplus, sets, sets) * (1 - np.eye(4))
    expected = -weight @ np.log(P[np.arange(12), support.inverse]), surplus @ sets, by_pair
    for ours, plain in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("of_sparse", [False, True])
def test_the_gradient_of_the_objective_in_its_own_variables(l1_ratio, of_sparse, monkeypatch, rows):
    seen = {}
    X, Y = rows(20)
    X[:, 0] = 0  # no row has this feature
    support = distinct_sets(Y)
    likelihood = OnList(support.sets.astype(float), support.inverse, np.ones(20))
    evaluate = Objective.evaluate

    def recorded(self, V):
        seen.setdefault("objective", self)
        return evaluate(self, V)

    monkeypatch.setattr(Objective, "evaluate", recorded)
    data = sparse.csr_array(X) if of_sparse else X
    field = fit_field(data, Y.astype(float), np.ones(20), likelihood, Strength(2.0, 3.0, l1_ratio))
    np.testing.assert_array_equal(field.weights[0], 0)
    objective = seen["objective"]
    size = (objective.products.X.shape[1] + 1) * 4 + 6
    V = np.random.default_rng(0).normal(size=(size, 1)) / 3
    with Workers(1):
        gradient = evaluate(objective, V)[1][:, 0]
        for place in range(size):
            move = np.zeros_like(V)
            move[place] = 1e-5
            up, down = evaluate(objective, V + move)[0], evaluate(objective, V - move)[0]
            slope = (up[0] - down[0]) / 2e-5
            np.testing.assert_allclose(gradient[place], slope, rtol=1e-5, atol=1e-6)
