"""Where the labels of a table stand: one column of separated names, or many 0/1 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from setwise.data.formats.label_cells import label_sets
from setwise.data.labels import LabelSpace
from setwise.errors import DataError
from setwise.pipeline.cells import numbers, word
from setwise.pipeline.table import Table
from setwise.storage import storable

SEPARATORS = (",", "|", ";")
_TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@storable
class LabelColumns:
    """The label sets of rows.

    Parameters
    ----------
    columns : tuple of str
        One column of label names, or several columns of 0 and 1.
    separator : str, optional
        What stands between the names of one column; where it is None, the most frequent of comma,
        bar and semicolon.

    Attributes
    ----------
    separator_ : str; names_ : tuple of the labels' names, in the order of the columns of Y.
    """

    separator_: str
    names_: tuple[str, ...]

    def __init__(self, columns: tuple[str, ...], separator: str | None = None) -> None:
        self.columns = columns
        self.separator = separator

    def fit(self, table: Table) -> Self:
        """Learn which labels there are."""
        if not self.columns:
            raise DataError("nothing says which column holds the labels; pass --labels COLUMN")
        self.separator_ = self.separator or self._guessed_separator(table)
        if len(self.columns) > 1:
            self.names_ = tuple(self.columns)
        else:
            self.names_ = tuple(map(str, LabelSpace.infer(self.sets(table)).names))
        if not self.names_:
            raise DataError(
                f"column {self.columns[0]!r} holds no label in any row; is it the right column?"
            )
        return self

    def sets(self, table: Table) -> list[list[str]]:
        """The label names of each row, also of labels that are not known."""
        table.check_columns(self.columns)
        if len(self.columns) > 1:
            return self._from_zeros_and_ones(table)
        cells = [None if word(cell) is None else cell for cell in table.column(self.columns[0])]
        sets, problems = label_sets(cells, self.separator_)
        for row, problem in problems.items():
            what = f"in column {self.columns[0]!r}, {problem}"
            raise table.problem(row, what, "correct the cell")
        return sets

    def encode(self, sets: Sequence[Sequence[str]]) -> tuple[sparse.csr_array, dict[str, int]]:
        """Y (n, L + U) of the known labels and, behind them, the unknown ones, with their counts.

        A label that the model has never seen makes a set wrong; so it gets a column of its own.
        """
        known = set(self.names_)
        unknown = Counter(label for labels in sets for label in labels if label not in known)
        space = LabelSpace([*self.names_, *sorted(unknown)])
        return space.encode([tuple(labels) for labels in sets]), dict(unknown.most_common())

    def _guessed_separator(self, table: Table) -> str:
        if len(self.columns) > 1:
            return ","
        texts = [cell for cell in table.column(self.columns[0]) if isinstance(cell, str)]
        return max(SEPARATORS, key=lambda mark: sum(cell.count(mark) for cell in texts))

    def _from_zeros_and_ones(self, table: Table) -> list[list[str]]:
        sets: list[list[str]] = [[] for _ in range(len(table))]
        for name in self.columns:
            cells = [_as_truth(cell) for cell in table.column(name)]
            values, bad = numbers(cells)
            wrong = np.flatnonzero((values != 0) & (values != 1)) if bad is None else [bad]
            if len(wrong):
                raise table.problem(
                    int(wrong[0]),
                    f"label column {name!r} holds {cells[wrong[0]]!r}, where 0 or 1 was expected",
                    "correct the cell",
                )
            for row in np.flatnonzero(values).tolist():
                sets[row].append(name)
        return sets


def _as_truth(cell: Any) -> Any:
    return _TRUTH.get(cell.strip().lower(), cell) if isinstance(cell, str) else cell


def joiner(names: Sequence[str], wanted: str) -> str:
    """What label names can be joined by: the separator wanted, or another that none contains.

    >>> joiner(["a,b", "c"], ",")
    '|'
    """
    for mark in (wanted, "|", ";", " / "):
        if not any(mark in name for name in names):
            return mark
    return wanted
