"""Checks of arguments that several functions take."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.errors import DataError

NUMBERS = (int, float, np.integer, np.floating)


def check_count(name: str, value: Any, *, at_least: int) -> None:
    """Refuse what is not a whole number from ``at_least`` up.

    >>> check_count("n_splits", 5, at_least=2)
    """
    if not isinstance(value, int | np.integer) or value < at_least:
        raise DataError(f"{name} is a whole number from {at_least} up, not {value!r}; correct it")


def check_counts(**counts: Any) -> None:
    """Refuse what is not a whole number from one up.

    >>> check_counts(n_samples=100, n_labels=5)
    """
    for name, value in counts.items():
        check_count(name, value, at_least=1)


def is_over_zero(value: Any) -> bool:
    """Whether it is a number, finite and over zero; words and None are not.

    >>> is_over_zero(0.1), is_over_zero("auto"), is_over_zero(None), is_over_zero(float("nan"))
    (True, False, False, False)
    """
    return isinstance(value, NUMBERS) and bool(0 < value < np.inf)


def check_over_zero(name: str, value: Any, *, advice: str = "correct it") -> None:
    """Refuse what is not a finite number over zero.

    >>> check_over_zero("C", 0.5)
    """
    if not is_over_zero(value):
        raise DataError(f"{name} is a number over zero, not {value!r}; {advice}")


def check_from_zero(name: str, value: Any, *, advice: str = "correct it") -> None:
    """Refuse what is not a finite number from zero up.

    >>> check_from_zero("l1", 0)
    """
    if not (isinstance(value, NUMBERS) and 0 <= value < np.inf):
        raise DataError(f"{name} is a number from zero up, not {value!r}; {advice}")
