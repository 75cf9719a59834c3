"""Rules that pick a threshold from counted rows: by a promise, by cost, and the naive one.

**Fixed-sequence testing.** Thresholds t₁ > t₂ > ... are tested in this order, each by whether the
Clopper-Pearson lower bound of its accuracy A(t) reaches the target, until one fails; the last that
passed is taken. It can be bad, A(t) < target, only if the first bad one of the sequence passed, and
that has probability δ at most. Nothing is paid for the number of tests.

**By ranks** the sequence depends on the rows: the k-th highest confidence for k = start, start +
step, ... Let the chance to be right rise with confidence, and t* be where A(t*) = target. Given the
number N of rows over t*, these are right with the chance ``target`` each, independently, and every
row below with less. So whatever rank is the first beyond N, its count is at most a binomial one
and it passes with probability δ at most. Rows of equal confidence enter together. Where many small
ties, each of fewer rows than a step, meet a crossing this argument is no longer exact (whether a
tie is tested depends on its size); the populations of ``benchmarks/autoaccept.py`` show no harm.

**Of groups that are drawn whole** the bound is that of as many independent rows as theirs tell
(``_grouped_steps``), and a sequence by ranks begins where there are as many groups as it would need
rows. Neither that bound nor the argument by ranks is exact for them.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from math import ceil, log

import numpy as np

from setwise.calibration.accept_curve import Steps, between, lower_bound

START_SHARE, STEP_SHARE = 0.05, 0.01
ROUNDING = 1e-6  # of sums of weights, where groups weigh one


@dataclass(frozen=True)
class FixedSequence:
    """A sequence of thresholds with what each accepts, (m,) each, and how many passed."""

    threshold: np.ndarray
    accepted: np.ndarray
    right: np.ndarray
    units: np.ndarray
    lower: np.ndarray
    n_passed: int

    @property
    def chosen(self) -> float:
        """The last threshold that passed, inf where none did."""
        return float(self.threshold[self.n_passed - 1]) if self.n_passed else np.inf


def rows_needed(target_accuracy: float, confidence_level: float) -> int:
    """How many rows, all of them right, promise the target: ln δ / ln target, rounded up.

    >>> rows_needed(0.9, 0.95)
    29
    """
    return ceil(log(1 - confidence_level) / log(target_accuracy) - 1e-9)


def fixed_sequence(
    steps: Steps, target: float, confidence_level: float, thresholds: np.ndarray | None = None
) -> FixedSequence:
    """Fixed-sequence tests of the given falling thresholds, or by ranks."""
    if thresholds is None:
        ranks = rank_sequence(round(steps.accepted[-1]), target, confidence_level)
        # The whole tie that a rank falls into; several ranks in one tie are one test.
        place = np.unique(np.searchsorted(steps.accepted, ranks - ROUNDING))
        enough = steps.units[place] >= rows_for_one_error(target, confidence_level)
        place = place[enough] if enough.any() else place[-1:]
        thresholds = between(steps.confidence)[place]
    else:
        place = np.searchsorted(-steps.confidence, -thresholds, side="right") - 1
    is_any = place >= 0
    accepted, right, units = (
        np.where(is_any, part[place], 0) for part in (steps.accepted, steps.right, steps.units)
    )
    lower = lower_bound(
        np.where(is_any, steps.effective_right[place], 0),
        np.where(is_any, steps.effective[place], 0),
        confidence_level,
    )
    failed = np.flatnonzero(lower < target)
    n_passed = int(failed[0]) if len(failed) else len(lower)
    return FixedSequence(thresholds, accepted, right, units, lower, n_passed)


def rank_sequence(n: int, target: float, confidence_level: float) -> np.ndarray:
    """How many of n rows each test accepts; knows nothing else of the rows.

    It starts where one error is affordable, as a failure there would end everything.
    """
    start = max(ceil(START_SHARE * n), rows_for_one_error(target, confidence_level))
    step = max(1, round(STEP_SHARE * n))
    return np.append(np.arange(start, n, step), n)


@cache
def rows_for_one_error(target: float, confidence_level: float) -> int:
    """The fewest rows that promise the target although one of them is wrong.

    >>> rows_for_one_error(0.9, 0.95)
    46
    """

    def enough(n: int) -> bool:
        return bool(lower_bound(n - 1, n, confidence_level) >= target)

    most = 2
    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=2, key=enough)


def cheapest(steps: Steps, review_cost: float, error_cost: float) -> tuple[float, float]:
    """The threshold of the least mean cost over the rows, and that cost; inf reviews them all.

    Of equally cheap ones the highest, which makes the fewest errors.
    """
    n = steps.accepted[-1]
    reviews = review_cost * (n - np.append(0, steps.accepted))
    cost = reviews + error_cost * np.append(0, steps.accepted - steps.right)
    best = int(np.argmin(cost))
    return float(np.append(np.inf, between(steps.confidence))[best]), float(cost[best] / n)


def plain_threshold(steps: Steps, target: float) -> float:
    """The lowest threshold whose rows reach the target, as if they were the truth; inf for none.

    Only for comparison: it breaks its word about every second time.
    """
    good = np.flatnonzero(steps.right >= target * steps.accepted)
    return float(between(steps.confidence)[good[-1]]) if len(good) else np.inf
