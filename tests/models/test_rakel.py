"""RAkEL against power sets of its subsets, fitted one by one."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.distributions import BlockProduct
from setwise.errors import DataError
from setwise.models.rakel import given_subsets, random_subsets

SUBSETS = [[0, 3], [2, 1, 4]]


def rows(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    Y = (X @ random.normal(size=(4, 5)) + random.normal(size=(n, 5)) > 0.3).astype(int)
    return X, Y


def power_sets(X, Y, subsets, X_test):
    """Marginals and likeliest sets of each subset by scikit-learn, (m, len(subset)) each."""
    answers = []
    for subset in subsets:
        sets, which = np.unique(Y[:, subset], axis=0, return_inverse=True)
        model = LogisticRegression(tol=1e-8, max_iter=5000).fit(X, which)
        p = model.predict_proba(X_test)
        answers.append((p @ sets, sets[p.argmax(axis=1)]))
    return answers


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_disjoint_subsets_are_power_sets_side_by_side(as_csr):
    (X, Y), (X_test, _) = rows(), rows(30, seed=1)
    answers = power_sets(X, Y, SUBSETS, X_test)
    if as_csr:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    model = sw.RAkEL(label_sets=SUBSETS, overlapping=False, allow_empty=True).fit(X, Y)
    p, predicted = model.predict_proba(X_test), model.predict(X_test)
    for subset, (marginals, mode) in zip(SUBSETS, answers):
        np.testing.assert_allclose(p[:, subset], marginals, atol=1e-3)
        np.testing.assert_array_equal(predicted[:, subset], mode)
    dist = model.predict_dist(X_test)
    assert isinstance(dist, BlockProduct)
    np.testing.assert_allclose(dist.log_prob(predicted), dist.mode()[1], rtol=1e-9)


@pytest.mark.parametrize("voting", ["probability", "votes"])
def test_overlapping_subsets_say_what_they_do_on_average(voting):
    subsets = [[0, 1, 2], [2, 3, 4], [0, 4, 1]]
    (X, Y), (X_test, _) = rows(), rows(30, seed=1)
    votes, voters = np.zeros((30, 5)), np.zeros(5)
    for subset, (marginals, mode) in zip(subsets, power_sets(X, Y, subsets, X_test)):
        votes[:, subset] += marginals if voting == "probability" else mode
        voters[subset] += 1
    model = sw.RAkEL(label_sets=subsets, voting=voting, target="hamming", allow_empty=True)
    p = model.fit(X, Y).predict_proba(X_test)
    expected = votes / voters if voting == "probability" else (votes + 0.5) / (voters + 1)
    np.testing.assert_allclose(p, expected, atol=1e-3)
    np.testing.assert_array_equal(model.predict(X_test), votes / voters > 0.5)


def test_random_subsets_differ_and_hold_every_label():
    subsets = random_subsets(10, 3, None, True, 0)
    assert len(subsets) == 20
    assert len({tuple(subset) for subset in subsets}) == 20
    assert all(len(np.unique(subset)) == 3 for subset in subsets)
    counts = np.bincount(np.concatenate(subsets))
    assert counts.min() >= 4
    assert counts.max() <= 8
    assert len(random_subsets(10, 3, 4, True, 0)) == 4
    assert len(random_subsets(4, 3, 100, True, 0)) == 4  # there are no more
    disjoint = random_subsets(10, 3, None, False, 0)
    assert sorted(np.concatenate(disjoint)) == list(range(10))
    assert [len(subset) for subset in disjoint] == [3, 3, 3, 1]
    with pytest.raises(DataError, match="n_models of 4"):
        random_subsets(10, 3, 3, True, 0)


def test_subsets_can_be_named():
    X, Y = rows()
    names = [tuple(np.array(list("abcde"))[y > 0]) for y in Y]
    model = sw.RAkEL(label_sets=["ad", "cbe"], overlapping=False).fit(X, names)
    assert [subset.tolist() for subset in model.label_sets_] == SUBSETS


@pytest.mark.parametrize(
    ("subsets", "overlapping", "words"),
    [
        ([[0, 1], [2, 9]], True, "names 9"),
        ([[0, 1], [2, 2]], True, "each once"),
        ([[0, 1], []], True, "each once"),
        ([[0, 1]], True, "has the label 2"),
        ([[0, 1], [1, 2]], False, "overlapping=True"),
    ],
)
def test_subsets_that_do_not_fit_are_refused(subsets, overlapping, words):
    with pytest.raises(DataError, match=words):
        given_subsets(subsets, (0, 1, 2), overlapping=overlapping)


def test_one_subset_of_all_labels_is_the_power_set():
    X, Y = rows()
    rakel = sw.RAkEL(5, overlapping=False).fit(X, Y)
    power_set = sw.PowerSet().fit(X, Y)
    np.testing.assert_allclose(rakel.predict_proba(X), power_set.predict_proba(X), atol=1e-6)
    log_prob = rakel.predict_dist(X).log_prob(Y)
    np.testing.assert_allclose(log_prob, power_set.predict_dist(X).log_prob(Y), atol=1e-5)


def test_rows_without_weight_are_as_if_absent():
    X, Y = rows()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    model = sw.RAkEL(label_sets=SUBSETS).fit(X, Y, sample_weight=weight)
    without = sw.RAkEL(label_sets=SUBSETS).fit(X[weight > 0], Y[weight > 0])
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("overlapping", [True, False])
@pytest.mark.parametrize(
    "learner", ["elastic", "boosting", DecisionTreeClassifier(max_depth=3, random_state=0)]
)
def test_any_learner_is_saved_and_loaded(learner, overlapping, tmp_path):
    X, Y = rows()
    model = sw.RAkEL(2, overlapping=overlapping, learner=learner, max_iter=10).fit(X, Y)
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict_sets(X) == model.predict_sets(X)


def test_odd_settings_are_refused_in_a_sentence():
    X, Y = rows(20)
    for odd in ({"k": 0}, {"n_models": 0}, {"voting": "loud"}, {"C": "auto"}, {"C": None}):
        with pytest.raises(DataError, match=next(iter(odd))):
            sw.RAkEL(**odd).fit(X, Y)
    with pytest.raises(DataError, match="C must be a positive number, not 'auto'"):
        sw.RAkEL(learner="elastic", C="auto").fit(X, Y)
