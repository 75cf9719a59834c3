"""An ARFF file as a data set: its table, divided into features and 0/1 labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.dataset import Dataset
from setwise.data.formats.arff import ArffTable, read_arff_table
from setwise.data.formats.arff_header import Attribute
from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath
from setwise.data.formats.label_columns import LabelsArgument, label_columns, training_rows
from setwise.data.labels import binary_csr
from setwise.data.sparse_rows import canonical_csr
from setwise.errors import FormatError

_YES = {"1", "1.0", "true", "yes", "t", "y", "present"}
_NO = {"0", "0.0", "false", "no", "f", "n", "absent"}


def read_arff(
    path: StrPath, labels: LabelsArgument, bad_rows: BadRows, encoding: str = "utf-8"
) -> Dataset:
    """The data set in an ARFF file, with the split that a MEKA header may declare."""
    table = read_arff_table(path, bad_rows, encoding)
    attributes = table.header.attributes
    columns = label_columns(path, table.header, labels, encoding)
    table, Y = _take_labels(path, table, columns, bad_rows)
    rest = np.setdiff1d(np.arange(len(attributes)), columns)
    features = [attributes[column] for column in rest]
    X = table.values[:, rest]
    dataset = Dataset(
        name=Path(path).name.split(".")[0],
        X_train=canonical_csr(X) if sparse.issparse(X) else X,
        Y_train=Y,
        label_names=tuple(attributes[column].name for column in columns),
        feature_names=tuple(attribute.name for attribute in features),
        categories={
            a.name: a.categories for a in features if a.categories not in (None, ("0", "1"))
        },
        skipped=tuple(bad_rows.skipped),
    )
    split = training_rows(table.header)
    if split is None:
        return dataset
    return _split_at(dataset, split, table.lines, path)


def _take_labels(
    path: StrPath, table: ArffTable, columns: np.ndarray, bad_rows: BadRows
) -> tuple[ArffTable, Any]:
    """The table without rows that lack a label value, and their labels as 0/1."""
    attributes = [table.header.attributes[column] for column in columns]
    is_present = np.array([_code_of_present(path, attribute) for attribute in attributes])
    block = table.values[:, columns]
    stored = block.data if sparse.issparse(block) else block
    is_bad = np.zeros(len(table.lines), dtype=bool)
    for cell in np.argwhere((stored != 0) & (stored != 1)):
        row, label = _place(block, cell)
        value = stored[tuple(cell)]
        shown = "missing" if np.isnan(value) else f"{value:g}"
        problem = f"label {attributes[label].name!r} is {shown}; it must be 0 or 1"
        if not is_bad[row]:
            bad_rows.report(int(table.lines[row]), problem)
        is_bad[row] = True
    if is_bad.all():
        raise FormatError(path, "no row has all its labels", remedy="is the file complete?")
    block, table = block[~is_bad], table.without(is_bad)
    if is_present.all():
        return table, binary_csr(block) if sparse.issparse(block) else block.astype(np.int8)
    dense = block.toarray() if sparse.issparse(block) else block
    Y = (dense == is_present).astype(np.int8)
    return table, binary_csr(Y) if sparse.issparse(block) else Y


def _place(block: Any, cell: np.ndarray) -> tuple[int, int]:
    """The (row, column) of a cell: of an array's, or of a sparse matrix's n-th stored one."""
    if not sparse.issparse(block):
        return int(cell[0]), int(cell[1])
    row = np.searchsorted(block.indptr, cell[0], side="right") - 1
    return int(row), int(block.indices[cell[0]])


def _code_of_present(path: StrPath, attribute: Attribute) -> int:
    """The number, 0 or 1, that means "this label is there"."""
    if attribute.categories is None or not attribute.by_position:
        return 1
    words = [category.lower() for category in attribute.categories]
    if len(words) == 2 and (set(words) & _YES) and (set(words) & _NO):
        return 0 if words[0] in _YES else 1
    raise FormatError(
        path,
        f"label {attribute.name!r} has the categories {{{', '.join(attribute.categories)}}}",
        remedy="a label is {0,1}, {false,true} or {no,yes}; is this attribute a feature?",
    )


def _split_at(dataset: Dataset, split: int, lines: np.ndarray, path: StrPath) -> Dataset:
    """The data set with the first ``split`` rows of its file as train and the others as test."""
    in_file = np.sort(np.concatenate([lines, [line for line, _ in dataset.skipped]]))
    n = len(in_file)
    # Rows that were skipped count, or else test rows would take their places in train.
    n_train = int(np.searchsorted(lines, in_file[split])) if 0 < split < n else 0
    if not 0 < n_train < len(lines):
        raise FormatError(
            path,
            f"the relation declares -split {split}, but there are {n} rows",
            line=1,
            remedy="correct the number, or remove -split",
        )
    return replace(
        dataset,
        X_train=dataset.X_train[:n_train],
        Y_train=dataset.Y_train[:n_train],
        X_test=dataset.X_train[n_train:],
        Y_test=dataset.Y_train[n_train:],
    )
