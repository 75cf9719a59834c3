from dataclasses import astuple
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import calibration_curve

from setwise import metrics
from setwise.errors import DataError

FIELDS = ("score", "uncertainty", "sharpness", "alignment_error", "residual", "noise_floor")
PARTITIONS = st.fixed_dictionaries(
    {"n_buckets": st.integers(1, 12), "strategy": st.sampled_from(["width", "quantile"])}
)


@st.composite
def predictions(draw, graded=True):
    n = draw(st.integers(1, 30))
    share = st.floats(0, 1, allow_subnormal=False)
    correct = draw(hnp.arrays(float, n, elements=share if graded else st.sampled_from([0.0, 1.0])))
    return correct, draw(hnp.arrays(float, n, elements=share | st.sampled_from([0.0, 0.3, 1.0])))


def calibrated(n, seed):
    """Confidences that are the probabilities of their predictions."""
    random = np.random.default_rng(seed)
    confidence = random.random(n)
    return (random.random(n) < confidence).astype(float), confidence


def test_brier_score_equals_scikit_learn():
    correct, confidence = calibrated(200, 0)
    weights = np.random.default_rng(1).random(200)
    expected = theirs.brier_score_loss(correct, confidence, sample_weight=weights)
    answer = metrics.brier_score(correct, confidence, sample_weight=weights)
    assert_allclose(answer, expected, rtol=1e-12)


def test_decomposition_worked_by_hand():
    # Three say 3/4 and two are right, one says 1/4 and is wrong; half are right in all.
    parts = metrics.brier_decomposition([1, 1, 0, 0], [0.75, 0.75, 0.75, 0.25])
    gap = Fraction(3, 4) - Fraction(2, 3)
    by_hand = {
        "score": (2 * Fraction(1, 16) + Fraction(9, 16) + Fraction(1, 16)) / 4,
        "uncertainty": Fraction(1, 4),
        "sharpness": (3 * Fraction(1, 6) ** 2 + Fraction(1, 2) ** 2) / 4,
        "alignment_error": (3 * gap**2 + Fraction(1, 4) ** 2) / 4,
        "residual": 0,
        "noise_floor": (Fraction(3, 16) + Fraction(3, 16)) / 4,
    }
    for name, value in by_hand.items():
        assert_allclose(getattr(parts, name), float(value), rtol=1e-14, atol=1e-16, err_msg=name)


@settings(max_examples=60, deadline=None)
@given(predictions(), PARTITIONS)
def test_brier_identity(pair, partition):
    parts = metrics.brier_decomposition(*pair, **partition)
    total = parts.uncertainty - parts.sharpness + parts.alignment_error + parts.residual
    assert_allclose(total, parts.score, rtol=1e-12, atol=1e-14)
    assert min(parts.uncertainty, parts.sharpness, parts.alignment_error) >= 0


@settings(max_examples=60, deadline=None)
@given(predictions(graded=False), st.integers(1, 12))
def test_equation_4_1_is_exact_where_confidence_is_constant_in_buckets(pair, n_buckets):
    correct, confidence = pair
    middle = (np.minimum(np.floor(confidence * n_buckets), n_buckets - 1) + 0.5) / n_buckets
    parts = metrics.brier_decomposition(correct, middle, n_buckets=n_buckets)
    assert_allclose(parts.residual, 0, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(predictions(), PARTITIONS)
def test_a_doubled_prediction_is_one_of_weight_two(pair, partition):
    weights = np.ones(len(pair[0]))
    weights[0] = 2
    doubled = metrics.brier_decomposition(*(np.append(a, a[0]) for a in pair), **partition)
    weighted = metrics.brier_decomposition(*pair, **partition, sample_weight=weights)
    assert_allclose(astuple(weighted), astuple(doubled), rtol=1e-12, atol=1e-14)
    doubled = metrics.reliability_table(*(np.append(a, a[0]) for a in pair), **partition)
    weighted = metrics.reliability_table(*pair, **partition, sample_weight=weights)
    for ours, expected in zip(astuple(weighted), astuple(doubled), strict=True):
        assert_allclose(ours, expected, rtol=1e-12, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(predictions(), PARTITIONS, st.randoms(use_true_random=False))
def test_order_of_predictions_does_not_matter(pair, partition, random):
    order = random.sample(range(len(pair[0])), len(pair[0]))
    shuffled = metrics.brier_decomposition(*(a[order] for a in pair), **partition)
    expected = metrics.brier_decomposition(*pair, **partition)
    assert_allclose(astuple(shuffled), astuple(expected), rtol=1e-12, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(predictions(), PARTITIONS)
def test_calibration_error_lies_between_0_and_the_root_of_the_alignment_error(pair, partition):
    error = metrics.expected_calibration_error(*pair, **partition)
    parts = metrics.brier_decomposition(*pair, **partition)
    assert 0 <= error <= np.sqrt(parts.alignment_error) + 1e-12


def test_noise_floor_is_the_mean_alignment_error_of_calibrated_predictions():
    confidence = np.random.default_rng(0).random(60)
    random = np.random.default_rng(1)
    errors = []
    for _ in range(1000):
        correct = random.random(60) < confidence
        errors.append(metrics.brier_decomposition(correct, confidence).alignment_error)
    floor = metrics.brier_decomposition(correct, confidence).noise_floor
    standard_error = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors) - floor) < 4 * standard_error
    assert standard_error < floor / 20


@pytest.mark.parametrize(
    ("strategy", "theirs_too"), [("width", "uniform"), ("quantile", "quantile")]
)
def test_reliability_equals_scikit_learn(strategy, theirs_too):
    correct, confidence = calibrated(1000, 3)
    table = metrics.reliability_table(correct, confidence, strategy=strategy)
    accuracy, claimed = calibration_curve(correct, confidence, n_bins=10, strategy=theirs_too)
    # Quantiles differ between neighbours: at most one prediction of a hundred changes its bucket.
    rtol = 1e-12 if strategy == "width" else 0.05
    assert_allclose(table.mean_confidence, claimed, rtol=rtol)
    assert_allclose(table.accuracy, accuracy, rtol=rtol)


def test_calibration_error_is_the_mean_gap_of_the_table():
    correct, confidence = calibrated(300, 4)
    table = metrics.reliability_table(correct, confidence)
    gaps = np.abs(table.accuracy - table.mean_confidence)
    expected = (table.count * gaps).sum() / table.count.sum()
    answer = metrics.expected_calibration_error(correct, confidence)
    assert_allclose(answer, expected, rtol=1e-12)


def test_graded_correctness_is_allowed():
    assert_allclose(metrics.brier_score([0.8, 0.5], [0.6, 0.5]), 0.04 / 2, rtol=1e-12)
    table = metrics.reliability_table([0.2, 0.6], [0.5, 0.5], n_buckets=1)
    assert_allclose(table.standard_error, np.sqrt(0.04 / 2), rtol=1e-12)


def test_standard_error_of_a_share():
    table = metrics.reliability_table([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5], n_buckets=1)
    assert_allclose(table.standard_error, np.sqrt(0.75 * 0.25 / 4), rtol=1e-14)


def test_empty_buckets_stay_with_nan():
    table = metrics.reliability_table([1, 0], [0.05, 1.0], n_buckets=4)
    assert_array_equal(table.count, [1, 0, 0, 1])
    assert_array_equal(np.isnan(table.accuracy), [False, True, True, False])
    assert_array_equal(np.isnan(table.standard_error), [False, True, True, False])
    assert_array_equal(table.lower, [0, 0.25, 0.5, 0.75])
    assert_array_equal(table.upper, [0.25, 0.5, 0.75, 1])


@pytest.mark.parametrize("n_buckets", [3, 7, 10, 100])
def test_an_edge_opens_its_bucket_and_one_closes_the_last(n_buckets):
    edges = [k / n_buckets for k in range(n_buckets + 1)]
    table = metrics.reliability_table(np.ones(n_buckets + 1), edges, n_buckets=n_buckets)
    assert_array_equal(table.count, [1] * (n_buckets - 1) + [2])


def test_quantile_buckets_hold_equal_shares():
    correct, confidence = calibrated(1000, 5)
    table = metrics.reliability_table(correct, confidence, strategy="quantile")
    assert_array_equal(table.count, np.full(10, 100))


def test_quantile_buckets_keep_equal_confidences_together():
    confidence = [0.2] * 3 + [0.5] + [1.0] * 6
    table = metrics.reliability_table(np.ones(10), confidence, n_buckets=5, strategy="quantile")
    assert_array_equal(table.count, [4, 6])
    table = metrics.reliability_table(np.ones(4), [0.5] * 4, strategy="quantile")
    assert_array_equal(table.count, [4])


@pytest.mark.parametrize(
    ("correct", "confidence", "sentence"),
    [
        ([1, 0], [0.5, 1.1], "confidence must lie between 0 and 1, but prediction 1 has 1.1"),
        ([1, 0], [np.nan, 0.5], "confidence must lie between 0 and 1, but prediction 0 has nan"),
        ([1, 2], [0.5, 0.5], "correct must lie between 0 and 1, but prediction 1 has 2.0"),
        ([1], [0.5, 0.5], "1 values of correct but 2 of confidence"),
        ([], [], "flat, non-empty"),
        ([[1]], [[0.5]], "flat, non-empty"),
    ],
)
def test_unusable_predictions(correct, confidence, sentence):
    with pytest.raises(DataError, match=sentence):
        metrics.brier_score(correct, confidence)


def test_unusable_options():
    with pytest.raises(DataError, match="n_buckets must be a whole number of at least 1; got 0"):
        metrics.brier_decomposition([1], [0.5], n_buckets=0)
    with pytest.raises(DataError, match="'width', 'quantile'; got 'equal'"):
        metrics.expected_calibration_error([1], [0.5], strategy="equal")
    with pytest.raises(DataError, match="each of the 1 rows"):
        metrics.reliability_table([1], [0.5], sample_weight=[1, 2])
