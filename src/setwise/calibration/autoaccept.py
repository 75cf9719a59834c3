"""A threshold of confidence above which predictions may be accepted without a look.

The rule and why it holds stand in ``_accept_rules``: fixed-sequence testing with exact binomial
bounds, as in Angelopoulos, Bates, Candès, Jordan and Lei, *Learn then Test*, 2021, section 3.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from setwise import storage
from setwise.calibration._accept_inputs import (
    check_inside,
    checked_confidence,
    checked_costs,
    checked_pairs,
    checked_thresholds,
    numbered_groups,
    one_row_per_group,
)
from setwise.calibration._accept_rules import FixedSequence, cheapest, fixed_sequence, rows_needed
from setwise.calibration._grouped_steps import evenly, steps_by_group
from setwise.calibration.accept_curve import Steps, curve_of, steps_of
from setwise.data.formats.files import StrPath
from setwise.data.randomness import Seed
from setwise.metrics.options import check_choice
from setwise.storage import storable

PER = ("group", "row")
COUNTED = ("auto", "one", "all")


@storable
class AutoAccept(BaseEstimator):  # type: ignore[misc]
    """The lowest confidence from which on predictions may be accepted unread.

    **The promise.** Rows are independent and were seen by neither model nor calibrator; then, with
    probability at least ``confidence_level`` over the calibration rows, P(correct | confidence >=
    threshold_) is at least the target. It is no promise for one row, nor for the realised accuracy
    of one batch. It holds for rows like the calibration rows, so fit again when the data change,
    and it concerns agreement with the annotation: where annotators err, so does it.

    Thresholds are tested from the top down, each by an exact binomial bound, until one fails. Equal
    confidences are accepted or rejected together.

    Parameters
    ----------
    target_accuracy : float in (0, 1)
        How often accepted predictions shall be right.
    confidence_level : float in (0, 1)
        How sure the promise shall be.
    thresholds : "ranks" or array (m,)
        Which thresholds are tested. An array must be fixed without these rows; then nothing further
        is assumed, but its highest threshold must accept enough rows, as the tests end at the first
        failure. "ranks" starts at 5% of the rows (or, if that is more, as many rows as afford one
        error: 46 by default) and goes on in steps of 1%; the promise then needs that the chance to
        be right rises with confidence, as that of calibrated confidences does.
    review_cost, error_cost : float, optional
        The price of reading one prediction and of accepting a wrong one. With both, the threshold
        is the cheapest on the rows, without any promise; target and level are not used for it.
    per : {"group", "row"}
        What the promise is for where rows have groups. "group": for one row, drawn evenly, of a
        new group. "row": for the rows of new groups, so that large groups matter more; that promise
        is approximate: groups with many rows that are too rare to be seen can break it.
    counted : {"auto", "one", "all"}
        Which rows of a group are counted, per group. "one": one of each, and the promise is exact.
        "all": all of them, a group weighing one, with bounds that know how much rows of a group
        resemble each other; it depends on no draw and of many groups accepts more, but is
        approximate. "auto": all, where the promise is approximate anyway, as that of
        ``out_of_fold`` confidences is. Per row all are counted.
    random_state : int, RandomState, Generator or None
        Draws the row that is counted of each group.

    Attributes
    ----------
    threshold_ : float
        Accept from here on; inf where no threshold can promise the target.
    found_ : bool
        Whether there is a threshold.
    message_ : str
        What was found, or why nothing was and what would help.
    guarantee_ : str
        "exact", "approximate" (confidences out of fold, or all rows of groups counted) or "none"
        (by cost).
    coverage_ : float
        The share of the counted rows that are accepted; per group, groups weigh alike.
    accuracy_, accuracy_lower_ : float
        The share of these that are right, nan where there are none, and its lower bound. Only the
        target is promised, not the bound: the threshold was chosen on the same rows.
    cost_ : float
        The mean cost of a row, reviews and errors together; nan without costs.
    n_counted_ : int
        How many rows were counted: all, or one for each group.
    curve_ : AccuracyCoverage
        Accuracy over coverage of the counted rows, with bounds.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> confidence = random.random(2000)
    >>> correct = random.random(2000) < confidence
    >>> rule = AutoAccept(target_accuracy=0.9).fit(confidence, correct)
    >>> round(rule.threshold_, 2), rule.accept([0.99, 0.5]).tolist()
    (0.81, [True, False])
    """

    def __init__(
        self,
        target_accuracy: float = 0.9,
        confidence_level: float = 0.95,
        *,
        thresholds: Any = "ranks",
        review_cost: float | None = None,
        error_cost: float | None = None,
        per: str = "group",
        counted: str = "auto",
        random_state: Seed = 0,
    ) -> None:
        self.target_accuracy = target_accuracy
        self.confidence_level = confidence_level
        self.thresholds = thresholds
        self.review_cost = review_cost
        self.error_cost = error_cost
        self.per = per
        self.counted = counted
        self.random_state = random_state

    def fit(
        self, confidence: Any, correct: Any, groups: Any = None, *, out_of_fold: bool = False
    ) -> Self:
        """Choose the threshold from held-out rows.

        Parameters
        ----------
        confidence : array (n,) in [0, 1]
            How sure each prediction was.
        correct : array (n,) of 0 and 1
            Whether it was right.
        groups : array (n,), optional
            Rows of one group depend on each other, such as the pages of one document. ``per`` and
            ``counted`` say which of them count. So too by cost, without the promise.
        out_of_fold : bool
            The confidences are those of cross-validation and a model fitted again on all rows will
            be used: the promise is then approximate.
        """
        target, level = self.target_accuracy, self.confidence_level
        check_inside("target_accuracy", target)
        check_inside("confidence_level", level)
        thresholds = checked_thresholds(self.thresholds)
        costs = checked_costs(self.review_cost, self.error_cost)
        confidence, correct = checked_pairs(confidence, correct)
        check_choice("per", self.per, PER)
        check_choice("counted", self.counted, COUNTED)
        steps, self.n_counted_ = self._steps(confidence, correct, groups, out_of_fold)
        is_exact = groups is None or self._counts_one(out_of_fold)
        if costs is None:
            tests = fixed_sequence(steps, target, level, thresholds)
            self.threshold_, self.cost_ = tests.chosen, float("nan")
            self.guarantee_ = "exact" if is_exact and not out_of_fold else "approximate"
            problem = _why_no_promise(tests, target, level, steps, self._unit(groups, out_of_fold))
        else:
            self.threshold_, self.cost_ = cheapest(steps, *costs)
            self.guarantee_ = "none"
            problem = "reviewing every row is cheapest on these rows, so none is accepted"
        self.curve_ = curve_of(steps, level)
        n_reached = int((steps.confidence >= self.threshold_).sum())
        self.found_ = n_reached > 0
        self.coverage_ = float(self.curve_.coverage[n_reached - 1]) if self.found_ else 0.0
        self.accuracy_ = float(self.curve_.accuracy[n_reached - 1]) if self.found_ else float("nan")
        self.accuracy_lower_ = float(self.curve_.lower[n_reached - 1]) if self.found_ else 0.0
        of_all = f"{self.n_counted_} rows"
        if self._unit(groups, out_of_fold) == "groups":
            of_all = f"{steps.accepted[-1]:.0f} groups, by their shares of rows"
        self.message_ = self._summary(of_all) if self.found_ else problem
        return self

    def accept(self, confidence: Any) -> np.ndarray:
        """Whether each prediction may be accepted unread, (n,) of bool."""
        check_is_fitted(self, "threshold_")
        accepted: np.ndarray = checked_confidence(confidence) >= self.threshold_
        return accepted

    def save(self, path: StrPath) -> None:
        """Write the rule as one file that cannot run code; ``setwise.load`` reads it."""
        storage.save(self, path)

    def _counts_one(self, out_of_fold: bool) -> bool:
        """Whether one row of each group is counted, which makes the promise exact."""
        if self.per == "row":
            return False
        return self.counted == "one" or (self.counted == "auto" and not out_of_fold)

    def _unit(self, groups: Any, out_of_fold: bool) -> str:
        """What the bounds count, in words."""
        if groups is None or self._counts_one(out_of_fold):
            return "rows"
        return "groups of one size" if self.per == "row" else "groups"

    def _steps(
        self, confidence: np.ndarray, correct: np.ndarray, groups: Any, out_of_fold: bool
    ) -> tuple[Steps, int]:
        """What each threshold accepts of the rows that are counted, and how many these are."""
        if groups is None:
            return steps_of(confidence, correct), len(correct)
        number = numbered_groups(groups, len(correct))
        if self._counts_one(out_of_fold):
            drawn = one_row_per_group(number, confidence, correct, self.random_state)
            return steps_of(confidence[drawn], correct[drawn]), len(drawn)
        weight = None if self.per == "row" else evenly(number)
        return steps_by_group(confidence, correct, number, weight), len(correct)

    def _summary(self, of_all: str) -> str:
        if self.guarantee_ == "none":
            promise = f"without a promise, at a mean cost of {self.cost_:.4g}"
        else:
            promise = (
                f"promised, {self.guarantee_}: at least {self.target_accuracy:g} "
                f"with confidence {self.confidence_level:g}"
            )
        return (
            f"accept from confidence {self.threshold_:.4f} on: {self.coverage_:.1%} of {of_all}, "
            f"of which {self.accuracy_:.1%} were right ({promise})"
        )


def _why_no_promise(
    tests: FixedSequence, target: float, level: float, steps: Steps, unit: str
) -> str:
    """What kept the first test from passing, and what would help."""
    needed = rows_needed(target, level)
    wanted = f"an accuracy of {target:g} with confidence {level:g}"
    if steps.units[-1] < needed:
        return (
            f"{steps.units[-1]:.0f} {unit} cannot promise {wanted} even if all are right; "
            f"pass at least {needed}, with groups as many groups"
        )
    if tests.units[0] < needed:
        return (
            f"the highest threshold, {tests.threshold[0]:g}, accepts {tests.units[0]:.0f} {unit}, "
            f"but {needed} are needed to promise {wanted}; begin with a lower one, or pass more "
            "rows"
        )
    if unit == "groups":
        which = f"of the most confident rows, which weigh as {tests.accepted[0]:,.0f} groups,"
        found = f"{which} {tests.right[0] / tests.accepted[0]:.1%} were right"
    else:
        found = (
            f"of the {tests.accepted[0]:,.0f} most confident rows {tests.right[0]:,.0f} were right"
        )
    return (
        f"{found}, which cannot promise {wanted}: the bound is {tests.lower[0]:.3f}; lower the "
        "target, or pass more rows"
    )
