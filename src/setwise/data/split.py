"""Cross-validation folds and holdouts that give each part its share of every label.

Splitters follow scikit-learn's protocol: hand them to ``cross_val_score`` or ``GridSearchCV`` as
``cv=``. The dealing itself is in ``stratify.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count
from setwise.data.labels import as_binary_csr
from setwise.data.randomness import Seed, as_generator
from setwise.data.stratify import stratify
from setwise.errors import DataError

Split = tuple[np.ndarray, np.ndarray]  # row numbers of train and test, rising


class _TakesGroups:
    """A splitter that asks for ``groups`` where scikit-learn routes metadata."""

    def get_metadata_routing(self) -> Any:
        """What ``split`` asks for, in scikit-learn's terms."""
        # Imported late: to read and split data needs no scikit-learn.
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        request.split.add_request(param="groups", alias=True)
        return request


@dataclass(frozen=True)
class IterativeKFold(_TakesGroups):
    """Folds for cross-validation, stratified over all labels at once.

    Without groups the sizes of two folds differ by one row at most. With groups, rows of one group
    are never separated, and sizes are as even as the groups allow.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    random_state : int, None, RandomState or Generator
        Decides between rows and folds that are otherwise equal.

    Examples
    --------
    >>> Y = [{"beach"}, {"beach"}, {"sunset"}, {"sunset"}, set(), set()]
    >>> folds = IterativeKFold(2).split(None, Y)
    >>> [sum("beach" in Y[row] for row in test) for train, test in folds]
    [1, 1]
    """

    n_splits: int = 5
    _: KW_ONLY
    random_state: Seed = 0

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, at_least=2)

    def get_n_splits(self, X: Any = None, Y: Any = None, groups: Any = None) -> int:
        """The number of folds; the arguments are scikit-learn's and make no difference."""
        return self.n_splits

    def split(self, X: Any, Y: Any, groups: Any = None) -> Iterator[Split]:
        """Row numbers of train and test, one pair a fold.

        Parameters
        ----------
        X : array or None
            Only its length is looked at.
        Y : label sets of any kind
            A 0/1 matrix, a DataFrame, or a list of sets.
        groups : array (n,), optional
            Rows of one group go to one fold.
        """
        Y, groups = _checked(X, Y, groups, n_parts=self.n_splits)
        wanted = np.full(self.n_splits, Y.shape[0] / self.n_splits)
        fold = stratify(Y, wanted, groups=groups, random=as_generator(self.random_state))
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


@dataclass(frozen=True)
class IterativeHoldout(_TakesGroups):
    """Train and test parts, stratified over all labels at once, once or several times over.

    Parameters
    ----------
    test_size : float
        Share of the rows to hold out; rounded up to a whole row, as scikit-learn does.
    n_splits : int
        Number of independent splits.
    random_state : int, None, RandomState or Generator
        Decides between rows and parts that are otherwise equal.

    Examples
    --------
    >>> Y = np.eye(2, dtype=int).repeat(10, axis=0)
    >>> train, test = next(IterativeHoldout(0.2).split(None, Y))
    >>> Y[test].sum(axis=0)
    array([2, 2])
    """

    test_size: float = 0.2
    _: KW_ONLY
    n_splits: int = 1
    random_state: Seed = 0

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, at_least=1)
        if not 0 < self.test_size < 1:
            raise DataError(
                f"test_size is a share of the rows between 0 and 1, not {self.test_size!r}; "
                "divide a number of rows by the rows there are"
            )

    def get_n_splits(self, X: Any = None, Y: Any = None, groups: Any = None) -> int:
        """The number of splits; the arguments are scikit-learn's and make no difference."""
        return self.n_splits

    def split(self, X: Any, Y: Any, groups: Any = None) -> Iterator[Split]:
        """Row numbers of train and test, one pair a split; arguments as in `IterativeKFold`."""
        Y, groups = _checked(X, Y, groups, n_parts=2)
        n = Y.shape[0]
        n_test = min(ceil(self.test_size * n), n - 1)
        wanted = np.array([n - n_test, n_test], dtype=float)
        random = as_generator(self.random_state)
        for _ in range(self.n_splits):
            part = stratify(Y, wanted, groups=groups, random=random)
            yield np.flatnonzero(part == 0), np.flatnonzero(part == 1)


def holdout(Y: Any, *, test_size: float = 0.2, groups: Any = None, random_state: Seed = 0) -> Split:
    """Row numbers of train and test, each with its share of every label.

    Parameters are those of `IterativeHoldout`.

    >>> train, test = holdout(np.ones((10, 1), dtype=int), test_size=0.3)
    >>> len(test)
    3
    """
    return next(IterativeHoldout(test_size, random_state=random_state).split(None, Y, groups))


def _checked(X: Any, Y: Any, groups: Any, *, n_parts: int) -> tuple[sparse.csr_array, Any]:
    """Labels as CSR and groups as an array, once they fit each other and the number of parts."""
    Y = as_binary_csr(Y)
    n = n_units = Y.shape[0]
    if X is not None:
        _check_length("X", X.shape[0] if hasattr(X, "shape") else len(X), n)
    if groups is not None:
        groups = np.asarray(groups)
        _check_length("groups", len(groups), n)
        n_units = len(np.unique(groups))
    if n_units < n_parts:
        kind = "rows" if groups is None else "groups"
        raise DataError(
            f"{n_parts} parts need at least {n_parts} {kind}, but there are {n_units}; "
            f"ask for fewer parts or bring more {kind}"
        )
    return Y, groups


def _check_length(name: str, length: int, n: int) -> None:
    if length != n:
        raise DataError(f"{name} has {length} rows but Y has {n}; pass the same rows in both")
