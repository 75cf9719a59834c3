import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from setwise.models.cbm.component_tree import grow, sides, tree_of_components
from setwise.models.cbm.rows import TrainingRows


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_every_component_is_a_leaf_and_parents_come_first(K, seed):
    random = np.random.default_rng(seed)
    points = random.normal(size=(K, 3))
    children = grow(points @ points.T, random.dirichlet(np.ones(K)))
    assert children.shape == (K - 1, 2)
    leaves, inner = children[children < 0], children[children >= 0]
    assert sorted(~leaves) == list(range(K))[: 2 * len(children)]
    assert sorted(inner) == list(range(1, K - 1))
    parents = np.broadcast_to(np.arange(K - 1)[:, None], children.shape)
    assert (parents < children)[children >= 0].all()
    left, right = sides(children)
    assert not (left & right).any()
    assert (left | right)[:1].all()


def test_no_side_is_light_where_all_components_weigh_the_same():
    points = np.random.default_rng(0).normal(size=(32, 4))
    left, right = sides(grow(points @ points.T, np.full(32, 1 / 32)))
    lighter = np.minimum(left.sum(axis=1), right.sum(axis=1))
    assert (lighter >= np.floor((left | right).sum(axis=1) / 4)).all()
    assert (left | right).sum(axis=0).max() < 12


def test_the_cut_is_where_the_sides_differ_most():
    at = np.array([0.0, 1, 2, 100, 101, 102, 103, 104])
    left, _ = sides(grow(np.outer(at, at), np.full(8, 1 / 8)))
    assert np.flatnonzero(left[0]).tolist() == [0, 1, 2]


def test_a_heavy_component_is_near_the_root():
    points = np.random.default_rng(0).normal(size=(9, 2))
    mass = np.array([0.6] + [0.05] * 8)
    children = grow(points @ points.T, mass)
    left, right = sides(children)
    assert (left | right).sum(axis=0).argmin() == 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("told_by", ["features", "labels"])
def test_similar_components_share_a_side(kind, told_by):
    component = np.repeat(np.arange(4), 25)
    random, group = np.random.default_rng(0), component % 2
    # What tells nothing is the same in all rows, save for rounding.
    X, Y = 0.1 + random.normal(size=(100, 2)) * 1e-15, np.ones((100, 2))
    if told_by == "features":
        X[:, 1] += 0.2 * group + random.normal(size=100) * 0.01
    else:
        Y[:, 0] = group
    training = TrainingRows(kind(X), sparse.csr_array(Y), np.ones(100))
    left, right = sides(tree_of_components(training, np.eye(4)[component]))
    assert {tuple(np.flatnonzero(left[0])), tuple(np.flatnonzero(right[0]))} == {(0, 2), (1, 3)}


def test_rounding_makes_no_difference_between_components():
    random = np.random.default_rng(0)
    X, Y = 0.1 + random.normal(size=(60, 9)) * 1e-15, random.integers(0, 2, size=(60, 4))
    T = random.dirichlet(np.ones(12), size=60)
    found, expected = (
        tree_of_components(TrainingRows(features, sparse.csr_array(Y), np.ones(60)), T)
        for features in (X, np.zeros((60, 1)))
    )
    np.testing.assert_array_equal(found, expected)


def test_a_doubled_row_is_a_row_of_weight_two():
    random = np.random.default_rng(1)
    X, Y = random.normal(size=(60, 3)), random.integers(0, 2, size=(60, 4))
    T, twice = random.dirichlet(np.ones(7), size=60), np.append(np.arange(60), [3, 8])
    weight = np.bincount(twice).astype(float)
    one = tree_of_components(TrainingRows(X, sparse.csr_array(Y), weight), T)
    rows = TrainingRows(X[twice], sparse.csr_array(Y[twice]), np.ones(62))
    np.testing.assert_array_equal(tree_of_components(rows, T[twice]), one)
