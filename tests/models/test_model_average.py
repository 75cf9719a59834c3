import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.distributions.batched import Batched
from setwise.errors import DataError
from setwise.models import BinaryRelevance, ModelAverage, PowerSet
from setwise.models.average_members import default_members
from setwise.models.model_average import likeliest_weights

SETS = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])  # all of three labels


def rows(n=120, seed=0):
    """Three labels, the last of which is the exclusive or of the others: no linear matter."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    Y = (X + 0.5 * random.normal(size=(n, 2)) > 0).astype(int)
    return X, np.column_stack([Y, Y[:, 0] ^ Y[:, 1]])


def two():
    return [BinaryRelevance(C=3.0), PowerSet(C=0.3)]


def test_probabilities_are_the_weighted_sums_of_the_models():
    X, Y = rows()
    average = ModelAverage(two(), weights=[3.0, 1.0]).fit(X, Y).predict_dist(X[:5])
    parts = [model.fit(X, Y).predict_dist(X[:5]) for model in two()]
    for one in SETS:
        sets = np.tile(one, (5, 1))
        wanted = 0.75 * np.exp(parts[0].log_prob(sets)) + 0.25 * np.exp(parts[1].log_prob(sets))
        np.testing.assert_allclose(np.exp(average.log_prob(sets)), wanted, rtol=1e-9, atol=1e-15)
    wanted = 0.75 * parts[0].marginals() + 0.25 * parts[1].marginals()
    np.testing.assert_allclose(average.marginals(), wanted, rtol=1e-9)


def test_the_likeliest_sets_are_those_of_enumeration():
    X, Y = rows()
    average = ModelAverage(two(), weights="equal").fit(X, Y).predict_dist(X)
    scores = np.stack([average.log_prob(np.tile(one, (len(X), 1))) for one in SETS], axis=1)
    sets, log_prob = average.top(3)
    np.testing.assert_allclose(log_prob, -np.sort(-scores, axis=1)[:, :3], rtol=1e-9)
    np.testing.assert_allclose(average.log_prob(sets[:, 1]), log_prob[:, 1], rtol=1e-9)


def test_the_weights_are_where_the_likelihood_is_highest():
    random = np.random.default_rng(0)
    log_prob = np.log(random.uniform(0.01, 1, size=(200, 2)) * [1.0, 0.9])
    weight = random.uniform(0.5, 2, size=200)
    found = likeliest_weights(log_prob, weight)
    shares = np.linspace(0, 1, 10_001)
    mixed = np.exp(log_prob) @ np.stack([shares, 1 - shares])
    best = shares[(weight @ np.log(mixed)).argmax()]
    np.testing.assert_allclose(found, [best, 1 - best], rtol=0, atol=1e-3)


def test_a_weight_is_a_repetition_of_a_row():
    log_prob = np.log(np.random.default_rng(1).uniform(0.01, 1, size=(30, 3)))
    times = np.arange(30) % 3
    np.testing.assert_allclose(
        likeliest_weights(log_prob, times.astype(float)),
        likeliest_weights(np.repeat(log_prob, times, axis=0)),
        rtol=1e-6,
    )


def test_rows_that_no_model_finds_possible_do_not_count():
    log_prob = np.log([[0.9, 0.1], [0.8, 0.3]])
    with_more = np.vstack([log_prob, [[-np.inf, -np.inf]]])
    np.testing.assert_array_equal(likeliest_weights(with_more), likeliest_weights(log_prob))
    np.testing.assert_array_equal(likeliest_weights(with_more[2:]), [0.5, 0.5])


def test_a_model_that_knows_how_labels_go_together_outweighs_one_that_does_not():
    X, Y = rows(400)
    model = ModelAverage([BinaryRelevance(), PowerSet()]).fit(X, Y)
    assert model.all_weights_[1] > 0.9
    assert model.all_weights_.sum() == pytest.approx(1, rel=1e-12)


def test_models_without_weight_are_left_out():
    X, Y = rows()
    model = ModelAverage(two(), weights=[1.0, 0.001]).fit(X, Y)
    assert [type(m) for m in model.models_] == [BinaryRelevance]
    assert model.weights_.tolist() == [1.0]
    assert model.all_weights_.tolist() == [1.0, 0.0]


def test_an_average_is_likelier_on_new_rows_than_each_of_its_models():
    X, Y = rows(300)
    X_new, Y_new = rows(300, seed=1)
    models = [PowerSet(C=0.03), PowerSet("boosting", max_iter=60)]
    average = ModelAverage(models).fit(X, Y)
    alone = [m.fit(X, Y).predict_dist(X_new).log_prob(Y_new).mean() for m in models]
    assert average.predict_dist(X_new).log_prob(Y_new).mean() > max(alone)


def test_rows_of_a_group_judge_no_model_that_has_seen_others_of_it(monkeypatch):
    X, Y = rows(60)
    groups = np.repeat(np.arange(12), 5)
    seen = []
    plain = BinaryRelevance.fit

    def fit(self, X, y, sample_weight=None, groups=None):
        seen.append(groups)
        return plain(self, X, y, sample_weight, groups)

    monkeypatch.setattr(BinaryRelevance, "fit", fit)
    ModelAverage([BinaryRelevance(), BinaryRelevance(C=0.1)], n_folds=3).fit(X, Y, groups=groups)
    # Two models in each of three folds, which have fewer rows than are wanted, then on all rows.
    assert [len(set(part)) for part in seen[:6]] == [8] * 6
    assert len(set(seen[6])) == 12


def test_folds_are_judged_until_there_are_enough_rows(monkeypatch):
    X, Y = rows(100)
    fits = []
    plain = PowerSet.fit
    monkeypatch.setattr(
        PowerSet, "fit", lambda self, *given: (fits.append(len(given[0])), plain(self, *given))[1]
    )
    ModelAverage([PowerSet(), BinaryRelevance()], n_judged=30).fit(X, Y)
    assert fits == [80, 80, 100]


def test_the_empty_set_is_one_decision_for_all_models():
    X, Y = rows()
    for model in ModelAverage(two(), weights="equal", allow_empty=False).fit(X, Y).models_:
        assert not model.allow_empty_
    assert Y.sum(axis=1).min() == 0
    for model in ModelAverage(two(), weights="equal").fit(X, Y).models_:
        assert model.allow_empty_


def test_many_rows_come_in_batches(monkeypatch):
    monkeypatch.setattr("setwise.models.model_average.BATCH_CELLS", 3000)
    X, Y = rows()
    model = ModelAverage(two(), weights="equal").fit(X, Y)
    dist = model.predict_dist(X)
    assert isinstance(dist, Batched)
    np.testing.assert_allclose(dist.marginals()[:5], model.predict_proba(X[:5]), rtol=1e-12)


def test_by_default_kinds_differ_with_the_features():
    X, Y = rows()
    Y = sparse.csr_array(Y)

    def kinds(X):
        members = default_members(X, Y, may_hold_out=True)
        return {(type(m).__name__, getattr(m, "learner", "")) for m in members}

    assert kinds(sparse.csr_array(X)) < kinds(X)
    assert ("PowerSet", "boosting") in kinds(X) - kinds(sparse.csr_array(X))
    assert all(m.C == 1.0 for m in default_members(X, Y, may_hold_out=False) if hasattr(m, "C"))


def test_by_default_it_fits_and_is_stored(tmp_path):
    X, Y = rows(40)
    model = ModelAverage(random_state=1).fit(X, Y)
    model.save(tmp_path / "model.setwise")
    copy = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert model.score(X, Y) > 0.5


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"estimators": []}, "a list of one model or more"),
        ({"estimators": BinaryRelevance()}, "a list of one model or more"),
        ({"estimators": ["CBM"]}, "models of this library, not 'CBM'"),
        ({"estimators": two(), "weights": [1.0]}, "one for each of 2 models"),
        ({"estimators": two(), "weights": [-1.0, 2.0]}, "numbers from zero on"),
        ({"estimators": two(), "weights": [0.0, 0.0]}, "zero everywhere"),
        ({"estimators": two(), "weights": "best"}, "likelihood"),
        ({"estimators": two(), "n_folds": 1}, "n_folds"),
    ],
)
def test_what_cannot_be_averaged_gets_a_sentence(parameters, sentence):
    with pytest.raises(DataError, match=sentence):
        ModelAverage(**parameters).fit(*rows(20))
