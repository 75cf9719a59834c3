import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from setwise.calibration.noise import SCORE_LIMIT, NoiseRates, noisy_likelihood
from setwise.calibration.robust_platt import RobustPlatt
from setwise.errors import DataError
from setwise.learners.platt import Platt, smoothed_targets
from setwise.storage import load, save


def problem(seed, n=3000):
    rng = np.random.default_rng(seed)
    score = 5 + 3 * rng.normal(size=n)
    noise = NoiseRates(rng.choice([0.1, 0.3, 0.5], n), 0.05)
    right = rng.random(n) < expit(0.8 * (score - 4))
    judged = np.where(right, rng.random(n) >= noise.alpha, rng.random(n) < noise.beta)
    return score, judged.astype(float), rng.random(n) + 0.1, noise


def test_without_noise_it_is_platt_scaling():
    score, judged, weight, _ = problem(0)
    ours, plain = RobustPlatt().fit(score, judged, weight), Platt().fit(score, judged, weight)
    assert ours.slope_ == pytest.approx(plain.slope_, rel=1e-4)
    assert ours.intercept_ == pytest.approx(plain.intercept_, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_likeliest_sigmoid(seed):
    score, judged, weight, noise = problem(seed)
    curve = RobustPlatt().fit(score, judged, weight, noise=noise)
    v = smoothed_targets(judged[:, None], weight[:, None])[:, 0]

    def loss(line):
        return np.average(noisy_likelihood(line[0] * score + line[1], v, noise), weights=weight)

    found = minimize(loss, [1.0, -5.0], method="Nelder-Mead", options={"xatol": 1e-8})
    assert loss([curve.slope_, curve.intercept_]) <= found.fun + 1e-9
    # and near the truth, which a plain sigmoid is not
    assert np.abs(curve.predict(score) - expit(0.8 * (score - 4))).mean() < 0.03
    plain = Platt().fit(score, judged, weight)
    assert np.abs(plain.predict(score) - expit(0.8 * (score - 4))).mean() > 0.1


@pytest.mark.parametrize("judged", [np.zeros(20), np.ones(20), np.repeat([0.0, 1.0], 10)])
def test_fits_stay_finite(judged):
    noise = NoiseRates(0.4, 0.1)
    for score in (np.arange(20.0), np.ones(20)):
        curve = RobustPlatt().fit(score, judged, noise=noise)
        assert np.isfinite([curve.slope_, curve.intercept_]).all()
        limit = expit(SCORE_LIMIT)
        assert (curve.predict(score * 1e6) <= limit).all()


def test_curves_are_stored_and_rows_checked(tmp_path):
    score, judged, weight, noise = problem(0)
    curve = RobustPlatt().fit(score, judged, weight, noise=noise)
    save(curve, tmp_path / "curve")
    np.testing.assert_array_equal(load(tmp_path / "curve").predict(score), curve.predict(score))
    with pytest.raises(DataError, match="3000 rates but there are 2999 rows"):
        RobustPlatt().fit(score[1:], judged[1:], noise=noise)
