"""Boosted trees that components share: they learn what linear detectors cannot, and do no harm."""

import itertools

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import expit, logsumexp

import setwise as sw
from setwise.errors import DataError
from setwise.learners.boosting import BoostedBank
from setwise.learners.workers import Workers
from setwise.models.cbm import shared_boosted as module
from setwise.models.cbm.em import LOG_NOTHING
from setwise.models.cbm.fit import start
from setwise.models.cbm.rows import TrainingRows
from setwise.models.cbm.shared import LinearShared
from setwise.models.cbm.shared_boosted import BoostedShared, better_biases

N, D, K, L = 150, 4, 3, 6
NEVER, ALWAYS = 2, 4
ONE = Workers(1)


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def training(random):
    X = random.normal(size=(N, D)) * (random.random((N, D)) < 0.6)
    Y = (X @ random.normal(size=(D, L)) + random.normal(size=(N, L)) > 0.5).astype(int)
    Y[:, NEVER], Y[:, ALWAYS] = 0, 1
    return TrainingRows(X, sparse.csr_array(Y), random.uniform(0.5, 2, N))


@pytest.fixture
def shares(random):
    """Responsibilities (K, n), many of them zero, all of component 2."""
    R = random.dirichlet(np.full(K - 1, 0.5), N).T
    R[R < 0.2] = 0
    return np.vstack([R / R.sum(axis=0), np.zeros(N)])


def weighted_log_likelihood(labels, training, shares):
    Z = np.empty((*shares.T.shape, training.n_labels))
    labels.fill_logits(training.X, Z)
    Y = training.Y.toarray()[:, None]
    return float((training.weight * shares).T.ravel() @ (Y * Z - np.logaddexp(0, Z)).sum(2).ravel())


def biases_problem(random, m=200):
    return {
        "trees": 2 * random.normal(size=(m, L)),
        "T": (random.random((m, L)) < random.random(L)).astype(float),
        "components": random.integers(K - 1, size=m),  # the last has none
        "weight": random.random(m),
        "frequency": random.uniform(0.05, 0.6, L),
        "smoothing": 0.1,
    }


def cell_value(problem, k, label, b):
    own = problem["components"] == k
    z, t = problem["trees"][own, label] + b, problem["T"][own, label]
    f, w = problem["frequency"][label], problem["weight"][own]
    prior = f * b - np.logaddexp(0, b)
    return w @ (t * z - np.logaddexp(0, z)) + problem["smoothing"] * prior


def test_no_step_in_a_bias_lowers_its_objective_and_many_find_its_maximum(random):
    problem, everything = biases_problem(random), np.ones(L, bool)
    B = 8 * random.normal(size=(K, L))
    cells = list(itertools.product(range(K), range(L)))
    for _ in range(60):
        better = better_biases(B, **problem, moving=everything)
        for k, label in cells:
            before = cell_value(problem, k, label, B[k, label])
            assert cell_value(problem, k, label, better[k, label]) >= before - 1e-9
        B = better
    for k, label in cells:
        cell = (k, label)
        best = optimize.minimize_scalar(lambda b, cell=cell: -cell_value(problem, *cell, b)).x
        np.testing.assert_allclose(B[k, label], best, atol=1e-4)


def test_the_penalty_is_that_of_rows_with_the_overall_frequencies(training, shares):
    labels = BoostedShared(smoothing=0.3).start(training, np.zeros((K, L)))
    labels.improve(training, shares, ONE)
    p = expit(labels.biases_)
    f = (training.weight @ training.Y.toarray() + 0.5) / (training.weight.sum() + 1)
    expected = -0.3 * (f * np.log(p) + (1 - f) * np.log(1 - p)).sum()
    np.testing.assert_allclose(labels.penalty, expected, rtol=1e-9)


def test_biases_that_are_not_to_move_stay(random):
    moving = np.arange(L) != 3
    B = random.normal(size=(K, L))
    better = better_biases(B, **biases_problem(random), moving=moving)
    np.testing.assert_array_equal(better[:, 3], B[:, 3])
    assert (better[:, moving] != B[:, moving]).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_each_m_step_raises_the_weighted_likelihood(training, shares, kind):
    training = TrainingRows(kind(training.X), training.Y, training.weight)
    labels = BoostedShared().start(training, np.zeros((K, L)))
    reached = [weighted_log_likelihood(labels, training, shares) - labels.penalty]
    for _ in range(8):
        labels.improve(training, shares, ONE)
        reached.append(weighted_log_likelihood(labels, training, shares) - labels.penalty)
    assert all(after > before for before, after in itertools.pairwise(reached))
    assert labels.bank_.n_rounds_ == 8 * 4


def test_trees_learn_that_a_feature_means_the_opposite_in_another_component(random):
    X = random.normal(size=(400, 2))
    component = random.integers(2, size=400)
    Y = sparse.csr_array(((X[:, :1] > 0) != component[:, None]).astype(int))
    training, shares = TrainingRows(X, Y, np.ones(400)), np.eye(2)[:, component]
    trees, linear = BoostedShared(), LinearShared()
    for labels in (trees, linear):
        labels.start(training, np.zeros((2, 1)))
        for _ in range(10):
            labels.improve(training, shares, ONE)
    assert weighted_log_likelihood(linear, training, shares) / 400 < np.log(0.5) + 0.02
    assert weighted_log_likelihood(trees, training, shares) / 400 > -0.1
    Z = np.empty((2, 2, 1))
    trees.fill_logits(np.array([[1.0, 0.0], [-1.0, 0.0]]), Z)
    assert (np.sign(Z[..., 0]) == [[1, -1], [-1, 1]]).all()


def test_trees_that_do_harm_are_taken_back(training, shares, monkeypatch):
    labels = BoostedShared().start(training, np.zeros((K, L)))
    labels.improve(training, shares, ONE)
    table, biases = labels._table, labels.biases_
    everything = np.arange(N * K)
    scores = labels.bank_.scores(table[everything])
    add_trees = BoostedBank.add_trees

    def add_wrong_trees(bank, X, T, weight, n_trees):
        return add_trees(bank, X, 1 - T, weight, n_trees)

    monkeypatch.setattr(BoostedBank, "add_trees", add_wrong_trees)
    labels.improve(training, shares, ONE)
    assert labels.bank_.n_rounds_ == 4
    np.testing.assert_array_equal(labels.bank_.scores(table[everything]), scores)
    assert (labels.biases_ != biases).any()
    np.testing.assert_allclose(labels._known.scores, scores[labels._known.pairs], atol=1e-9)


def test_labels_that_never_or_always_occur_keep_their_frequency(training, shares):
    labels = BoostedShared().start(training, np.zeros((K, L)))
    for _ in range(5):
        labels.improve(training, shares, ONE)
    rare = np.log(0.5 / (training.weight.sum() + 0.5))
    np.testing.assert_allclose(labels.biases_[:, NEVER], rare, rtol=1e-9)
    Z = np.empty((N, K, L))
    labels.fill_logits(training.X, Z)
    assert (Z[..., NEVER] < -4).all()
    assert (Z[..., ALWAYS] > 4).all()


@pytest.mark.parametrize("most_known", [module.MOST_KNOWN, L])
@pytest.mark.parametrize("least", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_log_likelihoods_are_those_of_all_pairs(
    training, shares, random, least, kind, most_known, monkeypatch
):
    monkeypatch.setattr(module, "MOST_KNOWN", most_known)
    training = TrainingRows(kind(training.X), training.Y, training.weight)
    labels = BoostedShared().start(training, 3 * random.normal(size=(K, L)))
    log_pi = np.log(random.dirichlet(np.full(K, 0.3), N))
    log_least = np.log(least) if least else LOG_NOTHING
    for _ in range(3):  # the second and third time, some pairs are known
        labels.improve(training, shares, ONE)
        Z = np.empty((N, K, L))
        labels.fill_logits(training.X, Z)
        Y = training.Y.toarray()[:, None]
        expected = log_pi + (Y * Z - np.logaddexp(0, Z)).sum(axis=2)
        log_joint = log_pi.copy()
        labels.add_log_likelihood(training, shares, log_least, log_joint, ONE)
        kept = np.isfinite(log_joint)
        np.testing.assert_allclose(log_joint[kept], expected[kept], rtol=1e-6)
        assert kept[expected > logsumexp(expected, axis=1, keepdims=True) + log_least].all()
        assert kept.all() == (least == 0)
        if most_known == L:
            took_part = shares.T > 0
            enough = np.where(took_part, log_joint, -np.inf).max(axis=1, keepdims=True) + log_least
            alive = np.flatnonzero(took_part | (log_joint > enough))
            np.testing.assert_array_equal(labels._known.pairs, alive)


def test_components_that_a_gate_rules_out_stay_out(training, shares, random):
    labels = BoostedShared().start(training, random.normal(size=(K, L)))
    log_joint = np.tile([np.log(0.5), -np.inf, np.log(0.5)], (N, 1))
    labels.add_log_likelihood(training, shares, LOG_NOTHING, log_joint, ONE)
    assert np.isneginf(log_joint[:, 1]).all()
    assert np.isfinite(log_joint[:, [0, 2]]).all()


@pytest.fixture(scope="module")
def data():
    """Two labels that exclude each other, others that follow features."""
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 6))
    Y = (X @ random.normal(size=(6, 8)) + random.normal(size=(300, 8)) > 1).astype(int)
    Y[:, 1] = 1 - Y[:, 0]
    return X, Y


def boosted_cbm(n_components=4, **more):
    defaults = {"random_state": 0, "n_starts": 2, "max_iter": 8, "tol": -1.0}
    return sw.CBM(n_components, learner="boosting", sharing="labels", **defaults | more)


@pytest.mark.parametrize("gate", ["boosting", "elastic"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_bound_never_falls(data, gate, kind):
    X, Y = data
    model = boosted_cbm(gate=gate, dtype="float64", min_responsibility=0, max_iter=12)
    bounds = [done["bound"] for done in model.fit(kind(X), Y).history_]
    assert len(bounds) == 12
    for before, after in itertools.pairwise(bounds):
        assert after >= before - 1e-6 * abs(before)
    assert bounds[-1] > bounds[0] + 50


def test_components_differ_and_know_that_labels_exclude_each_other(data):
    X, Y = data
    shared, alone = boosted_cbm().fit(X, Y), boosted_cbm(1).fit(X, Y)
    gain = shared.predict_dist(X).log_prob(Y).mean() - alone.predict_dist(X).log_prob(Y).mean()
    assert gain > 0.3
    Z = shared.predict_dist(X).logits
    assert expit(Z[..., 0]).std(axis=1).mean() > 0.2
    assert shared.predict_dist(X).correlation()[:, 0, 1].mean() < -0.5


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_it_predicts_the_same_when_loaded(data, kind, tmp_path):
    X, Y = kind(data[0]), data[1]
    model = boosted_cbm(max_iter=3).fit(X, Y)
    model.save(tmp_path / "model")
    again = sw.load(tmp_path / "model")
    before, after = (each.predict_dist(X) for each in (model, again))
    np.testing.assert_array_equal(before.log_prob(Y), after.log_prob(Y))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_a_state_that_was_put_back_goes_on_as_before(data):
    X, Y = data
    rows = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    settings = boosted_cbm()._settings()
    first = start(rows, settings, ONE)
    first.round()
    state, same = first.state(), first.state()
    expected = [first.round().bound for _ in range(2)]
    second = start(rows, settings, ONE, state)
    np.testing.assert_allclose([second.round().bound for _ in range(2)], expected, rtol=1e-6)
    first.restore(same)
    np.testing.assert_allclose(first.round().bound, expected[0], rtol=1e-6)


def test_threads_make_no_difference(data):
    X, Y = data
    one, two = (boosted_cbm(n_jobs=n_jobs, max_iter=4).fit(X, Y) for n_jobs in (1, 2))
    for name in ("bound", "active_rows"):
        told = [[done[name] for done in model.history_] for model in (one, two)]
        np.testing.assert_allclose(*told, rtol=1e-9)


def test_it_can_be_explained_without_features(data):
    X, Y = data
    model = boosted_cbm(max_iter=2).fit(X, Y)
    assert len(model.components()) == 4
    assert str(model.explain(X[0]))


def test_other_learners_cannot_share(data):
    with pytest.raises(DataError, match='learner="logistic" or learner="boosting"; got'):
        sw.CBM(2, "elastic", sharing="labels").fit(*data)
