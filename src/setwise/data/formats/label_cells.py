"""The label sets in one column of a table: strings of separated names, or lists of names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from setwise.data.labels import first_repeated


def label_sets(cells: Sequence[Any], separator: str) -> tuple[list[list[str]], dict[int, str]]:
    """The label set of each cell, empty for None, and row -> problem where a set is no set.

    >>> label_sets(["sea|sky", None, ["sea", "sea"]], "|")
    ([['sea', 'sky'], [], ['sea', 'sea']], {2: "label 'sea' occurs twice"})
    """
    sets = [_label_set(cell, separator) for cell in cells]
    problems = {}
    for row, labels in enumerate(sets):
        if "" in labels:
            problems[row] = "a label has no name"
        elif len(set(labels)) < len(labels):
            problems[row] = f"label {first_repeated(labels)!r} occurs twice"
    return sets, problems


def _label_set(cell: Any, separator: str) -> list[str]:
    if cell is None:
        return []
    if isinstance(cell, str):
        return [label for part in cell.split(separator) if (label := part.strip())]
    return [_name(label) for label in (cell if isinstance(cell, Iterable) else [cell])]


def _name(label: Any) -> str:
    """A label's name; a whole number is written as one, also where its column became float."""
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return "" if label is None or label != label else str(label)
