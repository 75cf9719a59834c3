"""ARFF files, dense and sparse: one table of numbers, with every row's line remembered.

Which columns are labels is another question: see ``label_columns.py``.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.formats.arff_header import Attribute, Header, parse_header, unquote
from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath, read_utf8
from setwise.data.formats.spelling import finite_number
from setwise.data.sparse_rows import canonical_csr, repeated_entries
from setwise.errors import FormatError

MISSING = "?"


@dataclass(frozen=True)
class ArffTable:
    """All columns of an ARFF file as numbers; missing values are NaN."""

    header: Header
    values: Any  # (n, columns)  ndarray, or CSR where the file's rows are sparse
    lines: np.ndarray  # (n,)          the line each row came from

    def without(self, rows: np.ndarray) -> ArffTable:
        """The table without the rows where ``rows`` is True."""
        if not rows.any():
            return self
        return ArffTable(self.header, self.values[~rows], self.lines[~rows])


def read_arff_table(path: StrPath, bad_rows: BadRows, encoding: str = "utf-8") -> ArffTable:
    """The whole table of an ARFF file, plain or compressed."""
    contents = read_utf8(path, encoding)
    header = parse_header(path, contents)
    cells = _scan(contents, header, bad_rows)
    problems = _resolve_odd_cells(contents, header, cells)
    problems |= _values_outside_categories(header, cells)
    problems |= _repeated_columns(header, cells)
    is_bad = np.zeros(len(cells.lines), dtype=bool)
    for entry, problem in sorted(problems.items()):
        row = np.searchsorted(cells.indptr, entry, side="right") - 1
        if not is_bad[row]:
            bad_rows.report(int(cells.lines[row]), problem)
        is_bad[row] = True
    table = ArffTable(header, cells.matrix(), cells.lines).without(is_bad)
    if not len(table.lines):
        raise FormatError(path, "no rows after @data", remedy="is the file complete?")
    return table


@dataclass(frozen=True)
class _Cells:
    """The written cells of a data section, row after row."""

    header: Header
    indptr: np.ndarray  # (n + 1,)  where each row's cells begin
    written: np.ndarray | None  # (m,)      their columns; None where rows are dense
    values: np.ndarray  # (m,)      their numbers, filled in for odd cells later
    lines: np.ndarray  # (n,)      the line of each row
    odd: np.ndarray  # (o, 4)    (column, first byte, last byte + 1, cell)

    @property
    def columns(self) -> np.ndarray:
        """The column of each cell."""
        if self.written is not None:
            return self.written
        return np.tile(np.arange(len(self.header.attributes)), len(self.lines))

    def matrix(self) -> Any:
        """The cells as an array, or as canonical CSR with what empty cells imply filled in."""
        shape = (len(self.lines), len(self.header.attributes))
        if self.written is None:
            return self.values.reshape(shape)
        implied = np.array([attribute.implied for attribute in self.header.attributes])
        written = sparse.csr_array((self.values, self.written, self.indptr), shape=shape)
        return canonical_csr(_with_implied(written, implied) if implied.any() else written)


def _scan(contents: bytes, header: Header, bad_rows: BadRows) -> _Cells:
    """Run the compiled scanner, and report the rows that it could not take apart."""
    from setwise.data.formats._arff_kernel import scan
    from setwise.data.formats._number_kernel import POWERS_OF_TEN

    width = len(header.attributes)
    is_sparse = _first_row(contents, header.start).startswith(b"{")
    max_rows = contents.count(b"\n", header.start) + 1
    if is_sparse:
        max_cells = contents.count(b",", header.start) + max_rows
    else:  # a full row has at least a byte a cell, and one row may be half read
        full_rows = (len(contents) - header.start) // width + 1
        max_cells = (min(max_rows, full_rows) + 1) * width
    # Room for the worst case: what is never written to costs address space, not memory.
    indptr = np.zeros(max_rows + 1, dtype=np.int64)
    written = np.empty(max_cells if is_sparse else 0, dtype=np.int32)
    values, lines = np.empty(max_cells), np.empty(max_rows, dtype=np.int64)
    odd, bad = np.empty((max_cells, 4), dtype=np.int64), np.empty((max_rows, 3), dtype=np.int64)
    n_rows, n_odd, n_bad = scan(
        np.frombuffer(contents, dtype=np.uint8),
        header.start,
        header.line,
        np.array([attribute.by_position for attribute in header.attributes]),
        POWERS_OF_TEN,
        bad_rows.skips,
        *(indptr, written, values, lines, odd, bad),
    )
    for line, code, detail in bad[:n_bad].tolist():
        bad_rows.report(line, *_scan_problem(code, detail, header, contents))
    indptr, n_cells = indptr[: n_rows + 1], indptr[n_rows]
    columns = written[:n_cells].copy() if is_sparse else None
    return _Cells(header, indptr, columns, values[:n_cells].copy(), lines[:n_rows], odd[:n_odd])


def _first_row(contents: bytes, start: int) -> bytes:
    """The first line from ``start`` on that is neither blank nor a comment."""
    while start < len(contents):
        end = contents.find(b"\n", start)
        end = len(contents) if end < 0 else end
        line = contents[start:end].strip()
        if line and not line.startswith(b"%"):
            return line
        start = end + 1
    return b""


def _scan_problem(code: int, detail: int, header: Header, contents: bytes) -> tuple[str, str]:
    """What the scanner's code means, and what to do about it."""
    from setwise.data.formats import _arff_kernel as codes

    width = len(header.attributes)
    sentences = {
        codes.WRONG_LENGTH: (
            f"{detail} values where the header declares {width} attributes",
            "complete the row",
        ),
        codes.OTHER_KIND: (
            "sparse {...} and dense rows are mixed",
            "write all rows in one of the two ways",
        ),
        codes.BAD_INDEX: (
            f"expected 'index value', found {_excerpt(contents, detail)!r}",
            "write a sparse row as {0 1, 4 1}",
        ),
        codes.INDEX_TOO_LARGE: (
            f"index {detail} is out of range: {width} attributes are numbered from 0",
            "correct the index",
        ),
        codes.NO_VALUE: (f"index {detail} has no value", "write 'index value'"),
        codes.NO_BRACE: ("the closing brace is missing", "is the file complete?"),
        codes.OPEN_QUOTE: ("a quote is opened but not closed", "close it, or escape it"),
    }
    return sentences[code]


def _excerpt(contents: bytes, start: int) -> str:
    return contents[start : start + 20].split(b"\n")[0].split(b"}")[0].decode(errors="replace")


def _resolve_odd_cells(contents: bytes, header: Header, cells: _Cells) -> dict[int, str]:
    """Put the numbers of odd cells in their places; return cell -> problem where there is none."""
    known: dict[tuple[int, bytes], float | str] = {}
    problems: dict[int, str] = {}
    for column, start, stop, cell in cells.odd.tolist():
        spelling = contents[start:stop]
        number = known.get((column, spelling))
        if number is None:
            number = _number_of(spelling.decode(), header.attributes[column])
            known[column, spelling] = number
        if isinstance(number, str):
            problems[cell] = number
        else:
            cells.values[cell] = number
    return problems


def _number_of(text: str, attribute: Attribute) -> float | str:
    """The number a cell stands for, or a sentence that says why there is none."""
    if text == MISSING:
        return np.nan
    if not text:
        return f"attribute {attribute.name!r} has no value; a missing one is written as ?"
    if attribute.categories is not None:
        code = attribute.codes.get(unquote(text))
        return code if code is not None else _outside(text, attribute)
    number = finite_number(unquote(text))
    if number is None:
        return f"attribute {attribute.name!r} is numeric, but its value is {text[:40]!r}"
    return number


def _values_outside_categories(header: Header, cells: _Cells) -> dict[int, str]:
    """Numeric cells of nominal attributes that are none of the categories: cell -> problem."""
    columns_of = defaultdict(list)
    for column, attribute in enumerate(header.attributes):
        if attribute.categories is not None and not attribute.by_position:
            columns_of[attribute.categories].append(column)
    problems: dict[int, str] = {}
    cell_columns = cells.columns if columns_of else np.empty(0, dtype=np.int64)
    for columns in columns_of.values():
        allowed = np.array(list(header.attributes[columns[0]].codes.values()))
        chosen = np.zeros(len(header.attributes), dtype=bool)
        chosen[columns] = True
        where = np.flatnonzero(chosen[cell_columns])
        values = cells.values[where]
        for cell in where[~(np.isin(values, allowed) | np.isnan(values))].tolist():
            attribute = header.attributes[cell_columns[cell]]
            problems[cell] = _outside(f"{cells.values[cell]:g}", attribute)
    return problems


def _repeated_columns(header: Header, cells: _Cells) -> dict[int, str]:
    """Cells of sparse rows whose column the row has named before: cell -> problem."""
    if cells.written is None:
        return {}
    return {
        cell: f"attribute {header.attributes[cells.written[cell]].name!r} occurs twice in the row"
        for cell in repeated_entries(cells.written, cells.indptr).tolist()
    }


def _with_implied(matrix: sparse.csr_array, implied: np.ndarray) -> sparse.csr_array:
    """The matrix with the first category written out where a sparse row leaves it out."""
    columns = np.flatnonzero(implied)
    is_written = matrix.copy()
    is_written.data = np.ones(matrix.nnz)
    rows, which = np.nonzero(is_written[:, columns].toarray() == 0)
    columns = columns[which]
    return matrix + sparse.csr_array((implied[columns], (rows, columns)), shape=matrix.shape)


def _outside(value: str, attribute: Attribute) -> str:
    categories = attribute.categories or ()
    shown = ", ".join(categories[:5]) + (", ..." if len(categories) > 5 else "")
    return f"{value[:40]!r} is not a category of {attribute.name!r} {{{shown}}}"
