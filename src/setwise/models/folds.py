"""Rows dealt out into folds, for answers about rows that a model has not seen."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from setwise.data.split import IterativeKFold


def n_units(weight: np.ndarray | None, groups: np.ndarray | None, n_rows: int) -> int:
    """How many rows with weight, or groups of them, there are to deal out."""
    counted = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    return len(counted) if groups is None else len(np.unique(groups[counted]))


def dealt_out(
    Y: sparse.csr_array,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    n_folds: int,
    random_state: int | None,
) -> np.ndarray:
    """The fold of each row, (n,), for two rows with weight, or groups of them, or more.

    Rows with weight are dealt out as if there were no others; these go where their group is, or to
    the first fold.
    """
    n = Y.shape[0]
    counted = np.arange(n) if weight is None else np.flatnonzero(weight)
    part = np.zeros(n, dtype=np.int64)
    folds = IterativeKFold(min(n_folds, n_units(weight, groups, n)), random_state=random_state)
    own = None if groups is None else groups[counted]
    for number, (_, inside) in enumerate(folds.split(None, Y[counted], own)):
        part[counted[inside]] = number
    if groups is None:
        return part
    group = np.unique(groups, return_inverse=True)[1]
    fold_of_group = np.zeros(group.max() + 1, dtype=np.int64)
    fold_of_group[group[counted]] = part[counted]
    return np.asarray(fold_of_group[group])
