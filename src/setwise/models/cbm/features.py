"""Features as the learners see them: similar in scale, and for EM in a basis that suits it.

How features are scaled decides more about a mixture than the number of its components, so there is
a default. Dense columns are centred and divided by their deviation, and then all by one number that
makes the mean squared length of a row one; of a sparse X only the last, so that it stays sparse and
its columns (of tf-idf, say) keep their proportions. After that the same C means about the same
everywhere.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from setwise.errors import DataError
from setwise.storage import storable

SCALES = ("auto", "none")
LARGEST_BASIS = 1000  # features: beyond it, finding the basis costs more than it saves
WORTH_LEAVING_OUT = 0.9  # share of features that occur: below it the others are left out


@storable
class Scaling:
    """(x - mean) * factor for each feature.

    Parameters
    ----------
    scale : {"auto", "none"}
    dtype : what the learners compute in

    Attributes: ``mean_`` (d,) or None, ``factor_``: (d,) or a number.
    """

    def __init__(self, scale: str = "auto", dtype: str = "float32") -> None:
        self.scale, self.dtype = scale, dtype

    def fit(self, X: Any, weight: np.ndarray) -> Self:
        """Learn from rows with their weights."""
        if self.scale not in SCALES:
            raise DataError(f"scale must be one of {', '.join(SCALES)}, not {self.scale!r}")
        self.mean_: np.ndarray | None = None
        self.factor_: Any = 1.0
        if self.scale == "auto":
            if sparse.issparse(X):
                squares = (X.data.astype(np.float64) ** 2) @ np.repeat(weight, np.diff(X.indptr))
                self.factor_ = float(np.sqrt(weight.sum() / squares)) if squares > 0 else 1.0
            else:
                self._standardise(X, weight / weight.sum())
        return self

    def _standardise(self, X: np.ndarray, share: np.ndarray) -> None:
        mean: np.ndarray = share @ X.astype(np.float64, copy=False)
        spread = np.sqrt(share @ np.square(X - mean))
        # What varies by no more than rounding is constant: it must not be blown up.
        varies = spread > 100 * np.finfo(X.dtype).eps * np.abs(mean)
        self.mean_ = mean
        self.factor_ = np.zeros_like(spread)
        self.factor_[varies] = 1 / (spread[varies] * np.sqrt(max(varies.sum(), 1)))

    def transform(self, X: Any) -> Any:
        """The rows, scaled, in the precision to compute in."""
        if self.mean_ is None and isinstance(self.factor_, float) and self.factor_ == 1.0:
            return X.astype(self.dtype, copy=False)
        if sparse.issparse(X):
            return (X * self.factor_).astype(self.dtype)
        # In X's own precision until the mean is gone: a large one would leave no digits.
        scaled: np.ndarray = ((X - self.mean_) * self.factor_).astype(self.dtype)
        return scaled


def working_basis(X: Any, weight: np.ndarray) -> Any:
    """The coordinates that linear learners work in, as a matrix (d, r); None: the features.

    For a sparse X, the features that occur, if many do not: a sparse matrix of zeros and ones. For
    a dense one, an orthogonal matrix Q such that the columns of X Q are uncorrelated and none is
    zero. L2 penalties do not change under either, and in the latter the curvature of all problems
    is nearly diagonal; where there are very many features it would not pay.
    """
    if sparse.issparse(X):
        return _occurring(X)
    if X.shape[1] > LARGEST_BASIS:
        return None
    gram = (X * weight[:, None].astype(X.dtype)).T @ X
    values, vectors = linalg.eigh(gram.astype(np.float64))
    least = np.finfo(X.dtype).eps * max(X.shape) * max(float(values[-1]), 1e-300)
    kept: np.ndarray = vectors[:, values > least]
    return kept


def _occurring(X: Any) -> sparse.csr_array | None:
    d = X.shape[1]
    columns = np.flatnonzero(np.bincount(X.indices, minlength=d))
    if len(columns) > WORTH_LEAVING_OUT * d:
        return None
    place = (np.ones(len(columns)), (columns, np.arange(len(columns))))
    return sparse.csr_array(place, shape=(d, len(columns)))
