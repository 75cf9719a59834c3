"""Banks on features and parents against scikit-learn, and what must not change them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from setwise.errors import NotConverged
from setwise.models.chains import label_whitening, masked_bank
from setwise.models.chains.columns import columns_of
from setwise.models.chains.masked_bank import fit_masked

C, C_LABELS = 0.5, 5.0


def rows(n=200, d=6, L=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.3).astype(float)
    Y[:, 3] = Y[:, 0] + Y[:, 1] + random.normal(0, 0.4, n) > 1
    return X, Y, random.integers(0, 3, n).astype(float)


PARENTS = {
    "chain": np.triu(np.ones((5, 5), dtype=bool), 1),
    "tree": np.roll(np.eye(5, dtype=bool), 1, axis=1),
    "none": np.zeros((5, 5), dtype=bool),
    "some": np.random.default_rng(3).random((5, 5)) < 0.4,
}


def theirs(X, Y, w, parents, label):
    """scikit-learn on the features and on the parents, scaled to the same penalty."""
    scale = np.sqrt(C_LABELS / C)
    own = np.flatnonzero(parents[:, label])
    Z = np.hstack([X, scale * Y[:, own]])
    model = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(Z, Y[:, label], sample_weight=w)
    labels = np.zeros(Y.shape[1])
    labels[own] = scale * model.coef_[0, X.shape[1] :]
    return model.coef_[0, : X.shape[1]], labels, model.intercept_[0]


def documented_objective(found, X, Y, w):
    """C times the weighted loss, and the penalties, (m,), by the formula."""
    z = X @ found.features + Y @ found.labels + found.biases
    loss = w @ (np.logaddexp(0, z) - Y * z)
    squares = (found.features**2).sum(axis=0) + C / C_LABELS * (found.labels**2).sum(axis=0)
    return C * loss + squares / 2


@pytest.mark.parametrize("most_columns", [3000, 0], ids=["whole curvature", "diagonal"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", PARENTS)
def test_the_weights_are_those_of_scikit_learn(kind, container, most_columns, monkeypatch):
    monkeypatch.setattr(masked_bank, "MOST_COLUMNS", most_columns)
    monkeypatch.setattr(masked_bank, "are_banks", lambda parents: most_columns > 0)
    X, Y, w = rows()
    parents = PARENTS[kind] & ~np.eye(5, dtype=bool)
    columns = columns_of(container(X), Y, C, C_LABELS)
    found = fit_masked(columns, Y, parents, C=C, weight=w, tol=1e-11, max_iter=500)
    assert found.converged.all()
    for label in range(5):
        features, labels, bias = theirs(X, Y, w, parents, label)
        np.testing.assert_allclose(found.features[:, label], features, atol=1e-4)
        np.testing.assert_allclose(found.labels[:, label], labels, atol=1e-4)
        np.testing.assert_allclose(found.biases[label], bias, atol=1e-4)
    assert not found.labels[~parents].any()


def test_the_objective_is_the_documented_one():
    X, Y, w = rows()
    parents = PARENTS["chain"]
    found = fit_masked(columns_of(X, Y, C, C_LABELS), Y, parents, C=C, weight=w)
    np.testing.assert_allclose(found.objective, documented_objective(found, X, Y, w), rtol=1e-9)


def test_a_factor_in_blocks_is_the_whole_one(monkeypatch):
    X, Y, w = rows()
    columns, parents = columns_of(X, Y, C, C_LABELS), PARENTS["chain"]
    whole = fit_masked(columns, Y, parents, C=C, weight=w)
    monkeypatch.setattr(label_whitening, "BLOCK", 5)
    blocks = fit_masked(columns, Y, parents, C=C, weight=w)
    assert blocks.n_iter == whole.n_iter
    np.testing.assert_allclose(blocks.features, whole.features, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(blocks.objective, documented_objective(blocks, X, Y, w), rtol=1e-9)


def sparse_rows(scale=0.0, n=300, d=12, L=5):
    """Few entries a row, of features that differ in scale."""
    random = np.random.default_rng(1)
    X = (random.random((n, d)) < 0.3) * np.exp(scale * random.normal(size=d))
    Y = (X @ random.normal(size=(d, L)) + 0.5 * random.normal(size=(n, L)) > 0.5).astype(float)
    return sparse.csr_array(X), Y


@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_blocks_of_targets_on_sparse_rows_are_solved_each_as_if_alone(tol, monkeypatch):
    X, Y = sparse_rows()
    columns, parents = columns_of(X, Y, C, C_LABELS), PARENTS["chain"]
    whole = fit_masked(columns, Y, parents, C=C, tol=1e-9)
    monkeypatch.setattr(masked_bank, "BLOCK_TARGETS", 2)
    monkeypatch.setattr(masked_bank, "SMALL", 0)
    one, two = (fit_masked(columns, Y, parents, C=C, tol=tol, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.features, two.features)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.converged.all()
    assert one.features.dtype == np.float64
    assert (one.objective <= whole.objective * (1 + 1.01 * tol)).all()
    assert (one.objective >= whole.objective * (1 - 1e-6)).all()
    rtol = 1e-9 if tol < masked_bank.SINGLE else 1e-6  # values of single precision
    expected = documented_objective(one, X, Y, np.ones(len(Y)))
    np.testing.assert_allclose(one.objective, expected, rtol=rtol)


def test_single_precision_is_for_the_first_digits_of_values_that_it_takes(monkeypatch):
    X, Y = sparse_rows()
    used = []
    real = masked_bank.fit_together

    def noted(columns, *arguments, **options):
        used.append((columns.X.dtype, options["tol"]))
        return real(columns, *arguments, **options)

    monkeypatch.setattr(masked_bank, "fit_together", noted)
    single, double = np.dtype(np.float32), np.dtype(np.float64)

    def stages(X, **options):
        used.clear()
        fit_masked(columns_of(X, Y, C, C_LABELS), Y, PARENTS["chain"], C=C, **options)
        return list(used)

    assert stages(X, tol=1e-3) == [(single, 1e-3)]
    assert stages(X, tol=1e-6) == [(single, 1e-4), (double, 1e-6)]
    assert stages(X, tol=1e-3, certify=False) == [(single, 1e-3)]
    assert stages(X, tol=1e-5, certify=False) == [(double, 1e-5)]
    assert stages(X.astype(np.float32), tol=1e-3) == [(single, 1e-3)]
    X.data[0] = 1e7
    assert stages(X, tol=1e-3) == [(double, 1e-3)]


def test_sparse_features_of_very_different_scale_converge():
    X, Y = sparse_rows(scale=2.0)
    found = fit_masked(columns_of(X, Y, C, C_LABELS), Y, PARENTS["chain"], C=C, max_iter=400)
    dense = fit_masked(columns_of(X.toarray(), Y, C, C_LABELS), Y, PARENTS["chain"], C=C)
    assert found.converged.all()
    np.testing.assert_allclose(found.objective, dense.objective, rtol=2e-6)


def test_a_start_at_the_end_takes_no_steps_and_a_bad_one_does_no_harm():
    X, Y, w = rows()
    columns, parents = columns_of(X, Y, C, C_LABELS), PARENTS["chain"]
    found = fit_masked(columns, Y, parents, C=C, weight=w, tol=1e-9)
    again = fit_masked(columns, Y, parents, C=C, weight=w, tol=1e-7, start=found)
    assert again.n_iter <= 1
    far = replace(found, features=found.features + 1, labels=3 * found.labels)
    other = fit_masked(columns, Y, parents, C=C, weight=w, tol=1e-9, start=far)
    np.testing.assert_allclose(other.objective, found.objective, rtol=1e-8)
    for fit in (again, other):
        np.testing.assert_allclose(fit.objective, documented_objective(fit, X, Y, w), rtol=1e-9)


def test_constant_targets_have_a_bias_alone():
    X, Y, _ = rows()
    Y[:, 1], Y[:, 2] = 0, 1
    found = fit_masked(columns_of(X, Y, C, C_LABELS), Y, PARENTS["chain"], C=C)
    assert not found.features[:, 1:3].any()
    assert not found.labels[:, 1:3].any()
    np.testing.assert_allclose(found.biases[1:3], np.log([0.5 / 200.5, 200.5 / 0.5]), rtol=1e-12)
    expected = documented_objective(found, X, Y, np.ones(len(Y)))
    np.testing.assert_allclose(found.objective, expected, rtol=1e-9)


def test_too_few_steps_are_told():
    X, Y, _ = rows()
    with pytest.warns(NotConverged, match="max_iter"):
        fit_masked(columns_of(X, Y, 100, 1000), Y, PARENTS["chain"], C=100, max_iter=1)
