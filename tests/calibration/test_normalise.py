import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad, minimize
from scipy.special import logsumexp

from setwise.calibration import normalise
from setwise.calibration.candidates import Candidates
from setwise.calibration.normalise import PRIOR_ROWS, Normaliser
from setwise.storage import load, save

N = 400


@pytest.fixture(scope="module")
def rows():
    """Log-scores that are half as large as they should be, and a rest that is too light."""
    random = np.random.default_rng(0)
    counts = random.integers(1, 6, size=N)
    row = np.repeat(np.arange(N), counts)
    candidates = Candidates(sparse.csr_array((len(row), 3), dtype=np.int8), row, -0.0 * row, N)
    z = random.normal(size=len(row))
    right = np.zeros(len(row))
    for r in range(N):
        own = np.flatnonzero(row == r)
        log_mass = np.append(2 * z[own], 1.0)
        chosen = random.choice(len(own) + 1, p=np.exp(log_mass - logsumexp(log_mass)))
        if chosen < len(own):
            right[own[chosen]] = 1
    return candidates, z, right


def log_likelihood(rows, slope, level, weight=None):
    candidates, z, right = rows
    weight = np.ones(N) if weight is None else weight
    total = 0.0
    for r in range(N):
        own = candidates.row == r
        log_d = logsumexp(np.append(slope * z[own], level))
        found = right[own] > 0
        total += weight[r] * ((slope * z[own][found][0] if found.any() else level) - log_d)
    return total


def test_candidates_and_rest_make_one(rows):
    candidates, z, right = rows
    fitted = Normaliser().fit(candidates, z, right, None)
    p = np.exp(fitted.log_probabilities(candidates, z))
    for r in range(0, N, 20):
        own = candidates.row == r
        d = np.exp(fitted.level_) + np.exp(fitted.slope_ * z[own]).sum()
        np.testing.assert_allclose(p[own], np.exp(fitted.slope_ * z[own]) / d, rtol=1e-9)
        np.testing.assert_allclose(p[own].sum() + np.exp(fitted.level_) / d, 1, rtol=1e-12)


def test_the_two_numbers_are_found(rows):
    fitted = Normaliser().fit(*rows, None)
    np.testing.assert_allclose([fitted.slope_, fitted.level_], [2, 1], atol=0.35)
    assert log_likelihood(rows, fitted.slope_, fitted.level_) > log_likelihood(rows, 1, 0) + 5


@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_nearby_is_better(rows, weighted):
    weight = np.random.default_rng(1).integers(0, 3, size=N).astype(float) if weighted else None
    fitted = Normaliser().fit(*rows, weight)

    def objective(slope, level):
        pull = PRIOR_ROWS * ((slope - 1) ** 2 + level**2) / 2
        return log_likelihood(rows, slope, level, weight) - pull

    best = objective(fitted.slope_, fitted.level_)
    for step in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
        assert objective(fitted.slope_ + step[0], fitted.level_ + step[1]) < best


def test_the_gradient_is_that_of_the_loss(rows, monkeypatch):
    losses = []

    def spy(loss, *arguments, **options):
        losses.append(loss)
        return minimize(loss, *arguments, **options)

    monkeypatch.setattr(normalise, "minimize", spy)
    Normaliser().fit(*rows, np.linspace(0, 2, N))
    (loss,) = losses
    for place in ([1.0, 0.0], [0.3, -2.0], [-1.0, 3.0]):
        error = check_grad(lambda at: loss(at)[0], lambda at: loss(at)[1], np.array(place))
        assert error < 1e-6
    expected = -log_likelihood(rows, 0.3, -2.0, np.linspace(0, 2, N))
    expected += PRIOR_ROWS * (0.7**2 + 2.0**2) / 2
    np.testing.assert_allclose(loss(np.array([0.3, -2.0]))[0] * N, expected, rtol=1e-9)


def test_extreme_scores_are_probabilities():
    candidates = Candidates(
        sparse.csr_array((4, 2), dtype=np.int8), np.array([0, 0, 1, 1]), np.zeros(4), 2
    )
    z = np.array([700.0, -700.0, -700.0, -701.0])
    fitted = Normaliser().fit(candidates, z, np.array([1.0, 0, 0, 0]), None)
    p = np.exp(fitted.log_probabilities(candidates, z))
    assert np.isfinite(p).all()
    assert p[0] > 0.99
    assert p[2:].sum() < 0.01


def test_saved_numbers_are_the_same(rows, tmp_path):
    fitted = Normaliser().fit(*rows, None)
    save(fitted, tmp_path / "two.setwise")
    assert vars(load(tmp_path / "two.setwise")) == vars(fitted)
