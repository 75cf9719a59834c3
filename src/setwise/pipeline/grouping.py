"""Rows that belong together, such as the pages of one document: told by a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.pipeline.cells import word
from setwise.pipeline.table import Table


def groups_of(table: Table, column: str | None) -> np.ndarray | None:
    """A number for each group; a row without one is a group of its own."""
    if column is None:
        return None
    names = [word(cell) for cell in table.column(column)]
    number: dict[Any, int] = {}
    keys = [("alone", row) if name is None else ("named", name) for row, name in enumerate(names)]
    return np.array([number.setdefault(key, len(number)) for key in keys])
