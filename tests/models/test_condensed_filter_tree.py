from itertools import product

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.errors import DataError
from setwise.models.filter_tree import Tree, learn_tree, visits_of
from setwise.models.set_costs import COSTS, cost_for

ALL_PAIRS = np.array(list(product([0, 1], repeat=2)), dtype=np.int8)


def rows(n=80, L=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, (X @ random.normal(size=(3, L)) > 0.2).astype(np.int8)


def set_by_set(tree, X):
    """The walk as it is described, one row and label after another."""
    chosen = np.zeros((len(X), len(tree.intercept)), dtype=np.int8)
    for row, x in enumerate(X):
        for k in range(chosen.shape[1]):
            score = x @ tree.weights[:, k] + tree.intercept[k] + chosen[row, :k] @ tree.links[:k, k]
            chosen[row, k] = score > 0
    return chosen


def random_tree(L=5, d=3, seed=0):
    random = np.random.default_rng(seed)
    links = np.triu(random.normal(size=(L, L)), 1)
    return Tree(random.normal(size=(d, L)), random.normal(size=L), links)


def test_the_walk_takes_label_after_label():
    X = np.random.default_rng(1).normal(size=(30, 3))
    tree = random_tree()
    chosen, margins = tree.walk(X)
    np.testing.assert_array_equal(chosen, set_by_set(tree, X))
    np.testing.assert_array_equal(chosen, margins > 0)


@pytest.mark.parametrize("level", [0, 2, 4])
def test_children_of_a_node_end_where_the_walk_leads_them(level):
    from setwise.models._filter_tree_kernel import duel

    random = np.random.default_rng(2)
    tree, X = random_tree(), random.normal(size=(6, 3))
    truth, paths = (random.random((2, 6, 5)) < 0.5).astype(np.int8)
    at = np.array([3, 0, 5, 1])
    scores = X @ tree.weights + tree.intercept
    tp, size, sets = duel(tree.links, scores, at, paths[:4], truth, level, True)
    for v, i in enumerate(at):
        for side in (0, 1):
            expected = paths[v].copy()
            expected[level] = side
            for k in range(level + 1, 5):
                expected[k] = scores[i, k] + expected[:k] @ tree.links[:k, k] > 0
            np.testing.assert_array_equal(sets[side, v], expected)
            assert tp[v, side] == (expected & truth[i]).sum()
            assert size[v, side] == expected.sum()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("target", COSTS)
def test_with_all_nodes_and_no_features_the_cheapest_of_all_sets_wins(target, seed):
    """On two labels a level tells all its nodes apart, so the tournament is exact."""
    random = np.random.default_rng(seed)
    share = random.dirichlet(np.ones(4))
    truth = ALL_PAIRS[random.choice(4, p=share, size=50)]
    weight = random.uniform(0.5, 2, size=50)
    everywhere = visits_of([np.tile(pair, (50, 1)) for pair in ALL_PAIRS])
    X = np.zeros((50, 1))
    tree = learn_tree(X, truth, weight, everywhere, target, C=1e4, max_iter=500)
    costs = [weight @ cost_for(target)(truth, np.tile(pair, (50, 1))) for pair in ALL_PAIRS]
    np.testing.assert_allclose(
        costs[(tree.walk(X[:1])[0] == ALL_PAIRS).all(axis=1).argmax()], min(costs), rtol=1e-7
    )


def test_a_node_counts_once_a_row():
    n, L = 3, 4
    all_sets = [np.tile(s, (n, 1)) for s in np.array(list(product([0, 1], repeat=L)), np.int8)]
    visits = visits_of([*all_sets, all_sets[5]])
    for level in range(L):
        there = visits.start <= level
        nodes = {
            (i, *path[:level])
            for i, path in zip(visits.rows[there], visits.paths[there], strict=True)
        }
        assert len(nodes) == there.sum() == n * 2**level


def test_what_is_deterministic_is_learnt_for_every_cost():
    X, Y = rows()
    for target in COSTS:
        model = sw.CondensedFilterTree(C=1e3, target=target).fit(X, Y)
        assert model.score(X, Y) > 0.95


def test_costs_decide_where_features_do_not():
    truth, X = np.repeat([[1], [0]], [4, 6], axis=0), np.zeros((10, 1))

    def misses_hurt(true, predicted):
        return np.where(true > predicted, 2.0, 1.0 * (true < predicted)).sum(axis=1)

    for target, expected in (("hamming", 0), (misses_hurt, 1)):
        model = sw.CondensedFilterTree(target=target).fit(X, truth)
        assert model.predict(X).tolist() == [[expected]] * 10


def test_rounds_add_the_nodes_that_predictions_reach():
    random = np.random.default_rng(0)
    X, Y = rows(120)
    Y ^= (random.random(Y.shape) < 0.2).astype(np.int8)
    one, more = (sw.CondensedFilterTree(n_rounds=n).fit(X, Y) for n in (1, 4))
    assert one.visits_ == 120
    assert more.visits_ > 120
    assert 1 < more.n_iter_ <= 4


def test_it_stops_when_predictions_reach_nothing_new():
    X, Y = rows()
    model = sw.CondensedFilterTree(n_rounds=50, C=1e4).fit(X, Y)
    assert model.n_iter_ < 50


def test_a_weight_is_so_many_rows():
    X, Y = rows()
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    heavy = sw.CondensedFilterTree().fit(X, Y, sample_weight=weight)
    repeated = sw.CondensedFilterTree().fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )
    np.testing.assert_allclose(heavy.weights_, repeated.weights_, atol=0.02)
    np.testing.assert_array_equal(heavy.predict(X), repeated.predict(X))


def test_sparse_rows_give_about_the_same_weights():
    X, Y = rows()
    dense = sw.CondensedFilterTree().fit(X, Y)
    stored = sw.CondensedFilterTree().fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(stored.weights_, dense.weights_, atol=0.05)
    assert not np.tril(dense.links_).any()
    assert dense.links_.any()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_rounds": 0}, "n_rounds"),
        ({"C": 0}, "C is a number over zero"),
        ({"C": "auto"}, "C is a number over zero, not 'auto'"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.CondensedFilterTree(**settings).fit(*rows())
