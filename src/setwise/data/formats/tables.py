"""CSV and Parquet files through narwhals: pandas or polars, whichever is installed.

Labels stand in one column of separated names (or of lists, in Parquet) or in many 0/1 columns.
Numeric columns stay numbers, with NaN where they are empty; text columns stay text.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from setwise.data.dataset import Dataset
from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.csv_text import read_csv_frame
from setwise.data.formats.files import StrPath, read_bytes
from setwise.data.formats.label_columns import LabelsArgument, label_names
from setwise.data.labels import LabelSpace
from setwise.errors import DataError, FormatError, MissingDependency

BACKENDS = ("pandas", "polars")


def read_table(
    path: StrPath,
    labels: LabelsArgument,
    bad_rows: BadRows,
    *,
    is_parquet: bool,
    label_separator: str = ",",
    delimiter: str | None = None,
    backend: str | None = None,
    encoding: str = "utf-8",
) -> Dataset:
    """The data set in a CSV or Parquet file, its features as a DataFrame."""
    backend = _backend(backend)
    if is_parquet:
        frame = _read_parquet(path, backend)
    else:
        frame = read_csv_frame(path, bad_rows, delimiter, backend, encoding)
    columns = _label_columns(path, frame.columns, labels)
    _check_finite(path, frame, is_parquet)
    if isinstance(columns, str):
        sets = [_label_set(row, label_separator) for row in frame[columns].to_list()]
        space = LabelSpace.infer(sets)
        names, Y = tuple(map(str, space.names)), space.encode(sets)
        columns = [columns]
    else:
        names, Y = tuple(columns), _binary_columns(path, frame, columns, is_parquet)
    X = frame.drop(columns)
    return Dataset(
        name=Path(path).name.split(".")[0],
        X_train=X.to_native(),
        Y_train=Y,
        label_names=names,
        feature_names=tuple(X.columns),
        skipped=tuple(bad_rows.skipped),
    )


def _backend(wanted: str | None) -> str:
    """The dataframe library to use: the one asked for, or the first that is installed."""
    if wanted is not None and wanted not in BACKENDS:
        raise DataError(f"backend must be one of {', '.join(BACKENDS)}, got {wanted!r}")
    for backend in BACKENDS if wanted is None else (wanted,):
        if find_spec(backend) is not None:
            return backend
    raise MissingDependency(
        f"CSV and Parquet need {wanted or 'pandas or polars'}; "
        f"install it with: pip install 'setwise[{wanted or 'pandas'}]'"
    )


def _read_parquet(path: StrPath, backend: str) -> nw.DataFrame[Any]:
    contents = read_bytes(path)
    try:
        native = import_module(backend).read_parquet(io.BytesIO(contents))
    except ImportError as error:
        raise MissingDependency(
            f"Parquet needs one more package ({error}); install 'setwise[{backend}]'"
        ) from error
    except Exception as error:
        raise FormatError(
            path, f"not a complete Parquet file ({error})", remedy="write it again, or pass format="
        ) from error
    return nw.from_native(native, eager_only=True)


def _check_finite(path: StrPath, frame: nw.DataFrame[Any], is_parquet: bool) -> None:
    for column in frame.iter_columns():
        if column.dtype.is_float():
            rows = np.flatnonzero(np.isinf(column.to_numpy().astype(float)))
            if len(rows):
                raise FormatError(
                    path,
                    f"column {column.name!r} holds infinity in row {rows[0] + 1}",
                    line=None if is_parquet else int(rows[0]) + 2,
                    remedy="leave the field empty for a missing value",
                )


def _label_columns(path: StrPath, columns: list[str], labels: LabelsArgument) -> str | list[str]:
    """The label columns: one name of separated labels, or the names of 0/1 columns."""
    if labels is None:
        raise FormatError(
            path,
            "a table does not say which columns are labels",
            remedy="pass labels=, the name of one column, a list of names, or a count",
        )
    if isinstance(labels, int):
        if not 0 < abs(labels) < len(columns):
            raise FormatError(path, f"{abs(labels)} labels asked for, but {len(columns)} columns")
        return columns[:labels] if labels > 0 else columns[labels:]
    if isinstance(labels, PathLike):
        labels = label_names(labels)
        assert labels is not None
    wanted = [labels] if isinstance(labels, str) else [str(name) for name in labels]
    for name in wanted:
        if name not in columns:
            shown = ", ".join(map(repr, columns[:6])) + (", ..." if len(columns) > 6 else "")
            raise FormatError(
                path, f"there is no column {name!r}", remedy=f"the columns are {shown}"
            )
    return labels if isinstance(labels, str) else wanted


def _label_set(cell: Any, separator: str) -> list[str]:
    if cell is None or cell != cell:  # a missing cell: no labels
        return []
    if isinstance(cell, str):
        return [label for part in cell.split(separator) if (label := part.strip())]
    return [str(label) for label in cell] if isinstance(cell, Iterable) else [str(cell)]


def _binary_columns(
    path: StrPath, frame: nw.DataFrame[Any], columns: list[str], is_parquet: bool
) -> np.ndarray:
    """The 0/1 label columns as an array (n, L)."""
    Y = np.empty((len(frame), len(columns)), dtype=np.int8)
    for position, name in enumerate(columns):
        column = frame[name]
        is_binary = column.is_in([0, 1]) if column.dtype.is_numeric() else None
        if is_binary is None and column.dtype == nw.Boolean:
            is_binary = ~column.is_null()
        wrong = np.flatnonzero(~is_binary.to_numpy()) if is_binary is not None else [0]
        if len(wrong):
            raise FormatError(
                path,
                f"label {name!r} is {column[int(wrong[0])]!r} in row {wrong[0] + 1}; "
                "it must be 0 or 1",
                line=None if is_parquet else int(wrong[0]) + 2,
                remedy="correct it, or pass labels= without this column",
            )
        Y[:, position] = column.to_numpy()
    return Y
