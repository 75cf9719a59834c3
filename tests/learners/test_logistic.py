import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from setwise.errors import DataError, NotConverged
from setwise.learners.logistic import LogisticBank
from setwise.storage import load, save

# Every way through the solvers: dense, sparse by L-BFGS, sparse by the dual solver.
ROADS = ((np.asarray, "lbfgs"), (sparse.csr_array, "lbfgs"), (sparse.csr_array, "dual"))
roads = pytest.mark.parametrize(("container", "solver"), ROADS)
unhurried = settings(deadline=None, max_examples=15)


def random_bank(n=80, d=6, L=3, *, seed=0, soft=False, density=0.7):
    """X (n, d) and targets (n, L) that depend on it; every target has both values."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < density)
    p = 1 / (1 + np.exp(-X @ random.normal(size=(d, L)) - 0.5 * random.normal(size=L)))
    T = p if soft else (random.random((n, L)) < p).astype(float)
    T[:2] = [[0.0], [1.0]]
    return X, T


def random_weights(shape, seed=1):
    weight = 2 * np.random.default_rng(seed).random(shape)
    weight[3:8] = 0
    return weight


def objective(X, T, W, b, *, C=1.0, weight=None, penalised=0.0):
    """What the class documents, (L,)."""
    weight = np.ones(len(T)) if weight is None else weight
    weight = weight[:, None] if weight.ndim == 1 else weight
    Z = X @ np.asarray(W, float) + b
    loss = (weight * (np.logaddexp(0, Z) - T * Z)).sum(axis=0)
    squares = (np.asarray(W, float) ** 2).sum(axis=0) + penalised * np.asarray(b, float) ** 2
    return C * loss + squares / 2


def theirs(X, T, *, C=1.0, weight=None, **options):
    """scikit-learn's weights (d, L) and biases (L,); soft targets by weighted replication."""
    n, L = T.shape
    weight = np.ones(n) if weight is None else weight
    weight = np.broadcast_to(weight[:, None] if weight.ndim == 1 else weight, (n, L))
    options = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 10_000} | options
    models = []
    for target, strength in enumerate(np.broadcast_to(C, L)):
        w, t = weight[:, target], T[:, target]
        parts, y = np.concatenate([w * t, w * (1 - t)]), np.repeat([1, 0], n)
        kept = parts > 0
        model = LogisticRegression(C=strength, **options)
        models.append(model.fit(np.vstack([X, X])[kept], y[kept], parts[kept]))
    return np.column_stack([m.coef_[0] for m in models]), np.concatenate(
        [np.atleast_1d(m.intercept_) for m in models]
    )


@roads
@pytest.mark.parametrize("weight_shape", [None, (80,), (80, 3)])
@pytest.mark.parametrize("soft", [False, True])
def test_optimum_is_scikit_learns(container, solver, weight_shape, soft):
    X, T = random_bank(soft=soft)
    weight = None if weight_shape is None else random_weights(weight_shape)
    C = np.array([0.1, 1.0, 5.0])
    bank = LogisticBank(C, solver=solver).fit(container(X), T, weight)
    least = objective(X, T, *theirs(X, T, C=C, weight=weight), C=C, weight=weight)
    reached = objective(X, T, bank.weights_, bank.biases_, C=C, weight=weight)
    np.testing.assert_allclose(reached, least, rtol=1e-6)
    np.testing.assert_allclose(bank.objective_, reached, rtol=1e-9)
    assert bank.converged_.all()


def badly_scaled(seed, L=3):
    """Rows whose features differ in scale by orders of magnitude and are far off the origin."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(30, 300)), int(random.integers(2, 25))
    X = random.normal(size=(n, d)) * np.exp(4 * random.normal(size=d))
    Z = X / X.std(axis=0) @ random.normal(size=(d, L))
    X += random.choice([0, 10, 100]) * random.normal(size=d)
    T = (random.random((n, L)) < 1 / (1 + np.exp(-Z))).astype(float)
    T[:2] = [[0.0], [1.0]]
    return X, T, 10 ** random.uniform(-3, 3)


def least_by_newton(X, t, C):
    """The minimum for one target, by Newton's method in features of equal curvature."""
    X = np.column_stack([X, np.ones(len(X))])
    penalties = np.append(np.ones(X.shape[1] - 1), 0)

    def value(w):
        return C * (np.logaddexp(0, X @ w) - t * (X @ w)).sum() + (penalties * w**2).sum() / 2

    w = np.zeros(X.shape[1])
    for _ in range(200):
        p = 1 / (1 + np.exp(-np.clip(X @ w, -700, 700)))
        gradient = C * X.T @ (p - t) + penalties * w
        hessian = C * (X.T * (p * (1 - p))) @ X + np.diag(penalties)
        scale = 1 / np.sqrt(np.diag(hessian))
        scaled = scale[:, None] * hessian * scale
        step = -scale * np.linalg.lstsq(scaled, scale * gradient, rcond=1e-15)[0]
        lengths = [x for x in 0.5 ** np.arange(40) if value(w + x * step) < value(w)]
        if not lengths:
            break
        w = w + lengths[0] * step
    return value(w)


@pytest.mark.filterwarnings("ignore::setwise.errors.NotConverged")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_converged_on_badly_scaled_rows_is_within_tol(dtype):
    converged = []
    for seed in range(25):
        X, T, C = badly_scaled(seed)
        X, tol = X.astype(dtype), 10.0 ** -(2 + seed % 5)
        bank = LogisticBank(C, tol=tol).fit(X, T)
        X = X.astype(np.float64)
        reached = objective(X, T, bank.weights_, bank.biases_.astype(float), C=C)
        least = np.array([least_by_newton(X, t, C) for t in T.T])
        assert (reached[bank.converged_] <= (least * (1 + tol) + 1e-12)[bank.converged_]).all()
        converged.append(bank.converged_)
    assert np.mean(converged) > 0.9


def test_single_precision_that_falls_short_is_finished_in_double():
    X, T = random_bank()
    X = (X + 1000).astype(np.float32)
    bank = LogisticBank(100.0, tol=1e-5, max_iter=500).fit(X, T)  # some processors need over 200
    assert bank.converged_.all()
    assert bank.weights_.dtype == np.float32
    centred = X.astype(np.float64) - 1000  # the bias is free: the minimum is the same
    least = objective(centred, T, *theirs(centred, T, C=100.0), C=100.0)
    reached = objective(X.astype(float), T, bank.weights_, bank.biases_.astype(float), C=100.0)
    assert (reached <= least * (1 + 1e-5)).all()


@roads
def test_unchecked_input_gives_the_same_bank(container, solver):
    X, T = random_bank()
    weight = random_weights(80)
    a = LogisticBank(solver=solver).fit(container(X), T, weight)
    b = LogisticBank(solver=solver).fit(container(X), T, weight, check_input=False)
    np.testing.assert_array_equal(a.weights_, b.weights_)


@roads
def test_single_precision(container, solver):
    X, T = random_bank()
    bank = LogisticBank(solver=solver, tol=1e-5).fit(container(X.astype(np.float32)), T)
    assert bank.weights_.dtype == bank.logits(X).dtype == np.float32
    least = objective(X, T, *theirs(X, T))
    np.testing.assert_allclose(objective(X, T, bank.weights_, bank.biases_), least, rtol=2e-5)
    wide = LogisticBank(solver=solver, dtype=np.float64).fit(container(X.astype(np.float32)), T)
    assert wide.weights_.dtype == np.float64


@roads
def test_penalised_bias_is_liblinears(container, solver):
    X, T = random_bank()
    bank = LogisticBank(2.0, penalise_bias=True, solver=solver).fit(container(X), T)
    W, b = theirs(X, T, C=2.0, solver="liblinear", tol=1e-8)
    least = objective(X, T, W, b, C=2.0, penalised=1.0)
    reached = objective(X, T, bank.weights_, bank.biases_, C=2.0, penalised=1.0)
    np.testing.assert_allclose(reached, least, rtol=1e-6)


@roads
def test_without_bias(container, solver):
    X, T = random_bank()
    bank = LogisticBank(fit_bias=False, solver=solver).fit(container(X), T)
    W, _ = theirs(X, T, fit_intercept=False)
    assert not bank.biases_.any()
    np.testing.assert_allclose(
        objective(X, T, bank.weights_, 0.0), objective(X, T, W, 0.0), rtol=1e-6
    )


@roads
def test_sparse_targets_are_dense_targets(container, solver):
    X, T = random_bank()
    banks = [LogisticBank(solver=solver).fit(container(X), Y) for Y in (T, sparse.csr_array(T))]
    np.testing.assert_allclose(banks[0].weights_, banks[1].weights_, rtol=1e-12)


@roads
@unhurried
@given(seed=st.integers(0, 1000), row=st.integers(0, 29))
def test_a_doubled_row_is_weight_two(container, solver, seed, row):
    X, T = random_bank(n=30, seed=seed, soft=True)
    weight = np.ones(30)
    weight[row] = 2
    twice = np.append(np.arange(30), row)
    a = LogisticBank(solver=solver).fit(container(X), T, weight)
    b = LogisticBank(solver=solver).fit(container(X[twice]), T[twice])
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-6)
    np.testing.assert_allclose(a.logits(X), b.logits(X), rtol=0, atol=0.02)


@roads
@unhurried
@given(seed=st.integers(0, 1000))
def test_permuting_targets_permutes_the_answer(container, solver, seed):
    X, T = random_bank(n=40, L=11, seed=seed, soft=True)
    order = np.random.default_rng(seed).permutation(11)
    weight = random_weights((40, 11), seed)
    a = LogisticBank(solver=solver).fit(container(X), T, weight)
    b = LogisticBank(solver=solver).fit(container(X), T[:, order], weight[:, order])
    np.testing.assert_allclose(a.objective_[order], b.objective_, rtol=1e-6)


@roads
def test_zero_weights_drop_rows(container, solver):
    X, T = random_bank(soft=True)
    weight = random_weights(80)
    kept = weight > 0
    a = LogisticBank(solver=solver).fit(container(X), T, weight)
    b = LogisticBank(solver=solver).fit(container(X[kept]), T[kept], weight[kept])
    np.testing.assert_allclose(a.weights_, b.weights_, rtol=1e-12)


@roads
def test_warm_start_reaches_the_same_optimum(container, solver):
    X, T = random_bank()
    bank = LogisticBank(solver=solver, warm_start=True).fit(container(X), T[:, ::-1])
    bank.fit(container(X), T)
    cold = LogisticBank(solver=solver).fit(container(X), T)
    np.testing.assert_allclose(bank.objective_, cold.objective_, rtol=1e-6)
    steps = bank.n_iter_
    bank.fit(container(X), T)
    assert bank.n_iter_ <= min(steps, 1)


@roads
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_a_few_steps_never_raise_the_objective(container, solver, dtype, C):
    """As inside EM: targets and weights change, one step each, no warning as tol is 0."""
    X, T = random_bank(n=60, L=4, soft=True)
    bank = LogisticBank(C, solver=solver, warm_start=True, max_iter=1, tol=0, dtype=dtype)
    random = np.random.default_rng(0)
    for round_ in range(12):
        T, weight = np.clip(T + 0.2 * random.normal(size=T.shape), 0, 1), random.random(60)
        if round_:
            before = objective(X, T, bank.weights_, bank.biases_, C=C, weight=weight)
        bank.fit(container(X), T, weight)
        if round_:
            after = objective(X, T, bank.weights_, bank.biases_, C=C, weight=weight)
            rounding = 1e-12 if dtype == np.float64 else 1e-5
            assert (after <= before * (1 + rounding)).all()


@pytest.mark.parametrize(("container", "solver"), ROADS)
def test_threads_make_no_difference(container, solver):
    X, T = random_bank(n=3000, d=40, L=70, density=0.3)
    banks = [
        LogisticBank(solver=solver, n_jobs=n, tol=1e-5).fit(container(X), T) for n in (1, 2, 3)
    ]
    for other in banks[1:]:
        np.testing.assert_allclose(other.weights_, banks[0].weights_, rtol=1e-6, atol=1e-9)


def test_the_seed_decides():
    X, T = random_bank()
    fits = [
        LogisticBank(random_state=seed, tol=1e-2).fit(sparse.csr_array(X), T).weights_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert (fits[0] != fits[2]).any()


@roads
def test_the_cap_warns_and_says_what_to_try(container, solver):
    X, T = random_bank()
    with pytest.warns(NotConverged, match="raise max_iter, scale the features.* or lower C"):
        bank = LogisticBank(100.0, solver=solver, max_iter=1).fit(container(X), T)
    assert not bank.converged_.all()
    assert bank.n_iter_ <= 21


def test_auto_finishes_slow_duals_by_lbfgs():
    X, T = random_bank(n=300, seed=4)
    bank = LogisticBank(100.0).fit(sparse.csr_array(X), T)
    assert bank.converged_.all()
    assert bank.n_iter_ > 40
    W, b = theirs(X, T, C=100.0)
    np.testing.assert_allclose(bank.objective_, objective(X, T, W, b, C=100.0), rtol=1e-6)


def test_the_dual_solver_alone_stays_alone():
    X, T = random_bank(n=300, seed=4)
    with pytest.warns(NotConverged):
        bank = LogisticBank(100.0, solver="dual", max_iter=60).fit(sparse.csr_array(X), T)
    assert bank.n_iter_ == 60


@roads
def test_constant_targets_follow_the_rule(container, solver):
    X, T = random_bank()
    T[:, 0], T[:, 1] = 0, 1
    bank = LogisticBank(solver=solver).fit(container(X), T, np.full(80, 0.1))
    assert not bank.weights_[:, :2].any()
    np.testing.assert_allclose(bank.biases_[:2], np.log([0.5 / 8.5, 8.5 / 0.5]), rtol=1e-9)
    weight = np.full(80, 0.1)
    reached = objective(X, T, bank.weights_, bank.biases_, weight=weight)
    np.testing.assert_allclose(bank.objective_, reached, rtol=1e-9)
    alone = LogisticBank(solver=solver).fit(container(X), T[:, :1])
    assert alone.n_iter_ == 0
    assert alone.converged_.all()


@roads
def test_constant_targets_have_an_optimum_under_a_penalised_bias(container, solver):
    X, T = random_bank(L=2)
    T[:] = [0, 1]
    bank = LogisticBank(penalise_bias=True, solver=solver).fit(container(X), T)
    np.testing.assert_allclose(bank.objective_[0], bank.objective_[1], rtol=1e-5)
    assert bank.logits(X)[:, 0].max() < 0 < bank.logits(X)[:, 1].min()


@roads
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_more_features_than_rows_and_duplicated_columns(container, solver, C):
    X, T = random_bank(n=20, d=50)
    X = np.hstack([X, X[:, :10], np.ones((20, 1)), np.zeros((20, 1))])
    solver = "auto" if C > 1 else solver
    bank = LogisticBank(C, solver=solver, max_iter=2000).fit(container(X), T)
    least = objective(X, T, *theirs(X, T, C=C), C=C)
    assert (bank.objective_ <= least * (1 + 1e-6)).all()
    np.testing.assert_allclose(bank.weights_[:10], bank.weights_[50:60], rtol=0, atol=1e-2)


@roads
def test_one_row(container, solver):
    bank = LogisticBank(solver=solver).fit(container(np.ones((1, 2))), [[1.0, 0.25]])
    np.testing.assert_allclose(bank.logits(np.ones((1, 2))), [[np.log(3), -np.log(3)]], rtol=1e-3)


@roads
def test_large_features_do_not_overflow(container, solver):
    X, T = random_bank()
    bank = LogisticBank(solver="auto", max_iter=1000).fit(container(1e4 * X), T)
    assert np.isfinite(bank.weights_).all()
    least = objective(1e4 * X, T, *theirs(1e4 * X, T))
    assert (bank.objective_ <= least * (1 + 1e-5)).all()


def test_unsorted_and_repeated_entries_of_csr():
    X, T = random_bank()
    whole = sparse.csr_array(X)
    halves = sparse.csr_array(
        (np.repeat(whole.data, 2) / 2, np.repeat(whole.indices, 2), 2 * whole.indptr), whole.shape
    )
    a, b = (LogisticBank().fit(rows, T) for rows in (whole, halves))
    assert halves.nnz == 2 * whole.nnz
    np.testing.assert_allclose(a.weights_, b.weights_, rtol=1e-9)


def test_float64_rows_are_not_copied():
    """A fit allocates blocks, targets and weights, but nothing of the size of X."""
    import tracemalloc

    X, T = random_bank(n=20_000, d=100, L=2)
    LogisticBank(max_iter=2, tol=0).fit(X[:50], T[:50])
    tracemalloc.start()
    LogisticBank(max_iter=2, tol=0, n_jobs=1).fit(X, T)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 2


def test_write_then_read_is_the_identity(tmp_path):
    X, T = random_bank()
    bank = LogisticBank(np.array([1.0, 2.0, 3.0]), dtype=np.float32).fit(X, T)
    save(bank, tmp_path / "bank")
    again = load(tmp_path / "bank")
    np.testing.assert_array_equal(again.logits(X), bank.logits(X))
    np.testing.assert_array_equal(again.C, bank.C)


def test_verbose_prints_a_line(capsys):
    X, T = random_bank()
    LogisticBank(verbose=1).fit(X, T)
    assert capsys.readouterr().out.startswith("logistic bank: 3 targets on 80 rows, ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((80, 6), np.nan)}, "X holds a NaN"),
        ({"X": np.full((80, 6), np.inf)}, "X holds a NaN or an infinity"),
        ({"X": np.zeros(80)}, r"X must be \(rows, features\)"),
        ({"T": np.zeros((79, 3))}, "T has 79 rows but X has 80"),
        ({"T": np.full((80, 3), 1.5)}, r"targets must lie in \[0, 1\]"),
        ({"sample_weight": -np.ones(80)}, "finite and not negative"),
        ({"sample_weight": np.ones((80, 2))}, "sample_weight has shape"),
    ],
)
def test_bad_input_gets_a_sentence(change, message):
    X, T = random_bank()
    with pytest.raises(DataError, match=message):
        LogisticBank().fit(**({"X": X, "T": T} | change))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1.0}, "C must be positive and finite"),
        ({"C": [1.0, 2.0]}, r"C has shape \(2,\)"),
        ({"C": "auto"}, "C is a number over zero, not 'auto'"),
        ({"C": "1.0"}, "C is a number over zero, not '1.0'"),
        ({"C": None}, "C is a number over zero, not None"),
        ({"C": [[1.0], [1.0, 2.0]]}, "C is a number over zero, not"),
        ({"solver": "sag"}, "solver must be one of auto, lbfgs, dual"),
        ({"solver": "dual"}, "is for sparse X"),
        ({"dtype": np.int64}, "dtype must be float32, float64 or None"),
        ({"max_iter": 0}, "max_iter is a whole number"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, message):
    X, T = random_bank()
    with pytest.raises(DataError, match=message):
        LogisticBank(**parameters).fit(X, T)


def test_other_shapes_than_fitted_get_a_sentence():
    X, T = random_bank()
    bank = LogisticBank(warm_start=True).fit(X, T)
    with pytest.raises(DataError, match="X has 5 features but the learner was fitted on 6"):
        bank.logits(X[:, :5])
    with pytest.raises(DataError, match="T has 2 targets"):
        bank.fit(X, T[:, :2])


@pytest.mark.filterwarnings("ignore::setwise.errors.NotConverged")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@roads
def test_targets_that_vanish_in_the_precision_spoil_nothing(container, solver, dtype):
    """Weights, rates and their complements below the least number there is."""
    X, T = random_bank()
    X, weight = container(X.astype(dtype)), np.ones(T.shape)
    weight[:, 1] = float(np.finfo(dtype).tiny) / 1e8
    T[:, 2] = 1 - 1e-9
    bank = LogisticBank(solver=solver).fit(X, T, weight)
    alone = LogisticBank(solver=solver).fit(X, T[:, 0])
    assert np.isfinite(bank.logits(X)).all()
    np.testing.assert_allclose(bank.weights_[:, 0], alone.weights_[:, 0], atol=2e-2)


@roads
def test_a_bias_no_longer_wanted_is_gone(container, solver):
    X, T = random_bank()
    X = container(X)
    bank = LogisticBank(solver=solver, warm_start=True).fit(X, T)
    bank.fit_bias = False
    bank.fit(X, T)
    anew = LogisticBank(solver=solver, fit_bias=False).fit(X, T)
    assert not bank.biases_.any()
    np.testing.assert_allclose(bank.objective_, anew.objective_, rtol=1e-6)


@roads
def test_features_whose_squares_overflow_get_a_sentence(container, solver):
    X, T = random_bank()
    with pytest.raises(DataError, match="overflow float32; scale"):
        LogisticBank(solver=solver).fit(container((X * 1e20).astype(np.float32)), T)
    with pytest.raises(DataError, match="overflow float32; scale"):
        LogisticBank(solver=solver, dtype=np.float32).fit(container(X * 1e50), T)
    bank = LogisticBank(solver=solver, tol=0, max_iter=20).fit(container(X * 1e20), T)
    assert np.isfinite(bank.weights_).all()
