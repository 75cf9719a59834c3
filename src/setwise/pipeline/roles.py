"""What each column is for, where nobody says: text, number, category, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.errors import DataError
from setwise.pipeline.cells import numbers, word
from setwise.pipeline.table import Table

MOST_VALUES = 200  # of a category
ROWS_PER_VALUE = 5  # at least, on average
WORDS_OF_TEXT = 3  # on average, from which on a column is text
WORDS_OF_TITLE = 1.5  # the same, where values repeat too little for a category


@dataclass(frozen=True)
class Role:
    """What a column is used for, and why."""

    column: str
    kind: str  # text, number, category or ignored
    reason: str


def roles_of(table: Table, given: Mapping[str, Sequence[str]], labels: Sequence[str]) -> list[Role]:
    """The role of each column that is no label; ``given`` has the columns of the kinds named."""
    for names in given.values():
        table.check_columns(names)
    said = [(name, kind) for kind, names in given.items() for name in names]
    for name, kind in said:
        others = [other for column, other in said if column == name and other != kind]
        if name in labels or others:
            other = others[0] if others else "labels"
            raise DataError(
                f"column {name!r} is named both as {kind} and as {other}; name it only once"
            )
    kinds = dict(said)
    roles = [
        Role(name, kinds[name], "as you said") if name in kinds else guessed(name, cells)
        for name, cells in table.columns.items()
        if name not in labels
    ]
    if all(role.kind == "ignored" for role in roles):
        why = "; ".join(f"{role.column!r}: {role.reason}" for role in roles) or "only labels"
        raise DataError(
            f"no column is left to predict from ({why}); name one with --text, --number or "
            "--category"
        )
    return roles


def guessed(name: str, cells: Sequence[Any]) -> Role:
    """The role that a column's cells speak for.

    >>> guessed("age", ["31", "", "40"]).kind
    'number'
    """
    if any(isinstance(cell, dict | list | tuple) for cell in cells):
        return Role(name, "ignored", "its cells are nested")
    values, bad = numbers(cells)
    if bad is None:
        return _numeric(name, values)
    words = [value for value in map(word, cells) if value is not None]
    if not words:
        return Role(name, "ignored", "it is empty")
    distinct = len(set(words))
    length = sum(len(value.split()) for value in words) / len(words)
    if distinct <= MOST_VALUES and len(words) >= ROWS_PER_VALUE * distinct:
        return Role(name, "category", f"{distinct} values that repeat")
    if length >= WORDS_OF_TEXT or (length >= WORDS_OF_TITLE and distinct > MOST_VALUES):
        return Role(name, "text", f"{length:.0f} words a row")
    if distinct > 0.5 * len(words):
        return Role(name, "ignored", "it differs from row to row, as identifiers do")
    return Role(name, "category", f"{distinct:,} values, of which the most frequent are used")


def _numeric(name: str, values: np.ndarray) -> Role:
    there = values[~np.isnan(values)]
    if not len(there):
        return Role(name, "ignored", "it is empty")
    if (there == there[0]).all() and len(there) == len(values):
        return Role(name, "ignored", f"it is {there[0]:g} in every row")
    if len(there) > 2 and (np.diff(there) == 1).all():
        return Role(name, "ignored", "it counts the rows")
    return Role(name, "number", "all its cells are numbers")
