"""Parquet files a few rows at a time, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import IO, Any

from setwise.errors import DataError, FormatError, MissingDependency
from setwise.pipeline.table import Table


def pyarrow() -> Any:
    """The library that reads and writes Parquet in pieces."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise MissingDependency(
            "Parquet needs pyarrow; install it with: pip install 'setwise[pandas]', or use CSV"
        ) from None


def parquet_tables(path: str, chunk: int) -> Iterator[Table]:
    """The rows of a Parquet file in tables of about ``chunk`` rows; at least one."""
    arrow = pyarrow()
    if path == "-":
        raise FormatError(
            "standard input", "Parquet cannot be streamed", remedy="pass the name of the file"
        )
    try:
        with arrow.parquet.ParquetFile(path) as file:
            names, begin = file.schema_arrow.names, 1
            for batch in file.iter_batches(batch_size=chunk):
                places = range(begin, begin + batch.num_rows)
                yield Table(batch.to_pydict(), places, path, unit="row")
                begin += batch.num_rows
    except FileNotFoundError:
        raise FormatError(
            path, "no such file, where a data file was expected", remedy="check the path"
        ) from None
    except (arrow.ArrowException, OSError) as error:
        raise FormatError(
            path, f"not a complete Parquet file ({error})", remedy="write it again"
        ) from error
    if begin == 1:
        yield Table({name: [] for name in names}, [], path, unit="row")


class ParquetRows:
    """Writes tables one behind another; the first says of which types the columns are."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._arrow, self._stream = pyarrow(), stream
        self._writer: Any = None

    def write(self, columns: dict[str, list[Any]]) -> None:
        """Add rows."""
        if self._writer is None:
            schema = self._schema(columns)
            self._writer = self._arrow.parquet.ParquetWriter(self._stream, schema)
        schema = self._writer.schema
        arrays = [self._array(field, columns[field.name]) for field in schema]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=schema))

    def close(self) -> None:
        """Write the end of the file, without which it is none."""
        if self._writer is not None:
            self._writer.close()

    def _schema(self, columns: dict[str, list[Any]]) -> Any:
        """Types as the first rows have them; text where these say nothing, or contradict."""
        arrow = self._arrow
        fields = []
        for name, cells in columns.items():
            try:
                kind = arrow.array(cells).type
            except arrow.ArrowException:
                kind = arrow.string()
            if arrow.types.is_list(kind):
                kind = arrow.list_(arrow.string())
            fields.append((name, arrow.string() if arrow.types.is_null(kind) else kind))
        return arrow.schema(fields)

    def _array(self, field: Any, cells: list[Any]) -> Any:
        arrow = self._arrow
        if arrow.types.is_string(field.type):
            cells = [None if cell is None else str(cell) for cell in cells]
        try:
            if arrow.types.is_integer(field.type):  # whose fractions would be lost without a word
                return arrow.array(cells).cast(field.type)
            return arrow.array(cells, type=field.type)
        except arrow.ArrowException as error:
            raise DataError(
                f"column {field.name!r} begins as {field.type} and goes on as something else "
                f"({error}); write CSV or JSONL, or choose the columns to copy with --keep"
            ) from None
