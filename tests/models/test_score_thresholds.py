import numpy as np
import pytest

from setwise import metrics
from setwise.errors import DataError
from setwise.models.score_thresholds import TARGETS, squashed, tuned_thresholds
from setwise.models.set_only import without_empty

GOOD = {
    "f1": lambda t, p, w: metrics.f1(t, p, zero_division=1.0, sample_weight=w),
    "jaccard": lambda t, p, w: metrics.jaccard(t, p, zero_division=1.0, sample_weight=w),
    "hamming": lambda t, p, w: -metrics.hamming_loss(t, p, sample_weight=w),
    "set_accuracy": lambda t, p, w: metrics.set_accuracy(t, p, sample_weight=w),
    "micro_f1": lambda t, p, w: metrics.f1(t, p, average="micro", sample_weight=w),
}


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", GOOD)
def test_no_threshold_is_better(target, seed, allow_empty):
    random = np.random.default_rng(seed)
    truth = (random.random((12, 4)) < 0.3).astype(np.int8)
    truth[0] = 0
    scores = 3 * truth + random.normal(scale=2, size=truth.shape) - 4
    weights = random.integers(1, 4, size=12).astype(float)

    def good(threshold):
        chosen = (squashed(scores) >= threshold).astype(np.int8)
        return GOOD[target](
            truth, chosen if allow_empty else without_empty(chosen, scores), weights
        )

    found = tuned_thresholds(target, scores, truth, weights, allow_empty=allow_empty)
    best = max(good(threshold) for threshold in (*squashed(scores).ravel(), np.inf))
    np.testing.assert_allclose(good(found), best, rtol=1e-12)


def test_each_label_has_its_own_for_macro_f1():
    truth = np.array([[1, 0], [1, 1], [0, 0]])
    thresholds = tuned_thresholds(
        "macro_f1", np.array([[3.0, -5.0], [2.0, -2.0], [1.0, -4.0]]), truth
    )
    assert thresholds.shape == (2,)
    assert thresholds[1] < 0.5 < thresholds[0]


def test_nothing_is_taken_where_nothing_is_better():
    scores = np.array([[1.0, 2.0], [3.0, 1.0]])
    for target in ("f1", "jaccard", "hamming", "set_accuracy"):
        assert tuned_thresholds(target, scores, np.zeros((2, 2), int))[0] == np.inf


def test_an_unknown_target_is_refused():
    assert "f1" in TARGETS
    with pytest.raises(DataError, match="target must be one of"):
        tuned_thresholds("luck", np.zeros((1, 1)), np.zeros((1, 1)))
