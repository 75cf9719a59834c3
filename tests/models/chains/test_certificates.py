"""Whether what is said to have converged has: proofs hold for the columns that a target uses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from setwise.errors import NotConverged
from setwise.learners.certificate import duality_gaps
from setwise.learners.design import rows_of
from setwise.learners.workers import Workers
from setwise.models.chains import masked_bank, masked_rounds
from setwise.models.chains.columns import columns_of
from setwise.models.chains.grouped_bank import are_banks, groups_of
from setwise.models.chains.masked_bank import fit_masked
from setwise.models.chains.masked_loss import own_columns

C, C_LABELS = 0.5, 5.0
CHAIN = np.triu(np.ones((4, 4), dtype=bool), 1)
TREE = np.roll(np.eye(4, dtype=bool), 1, axis=1) & CHAIN


def rows(n=150, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, 4)) + random.normal(size=(n, 4)) > 0.3).astype(float)
    Y[:, 3] = Y[:, 0] + Y[:, 1] + random.normal(0, 0.4, n) > 1
    return X, Y, random.integers(0, 3, n).astype(float)


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return fit_masked(*arguments, **options)


@pytest.mark.parametrize("parents", [CHAIN, TREE], ids=["chain", "tree"])
@pytest.mark.parametrize("with_steps", [False, True])
def test_gaps_bound_how_far_any_weights_are_above_the_minimum(parents, with_steps):
    X, Y, w = rows()
    columns = columns_of(X, Y, C, C_LABELS)
    best = fit_masked(columns, Y, parents, C=C, weight=w, tol=1e-10, max_iter=500)
    mask = np.ones((10, 4))
    mask[5:9] = parents
    random = np.random.default_rng(1)
    tight = []
    with Workers(1) as workers:
        loss = own_columns(rows_of(columns.joined(), bias=True), Y, w, mask, C, workers)
        for size in (1e-3, 1e-2, 1e-1, 1.0):
            W = best.stacked(np.arange(4), columns.scale) + size * random.normal(size=(10, 4))
            values, G = loss.evaluate(W * mask)
            steps = 0.02 * G * mask * with_steps
            gaps = duality_gaps(loss, W * mask, steps, 0.1 * w)
            excess = values - best.objective / C
            assert (gaps >= excess - 1e-9).all()
            tight.append(np.isfinite(gaps).all())
    assert tight[0]  # close to the minimum there is a bound


@pytest.fixture(params=["together", "banks"])
def solver(request, monkeypatch):
    """How sparse rows are solved."""
    banks = request.param == "banks"
    monkeypatch.setattr(masked_bank, "are_banks", lambda parents: banks)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("powers", [(0, 0, 0, 0, 0), (-3, 2, 0, 1, -1)], ids=["even", "uneven"])
def test_what_has_converged_is_within_the_tolerance(container, dtype, powers):
    X, Y, w = rows()
    X = X * 10.0 ** np.array(powers)
    best = quietly(columns_of(X, Y, 10, 100), Y, CHAIN, C=10, weight=w, tol=1e-11, max_iter=2000)
    columns = columns_of(container(X.astype(dtype)), Y, 10, 100)
    proven = 0
    for tol in (1e-2, 1e-4):
        for max_iter in (1, 3, 10, 300):
            found = quietly(columns, Y, CHAIN, C=10, weight=w, tol=tol, max_iter=max_iter)
            excess = found.objective / best.objective - 1
            assert (excess[found.converged] <= 1.01 * tol).all()
            proven += found.converged.sum()
    assert proven >= 8


def test_a_solver_that_believes_too_early_is_refuted(monkeypatch):
    X, Y, w = rows()
    columns = columns_of(X, Y, C, C_LABELS)

    def believes(problem, start, *, proven=None, **options):
        found = real(problem, start, **options | {"max_iter": 1})
        every = np.arange(len(found.values))
        point = masked_rounds.Point(found.V, *problem.evaluate(found.V))
        converged = np.ones(len(every), dtype=bool) if proven is None else proven(every, point)
        return found._replace(converged=converged)

    real = masked_rounds.minimise
    monkeypatch.setattr(masked_rounds, "minimise", believes)
    with pytest.warns(NotConverged, match="4 of 4 labels"):
        found = fit_masked(columns, Y, CHAIN, C=C, weight=w, tol=1e-6, max_iter=1)
    assert not found.converged.any()
    assert fit_masked(columns, Y, CHAIN, C=C, weight=w, certify=False, max_iter=1).converged.all()


@pytest.mark.usefixtures("solver")
def test_too_few_sweeps_over_sparse_rows_are_told():
    X, Y, w = rows()
    columns = columns_of(sparse.csr_array(X), Y, C, C_LABELS)
    with pytest.warns(NotConverged, match="max_iter"):
        found = fit_masked(columns, Y, CHAIN, C=C, weight=w, max_iter=1)
    assert not found.converged.all()


def test_targets_with_the_same_parents_are_one_group():
    parents = np.array([[1, 0, 1, 0], [0, 0, 0, 1]], dtype=bool)
    found = {tuple(group.tolist()) for group in groups_of(parents)}
    assert found == {(0, 2), (1,), (3,)}
    assert are_banks(np.zeros((3, 8), dtype=bool))
    assert not are_banks(np.eye(8, dtype=bool))
    assert [group.tolist() for group in groups_of(np.zeros((0, 3), dtype=bool))] == [[0, 1, 2]]
