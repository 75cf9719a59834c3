"""CSV text as a DataFrame: checked row by row, typed column by column.

Dataframe libraries fill short rows, cut long ones, and read the word "NA" in a text column as
missing. Here a ragged row is an error with its line, and a column is numeric only if each of its
entries is a number or a word for "missing"; every other column is text, to the letter.
"""

from __future__ import annotations

import csv
import io
from importlib import import_module
from itertools import chain
from typing import Any

import narwhals as nw

from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath, read_utf8
from setwise.data.formats.spelling import MISSING_WORDS
from setwise.errors import FormatError

_OPTIONS: dict[str, dict[str, Any]] = {  # read every field as the text it is
    "pandas": {"dtype": str, "keep_default_na": False, "skip_blank_lines": False},
    "polars": {"infer_schema": False},
}
_DELIMITER = {"pandas": "sep", "polars": "separator"}


def read_csv_frame(
    path: StrPath, bad_rows: BadRows, delimiter: str | None, backend: str, encoding: str
) -> nw.DataFrame[Any]:
    """All columns of a CSV file, with a header line, plain or compressed."""
    contents = read_utf8(path, encoding)
    delimiter = delimiter or _guess_delimiter(contents)
    contents = _without_bad_rows(path, contents, delimiter, bad_rows)
    options = _OPTIONS[backend] | {_DELIMITER[backend]: delimiter}
    native = import_module(backend).read_csv(io.BytesIO(contents), **options)
    frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
    frame = frame.with_columns(nw.all().fill_null(""))
    return frame.with_columns(*map(_numbers_if_all_are, frame.iter_columns()))


def _guess_delimiter(contents: bytes) -> str:
    """The most frequent of comma, semicolon and tab in the first line."""
    first = contents.split(b"\n", 1)[0].decode()
    return max(",;\t", key=first.count)


def _without_bad_rows(path: StrPath, contents: bytes, delimiter: str, bad_rows: BadRows) -> bytes:
    """The text without its ragged rows; dataframe libraries would fill or cut them silently."""
    text = contents.decode()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines = text.splitlines(keepends=True) if bad_rows.skips else []
    kept: list[str] = []
    before = 0
    try:
        header = next(reader)
        _check_header(path, header)
        for row in chain([header], reader):
            start, before = before, reader.line_num
            is_blank_single = not row and len(header) == 1
            if len(row) == len(header) or is_blank_single:
                kept += lines[start:before]
            else:
                problem = f"{len(row)} values where the header names {len(header)} columns"
                bad_rows.report(start + 1, problem, "complete the row")
    except csv.Error as error:
        raise FormatError(
            path, f"not CSV ({error})", line=reader.line_num, remedy="quote fields correctly"
        ) from None
    if before == 1:
        raise FormatError(path, "no rows after the header", remedy="is the file complete?")
    return "".join(kept).encode() if bad_rows.skips else contents


def _check_header(path: StrPath, header: list[str]) -> None:
    seen: set[str] = set()
    for name in header:
        if name in seen or not name.strip():
            what = f"column {name!r} occurs twice" if name.strip() else "a column has no name"
            raise FormatError(path, what, line=1, remedy="the first line names each column once")
        seen.add(name)


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
