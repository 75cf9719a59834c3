"""CSV text as a DataFrame: checked row by row, typed column by column.

Dataframe libraries fill short rows, cut long ones, read the word "NA" in a text column as missing,
and disagree about quotes and line ends. So the fields are taken apart here, once for all of them: a
ragged row is an error with its line, and a column is numeric only if each of its entries is a
number or a word for "missing"; every other column is text, to the letter.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np

from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath, read_utf8
from setwise.data.formats.spelling import MISSING_WORDS
from setwise.data.labels import first_repeated
from setwise.errors import DataError, FormatError

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")  # 18 digits always fit into 64 bits


def read_csv_frame(
    path: StrPath,
    bad_rows: BadRows,
    delimiter: str | None,
    backend: str,
    encoding: str,
    text_column: str | None = None,
) -> tuple[nw.DataFrame[Any], np.ndarray]:
    """All columns of a CSV file with a header line, and the line at which each row begins.

    ``text_column`` stays text even if it looks like numbers.
    """
    text = read_utf8(path, encoding).decode()
    delimiter = _checked(delimiter) or _guess_delimiter(text)
    names, rows, lines = _full_rows(path, text, delimiter, bad_rows)
    columns = {
        name: list(cells) if name == text_column else _numbers_if_all_are(cells)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    }
    native = import_module(backend).DataFrame(columns)
    return nw.from_native(native, eager_only=True), np.array(lines)


def _checked(delimiter: str | None) -> str | None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise DataError(f"delimiter is one character, not a quote, got {delimiter!r}; correct it")
    return delimiter


def _guess_delimiter(text: str) -> str:
    """The most frequent of comma, semicolon and tab in the first line."""
    return max(",;\t", key=text.split("\n", 1)[0].count)


def _full_rows(
    path: StrPath, text: str, delimiter: str, bad_rows: BadRows
) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows that are as long as it is, and the line at which each of them begins."""
    rows: list[list[str]] = []
    starts: list[int] = []
    previous_limit = csv.field_size_limit(2**31 - 1)  # a field may be a long text
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader)
        _check_header(path, header)
        start = reader.line_num
        for row in reader:
            if not row and len(header) == 1:
                row = [""]
            if len(row) == len(header):
                rows.append(row)
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
    if not rows:
        raise FormatError(path, "no rows after the header", remedy="is the file complete?")
    return header, rows, starts


def _check_header(path: StrPath, header: list[str]) -> None:
    twice = first_repeated(header)
    if twice is not None or not all(name.strip() for name in header):
        what = f"column {twice!r} occurs twice" if twice else "a column has no name"
        raise FormatError(path, what, line=1, remedy="the first line names each column once")


def _numbers_if_all_are(cells: Sequence[str]) -> np.ndarray | list[str]:
    """The column as numbers if every entry is a number or a word for "missing", else as text."""
    filled = cells
    if MISSING_WORDS.intersection(cells):
        filled = [cell for cell in cells if cell not in MISSING_WORDS]
    spelling = "".join(filled)
    # Python's float takes digits of any script and 1_000 too: those are text.
    if not spelling.isascii() or "_" in spelling:
        return list(cells)
    try:
        numbers = np.array(list(map(float, filled)))
    except ValueError:
        return list(cells)
    if not filled:
        return list(cells)
    if len(filled) < len(cells):
        spread = np.full(len(cells), np.nan)
        spread[[cell not in MISSING_WORDS for cell in cells]] = numbers
        return spread
    if "." not in spelling and all(map(_WHOLE.fullmatch, filled)):
        return np.array(list(map(int, filled)), dtype=np.int64)
    return numbers
