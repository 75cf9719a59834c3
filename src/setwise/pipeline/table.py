"""Some rows of a file: named columns of plain Python values, and where each row stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.errors import FormatError


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, each a list of cells; None where a row has no value.

    ``places`` are the lines at which the rows begin (rows, where a file has no lines).
    """

    columns: dict[str, list[Any]]
    places: Sequence[int]
    source: str = "the table"
    unit: str = "line"

    def __len__(self) -> int:
        return len(self.places)

    def column(self, name: str) -> list[Any]:
        """The cells of a column; one that is not there gets a sentence."""
        self.check_columns([name])
        return self.columns[name]

    def check_columns(self, wanted: Iterable[str]) -> None:
        """Refuse a table that lacks a column, with the names of those that it has."""
        missing = [name for name in wanted if name not in self.columns]
        if missing:
            names = ", ".join(map(repr, missing))
            there = ", ".join(map(repr, list(self.columns)[:8]))
            more = ", ..." if len(self.columns) > 8 else ""
            raise FormatError(
                self.source,
                f"there is no column {names}" if len(missing) == 1 else f"no columns {names}",
                remedy=f"the columns are {there}{more}; rename or add what is missing",
            )

    def problem(self, row: int, what: str, remedy: str) -> FormatError:
        """An error that names the file and the line of a row."""
        return FormatError(
            self.source, what, line=int(self.places[row]), remedy=remedy, unit=self.unit
        )

    def taken(self, rows: np.ndarray) -> Table:
        """Some of the rows, by their numbers."""
        numbers = rows.tolist()
        columns = {name: [cells[i] for i in numbers] for name, cells in self.columns.items()}
        return Table(columns, [self.places[i] for i in numbers], self.source, self.unit)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of several tables of one file, one after another; columns as the last one has them.

    A later part may have more columns than an earlier one, never fewer.
    """
    last = tables[-1]
    columns = {
        name: [cell for part in tables for cell in part.columns.get(name, [None] * len(part))]
        for name in last.columns
    }
    places = [place for part in tables for place in part.places]
    return Table(columns, places, last.source, last.unit)
