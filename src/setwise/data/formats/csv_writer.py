"""Writing a data set as CSV."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np

from setwise.data.formats.files import StrPath, write_atomically
from setwise.data.labels import LabelSpace, as_binary_csr
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
    Y = as_binary_csr(Y)
    space = LabelSpace(label_names) if label_names is not None else LabelSpace.infer(Y)
    features = _feature_columns(X, feature_names)
    if label_column is not None:
        labels = {label_column: space.to_strings(Y, separator=label_separator)}
    else:
        dense = space.encode(Y).toarray()
        labels = {str(name): dense[:, column].tolist() for column, name in enumerate(space)}
    both = features.keys() & labels.keys()
    if both:
        raise DataError(
            f"{min(both)!r} is the name of a feature and of a label; rename one of them"
        )
    columns = [*features.values(), *labels.values()]
    if {len(column) for column in columns} != {Y.shape[0]}:
        raise DataError(f"X has other rows than Y, which has {Y.shape[0]}; pass the same rows")
    with write_atomically(path) as stream:
        writer = csv.writer(codecs.getwriter("utf-8")(stream), lineterminator="\n")
        writer.writerow([*features, *labels])
        writer.writerows(zip(*columns, strict=True))


def _feature_columns(X: Any, names: Iterable[str] | None) -> dict[str, list[Any]]:
    """Columns by name, as lists of Python values; missing numbers become empty fields."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {column.name: _plain_values(column.to_list()) for column in frame.iter_columns()}
    if not hasattr(X, "shape"):
        (name,) = names if names is not None else ("text",)
        return {str(name): list(X)}
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    wanted = list(names) if names is not None else [f"x{i}" for i in range(dense.shape[1])]
    if len(set(wanted)) != dense.shape[1]:
        raise DataError(f"{dense.shape[1]} features but {len(set(wanted))} different names")
    return {str(n): _plain_values(dense[:, i].tolist()) for i, n in enumerate(wanted)}


def _plain_values(values: list[Any]) -> list[Any]:
    return ["" if value is None or value != value else value for value in values]
