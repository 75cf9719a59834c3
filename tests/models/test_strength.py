"""The strength of a penalty that whole models are tried with."""

from __future__ import annotations

import numpy as np
import pytest

import setwise as sw
from setwise.data.labels import as_binary_csr
from setwise.models import strength

MODELS = (sw.PowerSet, sw.PairwiseCRF)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 6))
    Y = X[:, :3] + 0.5 * random.normal(size=(200, 3)) > 0.3
    return X, Y.astype(int)


@pytest.mark.parametrize("model", MODELS)
def test_rough_fits_choose_as_precise_ones_do(model, rows, monkeypatch):
    roughly = model(C="auto").fit(*rows)
    monkeypatch.setattr(strength, "ROUGH_TOL", 0.0)
    monkeypatch.setattr(strength, "in_single_precision", lambda X: X)
    assert model(C="auto").fit(*rows).chosen_ == roughly.chosen_


@pytest.mark.parametrize("model", MODELS)
def test_the_last_fit_is_as_precise_as_asked(model, rows):
    X, Y = rows
    chosen = model(C="auto").fit(X, Y)
    given = model(C=chosen.chosen_["C"]).fit(X, Y)
    np.testing.assert_allclose(
        chosen.predict_dist(X).log_prob(Y), given.predict_dist(X).log_prob(Y), rtol=1e-12
    )
    rough = model(C=chosen.chosen_["C"], tol=0.1).fit(X, Y)
    assert rough.n_iter_ < given.n_iter_


@pytest.mark.parametrize("model", MODELS)
def test_copies_are_rough_and_in_single_precision(model, rows, monkeypatch):
    seen = []
    learn = model._learn

    def spied(self, X, *others):
        seen.append((self.C, self.tol, X.dtype))
        return learn(self, X, *others)

    monkeypatch.setattr(model, "_learn", spied)
    model(C="auto", tol=1e-3).fit(*rows)
    assert seen[0] == ("auto", 1e-3, np.float64)
    assert len(seen) > 3
    assert all(tol == 1e-3 and dtype == np.float32 for _, tol, dtype in seen[1:])
    seen.clear()
    model(C="auto").fit(*rows)
    assert {tol for _, tol, _ in seen[1:]} == {strength.ROUGH_TOL}


def test_rows_too_large_for_single_precision_stay_double(rows):
    X, Y = rows
    model = sw.PairwiseCRF(C="auto").fit(X * 1e20, Y)  # whose squares single precision cannot hold
    assert np.isfinite(model.predict_dist(X * 1e20).log_prob(Y)).all()


def test_of_models_that_cannot_be_rough_the_strength_is_found_all_the_same(rows):
    X, Y = rows[0], as_binary_csr(rows[1])
    found = strength.best_C(sw.BinaryRelevance("elastic"), X, Y)
    assert found == sw.BinaryRelevance("elastic", C="auto").with_chosen_C(X, Y).C
