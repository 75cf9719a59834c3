from itertools import product

import numpy as np
import pytest

from setwise import metrics
from setwise.errors import DataError
from setwise.models.set_costs import COSTS, cost_for, cost_of_counts, cost_table


def sets(n=40, L=5, seed=0):
    random = np.random.default_rng(seed)
    return (random.random((n, L)) < 0.4).astype(np.int8)


MEASURES = {
    "f1": lambda t, p: 1 - metrics.f1(t, p, zero_division=1.0),
    "jaccard": lambda t, p: 1 - metrics.jaccard(t, p, zero_division=1.0),
    "hamming": metrics.hamming_loss,
    "set_accuracy": lambda t, p: 1 - metrics.set_accuracy(t, p),
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_are_the_measures_of_single_rows(name):
    truth, predicted = sets(), sets(seed=1)
    truth[0] = predicted[0] = predicted[1] = 0
    one_by_one = [MEASURES[name](t[None], p[None]) for t, p in zip(truth, predicted, strict=True)]
    np.testing.assert_allclose(cost_for(name)(truth, predicted), one_by_one, atol=1e-12)


@pytest.mark.parametrize("target", [*COSTS, lambda t, p: (t > p).sum(axis=1)])
def test_a_table_has_the_truth_in_its_rows(target):
    listed = np.unique(sets(), axis=0)
    table = cost_table(target, listed)
    i, j = 2, 5
    expected = cost_for(target)(listed[[i]], listed[[j]])
    np.testing.assert_allclose(table[i, j], expected[0], atol=1e-12)
    np.testing.assert_allclose(np.diag(table), 0, atol=1e-12)


def test_a_bad_cost_gets_a_sentence():
    truth = sets()
    with pytest.raises(DataError, match="target must be one of f1"):
        cost_for(3)
    with pytest.raises(DataError, match="one cost a row"):
        cost_for(lambda t, p: np.zeros(3))(truth, truth)
    with pytest.raises(DataError, match="negative or not finite"):
        cost_for(lambda t, p: np.full(len(t), -1.0))(truth, truth)


def test_only_names_have_a_cost_of_counts():
    assert cost_of_counts(len) is None
    np.testing.assert_allclose(
        cost_of_counts("f1")(np.ones(1), np.ones(1), 3 * np.ones(1), 9), 0.5, rtol=1e-7
    )


@pytest.mark.parametrize("name", COSTS)
def test_named_costs_are_squared_distances_of_points(name):
    every = np.array(list(product([0, 1], repeat=5)), dtype=np.int8)
    table = cost_table(name, every)
    inner = -0.5 * (table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean())
    assert np.linalg.eigvalsh(inner).min() > -1e-12
