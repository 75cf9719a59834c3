import warnings

import numpy as np
import pytest
from scipy import optimize, sparse

import setwise as sw
from setwise.errors import DataError, NotConverged
from setwise.models import pdsparse_solver
from setwise.models._pdsparse_kernel import project
from setwise.models.pdsparse_solver import solve_margins


def problem(n=25, d=4, L=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.7)
    Y = (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.4).astype(np.int8)
    return X, Y


def objective(W, X, Y, caps, l1):
    """The primal as it is written: the obvious way."""
    total = 0.5 * (W**2).sum() + l1 * np.abs(W).sum()
    for x, y, cap in zip(X, Y, caps, strict=True):
        z = W.T @ x
        if 0 < y.sum() < len(y):
            total += cap * max(0.0, 1 + z[y == 0].max() - z[y == 1].min())
    return total


def nearest_feasible(b, own, cap):
    """The projection by a general solver."""
    m = len(b)
    signs = np.where(np.arange(m) < own, 1.0, -1.0)
    found = optimize.minimize(
        lambda a: 0.5 * ((a - b) ** 2).sum(),
        np.zeros(m),
        jac=lambda a: a - b,
        method="SLSQP",
        bounds=[(0, None) if s > 0 else (None, 0) for s in signs],
        constraints=[
            {"type": "eq", "fun": lambda a: a.sum(), "jac": lambda a: np.ones(m)},
            {
                "type": "ineq",
                "fun": lambda a: cap - a[:own].sum(),
                "jac": lambda a: -(np.arange(m) < own).astype(float),
            },
        ],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


@pytest.mark.parametrize("seed", range(8))
def test_a_block_is_projected_onto_what_is_feasible(seed):
    random = np.random.default_rng(seed)
    m, own = 6, int(random.integers(1, 6))
    b, cap = random.normal(size=m), float(random.uniform(0.1, 2))
    found = b.copy()
    project(found, m, own, cap, np.empty(m))
    np.testing.assert_allclose(found, nearest_feasible(b, own, cap), atol=1e-5)
    assert found[:own].min() >= 0 >= found[own:].max()
    np.testing.assert_allclose(found.sum(), 0, atol=1e-12)
    assert found[:own].sum() <= cap + 1e-12


def test_rounding_where_entries_just_count_does_not_keep_the_projection_going():
    """At these values an entry is at the edge, above it or below as the sum is rounded."""
    random = np.random.default_rng(0)
    for _ in range(2000):
        cap = float(random.choice([0.03, 0.1]))
        own = random.uniform(-2, 2) - cap * random.integers(0, 3, size=4) / random.integers(1, 4)
        block = np.concatenate([np.round(own, 2), [-5.0]])
        project(block, 5, 4, cap, np.empty(5))
        np.testing.assert_allclose([block[:4].sum(), block[4]], [cap, -cap], rtol=1e-9)


@pytest.mark.parametrize("l1", [0.0, 0.1, 1.0])
def test_the_certificate_holds_and_no_step_is_better(l1):
    X, Y = problem()
    caps = np.random.default_rng(1).uniform(0.2, 2, size=len(X))
    found = solve_margins(
        sparse.csr_array(X), sparse.csr_array(Y), caps, l1=l1, tol=1e-6, max_iter=3000
    )
    W = found.weights.toarray()
    np.testing.assert_allclose(found.primal, objective(W, X, Y, caps, l1), rtol=1e-10)
    assert 0 <= found.gap <= 1e-6
    random = np.random.default_rng(2)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            other = W + size * random.normal(size=W.shape)
            assert objective(other, X, Y, caps, l1) >= found.dual


def test_the_dual_is_a_bound_long_before_the_end():
    X, Y = problem()
    best = solve_margins(
        *map(sparse.csr_array, (X, Y)), np.ones(len(X)), l1=0.1, tol=1e-6, max_iter=3000
    )
    with pytest.warns(NotConverged, match="raise max_iter"):
        early = solve_margins(
            *map(sparse.csr_array, (X, Y)), np.ones(len(X)), l1=0.1, tol=1e-9, max_iter=2
        )
    assert early.dual <= best.primal <= early.primal
    assert early.gap > best.gap


def test_a_stronger_penalty_leaves_fewer_weights_and_in_the_end_none():
    X, Y = problem(60, 8)
    rows = sparse.csr_array(X), sparse.csr_array(Y)
    counts = [solve_margins(*rows, np.ones(60), l1=l1).weights.nnz for l1 in (0.0, 1.0, 3.0, 1e3)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2] > counts[3] == 0


def test_labels_beyond_the_room_of_a_row_find_a_place(monkeypatch):
    X, Y = problem(40, 5, 6)
    rows = sparse.csr_array(X), sparse.csr_array(Y)
    roomy = solve_margins(*rows, np.ones(40), l1=0.05, tol=1e-5, max_iter=2000)
    monkeypatch.setattr(pdsparse_solver, "FIRST_ROOM", 1)
    tight = solve_margins(*rows, np.ones(40), l1=0.05, tol=1e-5, max_iter=2000)
    np.testing.assert_allclose(tight.primal, roomy.primal, rtol=2e-5)
    assert tight.active > 2  # so that one place beside a row's own label would not do


def test_features_without_a_value_have_weights_of_zero():
    X, Y = problem()
    wide = np.zeros((len(X), 9))
    wide[:, [1, 4, 6, 8]] = X
    narrow, wide = (
        solve_margins(sparse.csr_array(A), sparse.csr_array(Y), np.ones(len(X)), l1=0.1)
        for A in (X, wide)
    )
    np.testing.assert_allclose(
        wide.weights.toarray()[[1, 4, 6, 8]], narrow.weights.toarray(), rtol=1e-7
    )
    assert wide.weights.nnz == narrow.weights.nnz


def test_rows_with_no_or_all_labels_teach_nothing():
    X, Y = problem()
    idle = np.vstack([Y, np.zeros_like(Y[:1]), np.ones_like(Y[:1])])
    more = np.vstack([X, np.ones((2, 4))])
    with_idle = solve_margins(
        *map(sparse.csr_array, (more, idle)), np.ones(len(more)), l1=0.1, tol=1e-5, max_iter=2000
    )
    without = solve_margins(
        *map(sparse.csr_array, (X, Y)), np.ones(len(X)), l1=0.1, tol=1e-5, max_iter=2000
    )
    np.testing.assert_allclose(with_idle.primal, without.primal, rtol=2e-5)


def test_rows_of_zeros_do_not_keep_the_gap_open():
    """Whatever the weights, their loss is one."""
    X, Y = problem(40)
    X[:10] = 0
    caps = np.random.default_rng(1).uniform(0.2, 2, size=len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotConverged)
        model = sw.PDSparse(fit_intercept=False).fit(X, Y, sample_weight=caps)
        found = solve_margins(*map(sparse.csr_array, (X, Y)), caps, l1=0.1, max_iter=2000)
    assert 0 <= model.gap_ <= model.tol
    np.testing.assert_allclose(
        found.primal, objective(found.weights.toarray(), X, Y, caps, 0.1), rtol=1e-10
    )
    assert 0 <= found.gap <= 1e-3


def test_tables_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(pdsparse_solver, "MAX_CELLS", 15)
    with pytest.raises(DataError, match="4 features by 4 labels"):
        sw.PDSparse(fit_intercept=False).fit(*problem())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"C": 0}, "C is a number over zero"),
        ({"C": "auto"}, "C is a number over zero, not 'auto'; try 1"),
        ({"l1": -1}, "l1 is a number from zero"),
        ({"l1": None}, "l1 is a number from zero up, not None"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.PDSparse(**settings).fit(*problem())


def test_weights_are_sparse_and_scores_linear():
    X, Y = problem(80)
    model = sw.PDSparse(l1=0.5).fit(X, Y)
    assert sparse.issparse(model.weights_)
    np.testing.assert_allclose(
        model.rank_scores(X),
        X @ model.weights_.toarray() + model.intercept_,
        rtol=1e-12,
        atol=1e-12,
    )
    assert not sw.PDSparse(fit_intercept=False).fit(X, Y).intercept_.any()
    assert 0 <= model.gap_ <= model.tol


def test_with_normalize_the_length_of_a_row_does_not_matter():
    X, Y = problem(80)
    X[0] = 0  # which has no length
    model = sw.PDSparse(normalize=True).fit(X, Y)
    longer = X * np.arange(1, 81)[:, None]
    for rows in (longer, sparse.csr_array(longer)):
        np.testing.assert_allclose(
            model.rank_scores(rows), model.rank_scores(X), rtol=1e-9, atol=1e-12
        )


def test_the_threshold_is_for_the_target():
    X, Y = problem(300, 6)
    recall = {
        target: sw.PDSparse(target=target).fit(X[:200], Y[:200]).predict(X[200:]).sum()
        for target in ("f1", "set_accuracy", "macro_f1", "micro_f1")
    }
    assert recall["f1"] > recall["set_accuracy"]
    assert sw.PDSparse(target="macro_f1").fit(X, Y).threshold_.shape == (4,)
