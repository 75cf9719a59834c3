"""Statistics of a data set: Table 4 of Rubin et al. (2012), with sizes and sparsity.

Section 4 there defines them. A *label's frequency* is the number of rows that have it; a *label
set* is the whole combination of labels of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.labels import as_binary_csr, distinct_sets
from setwise.errors import DataError


@dataclass(frozen=True)
class Statistics:
    """What a data set looks like, all parts together."""

    n_rows: int
    n_features: int | None  # None where the features are raw text
    n_labels: int
    cardinality: float  # labels per row
    density: float  # cardinality / n_labels
    mean_label_frequency: float
    median_label_frequency: float
    mode_label_frequency: int  # the most common frequency, the smallest of several
    n_distinct_sets: int
    mean_set_frequency: float  # rows per distinct label set
    unique_set_proportion: float  # rows whose label set no other row has
    n_empty_rows: int  # rows without labels
    n_absent_labels: int  # labels without rows
    max_set_size: int
    feature_sparsity: float | None  # share of zeros in X; None where X is not all numbers

    def to_dict(self) -> dict[str, Any]:
        """The statistics by name."""
        return asdict(self)


def statistics(X_parts: Sequence[Any], Y_parts: Sequence[Any]) -> Statistics:
    """The statistics of rows that may come in several parts (train, validation, test).

    >>> statistics([np.eye(3)], [np.array([[1, 0], [1, 1], [1, 0]])]).cardinality
    1.3333333333333333
    """
    Y = sparse.csr_array(sparse.vstack([as_binary_csr(part) for part in Y_parts]))
    n, L = Y.shape
    if not n or not L:
        raise DataError(f"{n} rows of {L} labels have no statistics; bring at least one of each")
    sizes = np.diff(Y.indptr)
    frequency = np.bincount(Y.indices, minlength=L)
    support = distinct_sets(Y)
    cardinality = float(sizes.mean())
    return Statistics(
        n_rows=n,
        n_features=X_parts[0].shape[1] if _is_matrix(X_parts[0]) else None,
        n_labels=L,
        cardinality=cardinality,
        density=cardinality / L,
        mean_label_frequency=float(frequency.mean()),
        median_label_frequency=float(np.median(frequency)),
        mode_label_frequency=int(np.bincount(frequency).argmax()),
        n_distinct_sets=len(support),
        mean_set_frequency=n / len(support),
        unique_set_proportion=float((support.counts == 1).sum() / n),
        n_empty_rows=int((sizes == 0).sum()),
        n_absent_labels=int((frequency == 0).sum()),
        max_set_size=int(sizes.max()),
        feature_sparsity=_sparsity(X_parts),
    )


def _is_matrix(X: Any) -> bool:
    """Whether X has rows and columns, as raw text has not."""
    return len(getattr(X, "shape", ())) == 2


def _sparsity(X_parts: Sequence[Any]) -> float | None:
    if all(sparse.issparse(X) for X in X_parts):
        nonzero = sum(X.count_nonzero() for X in X_parts)
    elif all(isinstance(X, np.ndarray) and _is_matrix(X) for X in X_parts):
        nonzero = sum(np.count_nonzero(X) for X in X_parts)
    else:
        return None
    cells = sum(X.shape[0] * X.shape[1] for X in X_parts)
    return float(1 - nonzero / cells) if cells else None
