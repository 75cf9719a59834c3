"""Rows counted by groups that are drawn whole: how right rows are, and how much they tell.

Of the groups g that a threshold reaches, A_g rows are accepted and R_g of them right. The accuracy
of rows is the ratio p = ΣR / ΣA; as groups are independent and rows within them are not, its
variance is that of a ratio,

    v = Σ (R_g - p A_g)² / (ΣA)²

and p tells as much as n* = p (1 - p) / v independent rows would, the effective number of rows of
Korn and Graubard (1998). Where few groups are wrong, v is known badly: one more wrong group could
change it much. So p and v are taken as if there were one more, of the size ΣA² / ΣA that the group
of a row has on average. Where all rows are right, n* is then (ΣA)² / ΣA² and little more, the
number of groups if they have one size (Kish 1965); it is never more than the number of groups.

Bounds that are exact for n* independent rows are approximate for these. Groups that hold many rows
and are too rare to be seen break them, and Korn and Graubard's correction for few groups, by
quantiles of t, is left out.
"""

from __future__ import annotations

import numpy as np

from setwise.calibration.accept_curve import Steps


def steps_by_group(confidence: np.ndarray, correct: np.ndarray, number: np.ndarray) -> Steps:
    """Rows (n,) of numbered groups counted by distinct confidence, from the highest down."""
    falling = np.argsort(-confidence, kind="stable")
    confidence, correct, number = confidence[falling], correct[falling], number[falling]
    A, R = _before(correct, number)
    accepted = np.arange(1.0, len(correct) + 1)
    right = np.cumsum(correct)
    # What a row adds to the sums of squares over groups, in which A and R grow one by one.
    of_A = np.cumsum(2 * A + 1)
    of_R = np.cumsum(correct * (2 * R + 1))
    of_both = np.cumsum(R + correct * (A + 1))
    one_more = of_A / accepted  # rows of a wrong group
    p = right / (accepted + one_more)
    squares = of_R - 2 * p * of_both + p**2 * (of_A + one_more**2)
    units = accepted**2 / of_A
    told = np.divide(
        p * (1 - p) * (accepted + one_more) ** 2, squares, out=units.copy(), where=right > 0
    )
    last = np.append(np.diff(confidence) != 0, True)  # of equal confidences
    return Steps(
        confidence[last],
        accepted[last],
        right[last],
        units[last],
        np.minimum(told, np.cumsum(A == 0))[last],
    )


def _before(correct: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many rows of its group come before each row, and how many of these are right."""
    order = np.argsort(number, kind="stable")
    places = np.arange(len(number))
    is_first = np.append(True, np.diff(number[order]) != 0)
    first = np.maximum.accumulate(np.where(is_first, places, 0))  # of the own group
    right = np.cumsum(correct[order]) - correct[order]
    A, R = np.empty(len(number)), np.empty(len(number))
    A[order], R[order] = places - first, right - right[first]
    return A, R
