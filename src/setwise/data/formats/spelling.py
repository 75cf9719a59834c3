"""How numbers and missing values are spelt in text files."""

from __future__ import annotations

from math import isfinite

#: What a numeric column of a CSV file may hold instead of a number.
MISSING_WORDS = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})


def finite_number(text: str) -> float | None:
    """The number that ``text`` spells in ASCII, or None; NaN, infinity and ``1_000`` are none.

    >>> finite_number("1e3"), finite_number("inf")
    (1000.0, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    # Python's float also takes 1_000, digits of any script, and control characters around them.
    is_plain = "_" not in text and text.isascii() and text == text.strip()
    return number if isfinite(number) and is_plain else None
