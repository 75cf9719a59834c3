"""A bank's problem, ready to be solved: rows without the idle ones, targets, weights, strengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.errors import DataError


@dataclass(frozen=True)
class BankProblem:
    """L binary targets that share their rows."""

    X: Any  # (n, d) array or canonical CSR array, of the precision to work in
    T: Any  # (n, L) array or CSC array
    weight: np.ndarray  # (n, 1) or (n, L)
    C: np.ndarray  # (L,)
    bias: str  # "free", "penalised" or "none"

    @property
    def n_targets(self) -> int:
        """L."""
        return len(self.C)

    @cached_property
    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """The weight of each target, and the part of it that is positive, (L,) each."""
        total = np.broadcast_to(self.weight.sum(axis=0), self.n_targets)
        if self.weight.shape[1] == 1 and sparse.issparse(self.T):
            return total, np.asarray(self.T.T @ self.weight)[:, 0]
        if self.weight.shape[1] == 1:
            # No matrix product: threads of BLAS would go on waiting for work, and take a core.
            return total, np.einsum("nl,n->l", self.T, self.weight[:, 0])
        weighted = self.T.multiply(self.weight) if sparse.issparse(self.T) else self.T * self.weight
        return total, np.asarray(weighted.sum(axis=0)).ravel()

    def taken(self, targets: np.ndarray) -> BankProblem:
        """The problem of some of the targets."""
        if len(targets) == self.n_targets:
            return self
        weight = self.weight if self.weight.shape[1] == 1 else self.weight[:, targets]
        return replace(self, T=self.T[:, targets], weight=weight, C=self.C[targets])

    def dense_targets(self, targets: slice = slice(None)) -> np.ndarray:
        """Some columns of T as an array, in the precision of X."""
        T = self.T[:, targets]
        dense: np.ndarray = (T.toarray() if sparse.issparse(T) else T).astype(self.X.dtype)
        return dense


def without_idle_rows(X: Any, T: Any, weight: np.ndarray) -> tuple[Any, Any, np.ndarray]:
    """X, T and weights without the rows that weigh nothing for any target."""
    busy = weight.any(axis=1)
    return (X, T, weight) if busy.all() else (X[busy], T[busy], weight[busy])


def in_precision(X: Any, dtype: Any, *, check_size: bool = True) -> Any:
    """X in the precision to work in; None: its own, without a copy.

    Looking for entries whose squares would overflow costs a pass over X.
    """
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise DataError(f"dtype must be float32, float64 or None, not {dtype!r}; pass one of these")
    dtype = np.dtype(dtype or X.dtype)
    if check_size:
        _check_size(X, dtype)
    return X.astype(dtype, copy=False)


def in_single_precision(X: Any) -> Any:
    """X in single precision, or as it is where that would not hold the sums of its squares."""
    fits = _largest(X) <= _most(np.dtype(np.float32))
    return X.astype(np.float32, copy=False) if fits else X


def _largest(X: Any) -> float:
    """The largest magnitude of its entries."""
    entries = X.data if sparse.issparse(X) else X
    return max(float(entries.max(initial=0)), -float(entries.min(initial=0)))


def _most(dtype: np.dtype) -> float:
    """Entries up to here have squares that can be added up."""
    most: float = float(np.finfo(dtype).max) ** 0.4
    return most


def _check_size(X: Any, dtype: np.dtype) -> None:
    largest = _largest(X)
    if largest > _most(dtype):
        raise DataError(
            f"X holds {largest:.1g}, and sums of its squares would overflow {dtype}; "
            "scale the features to similar size"
        )


def check_strength(C: Any, n_targets: int) -> np.ndarray:
    """C as (L,): positive and finite."""
    try:
        given = np.asarray(C)
    except ValueError:  # lists of several lengths
        given = np.asarray(None)
    if given.dtype.kind not in "biuf":  # a word such as "auto", or None
        raise DataError(f"C is a number over zero, not {C!r}; a smaller C shrinks more")
    strengths = given.astype(np.float64)
    if strengths.shape not in ((), (n_targets,)):
        raise DataError(
            f"C has shape {strengths.shape}; expected a number, or one for each of {n_targets} "
            "targets"
        )
    if not (np.isfinite(strengths) & (strengths > 0)).all():
        raise DataError(f"C must be positive and finite, not {C!r}; a smaller C shrinks more")
    return np.broadcast_to(strengths, n_targets).copy()
