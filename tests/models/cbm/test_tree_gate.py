import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_expit

import setwise as sw
from setwise.learners import LogisticBank
from setwise.learners.workers import Workers
from setwise.models import CBM
from setwise.models.cbm import linear
from setwise.models.cbm.component_tree import sides
from setwise.models.cbm.linear import LinearGate
from setwise.models.cbm.rows import TrainingRows
from setwise.models.cbm.tree_gate import TreeGate

KINDS = [np.asarray, sparse.csr_array]
ONE = Workers(1)


def rows(n=80, d=4, kind=np.asarray, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.7)
    Y = random.integers(0, 2, size=(n, 3))
    return TrainingRows(kind(X), sparse.csr_array(Y), random.uniform(0.5, 2, size=n))


def responsibilities(n=80, K=7, seed=1, active=3):
    """Few components a row, as in a sparse mixture."""
    random = np.random.default_rng(seed)
    T = random.random((n, K)) ** 2
    T[np.argsort(np.argsort(T, axis=1), axis=1) < K - active] = 0
    return T / T.sum(axis=1, keepdims=True)


def grown(K, kind=np.asarray, *, rounds=5, **options):
    training, T = rows(kind=kind), responsibilities(K=K)
    gate = TreeGate(C=2.0, **options)
    for _ in range(rounds):
        gate.improve(training, T, ONE)
    return gate, training, T


def objective(gate, training, T):
    return -training.weight @ (T * gate.log_proba(training.X)).sum(axis=1) + gate.penalty


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 2, 3, 7, 12])
def test_weights_are_the_products_along_the_paths_and_sum_to_one(K, kind):
    gate, training, _ = grown(K, kind)
    log_pi = gate.log_proba(training.X)
    z = training.X @ gate.weights_.T + gate.biases_
    left, right = sides(gate.children_)
    np.testing.assert_allclose(log_pi, log_expit(z) @ left + log_expit(-z) @ right, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_pi).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_every_node_ends_where_a_logistic_regression_does(kind, monkeypatch):
    monkeypatch.setattr(linear, "CLOSE", 1e-14)
    gate, training, T = grown(7, kind, rounds=10, steps=50)
    left, right = sides(gate.children_)
    for node in range(len(gate.children_)):
        going, staying = T @ left[node], T @ right[node]
        weight = training.weight * (going + staying)
        target = np.divide(going, going + staying, out=np.zeros(len(T)), where=weight > 0)
        bank = LogisticBank(C=4.0, tol=1e-13, max_iter=1000)
        bank.fit(training.X, target[:, None], sample_weight=weight)
        np.testing.assert_allclose(gate.weights_[node], bank.weights_[:, 0], atol=1e-6)
        np.testing.assert_allclose(gate.biases_[node], bank.biases_[0], atol=1e-6)


def test_of_two_components_it_is_the_softmax_gate(monkeypatch):
    monkeypatch.setattr(linear, "CLOSE", 1e-14)
    gate, training, T = grown(2, rounds=20, steps=20)
    softmax = LinearGate(C=2.0, steps=50)
    for _ in range(10):
        softmax.improve(training, T, ONE)
    np.testing.assert_allclose(gate.log_proba(training.X), softmax.log_proba(training.X), atol=1e-4)
    np.testing.assert_allclose(gate.penalty, softmax.penalty, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("active", [2, 7])
def test_no_improvement_raises_the_objective(kind, active):
    training, gate = rows(kind=kind), TreeGate(C=10.0, steps=2)
    gate.improve(training, responsibilities(active=active), ONE)
    for seed in range(8):  # responsibilities change between the rounds, as they do in EM
        T = responsibilities(seed=seed // 3, active=active)
        before = objective(gate, training, T)
        gate.improve(training, T, ONE)
        assert objective(gate, training, T) <= before * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind):
    training, T = rows(kind=kind), responsibilities()
    gates = []
    for n_jobs in (1, 3):
        with Workers(n_jobs) as workers:
            gates.append(TreeGate())
            gates[-1].improve(training, T, workers)
    np.testing.assert_array_equal(gates[0].weights_, gates[1].weights_)
    one, many = (
        gate.pruned_log_proba(training.X, n_jobs=n)[0]
        for gate, n in zip(gates, (1, 3), strict=True)
    )
    np.testing.assert_array_equal(one, many)


@pytest.mark.parametrize("kind", KINDS)
def test_a_component_without_rows_becomes_unlikely_but_not_impossible(kind):
    training, T = rows(kind=kind), responsibilities(K=5)
    T[:, 3] = 0
    T /= T.sum(axis=1, keepdims=True)
    gate = TreeGate(C=1e6, steps=20)
    gate.improve(training, T, ONE)
    (node,) = np.flatnonzero((gate.children_ == ~3).any(axis=1))
    bias = gate.biases_[node]
    assert (gate.weights_[node] == 0).all()
    for _ in range(5):
        gate.improve(training, T, ONE)
    assert gate.biases_[node] == bias
    shares = np.exp(gate.log_proba(training.X)[:, 3])
    assert 1e-6 < shares.max() < 0.05


def test_a_node_forgets_features_that_its_rows_have_no_more():
    training, T = rows(kind=sparse.csr_array), responsibilities(K=5)
    gate = TreeGate()
    gate.improve(training, T, ONE)
    T[training.X.toarray()[:, 0] != 0] = np.eye(5)[2]
    gate.improve(training, T, ONE)
    left, right = sides(gate.children_)
    above = (left | right)[:, 2]
    assert not above.all()
    np.testing.assert_array_equal(gate.weights_[:, 0] != 0, above)


def test_it_turns_from_a_basis_to_features():
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 4)))[0]
    gate, training, _ = grown(5)
    X = training.X @ basis.T  # rows whose coordinates in the basis are those of training
    expected, penalty = gate.log_proba(training.X), gate.penalty
    gate.turn(basis)
    np.testing.assert_allclose(gate.log_proba(X), expected, rtol=1e-9)
    np.testing.assert_allclose(gate.penalty, penalty, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 2, 7, 12])
def test_nothing_is_pruned_at_zero(K, kind):
    gate, training, _ = grown(K, kind)
    log_pi, lost = gate.pruned_log_proba(training.X, 0)
    np.testing.assert_allclose(log_pi, gate.log_proba(training.X), rtol=1e-9)
    assert (lost == 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("min_path", [1e-4, 1e-2, 0.04, 0.9])
def test_what_is_pruned_is_reported_and_bounds_every_change(kind, min_path):
    gate, training, _ = grown(12, kind)
    whole = np.exp(gate.log_proba(3 * training.X))
    log_pi, lost = gate.pruned_log_proba(3 * training.X, min_path)
    out = log_pi == -np.inf
    assert out.any()
    np.testing.assert_allclose(np.exp(log_pi).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(lost, (whole * out).sum(axis=1), rtol=1e-9)
    assert lost.max() < 0.5
    assert (whole[out] < min_path).all()
    assert (whole[~out] >= min(min_path, 0.5 / 12)).all()
    likelihood = np.random.default_rng(0).random(whole.shape)  # of any set in any component
    change = np.abs(((np.exp(log_pi) - whole) * likelihood).sum(axis=1))
    assert (change <= lost + 1e-12).all()


def mixed_data(kind=np.asarray, n=240):
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 5)) * (random.random((n, 5)) < 0.6)
    Y = (X @ random.normal(size=(5, 6)) + random.normal(size=(n, 6)) > 0.4).astype(int)
    return kind(X), Y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 2, 5, 8])
def test_em_never_loses(K, kind):
    X, Y = mixed_data(kind)
    model = CBM(
        K, gate="tree", min_responsibility=0, min_label_share=0, dtype="float64", tol=0, max_iter=15
    ).fit(X, Y)
    bounds = np.array([done["bound"] for done in model.history_])
    assert len(bounds) > 1
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_without_pruned_branches_are_as_close_as_reported(kind):
    X, Y = mixed_data(kind)
    model = CBM(11, gate="tree", C=100.0, dtype="float64", allow_empty=True).fit(X, Y)
    gate = model.members_[0].gate_
    gate.min_path = 0.0
    whole = np.exp(model.predict_dist(X).log_prob(Y)), model.predict_dist(X).marginals()
    gate.min_path = 0.01
    lost = gate.pruned_log_proba(model.scaling_.transform(X))[1]
    pruned = np.exp(model.predict_dist(X).log_prob(Y)), model.predict_dist(X).marginals()
    assert 0 < lost.mean() < 0.1
    allowed = lost + 1e-9
    assert (np.abs(pruned[0] - whole[0]) <= allowed).all()
    assert (np.abs(pruned[1] - whole[1]) <= allowed[:, None]).all()
    assert np.abs(pruned[0] - whole[0]).max() > 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_stored_and_read_again_it_is_the_same(kind, tmp_path):
    X, Y = mixed_data(kind)
    model = CBM(6, gate="tree").fit(X, Y)
    model.save(tmp_path / "model")
    again = sw.load(tmp_path / "model")
    np.testing.assert_array_equal(
        again.predict_dist(X).log_prob(Y), model.predict_dist(X).log_prob(Y)
    )
    np.testing.assert_array_equal(
        again.members_[0].gate_.children_, model.members_[0].gate_.children_
    )
