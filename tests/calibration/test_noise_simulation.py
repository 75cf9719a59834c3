"""Section 4.10.6 with known truth: plain calibrators are too low, robust ones are not."""

import numpy as np
import pytest
from scipy.special import expit

from setwise.calibration.noise import NO_NOISE, NoiseRates
from setwise.calibration.noisy_labels import annotators, corrupted
from setwise.calibration.robust_boosting import OBJECTIVES, RobustBank
from setwise.calibration.robust_isotonic import RobustIsotonic, robust_accuracy
from setwise.calibration.robust_platt import RobustPlatt
from setwise.data.labels import rows_equal

RATES = {"0.2": [0.2], "0.5": [0.5], "three annotators": [0.1, 0.3, 0.5]}
N = 10_000


def truths(seed, n=N, alpha=0.0, beta=0.0):
    """Features, true confidences, clean truths and noisy judgements."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    c = expit(2.5 * X[:, 0] + X[:, 1] * X[:, 2] + 1)
    right = rng.random(n) < c
    return X, c, right, np.where(right, rng.random(n) >= alpha, rng.random(n) < beta)


def fitted(calibrator, X, judged, noise):
    """Confidences of new rows, as a function of them."""
    if calibrator in OBJECTIVES:
        bank = RobustBank(80, objective=calibrator, n_jobs=1).fit(X, judged, noise=noise)
        return bank.confidence
    curve = RobustPlatt() if calibrator == "platt" else RobustIsotonic(form=calibrator.split()[1])
    curve.fit(X[:, 0], judged, noise=noise)
    return lambda rows: curve.predict(rows[:, 0])


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize(
    "calibrator", [*OBJECTIVES, "isotonic likelihood", "isotonic squared", "platt"]
)
def test_mean_confidence_is_clean_accuracy(calibrator, rates):
    _, alpha = annotators(N, RATES[rates], random_state=0)
    X, _, _, judged = truths(1, alpha=alpha)
    new, c, clean, _ = truths(2)
    robust = fitted(calibrator, X, judged, NoiseRates(alpha))(new)
    plain = fitted(calibrator, X, judged, NO_NOISE)(new)
    assert abs(robust.mean() - clean.mean()) < 0.02
    assert plain.mean() - clean.mean() == pytest.approx(-alpha.mean() * clean.mean(), abs=0.02)
    # Not in the mean only, but row by row.
    assert np.mean((robust - c) ** 2) < 0.6 * np.mean((plain - c) ** 2)


@pytest.mark.parametrize("calibrator", [*OBJECTIVES, "isotonic likelihood", "isotonic squared"])
def test_wrong_predictions_may_be_judged_right_too(calibrator):
    # A standard deviation of one in each target: more rows, to know the mean to 0.005.
    X, _, _, judged = truths(3, 40_000, alpha=0.3, beta=0.2)
    new, c, clean, _ = truths(4, 40_000)
    robust = fitted(calibrator, X, judged, NoiseRates(0.3, 0.2))(new)
    assert abs(robust.mean() - clean.mean()) < 0.02
    low, high = c < 0.2, c > 0.9
    assert abs(robust[low].mean() - c[low].mean()) < 0.12
    assert abs(robust[high].mean() - c[high].mean()) < 0.12


def test_constants_see_through_noise():
    _, alpha = annotators(N, [0.1, 0.3, 0.5], random_state=0)
    _, _, right, judged = truths(5, alpha=alpha, beta=0.1)
    for form in ("likelihood", "squared"):
        found = robust_accuracy(judged, noise=NoiseRates(alpha, 0.1), form=form)
        assert found == pytest.approx(right.mean(), abs=0.02)
    assert judged.mean() < right.mean() - 0.1


@pytest.mark.parametrize("rates", RATES)
def test_corrupted_annotations_of_label_sets(rates):
    rng = np.random.default_rng(6)
    truth = rng.random((N, 12)) < 0.2
    _, c, _, _ = truths(7)
    flipped = rng.integers(0, 12, N)
    predicted = truth.copy()
    wrong = rng.random(N) >= c
    predicted[wrong, flipped[wrong]] ^= True
    X = truths(7)[0]
    _, alpha = annotators(N, RATES[rates], random_state=8)
    annotated = corrupted(truth, alpha, random_state=9)
    judged = rows_equal(corrupted(predicted, 0.0), annotated)
    # The annotator and the classifier seldom make the same mistake: beta is all but 0.
    assert judged[wrong].mean() < 0.05
    robust = fitted("likelihood", X, judged, NoiseRates(alpha))(X)
    assert abs(robust.mean() - (~wrong).mean()) < 0.03
    assert judged.mean() < (~wrong).mean() * (1 - alpha.mean()) + 0.02
