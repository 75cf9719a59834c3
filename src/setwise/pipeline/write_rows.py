"""Rows to a CSV, JSONL or Parquet file, or to standard output, as they come.

A file appears whole, or not at all: a run that is killed leaves nothing that looks complete.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

from setwise.data.formats.files import write_atomically
from setwise.errors import FormatError
from setwise.pipeline.parquet import ParquetRows
from setwise.pipeline.read_rows import STANDARD, format_of

PLAIN = frozenset({str, int, float, bool})  # what csv writes as people expect it


class RowWriter(Protocol):
    """Takes rows as columns; the columns are the same each time."""

    def write(self, columns: dict[str, list[Any]]) -> None:
        """Add rows."""

    def close(self) -> None:
        """Finish what has been begun."""


class CsvRows:
    """Rows of text; lists are joined by a separator."""

    def __init__(self, stream: IO[bytes], separator: str, delimiter: str = ",") -> None:
        self._text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        self._writer = csv.writer(self._text, lineterminator="\n", delimiter=delimiter)
        self._separator = separator
        self._has_header = False

    def write(self, columns: dict[str, list[Any]]) -> None:
        """Add rows, after the header if they are the first."""
        if not self._has_header:
            self._writer.writerow(columns)
            self._has_header = True
        self._writer.writerows(zip(*map(self._fields, columns.values()), strict=True))

    def close(self) -> None:
        """Pass on what has been written; the stream stays open."""
        self._text.flush()
        self._text.detach()

    def _fields(self, cells: list[Any]) -> list[Any]:
        # Most columns are all text or all numbers, which csv writes as they are.
        if PLAIN.issuperset(map(type, cells)):
            return cells
        return [self._field(cell) for cell in cells]

    def _field(self, cell: Any) -> Any:
        if cell is None:
            return ""
        if isinstance(cell, tuple | list):
            return self._separator.join(map(str, cell))
        if isinstance(cell, dict):
            return json.dumps(cell)
        return cell


class JsonRows:
    """One JSON object a line."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, columns: dict[str, list[Any]]) -> None:
        """Add rows."""
        names = list(columns)
        lines = [
            json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False, default=str)
            for cells in zip(*columns.values(), strict=True)
        ]
        self._stream.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        """Nothing is left to write."""


@contextmanager
def rows_to(
    path: str, format: str | None = None, *, separator: str = ",", default: str = "csv"
) -> Iterator[RowWriter]:
    """A writer of rows to a file, all at once or not at all, or to standard output as they come."""
    kind = format_of(path, format, default if path == STANDARD else None, option="--out-format")
    if path == STANDARD:
        if kind == "parquet":
            raise FormatError(
                "standard output",
                "Parquet is for files",
                remedy="pass --out, or another --out-format",
            )
        yield from _written(sys.stdout.buffer, kind, separator, ",")
        sys.stdout.buffer.flush()
        return
    with write_atomically(path) as stream:
        tab = "\t" if path.lower().endswith((".tsv", ".tsv.gz")) else ","
        yield from _written(stream, kind, separator, tab)


def _written(stream: IO[bytes], kind: str, separator: str, delimiter: str) -> Iterator[RowWriter]:
    writer: RowWriter
    if kind == "csv":
        writer = CsvRows(stream, separator, delimiter)
    else:
        writer = ParquetRows(stream) if kind == "parquet" else JsonRows(stream)
    try:
        yield writer
    finally:
        writer.close()
