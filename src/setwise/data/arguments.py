"""Checks of arguments that several functions take."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.errors import DataError


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
