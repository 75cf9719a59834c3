import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from setwise.errors import DataError, NotConverged
from setwise.learners.design import rows_of
from setwise.learners.losses import SoftmaxLoss
from setwise.learners.softmax import SoftmaxRegression
from setwise.learners.workers import Workers
from setwise.storage import load, save

containers = pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
unhurried = settings(deadline=None, max_examples=15)


def random_gate(n=80, d=5, K=4, *, seed=0, hard=False):
    """X (n, d) and distributions (n, K) that depend on it."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.7)
    scores = X @ random.normal(size=(d, K)) + random.gumbel(size=(n, K))
    T = np.eye(K)[scores.argmax(axis=1)] if hard else np.exp(log_softmax(scores, axis=1))
    return X, T


def objective(X, T, W, b, *, C=1.0, weight=1.0):
    """What the class documents."""
    loss = -(weight * (T * log_softmax(X @ np.asarray(W, float) + b, axis=1)).sum(axis=1)).sum()
    return C * loss + (np.asarray(W, float) ** 2).sum() / 2


@containers
def test_unchecked_input_gives_the_same_gate(container):
    X, T = random_gate()
    weight = np.random.default_rng(1).random(80)
    a = SoftmaxRegression().fit(container(X), T, weight)
    b = SoftmaxRegression().fit(container(X), T, weight, check_input=False)
    np.testing.assert_array_equal(a.weights_, b.weights_)


@containers
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_optimum_is_scikit_learns(container, C, weighted):
    X, T = random_gate(hard=True)
    weight = np.random.default_rng(1).random(80) if weighted else np.ones(80)
    gate = SoftmaxRegression(C).fit(container(X), T, weight)
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    model.fit(X, T.argmax(axis=1), weight)
    least = objective(X, T, model.coef_.T, model.intercept_, C=C, weight=weight)
    reached = objective(X, T, gate.weights_, gate.biases_, C=C, weight=weight)
    np.testing.assert_allclose(reached, least, rtol=1e-6)
    np.testing.assert_allclose(gate.objective_, reached, rtol=1e-9)
    np.testing.assert_allclose(gate.biases_.sum(), 0, rtol=0, atol=1e-9)
    assert gate.converged_


@containers
def test_soft_targets_are_weighted_replication(container):
    X, T = random_gate()
    gate = SoftmaxRegression(2.0).fit(container(X), T)
    K = T.shape[1]
    model = LogisticRegression(C=2.0, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    model.fit(np.tile(X, (K, 1)), np.repeat(np.arange(K), len(X)), T.T.ravel())
    least = objective(X, T, model.coef_.T, model.intercept_, C=2.0)
    np.testing.assert_allclose(gate.objective_, least, rtol=1e-6)


@containers
def test_single_precision(container):
    X, T = random_gate()
    narrow = SoftmaxRegression(dtype=np.float32).fit(container(X), T)
    wide = SoftmaxRegression().fit(container(X), T)
    assert narrow.log_proba(X).dtype == np.float32
    np.testing.assert_allclose(narrow.objective_, wide.objective_, rtol=1e-5)


@containers
@unhurried
@given(seed=st.integers(0, 1000), row=st.integers(0, 29))
def test_a_doubled_row_is_weight_two(container, seed, row):
    X, T = random_gate(n=30, seed=seed)
    weight, twice = np.ones(30), np.append(np.arange(30), row)
    weight[row] = 2
    a = SoftmaxRegression().fit(container(X), T, weight)
    b = SoftmaxRegression().fit(container(X[twice]), T[twice])
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-6)


@unhurried
@given(seed=st.integers(0, 1000))
def test_permuting_classes_permutes_the_answer(seed):
    X, T = random_gate(n=40, seed=seed)
    order = np.random.default_rng(seed).permutation(4)
    a, b = SoftmaxRegression().fit(X, T), SoftmaxRegression().fit(X, T[:, order])
    np.testing.assert_allclose(a.log_proba(X)[:, order], b.log_proba(X), rtol=0, atol=0.01)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-6)


def test_zero_weights_drop_rows():
    X, T = random_gate()
    weight = np.random.default_rng(0).random(80)
    weight[:20] = 0
    a = SoftmaxRegression().fit(X, T, weight)
    b = SoftmaxRegression().fit(X[20:], T[20:], weight[20:])
    np.testing.assert_allclose(a.weights_, b.weights_, rtol=1e-12)


@containers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_few_steps_never_raise_the_objective(container, dtype):
    """As inside EM: targets and weights change, one step each, no warning as tol is 0."""
    X, T = random_gate()
    gate = SoftmaxRegression(10.0, warm_start=True, max_iter=1, tol=0, dtype=dtype)
    random = np.random.default_rng(0)
    gate.fit(container(X), T)
    for _ in range(12):
        T, weight = random.dirichlet(np.full(4, 0.3), size=80), random.random(80)
        before = objective(X, T, gate.weights_, gate.biases_, C=10.0, weight=weight)
        gate.fit(container(X), T, weight)
        after = objective(X, T, gate.weights_, gate.biases_, C=10.0, weight=weight)
        assert after <= before * (1 + (1e-12 if dtype == np.float64 else 1e-5))


@containers
def test_warm_start_reaches_the_same_optimum(container):
    X, T = random_gate()
    gate = SoftmaxRegression(warm_start=True).fit(container(X), T[::-1])
    gate.fit(container(X), T)
    cold = SoftmaxRegression().fit(container(X), T)
    np.testing.assert_allclose(gate.objective_, cold.objective_, rtol=1e-6)
    assert gate.fit(container(X), T).n_iter_ <= 1


@containers
def test_threads_make_no_difference(container):
    X, T = random_gate(n=20_000, d=30, K=12)
    gates = [SoftmaxRegression(n_jobs=n, tol=1e-4).fit(container(X), T) for n in (1, 2)]
    np.testing.assert_allclose(gates[0].weights_, gates[1].weights_, rtol=1e-6, atol=1e-9)


def test_log_probabilities_are_normalised_and_finite():
    X, T = random_gate(hard=True)
    T[:, 3] = 0
    T[T.sum(axis=1) == 0, 0] = 1
    logs = SoftmaxRegression(1e4, tol=1e-5).fit(X, T).log_proba(1e3 * X)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, rtol=1e-9)


def test_one_row_and_one_class():
    gate = SoftmaxRegression().fit([[1.0, 2.0]], [[0.2, 0.8]])
    np.testing.assert_allclose(np.exp(gate.log_proba([[1.0, 2.0]])), [[0.2, 0.8]], rtol=1e-3)
    np.testing.assert_array_equal(SoftmaxRegression().fit([[1.0]], [[1.0]]).log_proba([[3.0]]), 0)


def test_the_cap_warns_and_says_what_to_try():
    X, T = random_gate()
    with pytest.warns(NotConverged, match="raise max_iter, scale the features"):
        gate = SoftmaxRegression(100.0, max_iter=2).fit(X, T)
    assert not gate.converged_
    assert gate.n_iter_ == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"T": np.full((80, 4), 0.3)}, "row 0 of T sums to 1.2, not to 1"),
        ({"T": np.zeros((79, 4))}, "T has 79 rows"),
        ({"X": np.full((80, 5), np.nan)}, "X holds a NaN"),
        ({"sample_weight": np.full(80, -1.0)}, "not negative"),
        ({"sample_weight": np.ones((80, 4))}, "sample_weight has shape"),
    ],
)
def test_bad_input_gets_a_sentence(change, message):
    X, T = random_gate()
    with pytest.raises(DataError, match=message):
        SoftmaxRegression().fit(**({"X": X, "T": T} | change))


def test_bad_strength_gets_a_sentence():
    X, T = random_gate()
    with pytest.raises(DataError, match="C must be positive"):
        SoftmaxRegression(0.0).fit(X, T)


def test_write_then_read_is_the_identity(tmp_path):
    X, T = random_gate()
    gate = SoftmaxRegression(verbose=0).fit(X, T)
    save(gate, tmp_path / "gate")
    np.testing.assert_array_equal(load(tmp_path / "gate").log_proba(X), gate.log_proba(X))


def test_verbose_prints_a_line(capsys):
    X, T = random_gate()
    SoftmaxRegression(verbose=1).fit(X, T)
    assert capsys.readouterr().out.startswith("softmax: ")


@containers
def test_weights_that_vanish_in_the_precision_leave_the_gate_finite(container):
    X, T = random_gate()
    X = container(X.astype(np.float32))
    gate = SoftmaxRegression().fit(X, T, np.full(len(T), 1e-200))
    assert np.isfinite(gate.log_proba(X)).all()


def test_a_bias_no_longer_wanted_is_gone():
    X, T = random_gate()
    gate = SoftmaxRegression(warm_start=True).fit(X, T)
    gate.fit_bias = False
    assert not gate.fit(X, T).biases_.any()


def test_no_rows_get_a_sentence():
    X, T = random_gate()
    with pytest.raises(DataError, match="no rows to learn from"):
        SoftmaxRegression().fit(X[:0], T[:0])


@pytest.mark.parametrize("K", [3, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_class_a_row_is_a_row_of_zeros_and_a_one(K, dtype):
    """The kernel of classes against that of distributions: values, gradients and weights."""
    random = np.random.default_rng(0)
    X, classes = random.normal(size=(200, 4)).astype(dtype), random.integers(K, size=200)
    T, weight = np.eye(K, dtype=dtype)[classes], random.uniform(0, 2, (200, 1)).astype(dtype)
    W = random.normal(size=(5, K)).astype(dtype)
    penalties = np.ones((5, 1), dtype)
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-10}
    with Workers(1) as workers:
        args = (weight, 0.5, penalties, workers)
        rows = rows_of(X, bias=True)
        soft, hard = (SoftmaxLoss(rows, t, *args).evaluate(W) for t in (T, classes))
    np.testing.assert_allclose(hard[0], soft[0], rtol=tolerance["rtol"])
    np.testing.assert_allclose(hard[1], soft[1], **tolerance)


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_sparse_targets_of_one_class_a_row_are_never_made_dense(as_csr, monkeypatch):
    random = np.random.default_rng(0)
    X, classes = random.normal(size=(60, 4)), random.integers(3, size=60)
    X[:, 2] = 0  # a feature that no row has
    weight = random.integers(0, 3, 60).astype(float)
    X = sparse.csr_array(X) if as_csr else X
    dense = SoftmaxRegression(tol=1e-10).fit(X, np.eye(3)[classes], weight)
    T = sparse.csr_array(np.eye(3)[classes])
    monkeypatch.setattr("setwise.learners.bank_inputs.check_distributions", None)  # makes it dense
    learnt = SoftmaxRegression(tol=1e-10).fit(X, T, weight)
    np.testing.assert_allclose(learnt.weights_, dense.weights_, atol=1e-6)
    np.testing.assert_allclose(learnt.biases_, dense.biases_, atol=1e-6)
    assert not learnt.weights_[2].any()
    again = SoftmaxRegression(warm_start=True, tol=1e-10).fit(X, T, weight)
    again.fit(X, T, weight)
    np.testing.assert_allclose(again.weights_, dense.weights_, atol=1e-6)


def test_sparse_targets_of_several_classes_a_row_are_distributions():
    X, T = np.arange(3.0)[:, None], np.array([[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
    learnt, dense = (SoftmaxRegression().fit(X, t) for t in (sparse.csr_array(T), T))
    np.testing.assert_array_equal(learnt.weights_, dense.weights_)
    with pytest.raises(DataError, match="sums to 2"):
        SoftmaxRegression().fit(X, sparse.csr_array([[1, 1], [0, 1], [1, 0]]))


def test_no_more_is_asked_for_than_single_precision_can_tell():
    X, T = random_gate(hard=True)
    fine, finest = (
        SoftmaxRegression(tol=tol).fit(X.astype(np.float32), T) for tol in (1.1e-6, 1e-12)
    )
    assert finest.converged_
    assert finest.n_iter_ == fine.n_iter_
    assert SoftmaxRegression(tol=1e-12).fit(X, T).n_iter_ > fine.n_iter_
