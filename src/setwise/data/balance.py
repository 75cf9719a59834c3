"""How evenly a split spreads the labels: the measures of the stratification literature.

Sechidis, Tsoumakas and Vlahavas, "On the stratification of multi-label data", 2011, section 4. With
S_j the rows of fold j, S_j^l those with label l, D and D^l the same for all rows:

    label distribution   mean over l, j of  | |S_j^l| / (|S_j| - |S_j^l|) - |D^l| / (|D| - |D^l|) |
    examples             mean over j of     | |S_j| - |D| / folds |
    empty pairs          number of (l, j) without a positive, of the labels that occur
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.data.labels import as_binary_csr


@dataclass(frozen=True)
class FoldBalance:
    """Three measures of a split; zero is best in each."""

    label_distribution: float
    examples: float
    empty_pairs: int


def fold_balance(Y: Any, folds: Sequence[np.ndarray]) -> FoldBalance:
    """How evenly folds share labels and rows; labels that no row or every row has are left out.

    Parameters
    ----------
    Y : label sets of any kind
        A 0/1 matrix, a DataFrame, or a list of sets.
    folds : sequence of integer arrays
        Row numbers of each fold. The label distribution is infinite where a label fills a fold.

    Examples
    --------
    >>> Y = np.array([[1], [0], [1], [0]])
    >>> fold_balance(Y, [np.array([0, 1]), np.array([2, 3])]).label_distribution
    0.0
    """
    Y = as_binary_csr(Y)
    positives = np.stack([Y[fold].sum(axis=0) for fold in folds])  # (folds, L)
    rows = np.array([len(fold) for fold in folds])
    varies = (positives.sum(axis=0) > 0) & (positives.sum(axis=0) < rows.sum())
    positives = positives[:, varies]
    with np.errstate(divide="ignore"):
        odds = positives / (rows[:, None] - positives)
    overall = positives.sum(axis=0) / (rows.sum() - positives.sum(axis=0))
    return FoldBalance(
        label_distribution=float(np.abs(odds - overall).mean()) if varies.any() else 0.0,
        examples=float(np.abs(rows - rows.mean()).mean()),
        empty_pairs=int((positives == 0).sum()),
    )
