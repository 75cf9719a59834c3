"""Features as the learners see them: similar in scale, and for EM in a basis that suits it.

How features are scaled decides more about a mixture than the number of its components, so there is
a default. Dense columns are centred and divided by their deviation, and then all by one number that
makes the mean squared length of a row one. After that the same C means about the same everywhere.

A sparse X is not centred, so that it stays sparse, and its columns (of tf-idf, say) keep their
proportions. But where the entries of a column are more than ``ALIKE`` times as large as is typical,
or as small, they have another unit, which says nothing: they are brought to the typical size.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from setwise.errors import DataError
from setwise.models.cbm.rows import row_pieces
from setwise.storage import storable

SCALES = ("auto", "none")
AS_IS = "as is"  # not even in another precision: trees and other people's classifiers want that
LARGEST_BASIS = 1000  # features: beyond it, finding the basis costs more than it saves
WORTH_LEAVING_OUT = 0.9  # share of features that occur: below it the others are left out
ALIKE = 10.0  # times as large or small: what sparse columns may differ from a typical one
OVERFLOW = 1e-3  # of the number whose square overflows: what is left for sums


@storable
class Scaling:
    """(x - mean) * factor for each feature.

    Parameters
    ----------
    scale : {"auto", "none"}
    dtype : what the learners compute in

    Attributes: ``is_sparse_``: whether the rows were; ``mean_`` (d,) or None, ``factor_``: (d,) or
    a number.
    """

    def __init__(self, scale: str = "auto", dtype: str = "float32") -> None:
        self.scale, self.dtype = scale, dtype

    def fit(self, X: Any, weight: np.ndarray) -> Self:
        """Learn from rows with their weights."""
        if self.scale not in (*SCALES, AS_IS):
            raise DataError(f"scale must be one of {', '.join(SCALES)}, not {self.scale!r}")
        self.is_sparse_ = sparse.issparse(X)
        self.mean_: np.ndarray | None = None
        self.factor_: Any = 1.0
        X = self._as_in_training(X)
        if self.scale == "auto":
            _check_size(X, np.float64, "")
            if sparse.issparse(X):
                self._even_out(X, weight)
            else:
                self._standardise(X, weight / weight.sum())
        return self

    def _standardise(self, X: np.ndarray, share: np.ndarray) -> None:
        pieces = list(row_pieces(len(X)))
        mean, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for rows in pieces:
            mean += share[rows] @ X[rows].astype(np.float64)
        for rows in pieces:
            square += share[rows] @ np.square(X[rows] - mean)
        spread = np.sqrt(square)
        # What varies by no more than rounding is constant: it must not be blown up.
        varies = spread > 100 * np.finfo(X.dtype).eps * np.abs(mean)
        self.mean_ = mean
        self.factor_ = np.zeros_like(spread)
        self.factor_[varies] = 1 / (spread[varies] * np.sqrt(max(varies.sum(), 1)))

    def _even_out(self, X: Any, weight: np.ndarray) -> None:
        d, weights = X.shape[1], np.repeat(weight, np.diff(X.indptr))
        squares = np.bincount(X.indices, np.square(X.data, dtype=np.float64) * weights, minlength=d)
        mass = np.bincount(X.indices, weights, minlength=d)
        occurs = squares > 0
        if not occurs.any():
            return
        size = np.log(squares[occurs] / mass[occurs]) / 2  # of the entries that are there
        apart = size - np.median(size)
        factor = np.ones(d)
        factor[occurs] = np.exp(-np.where(np.abs(apart) > np.log(ALIKE), apart, 0.0))
        whole = float(np.sqrt(weight.sum() / (squares @ np.square(factor))))
        self.factor_ = whole if (factor == 1).all() else factor * whole

    def transform(self, X: Any) -> Any:
        """The rows, scaled, in the precision to compute in; sparse if those of the fit were."""
        X, when = self._as_in_training(X), "" if self.scale == "none" else " after scaling"
        if self.scale == AS_IS:
            _check_range(X)
            return X
        if sparse.issparse(X) or self.mean_ is None:
            scaled = self._scaled(X)
            _check_size(scaled, self.dtype, when)
            return scaled.astype(self.dtype, copy=False)
        found = np.empty(X.shape, self.dtype)
        for rows in row_pieces(len(X)):
            scaled = self._scaled(X[rows])
            _check_size(scaled, self.dtype, when)
            found[rows] = scaled
        return found

    def _scaled(self, X: Any) -> Any:
        if np.ndim(self.factor_) == 0:
            return X if self.factor_ == 1.0 else X * self.factor_
        if self.mean_ is None:
            data = X.data * self.factor_[X.indices]
            return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
        # In X's own precision until the mean is gone: a large one would leave no digits.
        return (X - self.mean_) * self.factor_

    def _as_in_training(self, X: Any) -> Any:
        """The rows, sparse or not as the learners know them; each entry is stored once."""
        if not self.is_sparse_:
            return X.toarray() if sparse.issparse(X) else X
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X


def _check_size(X: Any, dtype: Any, when: str) -> None:
    """Refuse numbers whose sums of squares overflow: no learner would come back with numbers."""
    numbers = X.data if sparse.issparse(X) else X
    largest = float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))
    limit = OVERFLOW * float(np.sqrt(np.finfo(dtype).max))
    if not largest < limit:
        raise DataError(
            f"X has a number as large as {largest:.1e}{when}, and from {limit:.1e} on sums "
            f"overflow in {np.dtype(dtype).name}; look for wrong entries, or divide such features "
            "by a large number"
        )


def _check_range(X: Any) -> None:
    """Refuse numbers that single precision cannot hold: libraries of trees work in it."""
    numbers = X.data if sparse.issparse(X) else X
    largest = float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))
    if largest > float(np.finfo(np.float32).max):
        raise DataError(
            f"X has a number as large as {largest:.1e}, which single precision cannot hold; look "
            "for wrong entries, or divide such features by a large number"
        )


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
    d = X.shape[1]
    gram = np.zeros((d, d))
    for rows in row_pieces(len(X)):
        piece = X[rows].astype(np.float64)
        gram += (piece * weight[rows, None]).T @ piece
    values, vectors = linalg.eigh(gram)
    # Directions in which rows differ by rounding alone; real ones may be small beside the largest.
    least = 10 * d * np.finfo(np.float64).eps * max(float(values[-1]), 1e-300)
    kept: np.ndarray = vectors[:, values > least]
    return kept


def _occurring(X: Any) -> sparse.csr_array | None:
    d = X.shape[1]
    columns = np.flatnonzero(np.bincount(X.indices, minlength=d))
    if len(columns) > WORTH_LEAVING_OUT * d:
        return None
    place = (np.ones(len(columns)), (columns, np.arange(len(columns))))
    return sparse.csr_array(place, shape=(d, len(columns)))
