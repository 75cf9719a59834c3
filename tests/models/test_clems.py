import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import setwise as sw
from setwise.errors import DataError
from setwise.models.cost_embedding import between
from setwise.models.set_costs import cost_table


def rows(n=60, L=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    return X, (X @ random.normal(size=(5, L)) > 0.2).astype(int)


@pytest.mark.parametrize("target", ["f1", "hamming", "set_accuracy", "jaccard"])
def test_distances_tell_costs(target):
    X, Y = rows()
    model = sw.CLEMS(target=target, n_dimensions=30, max_iter=2000).fit(X, Y)
    wanted = np.sqrt(cost_table(target, model.sets_.toarray()))
    apart = between(model.truths_, model.predictions_)
    assert np.abs(apart - wanted).max() < 0.1
    assert (apart.argmin(axis=1) == np.arange(len(apart))).all()


def test_the_prediction_is_the_nearest_set():
    X, Y = rows()
    model = sw.CLEMS().fit(X, Y)
    points = model.regressor_.predict(X)
    nearest = [((model.predictions_ - point) ** 2).sum(axis=1).argmin() for point in points]
    np.testing.assert_array_equal(model.predict(X), model.sets_.toarray()[nearest])


def test_a_perfect_regressor_gives_every_row_its_set():
    X, Y = rows()
    model = sw.CLEMS(KNeighborsRegressor(n_neighbors=1)).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_what_is_predicted_was_in_training():
    X, Y = rows()
    known = {tuple(row) for row in Y}
    others = np.random.default_rng(9).normal(size=(200, 5))
    assert {tuple(row) for row in sw.CLEMS().fit(X, Y).predict(others)} <= known


def test_a_weight_is_so_many_rows():
    X, Y = rows()
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    heavy = sw.CLEMS().fit(X, Y, sample_weight=weight)
    repeated = sw.CLEMS().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(heavy.stress_, repeated.stress_, rtol=1e-6)
    np.testing.assert_array_equal(heavy.predict(X), repeated.predict(X))


def test_rare_sets_can_be_left_out():
    X, Y = rows()
    model = sw.CLEMS(max_sets=3).fit(X, Y)
    sets, counts = np.unique(Y, axis=0, return_counts=True)
    frequent = {tuple(sets[i]) for i in np.argsort(-counts)[:3]}
    fewest = np.sort(counts)[-3]
    kept = model.sets_.toarray()
    assert len(kept) == 3
    assert all(counts[(sets == row).all(axis=1)][0] >= fewest for row in kept)
    assert len({tuple(row) for row in kept} & frequent) >= 2


def test_any_regressor_can_learn_the_points_and_be_stored(tmp_path):
    X, Y = rows()
    X = sparse.csr_array(X)
    tree = DecisionTreeRegressor(random_state=7)
    model = sw.CLEMS(tree, random_state=1).fit(X, Y)
    assert tree.random_state == 7
    assert model.regressor_.random_state == 1
    model.save(tmp_path / "model.setwise")
    np.testing.assert_array_equal(sw.load(tmp_path / "model.setwise").predict(X), model.predict(X))


def test_the_forest_of_the_paper_has_a_name():
    X, Y = rows()
    model = sw.CLEMS("forest", n_jobs=1).fit(X, Y)
    assert isinstance(model.regressor_, RandomForestRegressor)
    assert model.score(X, Y) > 0.8


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"regressor": "luck"}, "regressor must be"),
        ({"C": 0}, "C is a number over zero"),
        ({"C": "auto"}, "C is a number over zero, not 'auto'"),
        ({"n_dimensions": 0}, "n_dimensions"),
        ({"max_sets": 0}, "max_sets"),
        ({"max_iter": 0}, "max_iter"),
        ({"target": lambda t, p: np.ones(len(t))}, "not zero where the prediction is the truth"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.CLEMS(**settings).fit(*rows())


def test_where_only_the_empty_set_is_left_it_must_be_allowed():
    X, Y = rows()
    nothing, mostly = np.zeros_like(Y), Y.copy()
    mostly[5:] = 0
    for settings, labels in (({}, nothing), ({"max_sets": 1}, mostly)):
        with pytest.raises(DataError, match="the empty set is the only one to predict"):
            sw.CLEMS(allow_empty=False, **settings).fit(X, labels)
        assert not sw.CLEMS(**settings).fit(X, labels).predict(X).any()
    assert sw.CLEMS(allow_empty=False).fit(X, mostly).predict(X).any(axis=1).all()
