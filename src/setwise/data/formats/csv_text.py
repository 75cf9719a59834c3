"""CSV text as a DataFrame: checked row by row, typed column by column.

Dataframe libraries fill short rows, cut long ones, and read the word "NA" in a text column as
missing. Here a ragged row is an error with its line, and a column is numeric only if each of its
entries is a number or a word for "missing"; every other column is text, to the letter.
"""

from __future__ import annotations

import csv
import io
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np

from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath, read_utf8
from setwise.data.formats.spelling import MISSING_WORDS
from setwise.data.labels import first_repeated
from setwise.errors import FormatError

_OPTIONS: dict[str, dict[str, Any]] = {  # read every field as the text it is
    "pandas": {"dtype": str, "keep_default_na": False, "skip_blank_lines": False},
    "polars": {"infer_schema": False},
}
_DELIMITER = {"pandas": "sep", "polars": "separator"}


def read_csv_frame(
    path: StrPath, bad_rows: BadRows, delimiter: str | None, backend: str, encoding: str
) -> tuple[nw.DataFrame[Any], np.ndarray]:
    """All columns of a CSV file with a header line, and the line at which each row begins."""
    text = read_utf8(path, encoding).decode()
    delimiter = delimiter or _guess_delimiter(text)
    text, lines = _without_ragged_rows(path, text, delimiter, bad_rows)
    options = _OPTIONS[backend] | {_DELIMITER[backend]: delimiter}
    native = import_module(backend).read_csv(io.BytesIO(text.encode()), **options)
    frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
    frame = frame.with_columns(nw.all().fill_null(""))
    return frame.with_columns(*map(_numbers_if_all_are, frame.iter_columns())), lines


def _guess_delimiter(text: str) -> str:
    """The most frequent of comma, semicolon and tab in the first line."""
    return max(",;\t", key=text.split("\n", 1)[0].count)


def _without_ragged_rows(
    path: StrPath, text: str, delimiter: str, bad_rows: BadRows
) -> tuple[str, np.ndarray]:
    """The text without its ragged rows, and the line at which each other row begins.

    Dataframe libraries would fill short rows and cut long ones without a word.
    """
    lines = list(io.StringIO(text, newline=""))
    kept: list[str] = []
    starts: list[int] = []
    previous_limit = csv.field_size_limit(2**31 - 1)  # a field may be a long text
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next(reader)
        _check_header(path, header)
        kept += lines[: reader.line_num]
        start = reader.line_num
        for row in reader:
            if len(row) == len(header) or (not row and len(header) == 1):
                kept += lines[start : reader.line_num]
                starts.append(start + 1)
            else:
                problem = f"{len(row)} values where the header names {len(header)} columns"
                bad_rows.report(start + 1, problem, "complete the row")
            start = reader.line_num
    except csv.Error as error:
        raise FormatError(
            path, f"not CSV ({error})", line=reader.line_num, remedy="quote fields correctly"
        ) from None
    finally:
        csv.field_size_limit(previous_limit)
    if not starts:
        raise FormatError(path, "no rows after the header", remedy="is the file complete?")
    return "".join(kept), np.array(starts)


def _check_header(path: StrPath, header: list[str]) -> None:
    twice = first_repeated(header)
    if twice is not None or not all(name.strip() for name in header):
        what = f"column {twice!r} occurs twice" if twice else "a column has no name"
        raise FormatError(path, what, line=1, remedy="the first line names each column once")


def _numbers_if_all_are(column: nw.Series[Any]) -> nw.Series[Any]:
    """The column as numbers if every entry is a number or a word for "missing", else as text."""
    is_missing = column.is_in(list(MISSING_WORDS))
    filled = column.filter(~is_missing)
    if len(filled) == 0 or filled.str.contains("_", literal=True).any():
        return column
    if len(filled) == len(column) and filled.str.contains(r"^\s*[+-]?[0-9]{1,15}\s*$").all():
        return column.str.strip_chars().cast(nw.Int64)
    try:
        filled.str.strip_chars().cast(nw.Float64)
    except Exception:  # each library has its own error for a word that is no number
        return column
    spelt = column.zip_with(~is_missing, nw.new_series(
        column.name, ["nan"] * len(column), nw.String, backend=column.implementation
    ))  # fmt: skip
    return spelt.str.strip_chars().cast(nw.Float64)
