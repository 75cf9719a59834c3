"""Groups that are drawn whole: what their rows tell, and a promise that is kept for rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from setwise.calibration import AutoAccept
from setwise.calibration._grouped_steps import evenly, steps_by_group
from setwise.calibration.accept_curve import steps_of
from setwise.calibration.promise_check import GroupedPool, check_promise, resampled_breaks
from setwise.errors import DataError

rows = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=30
)


def arrays(drawn):
    confidence, correct, number = np.array(drawn, dtype=float).T
    return confidence / 6, correct, np.unique(number, return_inverse=True)[1]


@given(rows, st.booleans())
def test_each_step_equals_the_formula(drawn, is_even):
    confidence, correct, number = arrays(drawn)
    weight = evenly(number) if is_even else np.ones(len(number))
    steps = steps_by_group(confidence, correct, number, weight if is_even else None)
    assert_allclose(steps.confidence, np.unique(confidence)[::-1], rtol=0)
    for place, threshold in enumerate(steps.confidence):
        taken = confidence >= threshold
        A = np.bincount(number[taken], weight[taken], minlength=number.max() + 1)
        R = np.bincount(number[taken], (weight * correct)[taken], minlength=number.max() + 1)
        # one more group, wrong, of the size that the group of a row has on average
        A, R = np.append(A, (A**2).sum() / A.sum()), np.append(R, 0)
        p = R.sum() / A.sum()
        v = ((R - p * A) ** 2).sum() / A.sum() ** 2
        groups = np.count_nonzero(A[:-1])
        units = A[:-1].sum() ** 2 / (A[:-1] ** 2).sum()
        told = min(p * (1 - p) / v, groups) if p > 0 else units
        found = steps.accepted, steps.right, steps.units, steps.effective
        expected = [A[:-1].sum(), R.sum(), units, told]
        assert_allclose([part[place] for part in found], expected, rtol=1e-8)


@given(rows)
def test_groups_of_one_row_are_rows(drawn):
    confidence, correct, _ = arrays(drawn)
    grouped, plain = (
        steps_by_group(confidence, correct, np.arange(len(correct))),
        steps_of(confidence, correct),
    )
    for name in ("confidence", "accepted", "right", "units", "effective"):
        assert_allclose(getattr(grouped, name), getattr(plain, name), rtol=1e-8, err_msg=name)


@given(rows, st.integers(2, 4))
def test_copies_of_a_row_tell_no_more_than_it(drawn, copies):
    confidence, correct, _ = arrays(drawn)
    n = len(correct)
    many = steps_by_group(
        *(np.repeat(part, copies) for part in (confidence, correct, np.arange(n)))
    )
    one = steps_of(confidence, correct)
    assert_allclose(many.effective, one.accepted, rtol=1e-8)
    assert_allclose(many.accepted, copies * one.accepted, rtol=0)


def pool(n_groups=600, seed=0):
    """Groups of very different sizes; rows of a group are mostly right or wrong together."""
    random = np.random.default_rng(seed)
    number = np.repeat(np.arange(n_groups), random.geometric(0.3, size=n_groups))
    level = random.random(n_groups)[number]
    confidence = np.clip(level + 0.05 * random.normal(size=len(number)), 0, 1)
    together = random.random(n_groups)[number] < level
    correct = np.where(
        random.random(len(number)) < 0.8, together, random.random(len(number)) < level
    )
    return confidence, correct.astype(float), number


def test_the_promise_is_kept_for_rows_of_groups_and_not_if_they_count_alone():
    confidence, correct, number = pool()
    options = {"target_accuracy": 0.8, "n_draws": 300}
    grouped = resampled_breaks(confidence, correct, number, per="row", **options)
    assert grouped.kept
    assert grouped.coverage > 0.1
    # As if rows were independent, which they are not: the same draws, each row a group.
    draws = _Apart(confidence, correct, np.ones(len(correct)), number)
    assert not check_promise(draws, number.max() + 1, **options).kept


class _Apart(GroupedPool):
    def counted(self, n, copies, random):
        steps = super().counted(n, copies, random)
        return type(steps)(
            steps.confidence, steps.accepted, steps.right, steps.accepted, steps.accepted
        )


def test_a_few_large_groups_that_are_worse_do_not_break_the_promise():
    """Of 1,000 groups every 20th has 40 rows, and one in five of these is wrong as a whole."""
    place = np.arange(1000)
    is_large = place % 20 == 0
    right = np.where(is_large, place % 100 != 0, place % 50 != 1)
    number = np.repeat(place, np.where(is_large, 40, 1))
    confidence = np.random.default_rng(0).random(1000)[number]
    correct = right[number].astype(float)
    assert correct.mean() < 0.9
    assert resampled_breaks(confidence, correct, number, per="row", n_rows=100, n_draws=100).kept


def test_per_row_counts_all_rows_says_so_and_does_not_depend_on_a_draw():
    confidence, correct, number = pool(3000)
    rules = [
        AutoAccept(0.8, per="row", random_state=seed).fit(confidence, correct, number)
        for seed in (0, 1)
    ]
    assert rules[0].threshold_ == rules[1].threshold_
    assert rules[0].guarantee_ == "approximate"
    assert rules[0].n_counted_ == len(correct)
    accepted = confidence >= rules[0].threshold_
    assert rules[0].accuracy_ == pytest.approx(correct[accepted].mean())
    assert 0.8 <= rules[0].accuracy_lower_ < rules[0].accuracy_
    one = AutoAccept(0.8).fit(confidence, correct, number)
    assert one.guarantee_ == "exact"
    assert one.n_counted_ == 3000
    assert AutoAccept(0.8, per="row").fit(confidence, correct).guarantee_ == "exact"  # no groups


def test_per_group_all_rows_keep_the_promise_and_accept_more_than_one_row_of_each():
    confidence, correct, number = pool()
    options = {"target_accuracy": 0.8, "n_draws": 300}
    one = resampled_breaks(confidence, correct, number, **options)
    every = resampled_breaks(confidence, correct, number, counted="all", **options)
    assert one.kept
    assert every.kept
    assert every.coverage > 1.02 * one.coverage


def test_large_groups_weigh_no_more_than_others_per_group():
    """A large wrong group among 199 right ones: half of the rows, but one of 200 groups."""
    number = np.repeat(np.arange(200), np.where(np.arange(200) == 0, 199, 1))
    correct = (number > 0).astype(float)
    confidence = np.full(len(number), 0.9)
    rule = AutoAccept(0.9, counted="all").fit(confidence, correct, number)
    assert rule.accuracy_ == pytest.approx(0.995)
    assert rule.coverage_ == pytest.approx(1)
    assert not AutoAccept(0.9, per="row").fit(confidence, correct, number).found_


def test_out_of_fold_all_rows_are_counted_as_the_promise_is_approximate_anyway():
    confidence, correct, number = pool(3000)

    def fitted(counted, seed=0, **options):
        rule = AutoAccept(0.8, counted=counted, random_state=seed)
        return rule.fit(confidence, correct, number, **options)

    auto = fitted("auto", out_of_fold=True)
    assert auto.threshold_ == fitted("all", seed=1).threshold_
    assert (auto.guarantee_, auto.n_counted_) == ("approximate", len(correct))
    assert fitted("all").guarantee_ == "approximate"
    assert fitted("auto").threshold_ == fitted("one").threshold_
    assert (fitted("one").guarantee_, fitted("one").n_counted_) == ("exact", 3000)
    one = fitted("one", out_of_fold=True)
    assert (one.guarantee_, one.n_counted_) == ("approximate", 3000)
    accepted, weight = auto.accept(confidence), evenly(number)
    assert auto.accuracy_ == pytest.approx(np.average(correct[accepted], weights=weight[accepted]))
    assert auto.coverage_ == pytest.approx(weight[accepted].sum() / 3000)


def test_groups_that_promise_nothing_are_told_as_groups():
    confidence, number = np.full(500, 0.9), np.arange(500) % 100
    rule = AutoAccept(0.9, counted="all").fit(confidence, number % 2, number)
    assert rule.message_.startswith(
        "of the most confident rows, which weigh as 100 groups, 50.0% were right, which cannot"
    )


def test_what_is_accepted_is_told_of_groups_where_they_weigh_alike():
    """250 groups of one row, all right, and 250 of many rows, all wrong."""
    number = np.repeat(np.arange(500), np.where(np.arange(500) < 250, 1, 20))
    right = (number < 250).astype(float)
    rule = AutoAccept(0.9).fit(0.1 + 0.8 * right, right, number, out_of_fold=True)
    assert "50.0% of 500 groups, by their shares of rows, of which 100.0%" in rule.message_
    assert "1.9" not in rule.message_
    one = AutoAccept(0.9).fit(0.1 + 0.8 * right, right, number)
    assert "50.0% of 500 rows" in one.message_


def test_many_rows_are_told_in_full():
    rule = AutoAccept(0.9, thresholds=[0.5]).fit(np.full(12_000, 0.9), np.arange(12_000) % 2)
    assert "of the 12,000 most confident rows 6,000 were right" in rule.message_


def test_few_groups_promise_nothing_however_many_rows_they_have():
    rule = AutoAccept(0.9, per="row").fit(np.full(500, 0.9), np.ones(500), np.arange(500) % 20)
    assert not rule.found_
    assert "20 groups of one size cannot promise" in rule.message_


def test_an_unknown_per_is_refused():
    with pytest.raises(DataError, match="per must be one of 'group', 'row'; got 'page'"):
        AutoAccept(per="page").fit([0.5], [1])


def test_an_unknown_way_to_count_is_refused():
    with pytest.raises(DataError, match="counted must be one of 'auto', 'one', 'all'; got 'two'"):
        AutoAccept(counted="two").fit([0.5], [1])
