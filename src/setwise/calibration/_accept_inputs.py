"""What the choice of a threshold may be given, checked with a sentence each."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from setwise.data.randomness import Seed, as_generator
from setwise.errors import DataError


def checked_pairs(confidence: Any, correct: Any) -> tuple[np.ndarray, np.ndarray]:
    """Confidences in [0, 1] and correctness 0/1 as floats, (n,) each and not empty."""
    confidence = checked_confidence(confidence)
    correct = _flat_numbers("correct", correct)
    if len(correct) != len(confidence):
        raise DataError(
            f"there are {len(confidence)} values of confidence but {len(correct)} of correct; "
            "pass one of each for every row"
        )
    if len(confidence) == 0:
        raise DataError("there are no rows to choose a threshold from; pass held-out rows")
    wrong = np.flatnonzero(~np.isin(correct, (0, 1)))
    if len(wrong):
        raise DataError(
            f"correct must be 0 or 1, but row {wrong[0]} has {correct[wrong[0]]}; say of a graded "
            "measure such as F1 what counts as right, e.g. f1 >= 0.8"
        )
    return confidence, correct


def checked_confidence(given: Any) -> np.ndarray:
    """Numbers in [0, 1] as floats (n,); none at all is fine."""
    confidence = _flat_numbers("confidence", given)
    wrong = np.flatnonzero(~((confidence >= 0) & (confidence <= 1)))
    if len(wrong):
        raise DataError(
            f"confidence must lie between 0 and 1, but row {wrong[0]} has {confidence[wrong[0]]}; "
            "pass probabilities, and leave out rows without one"
        )
    return confidence


def checked_thresholds(given: Any) -> np.ndarray | None:
    """Distinct thresholds in [0, 1] from the highest down, (m,), or None for "ranks"."""
    if isinstance(given, str):
        if given == "ranks":
            return None
        raise DataError(f'thresholds is "ranks" or numbers fixed without these rows, not {given!r}')
    thresholds = _flat_numbers("thresholds", given)
    if len(thresholds) == 0 or not ((thresholds >= 0) & (thresholds <= 1)).all():
        raise DataError(
            f"thresholds must be numbers between 0 and 1, at least one; got {thresholds}; "
            'correct them, or pass "ranks"'
        )
    falling: np.ndarray = np.unique(thresholds)[::-1]
    return falling


def checked_costs(review_cost: Any, error_cost: Any) -> tuple[float, float] | None:
    """Both costs as positive numbers, or None where neither is given."""
    if review_cost is None and error_cost is None:
        return None
    for name, cost in (("review_cost", review_cost), ("error_cost", error_cost)):
        if not _is_number(cost) or not 0 < cost < np.inf:
            raise DataError(
                f"{name} must be a positive number where costs decide, got {cost!r}; "
                "pass both costs in one unit, or neither to decide by accuracy"
            )
    return float(review_cost), float(error_cost)


def check_inside(name: str, value: Any) -> None:
    """Refuse what is not a number between 0 and 1, both excluded."""
    if not _is_number(value) or not 0 < value < 1:
        raise DataError(f"{name} must lie between 0 and 1, both excluded; got {value!r}")


def numbered_groups(groups: Any, n: int) -> np.ndarray:
    """The groups of n rows as numbers 0, 1, ..., in the order of their names: (n,)."""
    given = np.asarray(groups)
    if given.shape != (n,):
        raise DataError(f"groups has shape {given.shape}, but there are {n} rows; pass one a row")
    try:
        missing = bool((given != given).any())
        number: np.ndarray = np.unique(given, return_inverse=True)[1]
    except TypeError:  # what has no order, as a missing value among words
        missing = True
    if missing:
        raise DataError(
            "groups has missing values, or names of different kinds; give each row a group of one "
            "kind, words or numbers, and a row that has none one of its own"
        )
    return number


def one_row_per_group(
    number: np.ndarray, confidence: np.ndarray, correct: np.ndarray, random_state: Seed
) -> np.ndarray:
    """The place of one row of each group, drawn evenly, whatever the order of the rows: (G,)."""
    size = np.bincount(number)
    order = np.lexsort((correct, confidence, number))
    drawn = (as_generator(random_state).random(len(size)) * size).astype(np.intp)
    chosen: np.ndarray = order[np.cumsum(size) - size + drawn]
    return chosen


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _flat_numbers(name: str, given: Any) -> np.ndarray:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers, one for each row; got {given!r:.60}") from None
    if values.ndim != 1:
        raise DataError(
            f"{name} needs one number for each row, got shape {values.shape}; pass a flat array"
        )
    return values
