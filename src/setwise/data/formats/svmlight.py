"""Multi-label svmlight files: ``label,label,... index:value ...``, also with a size header.

Labels count from 0, features from 1 unless ``zero_based``. A first line of three integers (rows,
features, labels), as the extreme-classification repository writes it, is checked against the rest;
its features count from 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath, read_utf8, write_atomically
from setwise.data.formats.spelling import finite_number
from setwise.data.labels import as_binary_csr
from setwise.data.sparse_rows import canonical_csr, repeated_entries, row_of_entry
from setwise.errors import DataError, FormatError

#: More labels than this must be asked for: a misprinted number would fill the memory with names.
MAX_LABELS = 10_000_000

_SIZE_HEADER = re.compile(rb"[ \t]*(\d{1,12})[ \t]+(\d{1,12})[ \t]+(\d{1,12})[ \t]*\r?\n")


@dataclass(frozen=True)
class SvmlightTable:
    """The two matrices of an svmlight file."""

    X: sparse.csr_array  # (n, d)
    Y: sparse.csr_array  # (n, L) int8


def read_svmlight_table(
    path: StrPath,
    bad_rows: BadRows,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool = False,
    encoding: str = "utf-8",
) -> SvmlightTable:
    """Features and labels of a file; the sizes are the largest indices seen unless given."""
    contents = read_utf8(path, encoding).rstrip(b"\r\n")
    header = _SIZE_HEADER.match(contents)
    start, line = 0, 1
    if header is not None:
        start, line, zero_based = header.end(), 2, True
        declared = tuple(int(size) for size in header.groups())
        n_features, n_labels = n_features or declared[1], n_labels or _declared_labels(path, header)
    rows = _scan(contents, start, line, zero_based, bad_rows)
    n_rows = len(rows.lines) + len(bad_rows.skipped)
    if header is not None and n_rows != declared[0]:
        raise FormatError(
            path,
            f"the header declares {declared[0]} rows, the file has {n_rows}",
            line=1,
            remedy="is the file complete?",
        )
    is_bad = _report_bad_entries(rows, n_features, n_labels, zero_based, bad_rows)
    if is_bad.all():
        raise FormatError(path, "no rows", remedy="is the file complete?")
    # Bad rows may name columns beyond the matrix: leave them out before it is built.
    X = _matrix(rows.values, rows.columns, rows.indptr, ~is_bad, n_features)
    ones = np.ones(len(rows.labels), dtype=np.int8)
    Y = _matrix(ones, rows.labels, rows.label_indptr, ~is_bad, n_labels)
    return SvmlightTable(X, Y)


def write_svmlight(path: StrPath, X: Any, Y: Any, *, zero_based: bool = False) -> None:
    """Write features and labels, all at once or not at all; reading gives the same numbers back.

    A row without labels and features is a line with a single space; some other readers skip it.
    """
    X, Y = _numeric_csr(X), as_binary_csr(Y)
    if X.shape[0] != Y.shape[0]:
        raise DataError(f"X has {X.shape[0]} rows but Y has {Y.shape[0]}; pass the same rows")
    if not np.isfinite(X.data).all():
        raise DataError("svmlight has no spelling for NaN or infinity; fill missing values first")
    base = 0 if zero_based else 1
    features = [
        f"{column}:{value!r}"
        for column, value in zip((X.indices + base).tolist(), X.data.tolist(), strict=True)
    ]
    labels = list(map(str, Y.indices.tolist()))
    with write_atomically(path) as stream:
        for row in range(X.shape[0]):
            its_labels = ",".join(labels[Y.indptr[row] : Y.indptr[row + 1]])
            its_features = " ".join(features[X.indptr[row] : X.indptr[row + 1]])
            stream.write(f"{its_labels} {its_features}\n".encode())


def _numeric_csr(X: Any) -> sparse.csr_array:
    """A copy of the features as canonical CSR of numbers."""
    X = X if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(
            f"svmlight holds a matrix of numbers, got {X.ndim} dimensions of {X.dtype}; "
            "encode text and categories as numbers first, or write CSV"
        )
    X = X.astype(np.int8) if X.dtype == bool else X
    return canonical_csr(sparse.csr_array(X, copy=True))


def _declared_labels(path: StrPath, header: re.Match[bytes]) -> int:
    """How many labels a size header declares, if that is a believable number."""
    count = int(header[3])
    if count > MAX_LABELS:
        remedy = "correct it, or pass labels= if there are so many"
        raise FormatError(path, f"the header declares {count:,} labels", line=1, remedy=remedy)
    return count


@dataclass(frozen=True)
class _Rows:
    """The rows of a file, as the scanner leaves them."""

    label_indptr: np.ndarray  # (n + 1,)
    labels: np.ndarray
    indptr: np.ndarray  # (n + 1,)
    columns: np.ndarray
    values: np.ndarray
    lines: np.ndarray  # (n,)
    bad_values: dict[int, str]  # entry -> its spelling, where it is no finite number


def _scan(contents: bytes, start: int, line: int, zero_based: bool, bad_rows: BadRows) -> _Rows:
    """Run the compiled scanner, and report the rows that it could not take apart."""
    from setwise.data.formats._number_kernel import POWERS_OF_TEN
    from setwise.data.formats._svmlight_kernel import scan

    max_rows = contents.count(b"\n", start) + 1
    max_features = contents.count(b":", start)
    max_labels = contents.count(b",", start) + max_rows
    label_indptr, indptr = np.zeros((2, max_rows + 1), dtype=np.int64)
    labels, columns = np.empty(max_labels, np.int32), np.empty(max_features, np.int32)
    values, lines = np.empty(max_features), np.empty(max_rows, np.int64)
    odd, bad = np.empty((max_features, 3), np.int64), np.empty((max_rows, 3), np.int64)
    n_rows, n_odd, n_bad = scan(
        np.frombuffer(contents, dtype=np.uint8),
        start,
        line,
        0 if zero_based else 1,
        POWERS_OF_TEN,
        bad_rows.skips,
        *(label_indptr, labels, indptr, columns, values, lines, odd, bad),
    )
    for bad_line, code, where in bad[:n_bad].tolist():
        bad_rows.report(bad_line, *_scan_problem(code, contents[where : where + 30]))
    bad_values = {}
    for entry, value_start, value_stop in odd[:n_odd].tolist():
        spelling = contents[value_start:value_stop].decode()
        number = finite_number(spelling)
        if number is None:
            bad_values[entry] = spelling
        else:
            values[entry] = number
    return _Rows(
        label_indptr[: n_rows + 1],
        labels[: label_indptr[n_rows]],
        indptr[: n_rows + 1],
        columns[: indptr[n_rows]],
        values[: indptr[n_rows]],
        lines[:n_rows],
        bad_values,
    )


def _scan_problem(code: int, excerpt: bytes) -> tuple[str, str]:
    """What the scanner's code means, and what to do about it."""
    from setwise.data.formats import _svmlight_kernel as codes

    words = excerpt.decode(errors="replace").split()
    found = repr(words[0] if words else "")
    return {
        codes.BLANK_LINE: (
            "an empty line; a row without labels and features is written as one space",
            "remove the line, or write a space",
        ),
        codes.BAD_LABEL: (
            f"labels are integers from 0 with commas between them, found {found}",
            "number the labels, and keep their names in a separate file",
        ),
        codes.BAD_FEATURE: (f"expected index:value, found {found}", "correct the feature"),
        codes.BAD_INDEX: (
            f"a feature's index is a whole number of at most nine digits, found {found}",
            "correct it",
        ),
        codes.INDEX_ZERO: (
            f"feature index 0 in {found}, but features are counted from 1",
            "pass zero_based=True if this file counts from 0",
        ),
    }[code]


def _report_bad_entries(
    rows: _Rows, n_features: int | None, n_labels: int | None, zero_based: bool, bad_rows: BadRows
) -> np.ndarray:
    """Which rows hold an index out of range, one twice, or no number: bool (n,)."""
    is_bad = np.zeros(len(rows.lines), dtype=bool)

    def report(entry: int, indptr: np.ndarray, problem: str) -> None:
        row = row_of_entry(indptr, entry)
        if not is_bad[row]:
            bad_rows.report(int(rows.lines[row]), problem)
        is_bad[row] = True

    if n_labels is None:
        for entry in np.flatnonzero(rows.labels >= MAX_LABELS).tolist():
            problem = f"label {rows.labels[entry]} would be one of over {MAX_LABELS:,}"
            report(entry, rows.label_indptr, f"{problem}; pass labels= if there are so many")
    base = 0 if zero_based else 1
    for entry, spelling in rows.bad_values.items():
        index = rows.columns[entry] + base
        report(entry, rows.indptr, f"feature {index} is {spelling!r}, not a finite number")
    for kind, entries, indptr, size, first in (
        ("feature", rows.columns, rows.indptr, n_features, base),
        ("label", rows.labels, rows.label_indptr, n_labels, 0),
    ):
        for entry in np.flatnonzero(entries >= size).tolist() if size is not None else ():
            problem = f"{kind} {entries[entry] + first} is out of range: there are {size}"
            report(entry, indptr, f"{problem}, counted from {first}")
        for entry in repeated_entries(entries, indptr).tolist():
            report(entry, indptr, f"{kind} {entries[entry] + first} occurs twice in the row")
    return is_bad


def _matrix(
    values: np.ndarray, columns: np.ndarray, indptr: np.ndarray, keep: np.ndarray, size: int | None
) -> sparse.csr_array:
    """The rows where ``keep`` is True as canonical CSR, as wide as asked or as needed."""
    counts = np.diff(indptr)
    if not keep.all():
        of_kept = np.repeat(keep, counts)
        values, columns, counts = values[of_kept], columns[of_kept], counts[keep]
    if size is None:
        size = int(columns.max()) + 1 if len(columns) else 0
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return canonical_csr(
        sparse.csr_array((values.copy(), columns.copy(), indptr), shape=(len(counts), size))
    )
