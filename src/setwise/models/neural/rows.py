"""Rows as tensors: standardised, a batch at a time, sparse ones made dense only then."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from setwise.errors import DataError

LEAST_SPREAD = 1e-9  # of a feature, below which it is constant


class Rows:
    """Features (n, d), labels (n, L) and weights (n,) of which batches are taken."""

    def __init__(
        self,
        X: Any,
        centre: np.ndarray,
        scale: np.ndarray,
        device: torch.device,
        Y: sparse.csr_array | None = None,
        weight: np.ndarray | None = None,
    ) -> None:
        self._X, self._Y = X, Y
        self._centre, self._scale = centre, scale
        self._device = device
        self._weight = np.ones(X.shape[0]) if weight is None else weight / weight[weight > 0].mean()

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def features(self, rows: np.ndarray) -> torch.Tensor:
        """Standardised features of some rows, (m, d)."""
        x = self._X[rows]
        x = x.toarray() if sparse.issparse(x) else x
        return self._tensor((x - self._centre) * self._scale)

    def labels(self, rows: np.ndarray) -> torch.Tensor:
        """0/1 labels of some rows, (m, L)."""
        if self._Y is None:
            raise ValueError("these rows have no labels")
        return self._tensor(self._Y[rows].toarray())

    def weights(self, rows: np.ndarray) -> torch.Tensor:
        """How much some rows count, one in the mean of all rows, (m,)."""
        return self._tensor(self._weight[rows])

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=self._device)


def feature_scale(X: Any, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """What to take from features, and what to multiply them with, (d,) each.

    Dense features are standardised. Sparse ones keep their zeros, and share one factor that brings
    the entries which are there to about one. Rows count by their weight (n,), which is over zero.
    """
    d = X.shape[1]
    if sparse.issparse(X):
        entries = None if weight is None else np.repeat(weight, np.diff(X.indptr))
        squares = np.square(X.data, dtype=np.float64)
        size = np.sqrt(np.average(squares, weights=entries)) if X.nnz else 1.0
        return np.zeros(d), np.full(d, 1 / max(size, LEAST_SPREAD))
    X = np.asarray(X, np.float64)
    centre = np.average(X, axis=0, weights=weight)
    spread = np.sqrt(np.average(np.square(X - centre), axis=0, weights=weight))
    constant = spread <= LEAST_SPREAD * np.maximum(np.abs(X).max(axis=0), 1e-300)
    return centre, np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread))


def chosen_device(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise DataError(f'device is "auto", "cpu" or "cuda", not {name!r}') from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DataError(
            f'device is {name!r}, but PyTorch finds no GPU of that kind here; use "auto" or "cpu"'
        )
    return device
