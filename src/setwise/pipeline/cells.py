"""What a cell of a table is: a number, a word, a text, or missing."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan, nan
from typing import Any

import numpy as np

from setwise.data.formats.spelling import MISSING_WORDS, finite_number


def number(cell: Any) -> float | None:
    """The cell as a number, nan where it is missing, None where it is something else.

    >>> number("1.5"), number(""), number("red")
    (1.5, nan, None)
    """
    if isinstance(cell, str):
        text = cell.strip()
        return nan if text in MISSING_WORDS else finite_number(text)
    if cell is None:
        return nan
    if isinstance(cell, bool | int | float | np.number):
        value = float(cell)
        return value if isfinite(value) or isnan(value) else None
    return None


def numbers(cells: Sequence[Any]) -> tuple[np.ndarray, int | None]:
    """All cells as numbers, (n,), and the first row that is none, if there is one."""
    found = [number(cell) for cell in cells]
    if None in found:
        return np.empty(0), found.index(None)
    return np.array(found, dtype=np.float64), None


def word(cell: Any) -> str | None:
    """The cell as one word of a category, None where it is missing.

    >>> word(" red "), word(2.0), word("NA")
    ('red', '2', None)
    """
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = "" if cell is None or cell != cell else str(cell).strip()
    return None if text in MISSING_WORDS else text


def text(cell: Any) -> str:
    """The cell as text, empty where it is missing."""
    if isinstance(cell, str):
        return cell
    return "" if cell is None or cell != cell else str(cell)
