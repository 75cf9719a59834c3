"""Features that no row has: sparse data often have most of them, and their weights are zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def with_used_columns(X: Any) -> tuple[Any, Any]:
    """X without the features that no row has, and which are left; dense X as it is.

    >>> X, used = with_used_columns(sparse.csr_array([[0.0, 2.0, 0.0]]))
    >>> X.toarray().tolist(), used.tolist()
    ([[2.0]], [1])
    """
    if not sparse.issparse(X):
        return X, slice(None)
    used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    return sparse.csr_array(X)[:, used], used


def put_back(weights: np.ndarray, used: Any, n_features: int) -> np.ndarray:
    """Weights (d, L) of all features, from those of the used ones.

    >>> put_back(np.array([[5.0]]), np.array([1]), 3).ravel().tolist()
    [0.0, 5.0, 0.0]
    """
    full = np.zeros((n_features, weights.shape[1]), weights.dtype)
    full[used] = weights
    return full
