import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from setwise.errors import DataError, NotConverged
from setwise.learners.elastic import ElasticNetBank, elastic_path, largest_penalty
from setwise.learners.elastic_solver import by_columns
from setwise.storage import load, save


def problem(seed=0, n=120, d=12, L=3):
    """Rows, soft targets with few true features, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    T = expit(2 * X[:, :L] + rng.normal(size=(n, L)))
    return X, T, rng.random(n) + 0.1


def objectives(X, T, weight, weights, bias, penalty, l1_ratio):
    """Eq. 2.49 of each target, less the entropy of the targets, written out."""
    weight = np.broadcast_to(weight.reshape(len(X), -1), T.shape)
    scores = X @ weights + bias
    loss = (weight * (np.logaddexp(0, scores) - T * scores)).sum(axis=0) / weight.sum(axis=0)
    absolute, square = np.abs(weights).sum(axis=0), (weights**2).sum(axis=0)
    return loss + penalty * (l1_ratio * absolute + (1 - l1_ratio) / 2 * square)


def bank_objectives(bank, X, T, weight):
    weights = bank.weights_.toarray()
    return objectives(X, T, weight, weights, bank.biases_, bank.penalty, bank.l1_ratio)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("penalty", [0.1, 0.01])
def test_optimum_is_that_of_saga(penalty, l1_ratio):
    X, T, weight = problem()
    T = (T > 0.5).astype(float)
    bank = ElasticNetBank(penalty, l1_ratio=l1_ratio, tol=1e-7).fit(X, T, weight)
    theirs = LogisticRegression(
        C=1 / (penalty * weight.sum()), l1_ratio=l1_ratio, solver="saga", tol=1e-8, max_iter=10**5
    ).fit(X, T[:, 1], weight)
    reached = objectives(X, T[:, [1]], weight, theirs.coef_.T, theirs.intercept_, penalty, l1_ratio)
    np.testing.assert_allclose(bank_objectives(bank, X, T, weight)[1], reached, rtol=1e-8)
    np.testing.assert_allclose(bank.weights_.toarray()[:, 1], theirs.coef_[0], atol=1e-4)


def test_strength_by_C_is_that_of_scikit_learn():
    X, T, weight = problem()
    by_C = ElasticNetBank(C=2.0, tol=1e-7).fit(X, T, weight)
    by_penalty = ElasticNetBank(1 / (2.0 * weight.sum()), tol=1e-7).fit(X, T, weight)
    np.testing.assert_allclose(by_C.weights_.toarray(), by_penalty.weights_.toarray(), rtol=1e-12)


def test_newton_steps_are_few():
    X, T, weight = problem()
    # With a curvature that is wrong by a factor of five, twice as many are taken.
    assert ElasticNetBank(0.001, tol=1e-7).fit(X, T, weight).n_steps_.max() <= 8


def test_rounding_over_many_rows_does_not_hide_late_gains():
    X, T, weight = problem(n=20_000, d=5)
    bank = ElasticNetBank(0.01, tol=1e-9).fit(X, T, weight)
    residual = weight[:, None] * (T - expit(bank.logits(X))) / weight.sum()
    np.testing.assert_allclose(residual.sum(axis=0), 0, atol=1e-9)
    assert bank.n_steps_.max() <= 10


@given(st.integers(0, 1000), st.floats(0.002, 0.3), st.sampled_from([0.2, 0.5, 1.0]))
@settings(max_examples=25, deadline=None)
def test_optimality_conditions_hold(seed, penalty, l1_ratio):
    X, T, weight = problem(seed, n=60, d=8)
    bank = ElasticNetBank(penalty, l1_ratio=l1_ratio, tol=1e-7).fit(X, T, weight)
    weights = bank.weights_.toarray()
    residual = weight[:, None] * (T - expit(X @ weights + bank.biases_)) / weight.sum()
    slope = X.T @ residual - penalty * (1 - l1_ratio) * weights
    zero = weights == 0
    assert (np.abs(slope[zero]) <= penalty * l1_ratio + 1e-7).all()
    np.testing.assert_allclose(
        slope[~zero], penalty * l1_ratio * np.sign(weights[~zero]), rtol=0, atol=1e-7
    )
    np.testing.assert_allclose(residual.sum(axis=0), 0, atol=1e-7)


def test_zeros_are_exact_and_stored_sparse():
    X, T, weight = problem()
    bank = ElasticNetBank(0.05, l1_ratio=0.9).fit(X, T, weight)
    assert sparse.issparse(bank.weights_)
    assert bank.weights_.nnz == np.count_nonzero(bank.weights_.toarray())
    assert 0 < bank.weights_.nnz < 0.7 * 12 * 3


def test_all_weights_vanish_from_the_largest_penalty_on():
    X, T, weight = problem()
    largest = largest_penalty(X, T, weight)
    above = ElasticNetBank(1.001 * largest.max()).fit(X, T, weight)
    below = ElasticNetBank(0.99 * largest.min(), tol=1e-8).fit(X, T, weight)
    assert above.weights_.nnz == 0
    assert (np.diff(below.weights_.tocsc().indptr) > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_and_targets_give_what_dense_ones_give(dtype):
    X, T, weight = problem()
    X, T = X.astype(dtype), np.where(T > 0.5, T, 0)
    dense = ElasticNetBank(0.01, tol=1e-6).fit(X, T, weight)
    thin = ElasticNetBank(0.01, tol=1e-6).fit(sparse.csr_array(X), sparse.csr_array(T), weight)
    np.testing.assert_allclose(thin.weights_.toarray(), dense.weights_.toarray(), atol=1e-5)
    np.testing.assert_allclose(thin.logits(sparse.csr_array(X)), dense.logits(X), atol=1e-4)


def test_path_from_warm_starts_is_that_of_cold_starts():
    X, T, weight = problem(n=80, d=40)
    penalties = [0.02, 0.3, 0.1, 0.05, 0.01]
    banks = elastic_path(X, T, penalties, weight, tol=1e-7)
    assert [bank.penalty for bank in banks] == penalties
    for bank in banks:
        cold = ElasticNetBank(bank.penalty, tol=1e-7).fit(X, T, weight)
        np.testing.assert_allclose(
            bank.weights_.toarray(), cold.weights_.toarray(), rtol=0, atol=1e-4
        )
        np.testing.assert_allclose(
            bank_objectives(bank, X, T, weight), bank_objectives(cold, X, T, weight), rtol=1e-8
        )


@given(st.integers(0, 1000), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_objective_never_rises_from_a_warm_start(seed, max_iter):
    X, T, weight = problem(seed, n=50)
    bank = ElasticNetBank(0.01, tol=1e-10, max_iter=max_iter, warm_start=True)
    values = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for _ in range(4):
            values.append(bank_objectives(bank.fit(X, T, weight), X, T, weight))
        # Other targets: the start is now a bad one, and still no step may lead upwards.
        before = bank_objectives(bank, X, 1 - T, weight)
        values_after = bank_objectives(bank.fit(X, 1 - T, weight), X, 1 - T, weight)
    assert (np.diff(values, axis=0) <= 1e-14).all()
    assert (values_after <= before + 1e-14).all()


def test_weights_per_target_are_those_of_single_fits():
    X, T, _ = problem()
    weight = np.random.default_rng(1).random(T.shape)
    bank = ElasticNetBank(0.01, tol=1e-7).fit(X, T, weight)
    single = ElasticNetBank(0.01, tol=1e-7).fit(X, T[:, 1], weight[:, 1])
    np.testing.assert_allclose(bank.logits(X)[:, [1]], single.logits(X), rtol=1e-9)


def test_doubled_row_is_weight_two():
    X, T, _ = problem()
    twice = np.where(np.arange(len(X)) % 2, 2.0, 1.0)
    rows = np.repeat(np.arange(len(X)), twice.astype(int))
    weighted = ElasticNetBank(C=1.0, tol=1e-7).fit(X, T, twice)
    doubled = ElasticNetBank(C=1.0, tol=1e-7).fit(X[rows], T[rows])
    np.testing.assert_allclose(weighted.logits(X), doubled.logits(X), atol=1e-5)


def test_threads_do_not_matter():
    X, T, weight = problem()
    one, two = (ElasticNetBank(0.01, n_jobs=jobs).fit(X, T, weight) for jobs in (1, 2))
    np.testing.assert_array_equal(one.weights_.toarray(), two.weights_.toarray())


def test_constant_targets_get_zero_weights_and_a_smoothed_bias():
    X, _, _ = problem(n=9)
    weight = np.r_[np.ones(8), 0.0]
    T = np.c_[np.zeros(9), np.ones(9), np.r_[np.zeros(8), 1.0]]
    bank = ElasticNetBank().fit(X, T, weight)
    assert bank.weights_.nnz == 0
    np.testing.assert_allclose(expit(bank.biases_), [0.5 / 9, 8.5 / 9, 0.5 / 9], rtol=1e-12)


def test_separable_targets_and_wild_features_stay_finite():
    X = np.c_[np.linspace(-1, 1, 40), 1e6 * np.linspace(0, 1, 40), np.zeros(40)]
    bank = ElasticNetBank(1e-4, max_iter=1000).fit(X, (X[:, 0] > 0).astype(float))
    assert np.isfinite(bank.logits(X)).all()
    assert ((bank.logits(X)[:, 0] > 0) == (X[:, 0] > 0)).mean() > 0.9


def test_stopping_short_says_what_to_try():
    X, T, weight = problem()
    with pytest.warns(NotConverged, match="3 of 3 targets .* raise max_iter"):
        ElasticNetBank(1e-4, tol=1e-9, max_iter=1).fit(X, T, weight)


def test_stored_bank_predicts_the_same(tmp_path):
    X, T, weight = problem()
    bank = ElasticNetBank(0.01).fit(X, T, weight)
    save(bank, tmp_path / "bank")
    np.testing.assert_array_equal(load(tmp_path / "bank").logits(X), bank.logits(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": -1}, "penalty must be a positive number"),
        ({"C": 0}, "C must be a positive number"),
        ({"C": "auto"}, "C must be a positive number, not 'auto'"),
        ({"l1_ratio": 2}, "l1_ratio must lie in"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_meaningless_settings_get_a_sentence(parameters, message):
    X, T, _ = problem()
    with pytest.raises(DataError, match=message):
        ElasticNetBank(**parameters).fit(X, T)


def test_other_features_than_in_fit_get_a_sentence():
    X, T, _ = problem()
    with pytest.raises(DataError, match="2 features but the learner was fitted on 12"):
        ElasticNetBank().fit(X, T).logits(X[:, :2])


def test_columns_without_entries_are_not_taken_for_dense_ones():
    """A warm start has weights on them: nothing is read for these."""
    X, T, weight = problem()
    bank = ElasticNetBank(C=100.0, warm_start=True).fit(sparse.csr_array(X), T, weight)
    entries, rows, starts = by_columns(sparse.csr_array(X.shape))
    assert len(rows) > 0
    assert len(entries) == len(rows)
    assert not starts.any()
    assert bank.fit(sparse.csr_array(X.shape), T, weight).weights_.nnz == 0
