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

Rows may weigh: with one over the size of its group each, A_g and R_g are shares of a group, and p
is the accuracy of one row, drawn evenly, of each group.

Bounds that are exact for n* independent rows are approximate for these. Groups that hold many rows
and are too rare to be seen break them, and Korn and Graubard's correction for few groups, by
quantiles of t, is left out.
"""

from __future__ import annotations

import numpy as np

from setwise.calibration.accept_curve import Steps


def steps_by_group(
    confidence: np.ndarray,
    correct: np.ndarray,
    number: np.ndarray,
    weight: np.ndarray | None = None,
) -> Steps:
    """Rows (n,) of numbered groups counted by distinct confidence, from the highest down."""
    weight = np.ones(len(correct)) if weight is None else weight
    falling = np.argsort(-confidence, kind="stable")
    confidence, number = confidence[falling], number[falling]
    a = weight[falling]
    r = a * correct[falling]
    A, R, is_first = _before(a, r, number)
    accepted, right = np.cumsum(a), np.cumsum(r)
    # What a row adds to the sums of squares over groups, in which A and R grow row by row.
    of_A = np.cumsum(a * (2 * A + a))
    of_R = np.cumsum(r * (2 * R + r))
    of_both = np.cumsum(a * R + r * A + a * r)
    one_more = of_A / accepted  # the size of a wrong group
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
        np.minimum(told, np.cumsum(is_first))[last],
    )


def evenly(number: np.ndarray) -> np.ndarray:
    """Weights of rows with which all groups weigh one: (n,).

    >>> evenly(np.array([0, 1, 1]))
    array([1. , 0.5, 0.5])
    """
    weight: np.ndarray = 1 / np.bincount(number)[number]
    return weight


def _before(
    a: np.ndarray, r: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sums of a and r over earlier rows of each row's group, and whether there are none."""
    order = np.argsort(number, kind="stable")
    places = np.arange(len(number))
    is_first = np.append(True, np.diff(number[order]) != 0)
    first = np.maximum.accumulate(np.where(is_first, places, 0))  # of the own group

    def summed(values: np.ndarray) -> np.ndarray:
        before = np.cumsum(values[order]) - values[order]
        found = np.empty(len(values))
        found[order] = before - before[first]
        return found

    starts = np.empty(len(number), dtype=bool)
    starts[order] = is_first
    return summed(a), summed(r), starts
