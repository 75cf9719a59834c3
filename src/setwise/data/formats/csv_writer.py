"""Writing a data set as CSV."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable
from math import isinf
from typing import Any, Literal

import narwhals as nw
import numpy as np

from setwise.data.formats.cells import plain_cells
from setwise.data.formats.files import StrPath, write_atomically
from setwise.data.labels import LabelSpace, as_binary_csr, is_frame, is_matrix
from setwise.errors import DataError


def write_csv(
    path: StrPath,
    X: Any,
    Y: Any,
    *,
    label_names: Iterable[str] | None = None,
    feature_names: Iterable[str] | None = None,
    label_column: str | None = None,
    label_separator: str = ",",
) -> None:
    """Write features and labels as CSV, all at once or not at all.

    Labels become 0/1 columns, or, with ``label_column``, one column of separated names. Numbers are
    written so that reading gives the same numbers back.
    """
    space = LabelSpace(label_names) if label_names is not None else LabelSpace.infer(Y)
    # Of a matrix the names say what its columns are called; of label sets, where they belong.
    Y = as_binary_csr(Y) if is_matrix(Y) or is_frame(Y) else space.encode(Y)
    features = _feature_columns(X, feature_names)
    if label_column is not None:
        labels = {label_column: space.to_strings(Y, separator=label_separator)}
    else:
        dense = space.encode(Y).toarray()
        labels = {str(name): dense[:, column].tolist() for column, name in enumerate(space)}
    if label_column is None and len(labels) < len(space):
        raise DataError("two labels are written alike, such as 1 and '1'; rename one of them")
    both = features.keys() & labels.keys()
    if both:
        raise DataError(
            f"{min(both)!r} is the name of a feature and of a label; rename one of them"
        )
    columns = [*features.values(), *labels.values()]
    if {len(column) for column in columns} != {Y.shape[0]}:
        raise DataError(f"X has other rows than Y, which has {Y.shape[0]}; pass the same rows")
    names = [*features, *labels]
    quoting = _quoting([names, *columns])
    with write_atomically(path) as stream:
        utf8 = codecs.getwriter("utf-8")(stream)
        writer = csv.writer(utf8, lineterminator="\n", quoting=quoting)
        writer.writerow(names)
        writer.writerows(zip(*columns, strict=True))


def _feature_columns(X: Any, names: Iterable[str] | None) -> dict[str, list[Any]]:
    """Columns by name, as lists of Python values; missing ones become empty fields."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {str(column.name): plain_cells(column) for column in frame.iter_columns()}
        return {name: _fields(name, cells) for name, cells in columns.items()}
    # numpy's own strings would lose a NUL at the end, and make all texts as long as the longest.
    is_text = not hasattr(X, "toarray") and all(isinstance(text, str) for text in X)
    dense = X.toarray() if hasattr(X, "toarray") else np.array(X, dtype=object if is_text else None)
    if not is_text and dense.ndim != 2:
        raise DataError(f"X is a table, a matrix or texts, not {type(X).__name__}; reshape it")
    default = ["text"] if is_text else [f"x{i}" for i in range(dense.shape[1])]
    wanted = [str(name) for name in names] if names is not None else default
    if len(wanted) != len(default) or len(set(wanted)) < len(wanted):
        raise DataError(f"{len(default)} features but {len(set(wanted))} different names")
    by_column = dense[None] if is_text else dense.T
    return {
        name: _fields(name, column.tolist()) for name, column in zip(wanted, by_column, strict=True)
    }


def _fields(name: str, cells: list[Any]) -> list[Any]:
    """Cells as they are written: nothing for a missing one, 1 and 0 for true and false."""
    fields = ["" if cell is None or cell != cell else cell for cell in cells]
    if any(isinstance(field, float) and isinf(field) for field in fields):
        raise DataError(f"column {name!r} holds infinity, which cannot be read again; replace it")
    return [int(field) if isinstance(field, bool) else field for field in fields]


def _quoting(columns: Iterable[list[Any]]) -> Literal[0, 2]:
    """How csv must quote to bring every text back; refuses text that no file can hold."""
    quoting: Literal[0, 2] = csv.QUOTE_MINIMAL
    for text in (cell for column in columns for cell in column if isinstance(cell, str)):
        if "\0" in text or not _is_unicode(text):
            raise DataError(f"{text[:40]!r} has a character that no text file holds; remove it")
        if "\r" in text:  # csv quotes the end of a line only if it is the one it writes
            quoting = csv.QUOTE_NONNUMERIC
    return quoting


def _is_unicode(text: str) -> bool:
    """Whether the text has no halves of surrogate pairs, which UTF-8 cannot write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
