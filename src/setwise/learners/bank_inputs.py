"""What learners take at the door: rows, targets and weights, checked once.

Rows X (n, d) stay in the container they came in, an array or CSR. Targets T are (n, L) in [0, 1],
or (n, K) with rows that sum to one. Weights are none, (n,) or (n, L).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.errors import DataError

# Rows of soft targets come out of floating-point normalisation, at times in single precision.
SUM_TOLERANCE = 1e-4


def check_rows(X: Any, n_features: int | None = None) -> Any:
    """X (n, d) as a float array or a CSR array, finite; float32 stays float32.

    >>> check_rows([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    X = _csr(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"X must be (rows, features), not of shape {X.shape}; reshape it")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not _all_finite(X):
        raise DataError("X holds a NaN or an infinity; fill in missing values first")
    if n_features is not None and X.shape[1] != n_features:
        raise DataError(
            f"X has {X.shape[1]} features but the learner was fitted on {n_features}; "
            "pass the same columns as in fit"
        )
    return X


def check_targets(T: Any, n_rows: int, n_targets: int | None = None) -> Any:
    """T (n, L) in [0, 1] as a float array or a CSC array; one target may come as (n,)."""
    T = check_values(T, n_rows, n_targets)
    values = T.data if sparse.issparse(T) else T
    if values.min(initial=0) < 0 or values.max(initial=0) > 1:
        raise DataError("targets must lie in [0, 1]; scale them, or pass 0 and 1")
    return T


def check_values(T: Any, n_rows: int, n_targets: int | None = None) -> Any:
    """T (n, L) of any finite values, as a float array or a CSC array."""
    T = sparse.csc_array(T, dtype=np.float64) if sparse.issparse(T) else _matrix(T)
    if T.ndim != 2:
        raise DataError(f"T must be (rows, targets), not of shape {T.shape}; reshape it")
    if T.shape[0] != n_rows:
        raise DataError(f"T has {T.shape[0]} rows but X has {n_rows}; pass one target row per row")
    if n_targets is not None and T.shape[1] != n_targets:
        raise DataError(
            f"T has {T.shape[1]} targets but the fitted state has {n_targets}; "
            "pass the same targets, or set warm_start=False"
        )
    if not _all_finite(T):
        raise DataError("targets hold a NaN or an infinity; leave such rows out")
    return T


def check_distributions(T: Any, n_rows: int, n_classes: int | None = None) -> np.ndarray:
    """T (n, K) as an array with rows that sum to one."""
    T = check_targets(T, n_rows, n_classes)
    dense: np.ndarray = T.toarray() if sparse.issparse(T) else T
    off = np.abs(dense.sum(axis=1) - 1)
    if off.max(initial=0) > SUM_TOLERANCE:
        raise DataError(
            f"row {off.argmax()} of T sums to {dense[off.argmax()].sum():g}, not to 1; "
            "a gate learns from distributions: divide each row by its sum"
        )
    return dense


def check_classes(T: Any, n_rows: int, n_classes: int | None = None) -> np.ndarray:
    """What a gate learns from: distributions (n, K), or the class of each row, (n,).

    A sparse T in which every row is of one class wholly is never made dense.
    """
    if not sparse.issparse(T):
        return check_distributions(T, n_rows, n_classes)
    T = sparse.csr_array(check_values(T, n_rows, n_classes))
    T.eliminate_zeros()
    if T.nnz != n_rows or not (np.diff(T.indptr) == 1).all() or not (T.data == 1).all():
        return check_distributions(T, n_rows, n_classes)
    classes: np.ndarray = T.indices.astype(np.int64)
    return classes


def class_shares(T: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
    """The share (K,) of each class in the weight (n, 1), of what ``check_classes`` returns."""
    if T.ndim == 2:
        mass = (T.T @ weight)[:, 0]
    else:
        mass = np.bincount(T, weight[:, 0], minlength=n_classes)
    shares: np.ndarray = mass / weight.sum()
    return shares


def check_weights(sample_weight: Any, n_rows: int, n_targets: int) -> np.ndarray:
    """Row weights as a float array, (n, 1) where all targets share them, else (n, L)."""
    if n_rows == 0:
        raise DataError("there are no rows to learn from; pass at least one")
    if sample_weight is None:
        return np.ones((n_rows, 1))
    weight = _matrix(sample_weight)
    if weight.shape not in ((n_rows, 1), (n_rows, n_targets)):
        raise DataError(
            f"sample_weight has shape {np.shape(sample_weight)}; expected ({n_rows},) or "
            f"({n_rows}, {n_targets})"
        )
    if not np.isfinite(weight).all() or weight.min(initial=0) < 0:
        raise DataError("sample_weight must be finite and not negative; correct the weights")
    if not weight.sum(axis=0).all():
        raise DataError("the weights of a target are all zero; leave that target out")
    return weight


def trusted_weights(sample_weight: np.ndarray | None, n_rows: int) -> np.ndarray:
    """What ``check_weights`` would return, of weights that are known to pass."""
    if sample_weight is None:
        return np.ones((n_rows, 1))
    return sample_weight[:, None] if sample_weight.ndim == 1 else sample_weight


def check_scores(scores: Any, n_columns: int | None = None) -> np.ndarray:
    """Scores (n, L) as a finite float array."""
    array: np.ndarray = np.asarray(scores, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(f"scores must be (rows, columns), not of shape {array.shape}; reshape them")
    if n_columns is not None and array.shape[1] != n_columns:
        raise DataError(
            f"there are {array.shape[1]} columns of scores, {n_columns} in fit; pass the same ones"
        )
    if not np.isfinite(array).all():
        raise DataError("scores hold a NaN or an infinity; clip log-odds before calibrating them")
    return array


def column(matrix: Any, number: int) -> np.ndarray:
    """One column (n,) of an array or of a CSC array; of a single column, always that one."""
    number = 0 if matrix.shape[1] == 1 else number
    if not sparse.issparse(matrix):
        return np.ascontiguousarray(matrix[:, number])
    part = slice(matrix.indptr[number], matrix.indptr[number + 1])
    dense = np.zeros(matrix.shape[0])
    dense[matrix.indices[part]] = matrix.data[part]
    return dense


def smoothed_log_odds(positive: Any, total: Any) -> Any:
    """Log-odds of (positive + 1/2) / (total + 1): finite for targets that are all 0 or all 1.

    >>> float(smoothed_log_odds(0.0, 1.0).round(3))
    -1.099
    """
    return np.log(positive + 0.5) - np.log(total - positive + 0.5)


def is_constant(positive: Any, total: Any) -> Any:
    """Whether a target is 0, or 1, in every row that has weight."""
    return (positive <= 0) | (positive >= total * (1 - 1e-12))


def share_of_absent(mass: np.ndarray) -> np.ndarray:
    """Probability (K,) of classes without mass, half a row each out of all and one more; else 0.

    >>> share_of_absent(np.array([3.0, 0.0])).tolist()
    [0.0, 0.125]
    """
    absent = mass <= 0
    share = 0.5 / (mass.sum() + 0.5 * (absent.sum() + 1))
    return np.where(absent, share, 0.0)


def _csr(X: Any) -> Any:
    """X as CSR without repeated entries, and with the 32-bit indices that solvers insist on."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(X.nnz, *X.shape) < 2**31:
        indices, starts = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = sparse.csr_array((X.data, indices, starts), X.shape)
    return X


def _all_finite(matrix: Any) -> bool:
    """Whether there is no NaN and no infinity: their sum tells, unless it overflows."""
    entries = matrix.data if sparse.issparse(matrix) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(entries.sum()) or np.isfinite(entries).all())


def _matrix(values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
