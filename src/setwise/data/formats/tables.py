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
        bad_rows.unit = "row"
        frame = _read_parquet(path, backend)
        lines = np.arange(1, len(frame) + 1)
    else:
        frame, lines = read_csv_frame(path, bad_rows, delimiter, backend, encoding)
    columns = _label_columns(path, frame.columns, labels)
    frame = _without_bad_cells(frame, lines, columns, bad_rows)
    if isinstance(columns, str):
        sets = [_label_set(row, label_separator) for row in frame[columns].to_list()]
        space = LabelSpace.infer(sets)
        names, Y = tuple(map(str, space.names)), space.encode(sets)
        columns = [columns]
    else:
        names, Y = tuple(columns), np.column_stack([_as_floats(frame[name]) for name in columns])
        Y = Y.astype(np.int8)
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


def _without_bad_cells(
    frame: nw.DataFrame[Any], lines: np.ndarray, labels: str | list[str], bad_rows: BadRows
) -> nw.DataFrame[Any]:
    """The rows whose features are finite and whose 0/1 labels are 0 or 1; reports the others."""
    keep = np.ones(len(frame), dtype=bool)
    for column in frame.iter_columns():
        if isinstance(labels, list) and column.name in labels:
            values = _as_floats(column)
            wrong = (values != 0) & (values != 1)
            sentence = f"label {column.name!r} is {{!r}}; it must be 0 or 1"
        elif column.dtype.is_float():
            wrong = np.isinf(_as_floats(column))
            sentence = f"column {column.name!r} holds {{!r}}; leave a missing value empty"
        else:
            continue
        cells = column.to_list() if wrong.any() else []
        for row in np.flatnonzero(wrong & keep).tolist():
            bad_rows.report(int(lines[row]), sentence.format(cells[row]))
            keep[row] = False
    return frame if keep.all() else frame.filter(keep.tolist())


def _as_floats(column: nw.Series[Any]) -> np.ndarray:
    """A column's numbers, NaN where it has none."""
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        return np.full(len(column), np.nan)
    values: np.ndarray = column.cast(nw.Float64).to_numpy()
    return values


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
    """The labels of a cell: a string of names, a list of them, or nothing."""
    if isinstance(cell, str):
        return [label for part in cell.split(separator) if (label := part.strip())]
    if isinstance(cell, Iterable):
        return [str(label) for label in cell]
    is_missing = cell is None or cell != cell
    return [] if is_missing else [str(cell)]
