"""Label names, label sets, and the 0/1 matrices they become.

A *label space* fixes which label stands in which column. Label sets come in many forms: 0/1 arrays,
sparse matrices, DataFrames, lists of sets, lists of strings. All of them become one form inside:
a canonical CSR array ``Y`` (n, L) of int8 ones, with sorted columns and no stored zeros.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from setwise.data.sparse_rows import canonical_csr, repeated_entries, row_of_entry
from setwise.errors import LabelMismatch

Label = Hashable  # a string, or an integer where the source has no names


class LabelSpace:
    """The labels of a problem, in column order.

    Parameters
    ----------
    names : iterable of str or int
        One name per column; no name twice.

    Examples
    --------
    >>> space = LabelSpace(["beach", "sunset", "urban"])
    >>> Y = space.encode([{"sunset", "beach"}, set()])
    >>> Y.toarray()
    array([[1, 1, 0],
           [0, 0, 0]], dtype=int8)
    >>> space.decode(Y)
    [('beach', 'sunset'), ()]
    >>> space.column("urban")
    2
    """

    def __init__(self, names: Iterable[Label]) -> None:
        self.names: tuple[Label, ...] = tuple(_plain(name) for name in names)
        self._columns = {name: column for column, name in enumerate(self.names)}
        if len(self._columns) < len(self.names):
            twice = first_repeated(self.names)
            raise LabelMismatch(
                f"label names must differ, but {twice!r} occurs twice; rename one of the two"
            )

    @classmethod
    def infer(cls, Y: Any, *, separator: str = ",") -> LabelSpace:
        """The label space of ``Y``: its column names, its column numbers, or its sorted labels."""
        if is_matrix(Y):
            _check_two_dimensions(Y)
            return cls(range(Y.shape[1]))
        if is_frame(Y):
            return cls(nw.from_native(Y, eager_only=True).columns)
        found = set(chain.from_iterable(_rows_of_labels(Y, separator)))
        return cls(sorted(found, key=lambda name: (type(name).__name__, name)))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSpace) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.names[:3])) + (", ..." if len(self) > 3 else "")
        return f"LabelSpace([{shown}], {len(self)} labels)"

    def column(self, name: Label) -> int:
        """The column of a label."""
        try:
            return self._columns[_plain(name)]
        except KeyError:
            raise self._unknown(name) from None

    def encode(self, Y: Any, *, separator: str = ",") -> sparse.csr_array:
        """``Y`` as a canonical CSR array (n, L) of int8 ones.

        Parameters
        ----------
        Y : array, sparse matrix, DataFrame, or sequence of label sets
            A matrix holds 0 and 1 only. The columns of a DataFrame are matched by name. A label
            set is any iterable of labels, or a string of labels between separators.
        separator : str
            What stands between the labels of a string.
        """
        if is_frame(Y):
            return self._encode_frame(Y)
        if is_matrix(Y):
            _check_two_dimensions(Y)
            if Y.shape[1] != len(self):
                raise LabelMismatch(
                    f"Y has {Y.shape[1]} columns but there are {len(self)} labels; "
                    "read both with the same label file"
                )
            return binary_csr(Y)
        return self._encode_sets(_rows_of_labels(Y, separator))

    def decode(self, Y: Any) -> list[tuple[Label, ...]]:
        """The label sets of a 0/1 matrix, one tuple of names a row, in column order."""
        Y = self.encode(Y)
        names = np.empty(len(self), dtype=object)
        names[:] = self.names
        flat = names[Y.indices].tolist()
        return [tuple(flat[a:b]) for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)]

    def to_strings(self, Y: Any, *, separator: str = ",") -> list[str]:
        """The label sets as strings, names between separators; refuses names that contain one."""
        texts = [str(name) for name in self.names]
        bad = next((t for t in texts if separator in t or t != t.strip() or not t), None)
        if bad is not None:
            raise LabelMismatch(
                f"label {bad!r} cannot be written between separators {separator!r}; "
                "choose a separator that no label contains, or write 0/1 columns"
            )
        text_of = dict(zip(self.names, texts, strict=True))
        return [separator.join(map(text_of.__getitem__, labels)) for labels in self.decode(Y)]

    def to_frame(self, Y: Any, *, backend: Any) -> Any:
        """The labels as a DataFrame of 0/1 columns; ``backend`` is "pandas" or "polars"."""
        dense = self.encode(Y).toarray()
        columns = {str(name): dense[:, column] for column, name in enumerate(self.names)}
        return nw.from_dict(columns, backend=backend).to_native()

    def _encode_frame(self, frame: Any) -> sparse.csr_array:
        table = nw.from_native(frame, eager_only=True)
        # Columns may have numbers for names: pandas counts them where none are given.
        position = {str(name): place for place, name in enumerate(table.columns)}
        wanted = list(map(str, self.names))
        if position.keys() != set(wanted):
            odd = sorted(position.keys() ^ set(wanted))
            raise LabelMismatch(
                f"the DataFrame's columns are not the {len(self)} labels: {odd[0]!r} is in one "
                "but not in the other; select the label columns first"
            )
        return binary_csr(table.to_numpy()[:, [position[name] for name in wanted]])

    def _encode_sets(self, rows: list[list[Label]]) -> sparse.csr_array:
        sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        try:
            columns = map(self._columns.__getitem__, chain.from_iterable(rows))
            indices = np.fromiter(columns, dtype=np.int32, count=int(indptr[-1]))
        except KeyError as missing:
            raise self._unknown(missing.args[0]) from None
        ones = np.ones(len(indices), dtype=np.int8)
        repeated = repeated_entries(indices, indptr)
        if len(repeated):
            raise LabelMismatch(
                f"row {row_of_entry(indptr, repeated[0])} lists label "
                f"{self.names[indices[repeated[0]]]!r} twice; if this is a 0/1 matrix, "
                "pass it as a numpy array"
            )
        return canonical_csr(sparse.csr_array((ones, indices, indptr), (len(rows), len(self))))

    def _unknown(self, name: object) -> LabelMismatch:
        return LabelMismatch(
            f"{name!r} is not among the {len(self)} labels; "
            "correct it, or build the label space from all rows"
        )


@dataclass(frozen=True, eq=False)
class DistinctSets:
    """The different label sets of a matrix: the *support* of set-valued predictions.

    ``sets[inverse]`` is the matrix again; ``counts`` falls, ties by first occurrence.
    """

    sets: sparse.csr_array  # (m, L)  each set once
    counts: np.ndarray  # (m,)    rows that have it
    inverse: np.ndarray  # (n,)    which set each row has
    first: np.ndarray  # (m,)    the first row that has it

    def __len__(self) -> int:
        return len(self.counts)


def distinct_sets(Y: Any) -> DistinctSets:
    """The distinct rows of a 0/1 matrix with their counts, in O(nnz + n log n).

    Rows are grouped by a 64-bit hash of their columns and then compared entry by entry with the
    first row of their group, so that the answer is exact; a collision only costs another hash.

    >>> support = distinct_sets(np.array([[1, 0], [0, 1], [1, 0]]))
    >>> support.counts
    array([2, 1])
    """
    Y = as_binary_csr(Y)
    for seed in range(64):
        hashes = row_hashes(Y, seed)
        _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        if rows_equal(Y, Y[first[inverse]]).all():
            break
    else:
        raise AssertionError("64 hashes in a row collided")  # pragma: no cover
    counts = np.bincount(inverse, minlength=len(first))
    order = np.lexsort((first, -counts))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return DistinctSets(Y[first[order]], counts[order], position[inverse], first[order])


def row_hashes(Y: sparse.csr_array, seed: int) -> np.ndarray:
    """A 64-bit number for each label set, (n,): equal for equal sets, and hardly for others."""
    random = np.random.default_rng(seed)
    of_label = random.integers(0, 2**64, size=Y.shape[1], dtype=np.uint64, endpoint=False)
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(of_label[Y.indices])])
    hashes: np.ndarray = running[Y.indptr[1:]] - running[Y.indptr[:-1]]  # sums modulo 2**64
    return hashes


def rows_equal(A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
    """Whether each row of ``A`` is the same label set as that row of ``B``: bool (n,)."""
    sizes = np.diff(A.indptr)
    equal: np.ndarray = sizes == np.diff(B.indptr)
    # Compare the entries of equally long rows only: there the two index arrays line up.
    in_equal = np.repeat(equal, sizes)
    in_equal_B = np.repeat(equal, np.diff(B.indptr))
    differs = A.indices[in_equal] != B.indices[in_equal_B]
    rows = np.repeat(np.flatnonzero(equal), sizes[equal])
    equal[rows[differs]] = False
    return equal


def as_binary_csr(Y: Any) -> sparse.csr_array:
    """Label sets of any kind as a canonical 0/1 CSR array; labels of lists are sorted by name."""
    if is_matrix(Y):
        return binary_csr(Y)
    return LabelSpace.infer(Y).encode(Y)


def binary_csr(matrix: Any) -> sparse.csr_array:
    """A 0/1 matrix as a canonical CSR array of int8 ones; refuses any other value."""
    _check_two_dimensions(matrix)
    if sparse.issparse(matrix):
        if _is_canonical(matrix):
            return matrix
        Y = sparse.csr_array(matrix, copy=True)
        Y.sum_duplicates()
        Y.eliminate_zeros()
        values = Y.data
        indices, indptr = Y.indices, Y.indptr
    else:
        dense = np.asarray(matrix)
        nonzero = dense != 0
        values = dense[nonzero]
        indices = np.nonzero(nonzero)[1]
        indptr = np.concatenate([[0], np.cumsum(nonzero.sum(axis=1))])
    wrong = np.flatnonzero(values != 1)
    if len(wrong):
        row = row_of_entry(indptr, wrong[0])
        raise LabelMismatch(
            f"labels are 0 or 1, but row {row}, column {indices[wrong[0]]} holds "
            f"{values[wrong[0]]}; pass label sets, or a matrix of 0 and 1"
        )
    ones = np.ones(len(indices), dtype=np.int8)
    return canonical_csr(sparse.csr_array((ones, indices, indptr), shape=matrix.shape))


def _check_two_dimensions(matrix: Any) -> None:
    if matrix.ndim != 2:
        raise LabelMismatch(
            f"a label matrix has two dimensions (rows, labels), this one has {matrix.ndim}; "
            "reshape a single label to (n, 1)"
        )


def _is_canonical(matrix: Any) -> bool:
    """Whether nothing remains to be done, told in one cheap pass (int8 data is ours)."""
    return (
        isinstance(matrix, sparse.csr_array)
        and matrix.dtype == np.int8
        and matrix.indices.dtype == np.int32
        and matrix.has_canonical_format
        and bool((matrix.data == 1).all())
    )


def is_matrix(Y: Any) -> bool:
    """Whether ``Y`` is an array or a sparse matrix, not a sequence of label sets."""
    if not isinstance(Y, np.ndarray):
        return bool(sparse.issparse(Y))
    return Y.dtype.kind in "biufc" or (Y.dtype == object and Y.ndim == 2)


def is_frame(Y: Any) -> bool:
    """Whether ``Y`` is a DataFrame of some library."""
    return isinstance(nw.from_native(Y, pass_through=True), nw.DataFrame)


def _rows_of_labels(Y: Any, separator: str) -> list[list[Label]]:
    """Any sequence of label sets as lists of plain labels."""
    if isinstance(Y, str) or not isinstance(Y, Iterable):
        raise LabelMismatch(
            f"expected one label set a row (an array, a DataFrame or a list of sets), got "
            f"{type(Y).__name__}; wrap a single set in a list"
        )
    rows = list(Y)
    if _looks_like_a_matrix(rows):
        raise LabelMismatch(
            "lists of 0 and 1, all of one length, may be a 0/1 matrix or label sets; "
            "pass np.array(Y) for a matrix, or tuples for sets of the labels 0 and 1"
        )
    return [_labels_of(row, separator, number) for number, row in enumerate(rows)]


def _looks_like_a_matrix(rows: list[Any]) -> bool:
    """Whether the rows are lists of 0 and 1, all of one length over one."""
    first = rows[0] if rows else None
    return (
        isinstance(first, list)
        and len(first) > 1
        and all(isinstance(row, list) and len(row) == len(first) for row in rows)
        and all(isinstance(cell, int) and cell in (0, 1) for row in rows for cell in row)
    )


def _labels_of(row: Any, separator: str, number: int) -> list[Label]:
    if isinstance(row, str):
        return [label for part in row.split(separator) if (label := part.strip())]
    if isinstance(row, Iterable):
        return [_plain(label) for label in row]
    raise LabelMismatch(
        f"row {number} is {row!r}, not a set of labels; write a single label as [{row!r}]"
    )


def _plain(name: Any) -> Label:
    """A numpy scalar as the Python value it stands for; every other name as it is."""
    plain: Label = name.item() if isinstance(name, np.generic) else name
    return plain


def first_repeated(names: Iterable[Label]) -> Label | None:
    """The first name that stood there before, or None where all differ."""
    seen: set[Label] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
