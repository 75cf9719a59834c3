"""Detectors that components share: against explicit copies of rows, and against no sharing."""

import itertools

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import expit, logsumexp

import setwise as sw
from setwise.errors import DataError
from setwise.learners import LogisticBank
from setwise.learners.design import rows_of
from setwise.learners.workers import Workers
from setwise.models.cbm import shared as shared_module
from setwise.models.cbm.em import LOG_NOTHING
from setwise.models.cbm.fit import start
from setwise.models.cbm.rows import TrainingRows, places
from setwise.models.cbm.shared import LinearShared
from setwise.models.cbm.shared_loss import ScaledLoss, SharedLoss

N, D, K, L = 60, 4, 3, 11
C = 5.0
NEVER, ALWAYS = 4, 7
MOVING = np.setdiff1d(np.arange(L), [NEVER, ALWAYS])
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
    """Responsibilities (K, n), most of them zero, all of component 2."""
    R = random.dirichlet(np.full(K - 1, 0.5), N).T
    R[R < 0.2] = 0
    return np.vstack([R / R.sum(axis=0), np.zeros(N)])


def loss_of(training, shares, X=None):
    return SharedLoss(
        rows_of(training.X if X is None else X, bias=False),
        training.Y,
        places(MOVING, L),
        sparse.csr_array((shares * training.weight).T),
        1 / C,
        ONE,
    )


def copies(training, shares):
    """(x, z) for each pair of a row and a component that takes part, its weight and targets."""
    k, n = np.nonzero(shares)
    return training.X[n], k, (shares * training.weight)[k, n], training.Y.toarray()[n]


def objective(theta, X, k, weight, target):
    """Of one label, with w, c_k and c_0 as the thesis has them, and its gradient."""
    w, c, c0 = theta[:D], theta[D:-1], theta[-1]
    z = X @ w + c[k] + c0
    value = weight @ (np.logaddexp(0, z) - target * z) + (w @ w + c @ c) / (2 * C)
    slope = weight * (expit(z) - target)
    by_component = np.bincount(k, slope, minlength=K)
    return value, np.concatenate([X.T @ slope + w / C, by_component + c / C, [slope.sum()]])


def test_values_are_those_of_explicit_copies(training, shares, random):
    V = random.normal(size=(D + K, len(MOVING)))
    X, k, weight, Y = copies(training, shares)
    values, _ = loss_of(training, shares).evaluate(V)
    for column, label in enumerate(MOVING):
        w, B = V[:D, column], V[D:, column]
        theta = np.concatenate([w, B - B.mean(), [B.mean()]])
        expected, _ = objective(theta, X, k, weight, Y[:, label])
        np.testing.assert_allclose(values[column], expected, rtol=1e-12)


def test_gradients_are_those_of_finite_differences(training, shares, random):
    V = random.normal(size=(D + K, len(MOVING)))
    loss = loss_of(training, shares)
    scaled = ScaledLoss(loss, random.uniform(0.5, 2, V.shape))
    some = np.array([5, 2])
    for problem, columns in ((loss, V), (scaled, V), (scaled.taken(some), V[:, some])):
        _, G = problem.evaluate(columns)
        for row in range(D + K):
            step = np.zeros_like(columns)
            step[row] = 1e-6
            up, down = (problem.evaluate(columns + sign * step)[0] for sign in (1, -1))
            np.testing.assert_allclose(G[row], (up - down) / 2e-6, rtol=1e-6, atol=1e-6)


def test_curvatures_of_biases_are_exact(training, shares, random):
    V = random.normal(size=(D + K, len(MOVING)))
    X, k, weight, _ = copies(training, shares)
    p = expit(X @ V[:D] + V[D:][k])
    expected = np.zeros((K, len(MOVING)))
    np.add.at(expected, k, weight[:, None] * p * (1 - p))
    found = loss_of(training, shares).curvatures(V)
    np.testing.assert_allclose(found[D:], expected + 1 / C, rtol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_an_m_step_finds_what_logistic_regressions_on_copies_find(
    training, shares, monkeypatch, kind
):
    monkeypatch.setattr(shared_module, "CLOSE", 1e-15)
    training = TrainingRows(kind(training.X), training.Y, training.weight)
    labels = LinearShared(C, steps=300).start(training, np.zeros((K, L)))
    labels.improve(training, shares, ONE)
    X, k, weight, Y = copies(TrainingRows(labels._rows.X, training.Y, training.weight), shares)
    X = X.toarray() if sparse.issparse(X) else X
    for label in MOVING:
        found = optimize.minimize(
            objective, np.zeros(D + K + 1), (X, k, weight, Y[:, label]), jac=True,
            options={"gtol": 1e-10, "maxiter": 10_000},
        ).x  # fmt: skip
        np.testing.assert_allclose(labels.weights_[:, label], found[:D], atol=1e-6)
        np.testing.assert_allclose(labels.biases_[:, label], found[D:-1] + found[-1], atol=1e-6)
    # A component without rows: the mean of the others.
    np.testing.assert_allclose(labels.biases_[2], labels.biases_[:2].mean(axis=0), atol=1e-6)


def test_the_penalty_is_that_of_the_objective(training, shares):
    labels = LinearShared(C).start(training, np.zeros((K, L)))
    labels.improve(training, shares, ONE)
    apart = labels.biases_ - labels.biases_.mean(axis=0)
    expected = ((labels.weights_**2).sum() + (apart**2).sum()) / (2 * C)
    assert expected > 0
    np.testing.assert_allclose(labels.penalty, expected, rtol=1e-12)


def test_labels_that_never_or_always_occur_stay_finite(training, shares):
    labels = LinearShared(C, steps=50).start(training, np.zeros((K, L)))
    labels.improve(training, shares, ONE)
    total = training.weight.sum()
    rare = np.log(0.5 / (total + 0.5))
    np.testing.assert_allclose(labels.biases_[:, NEVER], rare, rtol=1e-9)
    np.testing.assert_allclose(labels.biases_[:, ALWAYS], -rare, rtol=1e-9)
    assert not labels.weights_[:, [NEVER, ALWAYS]].any()


@pytest.mark.parametrize("least", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_log_likelihoods_are_those_of_all_pairs(training, shares, random, least, kind):
    training = TrainingRows(kind(training.X), training.Y, training.weight)
    labels = LinearShared(C).start(training, 3 * random.normal(size=(K, L)))
    labels.weights_ += random.normal(size=labels.weights_.shape)
    log_pi = np.log(random.dirichlet(np.ones(K), N))
    Z = np.empty((N, K, L))
    labels.fill_logits(training.X, Z)
    Y = training.Y.toarray()[:, None]
    expected = log_pi + (Y * Z - np.logaddexp(0, Z)).sum(axis=2)
    log_joint = log_pi.copy()
    log_least = np.log(least) if least else LOG_NOTHING
    labels.add_log_likelihood(training, shares, log_least, log_joint, ONE)
    kept = np.isfinite(log_joint)
    np.testing.assert_allclose(log_joint[kept], expected[kept], rtol=1e-9)
    best = logsumexp(expected, axis=1, keepdims=True)
    assert kept[expected > best + log_least].all()
    if least == 0.1:
        assert not kept.all()


@pytest.mark.parametrize("present", [0, 1])
def test_pairs_are_left_out_only_where_they_are_hopeless(training, shares, random, present):
    Y = sparse.csr_array(np.full((N, L), present))
    training = TrainingRows(training.X, Y, training.weight)
    labels = LinearShared(C).start(training, np.zeros((K, L)))
    labels.biases_ = 0.3 * random.normal(size=(K, L))
    Z = np.empty((N, K, L))
    labels.fill_logits(training.X, Z)
    expected = (present * Z - np.logaddexp(0, Z)).sum(axis=2)
    gap = expected.max() - expected.min()
    log_joint = np.zeros((N, K))
    labels.add_log_likelihood(training, shares, -1.001 * gap, log_joint, ONE)
    np.testing.assert_allclose(log_joint, expected, rtol=1e-9)


def test_components_that_a_gate_rules_out_stay_out(training, shares, random):
    labels = LinearShared(C).start(training, random.normal(size=(K, L)))
    log_joint = np.tile([np.log(0.5), -np.inf, np.log(0.5)], (N, 1))
    labels.add_log_likelihood(training, shares, LOG_NOTHING, log_joint, ONE)
    assert np.isneginf(log_joint[:, 1]).all()
    assert np.isfinite(log_joint[:, [0, 2]]).all()


@pytest.fixture(scope="module")
def data():
    """Two labels that exclude each other, others that follow features."""
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 6))
    Y = (X @ random.normal(size=(6, 12)) + random.normal(size=(300, 12)) > 1).astype(int)
    Y[:, 1] = 1 - Y[:, 0]
    return X, Y


def shared_cbm(n_components=5, **more):
    return sw.CBM(n_components, sharing="labels", random_state=0, n_starts=2, **more)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_bound_never_falls(data, kind):
    X, Y = data
    model = shared_cbm(dtype="float64", min_responsibility=0, tol=-1.0, max_iter=30)
    bounds = [done["bound"] for done in model.fit(kind(X), Y).history_]
    assert len(bounds) == 30
    for before, after in itertools.pairwise(bounds):
        assert after >= before - 1e-9 * abs(before)


def test_one_component_is_binary_relevance(data):
    X, Y = data
    X = X / np.sqrt((X**2).sum(axis=1).mean())
    more = {"dtype": "float64", "scale": "none", "inner_steps": 200, "allow_empty": True}
    model = shared_cbm(1, C=3.0, **more).fit(X, Y)
    bank = LogisticBank(C=3.0, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(model.predict_dist(X).marginals(), expit(bank.logits(X)), atol=1e-3)


def test_sparse_and_dense_rows_agree(data):
    X, Y = data
    X = np.where(X > 0, X, 0)
    X[:, 3] = 0
    more = {"dtype": "float64", "scale": "none", "inner_steps": 60, "max_iter": 3, "tol": -1.0}
    dense = shared_cbm(**more).fit(X, Y).predict_dist(X)
    thin = shared_cbm(**more).fit(sparse.csr_array(X), Y).predict_dist(sparse.csr_array(X))
    np.testing.assert_allclose(dense.marginals(), thin.marginals(), atol=1e-2)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_it_predicts_the_same_when_loaded(data, kind, tmp_path):
    X, Y = kind(data[0]), data[1]
    model = shared_cbm().fit(X, Y)
    model.save(tmp_path / "model")
    again = sw.load(tmp_path / "model")
    before, after = (each.predict_dist(X) for each in (model, again))
    np.testing.assert_array_equal(before.log_prob(Y), after.log_prob(Y))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_a_state_that_was_put_back_goes_on_as_before(data):
    X, Y = data
    rows = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    settings = shared_cbm()._settings()
    first = start(rows, settings, ONE)
    first.round()
    state = first.state()
    expected = [first.round().bound for _ in range(2)]
    second = start(rows, settings, ONE, state)
    np.testing.assert_allclose([second.round().bound for _ in range(2)], expected, rtol=1e-12)


def test_it_knows_that_labels_exclude_each_other(data):
    X, Y = data
    shared, alone = shared_cbm().fit(X, Y), shared_cbm(1).fit(X, Y)
    assert (
        shared.predict_dist(X).log_prob(Y).mean() > alone.predict_dist(X).log_prob(Y).mean() + 0.3
    )


def test_rows_of_no_weight_and_doubled_rows_count_as_they_should(data):
    X, Y = data
    weight = np.arange(len(X)) % 3
    more = {"scale": "none", "dtype": "float64", "max_iter": 4}
    weighted = shared_cbm(2, **more).fit(X, Y, sample_weight=weight)
    copied = shared_cbm(2, **more).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(
        weighted.predict_dist(X).marginals(), copied.predict_dist(X).marginals(), atol=1e-6
    )


def test_a_tree_can_be_the_gate(data):
    X, Y = data
    model = shared_cbm(gate="tree").fit(X, Y)
    assert np.isfinite(model.predict_dist(X).log_prob(Y)).all()


def test_other_kinds_of_sharing_are_refused(data):
    with pytest.raises(DataError, match="sharing must be None"):
        sw.CBM(sharing="features").fit(*data)
