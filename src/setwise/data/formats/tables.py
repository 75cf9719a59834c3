"""CSV and Parquet files through narwhals: pandas or polars, whichever is installed.

Labels stand in one column of separated names (or of lists, in Parquet) or in many 0/1 columns.
Numeric columns stay numbers, with NaN where they are empty; text columns stay text.
"""

from __future__ import annotations

import io
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from setwise.data.dataset import Dataset
from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.cells import plain_cells
from setwise.data.formats.csv_text import read_csv_frame
from setwise.data.formats.files import StrPath, read_bytes
from setwise.data.formats.label_cells import label_sets
from setwise.data.formats.label_columns import LabelsArgument, as_count, label_names
from setwise.data.labels import LabelSpace
from setwise.errors import DataError, FormatError, MissingDependency

BACKENDS = ("pandas", "polars")

_TRUTH = {"true": 1.0, "false": 0.0}  # how libraries write columns of booleans


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
        one_column = labels if isinstance(labels, str) else None
        frame, lines = read_csv_frame(path, bad_rows, delimiter, backend, encoding, one_column)
    columns = _label_columns(path, frame.columns, labels, encoding)
    keep = np.ones(len(frame), dtype=bool)
    _report_infinities(frame.drop(columns), lines, keep, bad_rows)
    if isinstance(columns, str):
        sets = _sets_in_column(frame[columns], label_separator, lines, keep, bad_rows)
        space = LabelSpace.infer(sets)
        names, Y = tuple(map(str, space.names)), space.encode(sets)
    else:
        names, Y = tuple(columns), _zeros_and_ones(frame.select(columns), lines, keep, bad_rows)
    if not keep.any():
        raise FormatError(path, "no rows", remedy="is the file complete?")
    X = frame.drop(columns) if keep.all() else frame.drop(columns).filter(keep.tolist())
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


def _report_infinities(
    features: nw.DataFrame[Any], lines: np.ndarray, keep: np.ndarray, bad_rows: BadRows
) -> None:
    """Report each row with an infinite feature, and clear its ``keep``."""
    for column in features.iter_columns():
        if column.dtype.is_float():
            values = _as_floats(column)
            for row in np.flatnonzero(np.isinf(values) & keep).tolist():
                problem = f"column {column.name!r} holds {float(values[row])!r}"
                bad_rows.report(int(lines[row]), f"{problem}; leave a missing value empty")
                keep[row] = False


def _sets_in_column(
    column: nw.Series[Any], separator: str, lines: np.ndarray, keep: np.ndarray, bad_rows: BadRows
) -> list[list[str]]:
    """The label sets of the rows to keep; reports the others, and clears their ``keep``."""
    sets, problems = label_sets(plain_cells(column), separator)
    for row, problem in problems.items():
        if keep[row]:
            bad_rows.report(int(lines[row]), f"in column {column.name!r}, {problem}")
            keep[row] = False
    return [labels for labels, good in zip(sets, keep, strict=True) if good]


def _zeros_and_ones(
    columns: nw.DataFrame[Any], lines: np.ndarray, keep: np.ndarray, bad_rows: BadRows
) -> np.ndarray:
    """The labels of the rows to keep, int8 (n, L); reports the others and clears their ``keep``."""
    Y = np.column_stack([_as_floats(column) for column in columns.iter_columns()])
    for column, values in zip(columns.iter_columns(), Y.T, strict=True):
        wrong = np.flatnonzero((values != 0) & (values != 1) & keep).tolist()
        cells = column.to_list() if wrong else []
        for row in wrong:
            problem = f"label {column.name!r} is {cells[row]!r}; it must be 0 or 1"
            bad_rows.report(int(lines[row]), problem)
            keep[row] = False
    kept: np.ndarray = Y[keep].astype(np.int8)
    return kept


def _as_floats(column: nw.Series[Any]) -> np.ndarray:
    """A column's numbers, NaN where it has none; "true" and "false" are 1 and 0."""
    if column.dtype == nw.String:
        words = [str(cell).strip().lower() for cell in column.to_list()]
        return np.array([_TRUTH.get(word, np.nan) for word in words])
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        return np.full(len(column), np.nan)
    values: np.ndarray = column.cast(nw.Float64).to_numpy()
    return values


def _label_columns(
    path: StrPath, columns: list[str], labels: LabelsArgument, encoding: str
) -> str | list[str]:
    """The label columns: one name of separated labels, or the names of 0/1 columns."""
    if labels is None:
        raise FormatError(
            path,
            "a table does not say which columns are labels",
            remedy="pass labels=, the name of one column, a list of names, or a count",
        )
    count = as_count(labels)
    if count is not None:
        if not 0 < abs(count) < len(columns):
            raise FormatError(path, f"{abs(count)} labels asked for, but {len(columns)} columns")
        return columns[:count] if count > 0 else columns[count:]
    wanted = [labels] if isinstance(labels, str) else label_names(labels, encoding) or []
    for name in wanted:
        if name not in columns:
            shown = ", ".join(map(repr, columns[:6])) + (", ..." if len(columns) > 6 else "")
            raise FormatError(
                path, f"there is no column {name!r}", remedy=f"the columns are {shown}"
            )
    if len(wanted) == len(columns):
        raise FormatError(path, "all columns are labels", remedy="leave some for the features")
    return labels if isinstance(labels, str) else wanted
