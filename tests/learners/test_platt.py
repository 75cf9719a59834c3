import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration

from setwise.errors import DataError
from setwise.learners.platt import Platt, PlattBank, smoothed_targets
from setwise.storage import load, save


def problem(seed, n=80):
    rng = np.random.default_rng(seed)
    score = 3 * rng.normal(size=n) + 1
    target = (rng.random(n) < expit(score - 0.5)).astype(float)
    return score, target, rng.random(n) + 0.1


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_sigmoid_is_that_of_scikit_learn(seed):
    score, target, weight = problem(seed)
    ours = Platt().fit(score, target, weight)
    theirs = _SigmoidCalibration().fit(score, target, weight)
    np.testing.assert_allclose(ours.predict(score), theirs.predict(score), rtol=0, atol=1e-3)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_derivatives_of_the_likelihood_vanish(seed):
    score, target, weight = problem(seed)
    smoothed = smoothed_targets(target[:, None], weight[:, None])[:, 0]
    residual = weight * (smoothed - Platt().fit(score, target, weight).predict(score))
    np.testing.assert_allclose([residual.sum(), residual @ score], 0, atol=1e-6)


def test_columns_of_a_bank_are_single_sigmoids():
    columns = [problem(seed) for seed in range(4)]
    scores, T, weight = (np.column_stack(parts) for parts in zip(*columns))
    bank = PlattBank().fit(scores, T, weight)
    for number, (score, target, w) in enumerate(columns):
        np.testing.assert_allclose(
            bank.predict(scores)[:, number], Platt().fit(score, target, w).predict(score), rtol=1e-9
        )


def test_soft_target_is_two_weighted_rows():
    score, target, _ = problem(0)
    soft = 0.2 + 0.5 * target
    n = len(score)
    both = Platt().fit(np.tile(score, 2), np.repeat([1.0, 0.0], n), np.r_[soft, 1 - soft])
    np.testing.assert_allclose(
        Platt().fit(score, soft).predict(score), both.predict(score), rtol=1e-6
    )


def test_separated_constant_and_equal_cases_stay_finite():
    score = np.array([-1e3, -1.0, 1.0, 1e3])
    for target in ([0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]):
        p = Platt().fit(score, target).predict(score)
        assert ((p > 0) & (p < 1)).all()
    np.testing.assert_allclose(Platt().fit(score, [1, 1, 1, 1]).predict([0.0]), [5 / 6], rtol=1e-6)
    np.testing.assert_allclose(Platt().fit([2.0, 2.0], [0, 1]).predict([2.0]), [0.5], rtol=1e-6)


def test_scale_and_shift_of_scores_do_not_matter():
    score, target, weight = problem(1)
    plain = Platt().fit(score, target, weight).predict(score)
    moved = 1e6 + 1e3 * score
    np.testing.assert_allclose(Platt().fit(moved, target, weight).predict(moved), plain, rtol=1e-6)


@pytest.mark.parametrize("single", [True, False])
def test_stored_sigmoids_predict_the_same(single, tmp_path):
    score, target, weight = problem(0)
    if single:
        fitted, X = Platt().fit(score, target, weight), score
    else:
        X = np.c_[score, -score]
        fitted = PlattBank().fit(X, np.c_[target, target], weight)
    save(fitted, tmp_path / "platt")
    np.testing.assert_array_equal(load(tmp_path / "platt").predict(X), fitted.predict(X))


def test_bad_input_gets_a_sentence():
    with pytest.raises(DataError, match="targets must lie in"):
        Platt().fit([0.0, 1.0], [0, 2])
    with pytest.raises(DataError, match="2 rows but X has 3"):
        Platt().fit([0.0, 1.0, 2.0], [0, 1])
