"""Rows counted by groups that are drawn whole: how right rows are, and how much they tell.

Of the groups g that a threshold reaches, A_g rows are accepted and R_g of them right. The accuracy
of rows is the ratio p = ΣR / ΣA; as groups are independent and rows within them are not, its
variance is that of a ratio,

    v = Σ (R_g - p A_g)² / (ΣA)²

and p tells as much as n* = p (1 - p) / v independent rows would, the effective number of rows of
Korn and Graubard (1998), here at most one for each group. Bounds that are exact for n* independent
rows are approximate for these.
"""

from __future__ import annotations

import numpy as np

from setwise.calibration.accept_curve import Steps

LEAST_VARIANCE = 1e-15  # of rounding: all accepted rows are right, or none


def steps_by_group(confidence: np.ndarray, correct: np.ndarray, number: np.ndarray) -> Steps:
    """Rows (n,) of numbered groups counted by distinct confidence, from the highest down."""
    falling = np.argsort(-confidence, kind="stable")
    confidence, correct, number = confidence[falling], correct[falling], number[falling]
    A, R = _before(correct, number)
    accepted = np.arange(1.0, len(correct) + 1)
    right = np.cumsum(correct)
    units = np.cumsum(A == 0)
    p = right / accepted
    # What a row adds to the sums of squares over groups, in which A and R grow one by one.
    of_A = np.cumsum(2 * A + 1)
    of_R = np.cumsum(correct * (2 * R + 1))
    of_both = np.cumsum(R + correct * (A + 1))
    variance = (of_R - 2 * p * of_both + p**2 * of_A) / accepted**2
    varies = variance > LEAST_VARIANCE
    told = np.divide(p * (1 - p), variance, out=units.astype(float), where=varies)
    last = np.append(np.diff(confidence) != 0, True)  # of equal confidences
    return Steps(
        confidence[last],
        accepted[last],
        right[last],
        units[last].astype(float),
        np.minimum(told, units)[last],
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
