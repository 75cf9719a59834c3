from itertools import count

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, binomtest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from setwise import storage
from setwise.calibration._accept_inputs import one_row_per_group
from setwise.calibration._accept_rules import rank_sequence, rows_for_one_error, rows_needed
from setwise.calibration.accept_curve import accuracy_coverage
from setwise.calibration.autoaccept import AutoAccept
from setwise.errors import DataError


def sample(n=400, power=0.25, seed=0, decimals=9):
    """Confidences that are the chances of their rows, rounded to make ties."""
    random = np.random.default_rng(seed)
    confidence = np.round(random.random(n) ** power, decimals)
    return confidence, (random.random(n) < confidence).astype(int)


@st.composite
def samples(draw):
    """Rows that often pass some tests and fail others, with ties or without."""
    return sample(
        n=draw(st.integers(1, 300)),
        power=draw(st.sampled_from([0.02, 0.1, 0.3])),
        seed=draw(st.integers(0, 10**6)),
        decimals=draw(st.sampled_from([1, 2, 9])),
    )


TARGETS = st.sampled_from([0.5, 0.7, 0.8, 0.9])
LEVELS = st.sampled_from([0.6, 0.9, 0.95])


def passes(correct, target, level):
    """One test: would rows that are right with the target's chance be right so often?"""
    return len(correct) > 0 and binom.sf(correct.sum() - 1, len(correct), target) <= 1 - level


def slow_ranks(confidence, correct, target, level):
    """The rows that the specification accepts, one rank at a time; (n,) of bool."""
    n = len(confidence)
    by_confidence = sorted(confidence, reverse=True)
    one_error = next(m for m in count(2) if passes(np.arange(m) > 0, target, level))
    rank = min(n, max(int(np.ceil(0.05 * n)), one_error))
    chosen = np.zeros(n, dtype=bool)
    while True:
        over = confidence >= by_confidence[rank - 1]
        if not passes(correct[over], target, level):
            return chosen
        chosen = over
        if rank == n:
            return chosen
        rank = min(n, rank + max(1, round(n / 100)))


@given(samples(), TARGETS, LEVELS)
def test_by_ranks_equals_a_loop(pair, target, level):
    rule = AutoAccept(target, level).fit(*pair)
    assert_array_equal(rule.accept(pair[0]), slow_ranks(*pair, target, level))


@given(samples(), TARGETS, LEVELS, st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_by_fixed_thresholds_equals_a_loop(pair, target, level, thresholds):
    confidence, correct = pair
    expected = np.inf
    for threshold in sorted(thresholds, reverse=True):
        if not passes(correct[confidence >= threshold], target, level):
            break
        expected = threshold
    rule = AutoAccept(target, level, thresholds=thresholds).fit(*pair)
    assert rule.threshold_ == expected


@given(samples(), st.randoms(use_true_random=False), st.booleans())
def test_order_of_rows_does_not_matter(pair, random, grouped):
    order = random.sample(range(len(pair[0])), len(pair[0]))
    groups = np.arange(len(order)) // 3 if grouped else None
    shuffled = None if groups is None else groups[order]
    one = AutoAccept(0.7).fit(*pair, groups=groups)
    two = AutoAccept(0.7).fit(*(part[order] for part in pair), groups=shuffled)
    assert one.message_ == two.message_
    assert one.threshold_ == two.threshold_


@given(samples(), TARGETS)
def test_equal_confidences_are_decided_together_and_what_is_said_is_true(pair, target):
    confidence, correct = pair
    rule = AutoAccept(target).fit(*pair)
    accepted = rule.accept(confidence)
    assert not set(confidence[accepted]) & set(confidence[~accepted])
    assert rule.found_ == bool(accepted.any()) == np.isfinite(rule.threshold_)
    assert_allclose(rule.coverage_, accepted.mean(), rtol=1e-12)
    assert rule.n_counted_ == len(confidence)
    if rule.found_:
        assert_allclose(rule.accuracy_, correct[accepted].mean(), rtol=1e-12)
        result = binomtest(int(correct[accepted].sum()), int(accepted.sum()), alternative="greater")
        assert_allclose(rule.accuracy_lower_, result.proportion_ci(0.95).low, rtol=1e-9)
        assert rule.accuracy_lower_ >= target
        # The threshold lies between two confidences, and is a point of the curve.
        assert confidence[~accepted].max(initial=-1) < rule.threshold_ <= confidence[accepted].min()
        at = np.flatnonzero(rule.curve_.threshold == rule.threshold_)
        assert_allclose(rule.curve_.coverage[at], [rule.coverage_], rtol=1e-12)


@given(samples(), st.tuples(TARGETS, TARGETS), st.tuples(LEVELS, LEVELS))
def test_who_asks_for_more_accepts_less(pair, targets, levels):
    thresholds = np.linspace(0.99, 0, 30)
    modest = AutoAccept(min(targets), min(levels), thresholds=thresholds).fit(*pair)
    strict = AutoAccept(max(targets), max(levels), thresholds=thresholds).fit(*pair)
    assert strict.threshold_ >= modest.threshold_


@given(samples())
def test_a_rising_change_of_confidence_changes_no_decision(pair):
    confidence, correct = pair
    rule = AutoAccept(0.7).fit(confidence, correct)
    squared = AutoAccept(0.7).fit(confidence**2, correct)
    assert_array_equal(rule.accept(confidence), squared.accept(confidence**2))


@pytest.mark.parametrize("high", [0.7, np.nextafter(0.7, 1)])  # halfway is rounded up, and down
def test_neighbouring_floats_are_kept_apart(high):
    low = np.nextafter(high, 0)
    confidence = np.repeat([high, low], 50)
    rule = AutoAccept().fit(confidence, confidence == high)
    assert rule.threshold_ == high
    assert_array_equal(rule.accept([high, low]), [True, False])


def test_sequence_of_ranks():
    ranks = rank_sequence(1000, 0.9, 0.95)
    assert_array_equal(ranks[:3], [50, 60, 70])
    assert ranks[-1] == 1000
    assert rank_sequence(200, 0.9, 0.95)[0] == 46
    assert_array_equal(rank_sequence(30, 0.9, 0.95), [30])
    assert_array_equal(rank_sequence(1, 0.9, 0.95), [1])


@pytest.mark.parametrize(
    ("target", "level"), [(0.9, 0.95), (0.5, 0.5), (0.99, 0.999), (0.1, 0.9), (0.999, 0.01)]
)
def test_rows_needed_is_the_least_that_can_pass(target, level):
    for needed, n_wrong in ((rows_needed, 0), (rows_for_one_error, 1)):
        n = needed(target, level)
        assert passes(np.arange(n) >= n_wrong, target - 1e-12, level)
        assert not passes(np.arange(n - 1) >= n_wrong, target + 1e-12, level)


def test_too_few_rows_say_how_many_are_needed():
    rule = AutoAccept().fit(np.linspace(0, 1, 28), np.ones(28))
    assert (rule.threshold_, rule.found_, rule.coverage_) == (np.inf, False, 0.0)
    assert np.isnan(rule.accuracy_)
    assert "28 rows cannot promise" in rule.message_
    assert "at least 29" in rule.message_
    assert not rule.accept([1.0]).any()
    assert AutoAccept().fit(np.linspace(0, 1, 29), np.ones(29)).found_


def test_all_right_accepts_all_and_all_wrong_nothing():
    confidence = np.linspace(0.2, 0.8, 100)
    rule = AutoAccept().fit(confidence, np.ones(100))
    assert (rule.threshold_, rule.coverage_, rule.accuracy_) == (0.2, 1.0, 1.0)
    rule = AutoAccept().fit(confidence, np.zeros(100))
    assert (rule.threshold_, rule.accuracy_lower_) == (np.inf, 0.0)
    assert "of the 46 most confident rows 0 were right" in rule.message_


@pytest.mark.parametrize(("n_wrong", "found"), [(4, True), (5, False)])
def test_constant_confidence_is_one_test_of_all_rows(n_wrong, found):
    # scipy: 96 of 100 prove 0.9 at 95%, 95 of 100 do not.
    rule = AutoAccept().fit(np.full(100, 0.3), np.arange(100) >= n_wrong)
    assert rule.found_ == found
    assert rule.coverage_ == float(found)
    assert len(rule.curve_.threshold) == 1


def test_fixed_thresholds_that_begin_too_high_say_so():
    pair = sample(1000, power=0.1)
    rule = AutoAccept(thresholds=[0.9999, 0.9]).fit(*pair)
    assert not rule.found_
    assert "the highest threshold, 0.9999, accepts" in rule.message_
    assert AutoAccept(thresholds=[0.9]).fit(*pair).threshold_ == 0.9
    assert not AutoAccept(thresholds=[1.0, 0.9]).fit(*pair).found_  # accepts no row at all


@given(samples(), st.floats(0.1, 5), st.floats(0.1, 5))
def test_by_cost_equals_a_loop(pair, review, error):
    confidence, correct = pair
    rule = AutoAccept(review_cost=review, error_cost=error).fit(*pair)
    costs = []
    for threshold in [np.inf, *sorted(set(confidence), reverse=True)]:
        over = confidence >= threshold
        costs.append((review * (~over).sum() + error * (over & (correct == 0)).sum()) / len(over))
    assert_allclose(rule.cost_, min(costs), rtol=1e-9)
    over = rule.accept(confidence)
    paid = (review * (~over).sum() + error * (over & (correct == 0)).sum()) / len(over)
    assert_allclose(paid, rule.cost_, rtol=1e-9)
    assert rule.guarantee_ == "none"


def test_by_cost_says_so():
    pair = sample()
    rule = AutoAccept(review_cost=1, error_cost=5).fit(*pair)
    assert "without a promise" in rule.message_
    assert AutoAccept(review_cost=9, error_cost=1).fit(*pair).coverage_ == 1
    never = AutoAccept(review_cost=1, error_cost=5).fit([0.5, 0.6], [0, 0])
    assert not never.found_
    assert "cheapest" in never.message_


def test_guarantee_is_named():
    pair = sample()
    assert AutoAccept().fit(*pair).guarantee_ == "exact"
    rule = AutoAccept().fit(*pair, out_of_fold=True)
    assert rule.guarantee_ == "approximate"
    assert "approximate" in rule.message_
    assert np.isnan(rule.cost_)


def test_one_row_of_each_group_is_counted():
    confidence, correct = sample(300, power=0.1)
    copies = [np.repeat(part, 7) for part in (confidence, correct)]
    names = np.repeat([f"document {i:03}" for i in range(300)], 7)
    grouped, alone = AutoAccept().fit(*copies, groups=names), AutoAccept().fit(confidence, correct)
    assert (grouped.n_counted_, grouped.threshold_) == (300, alone.threshold_)
    assert AutoAccept().fit(*copies).threshold_ < alone.threshold_  # as if proved seven times
    assert_array_equal(grouped.curve_.lower, alone.curve_.lower)


def test_rows_of_a_group_are_drawn_evenly():
    groups = np.repeat([0, 1, 2], [1, 4, 2])
    values = np.linspace(0, 1, 7)
    random = np.random.default_rng(0)
    drawn = [one_row_per_group(groups, values, np.zeros(7), random) for _ in range(4000)]
    assert_array_equal(groups[np.array(drawn)], np.tile([0, 1, 2], (4000, 1)))
    share = np.bincount(np.ravel(drawn), minlength=7) / 4000
    assert_allclose(share, [1, *[0.25] * 4, 0.5, 0.5], atol=0.03)


def test_seed_decides_which_rows_count():
    pair, groups = sample(600, power=0.1), np.arange(600) // 2
    rules = [AutoAccept(random_state=seed).fit(*pair, groups=groups) for seed in (0, 0, 1)]
    assert rules[0].threshold_ == rules[1].threshold_
    assert rules[0].threshold_ != rules[2].threshold_


@pytest.mark.parametrize(
    "parameters",
    [{}, {"thresholds": np.array([0.9, 0.8])}, {"review_cost": 1.0, "error_cost": 4.0}],
)
def test_save_and_load_is_the_identity(parameters, tmp_path):
    rule = AutoAccept(**parameters).fit(*sample())
    rule.save(tmp_path / "rule")
    loaded = storage.load(tmp_path / "rule")
    assert storage.fitted_attributes(loaded).keys() == storage.fitted_attributes(rule).keys()
    for name, value in storage.fitted_attributes(rule).items():
        if name != "curve_":
            assert_array_equal(getattr(loaded, name), value, err_msg=name)
    for name, value in vars(rule.curve_).items():
        assert_array_equal(getattr(loaded.curve_, name), value)
    assert_array_equal(loaded.accept([0.2, 0.95]), rule.accept([0.2, 0.95]))
    for name, value in rule.get_params().items():
        assert_array_equal(getattr(loaded, name), value)


def test_nothing_found_survives_storage(tmp_path):
    AutoAccept().fit([0.5], [1]).save(tmp_path / "rule")
    assert storage.load(tmp_path / "rule").threshold_ == np.inf


def test_scikit_learn_conventions():
    thresholds = [0.9, 0.8]
    rule = AutoAccept(0.8, thresholds=thresholds)
    assert rule.thresholds is thresholds
    copy = clone(rule.fit(*sample()))
    assert copy.get_params() == rule.get_params()
    assert not hasattr(copy, "threshold_")
    with pytest.raises(NotFittedError):
        copy.accept([0.5])


def test_a_fit_that_fails_leaves_the_earlier_one():
    rule = AutoAccept().fit(*sample())
    before = rule.threshold_
    with pytest.raises(DataError):
        rule.fit([0.5], [0.5])
    assert rule.threshold_ == before


def test_containers():
    confidence, correct = sample()
    expected = AutoAccept().fit(confidence, correct).threshold_
    frame = pd.DataFrame({"confidence": confidence, "correct": correct == 1})
    assert AutoAccept().fit(frame.confidence, frame.correct).threshold_ == expected
    assert AutoAccept().fit(confidence.tolist(), correct.tolist()).threshold_ == expected
    assert AutoAccept().fit(confidence, correct).accept([]).shape == (0,)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"target_accuracy": 1}, "target_accuracy must lie between 0 and 1, both excluded; got 1"),
        ({"target_accuracy": 0.0}, "target_accuracy must lie"),
        ({"target_accuracy": np.nan}, "target_accuracy must lie"),
        ({"target_accuracy": "high"}, "target_accuracy must lie"),
        ({"target_accuracy": True}, "target_accuracy must lie"),
        ({"confidence_level": 95}, "confidence_level must lie between 0 and 1"),
        ({"thresholds": "deciles"}, 'thresholds is "ranks" or numbers'),
        ({"thresholds": []}, "at least one"),
        ({"thresholds": [0.5, 1.5]}, "thresholds must be numbers between 0 and 1"),
        ({"thresholds": [np.nan]}, "thresholds must be numbers between 0 and 1"),
        ({"thresholds": 0.5}, "pass a flat array"),
        ({"review_cost": 1}, "error_cost must be a positive number"),
        ({"error_cost": 1}, "review_cost must be a positive number"),
        ({"review_cost": 1, "error_cost": -1}, "error_cost must be a positive number"),
        ({"review_cost": np.inf, "error_cost": 1}, "review_cost must be a positive number"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises(DataError, match=sentence):
        AutoAccept(**parameters).fit(*sample())


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (([0.5, 0.6], [1]), "2 values of confidence but 1 of correct"),
        (([], []), "there are no rows"),
        (([0.5, np.nan], [1, 0]), "row 1 has nan"),
        (([0.5, 1.2], [1, 0]), "row 1 has 1.2"),
        (([-0.1, 0.2], [1, 0]), "row 0 has -0.1"),
        (([0.5, 0.6], [1, 0.5]), "row 1 has 0.5; say of a graded measure such as F1"),
        (([0.5, 0.6], [1, np.nan]), "correct must be 0 or 1, but row 1 has nan"),
        (([0.5, 0.6], [1, -1]), "correct must be 0 or 1"),
        (([[0.5], [0.6]], [1, 0]), r"got shape \(2, 1\)"),
        (("sure", [1]), "confidence must be numbers|got shape"),
        ((["a", "b"], [1, 0]), "confidence must be numbers"),
        (([0.5, 0.6], ["yes", "no"]), "correct must be numbers"),
        (([0.5, 0.6], [1, 0], [1]), r"groups has shape \(1,\), but there are 2 rows"),
        (([0.5, 0.6], [1, 0], [1, np.nan]), "groups has missing values"),
        (([0.5, 0.6], [1, 0], ["a", None]), "groups has missing values"),
        (([0.5, 0.6], [1, 0], pd.array(["a", pd.NA])), "groups has missing values"),
    ],
)
def test_bad_rows_get_a_sentence(rows, sentence):
    with pytest.raises(DataError, match=sentence):
        AutoAccept().fit(*rows)


@pytest.mark.parametrize("confidence", [[np.nan], [1.1], [-1e-9], [np.inf]])
def test_accept_refuses_what_is_no_confidence(confidence):
    with pytest.raises(DataError, match="confidence must lie between 0 and 1, but row 0"):
        AutoAccept().fit(*sample()).accept(confidence)


def test_curve_is_that_of_the_function():
    pair = sample(decimals=2)
    curve = AutoAccept(confidence_level=0.8).fit(*pair).curve_
    for name, expected in vars(accuracy_coverage(*pair, 0.8)).items():
        assert_array_equal(getattr(curve, name), expected)
