"""A multi-label data set: features, label sets, their names, and its published split."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from setwise.data.labels import LabelSpace
from setwise.data.statistics import Statistics, statistics
from setwise.errors import DataError


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and label sets, split as published.

    Where no split is published all rows are train, and ``X_test`` and ``Y_test`` are None.

    Features are an array where the file is dense, CSR where it is sparse, a DataFrame where it is
    a table, and a list of strings where they are text. Labels are a 0/1 array where the file
    writes every 0 and 1, and CSR where it lists the labels that are there.
    """

    name: str
    X_train: Any
    Y_train: Any  # (n, L) 0/1
    label_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None = None
    X_test: Any = None
    Y_test: Any = None
    X_val: Any = None
    Y_val: Any = None
    groups_train: np.ndarray | None = None  # (n,) rows of one group belong together
    groups_test: np.ndarray | None = None
    row_names_train: tuple[str, ...] | None = None
    row_names_test: tuple[str, ...] | None = None
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of nominal features
    skipped: tuple[tuple[int, str], ...] = ()  # (line, problem) of the rows left out on request
    description: str = ""

    def __post_init__(self) -> None:
        for part in ("train", "test", "val"):
            Y = getattr(self, f"Y_{part}")
            for what in ("X", "groups", "row_names"):
                given = getattr(self, f"{what}_{part}", None)
                if given is not None and Y is not None and n_rows(given) != Y.shape[0]:
                    raise DataError(
                        f"{self.name}: {what}_{part} has {n_rows(given)} rows but Y_{part} has "
                        f"{Y.shape[0]}; pass the same rows"
                    )
            if Y is not None and Y.shape[1] != len(self.label_names):
                raise DataError(
                    f"{self.name}: {part} has {Y.shape[1]} label columns but there are "
                    f"{len(self.label_names)} label names"
                )

    def __repr__(self) -> str:
        parts = [
            f"{part} {getattr(self, f'Y_{part}').shape[0]:,}"
            for part in ("train", "val", "test")
            if getattr(self, f"Y_{part}") is not None
        ]
        return f"Dataset({self.name!r}: {', '.join(parts)} rows, {len(self.label_names)} labels)"

    @cached_property
    def labels(self) -> LabelSpace:
        """The label space: names to columns and back."""
        return LabelSpace(self.label_names)

    def statistics(self) -> Statistics:
        """Statistics of all rows together, whatever part they are in."""
        parts = [
            part for part in ("train", "val", "test") if getattr(self, f"Y_{part}") is not None
        ]
        return statistics(
            [getattr(self, f"X_{part}") for part in parts],
            [getattr(self, f"Y_{part}") for part in parts],
        )


def n_rows(X: Any) -> int:
    """The number of rows of an array, a sparse matrix, a DataFrame or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def joined(train: Dataset, test: Dataset) -> Dataset:
    """One data set of two files that belong together; their columns must be the same."""
    if train.label_names != test.label_names or train.feature_names != test.feature_names:
        what = "labels" if train.label_names != test.label_names else "features"
        raise DataError(
            f"{train.name} and {test.name} have different {what}; are they of one data set?"
        )
    return replace(
        train,
        X_test=test.X_train,
        Y_test=test.Y_train,
        groups_test=test.groups_train,
        row_names_test=test.row_names_train,
        skipped=train.skipped + test.skipped,
    )
