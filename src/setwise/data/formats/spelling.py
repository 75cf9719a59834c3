"""How numbers and missing values are spelt in text files."""

from __future__ import annotations

from math import isfinite

#: What a numeric column of a CSV file may hold instead of a number.
MISSING_WORDS = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})


def finite_number(text: str) -> float | None:
    """The number that ``text`` spells, or None; neither NaN, infinity nor ``1_000`` is one.

    >>> finite_number("1e3"), finite_number("inf")
    (1000.0, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in text else None
