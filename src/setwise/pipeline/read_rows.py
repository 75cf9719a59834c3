"""Rows of a CSV, JSONL or Parquet file, or of standard input, a table of some rows at a time.

Memory holds one table, however long the file is. Files may be packed by gzip, bzip2 or xz.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from setwise.data.formats.files import bare_suffix
from setwise.data.labels import first_repeated
from setwise.errors import DataError, FormatError
from setwise.pipeline.parquet import parquet_tables
from setwise.pipeline.table import Table, joined

CHUNK = 2000  # rows of a table: enough for whole-matrix work, little to hold
STANDARD = "-"  # the name of standard input and output
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}

_UNPACKERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    format: str | None = None  # csv, jsonl or parquet; told by the name where it is None
    delimiter: str | None = None  # of CSV; guessed from the first line where it is None
    encoding: str = "utf-8"
    chunk: int = CHUNK


def format_of(
    path: str, wanted: str | None, default: str | None = None, *, option: str = "--format"
) -> str:
    """The format that is wanted, or that the name tells; a sentence where neither does."""
    found = wanted or FORMATS.get(bare_suffix(path)) or default
    known = sorted(set(FORMATS.values()))
    if found not in known:
        raise FormatError(
            path,
            f"{found!r} is no format" if found else "cannot tell the format from the name",
            remedy=f"pass {option}, one of {', '.join(known)}",
        )
    return found


def check_readable(path: str) -> None:
    """Refuse a path at which there is no file."""
    if path != STANDARD and (not Path(path).exists() or Path(path).is_dir()):
        kind = "a folder" if Path(path).is_dir() else "no such file"
        raise FormatError(path, f"{kind}, where a data file was expected", remedy="check the path")


def read_table(path: str, how: Reading | None = None) -> Table:
    """All rows of a file; one without any gets a sentence."""
    parts = list(tables_of(path, how))
    if not any(map(len, parts)):
        raise FormatError(path, "no rows after the header", remedy="is the file complete?")
    return joined(parts)


def tables_of(
    path: str, how: Reading | None = None, seen: Callable[[int], None] | None = None
) -> Iterator[Table]:
    """The rows of a file in tables of ``chunk`` rows; at least one table, which may have no rows.

    ``seen`` is told how many bytes of the file have been read, after each table.
    """
    how = how or Reading()
    kind = format_of(path, how.format, "csv" if path == STANDARD else None)
    if kind == "parquet":
        yield from parquet_tables(path, how.chunk)
        return
    with _opened(path) as (raw, stream):
        text = io.TextIOWrapper(stream, encoding=_known(how.encoding), newline="")
        delimiter = how.delimiter or ("\t" if bare_suffix(path) == ".tsv" else None)
        tables = (
            _csv_tables(path, text, delimiter, how.chunk)
            if kind == "csv"
            else _json_tables(path, text, how.chunk)
        )
        with _damage_told(path):
            for table in tables:
                yield table
                if seen is not None and raw.seekable():
                    seen(raw.tell())


@contextmanager
def _opened(path: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The bytes as they are, and unpacked."""
    if path == STANDARD:
        yield sys.stdin.buffer, sys.stdin.buffer
        return
    check_readable(path)
    with open(path, "rb") as raw:
        magic = raw.peek(6)[:6]
        unpack = next((o for start, o in _UNPACKERS.items() if magic.startswith(start)), None)
        yield raw, raw if unpack is None else unpack(raw, "rb")


@contextmanager
def _damage_told(path: str) -> Iterator[None]:
    try:
        yield
    except UnicodeError as error:
        raise FormatError(
            path,
            f"the text is not in the encoding that was expected ({error})",
            remedy="pass --encoding, for instance latin-1 or utf-16",
        ) from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise FormatError(
            path, f"the archive is truncated or damaged ({error})", remedy="fetch it again"
        ) from error


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        raise DataError(f"there is no encoding {encoding!r}; try utf-8 or latin-1") from None
    # A byte-order mark at the start is no part of the first column's name.
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _csv_tables(path: str, text: IO[str], delimiter: str | None, chunk: int) -> Iterator[Table]:
    first = text.readline()
    if not first.strip():
        raise FormatError(path, "the file is empty", remedy="check that it was written completely")
    if "\0" in first:
        raise FormatError(path, "this is a binary file, not text", remedy="pass --format")
    if delimiter is None:
        delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(2**31 - 1)  # a field may be a long text
    try:
        reader = csv.reader(chain([first], text), delimiter=delimiter, strict=True)
    except (TypeError, ValueError):
        raise DataError(f"delimiter is one character, got {delimiter!r}; correct it") from None
    try:
        header = next(reader)
        _check_header(path, header)
        rows: list[list[str]] = []
        places: list[int] = []
        start = reader.line_num
        is_first = True
        for row in reader:
            if not row:  # a blank line is no row, unless blank is what a lone column holds
                row = [""] if len(header) == 1 else row
            if len(row) != len(header):
                if not row:
                    start = reader.line_num
                    continue
                raise FormatError(
                    path,
                    f"{len(row)} values where the header names {len(header)} columns",
                    line=start + 1,
                    remedy="complete the row, or quote fields that contain the delimiter",
                )
            rows.append(row)
            places.append(start + 1)
            start = reader.line_num
            if len(rows) == chunk:
                yield _csv_table(path, header, rows, places)
                rows, places, is_first = [], [], False
        if rows or is_first:
            yield _csv_table(path, header, rows, places)
    except csv.Error as error:
        raise FormatError(
            path, f"not CSV ({error})", line=reader.line_num, remedy="quote fields correctly"
        ) from None


def _csv_table(path: str, header: list[str], rows: list[list[str]], places: list[int]) -> Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return Table(dict(zip(header, map(list, columns), strict=True)), places, path)


def _check_header(path: str, header: list[str]) -> None:
    twice = first_repeated(header)
    if twice is not None or not all(name.strip() for name in header):
        what = f"column {twice!r} occurs twice" if twice else "a column has no name"
        raise FormatError(path, what, line=1, remedy="the first line names each column once")


def _json_tables(path: str, text: IO[str], chunk: int) -> Iterator[Table]:
    names: dict[str, None] = {}  # all that were seen, in the order in which they came
    rows: list[dict[str, Any]] = []
    places: list[int] = []
    is_first = True
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        rows.append(_json_row(path, line, number))
        names.update(dict.fromkeys(rows[-1]))
        places.append(number)
        if len(rows) == chunk:
            yield _json_table(path, names, rows, places)
            rows, places, is_first = [], [], False
    if rows:
        yield _json_table(path, names, rows, places)
    elif is_first:
        raise FormatError(path, "the file is empty", remedy="check that it was written completely")


def _json_row(path: str, line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise FormatError(
            path, f"not JSON ({error})", line=number, remedy="write one object a line"
        ) from None
    if not isinstance(row, dict):
        raise FormatError(
            path,
            f"a {type(row).__name__}, where an object was expected",
            line=number,
            remedy='write each row as {"column": value, ...}',
        )
    return row


def _json_table(
    path: str, names: dict[str, None], rows: list[dict[str, Any]], places: list[int]
) -> Table:
    return Table({name: [row.get(name) for row in rows] for name in names}, places, path)
