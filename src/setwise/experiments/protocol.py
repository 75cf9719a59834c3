"""Which rows teach and which test: the published split, folds, given splits or a random one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data import Dataset, IterativeKFold, holdout
from setwise.errors import DataError
from setwise.experiments.sources import is_path, load, version_of

KINDS = ("published", "folds", "splits", "random")
HELD_OUT = 0.25  # of rows that are split at random, as are a user's that have no test part


@dataclass(frozen=True)
class Protocol:
    """``published``: one split; ``folds``: cross-validation; ``splits``: several given splits.

    Folds are dealt anew for each seed, by iterative stratification, over all rows of a data set;
    so are the two parts of ``random``, of which a quarter tests. Groups stay together.
    """

    kind: str = "published"
    count: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(f"a protocol is {', '.join(KINDS)}, not {self.kind!r}")

    @property
    def numbers(self) -> tuple[int | None, ...]:
        """The parts of a run, each with test rows of its own."""
        return (None,) if self.kind in ("published", "random") else tuple(range(self.count))

    def __str__(self) -> str:
        if self.kind == "folds":
            return f"{self.count}-fold cross-validation, stratified by labels"
        if self.kind == "random":
            return "a random split for each seed, a quarter of all rows for testing"
        return f"{self.count} given splits" if self.kind == "splits" else "the published split"


PUBLISHED, RANDOM = Protocol(), Protocol("random")


def shared_error(n_parts: int) -> float:
    """How many times as large the error over random test parts is as over rows that all differ.

    A row is in each part by a chance of ``HELD_OUT``, and errs alike in all that it is in.

    >>> shared_error(1), round(shared_error(2), 3)
    (1.0, 1.118)
    """
    return float(np.sqrt(1 + (n_parts - 1) * HELD_OUT))


def folds(count: int = 10) -> Protocol:
    """Cross-validation."""
    return Protocol("folds", count)


def given_splits(count: int = 5) -> Protocol:
    """The splits that come with the data."""
    return Protocol("splits", count)


def part_of(name: str, protocol: Protocol, seed: int, number: int | None) -> Dataset:
    """The data set with the training and the test rows of one part of the protocol."""
    if protocol.kind == "splits":
        return load(name, split=number)
    dataset = load(name)
    if protocol.kind == "folds":
        train, test = dealt(name, protocol.count, seed, version_of(name))[number or 0]
        return with_rows(dataset, train, test)
    if protocol.kind == "random":
        return with_rows(dataset, *_held_out(dataset, seed))
    if dataset.Y_test is None:
        if not is_path(name):
            raise DataError(f"{name} has no published split to test on")
        return with_rows(dataset, *_held_out(dataset, 0))
    return dataset


@lru_cache(maxsize=2)
def dealt(
    name: str, count: int, seed: int, version: str = ""
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers of train and test for each fold; rows are counted through both parts."""
    Y, groups = _all_rows(load(name))
    return list(IterativeKFold(count, random_state=seed).split(None, Y, groups))


def _held_out(dataset: Dataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of a random split; rows are counted through both parts."""
    Y, groups = _all_rows(dataset)
    return holdout(Y, test_size=HELD_OUT, groups=groups, random_state=seed)


def _all_rows(dataset: Dataset) -> tuple[sparse.csr_array, np.ndarray | None]:
    """Labels and groups of training rows and, below them, of test rows."""
    parts = [part for part in (dataset.Y_train, dataset.Y_test) if part is not None]
    Y = sparse.vstack([dataset.labels.encode(part) for part in parts], format="csr")
    return Y, _stacked([dataset.groups_train, dataset.groups_test][: len(parts)])


def with_rows(dataset: Dataset, train: np.ndarray, test: np.ndarray) -> Dataset:
    """The data set split anew; rows are counted through both of its parts."""
    has_test = dataset.Y_test is not None
    X = _stacked([dataset.X_train, dataset.X_test] if has_test else [dataset.X_train])
    Y = _stacked([dataset.Y_train, dataset.Y_test] if has_test else [dataset.Y_train])
    groups = _stacked(
        [dataset.groups_train, dataset.groups_test] if has_test else [dataset.groups_train]
    )
    return replace(
        dataset,
        X_train=_taken(X, train),
        Y_train=Y[train],
        X_test=_taken(X, test),
        Y_test=Y[test],
        groups_train=None if groups is None else groups[train],
        groups_test=None if groups is None else groups[test],
        row_names_train=None,
        row_names_test=None,
    )


def _taken(X: Any, rows: np.ndarray) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[row] for row in rows] if isinstance(X, list) else X[rows]


def _stacked(parts: Sequence[Any]) -> Any:
    if any(part is None for part in parts):
        return None
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(list(parts), format="csr"))
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    return np.concatenate([np.asarray(part) for part in parts])
