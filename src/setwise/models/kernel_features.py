"""Features of nearness: a Gaussian kernel seen through a few landmarks (Nyström's method).

    k(x, z) = exp(-|x - z|² / (2 width²))
    φ(x) = K^(-1/2) [k(x, z_1), ..., k(x, z_m)]      K (m, m): the kernel among the landmarks

so that φ(x) . φ(x') is nearly k(x, x'), and exactly so where one of both is a landmark. A linear
model of φ(x) is then a kernel machine, without a kernel between all pairs of rows (Williams and
Seeger 2001). The landmarks are centres of rows, which serve better than rows do (Zhang, Tsang and
Kwok 2008), and there are at most half as many. A row that is far from all others may be one
by itself.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from setwise.decisions.base import row_batches
from setwise.models.cbm.features import Scaling
from setwise.models.lift_centres import k_means, squared_distances, squared_lengths
from setwise.storage import storable

ROUNDS = 10  # of k-means: landmarks need to be spread, not settled
ROUNDING = 1e-12  # of squares whose mean is one
LEAST_SHARE = 1e-8  # of the kernel's largest eigenvalue: smaller ones are rounding


@storable
class KernelFeatures:
    """φ(x) of rows whose features are brought to one scale.

    A ``width`` of one is a typical distance: that at which two rows are, on average of squares,
    over the square root of two. Rows that share a large mean, as sparse ones may, are closer.

    Parameters
    ----------
    n_landmarks : int
    width : float

    Attributes
    ----------
    scaling_ : what brings features to one scale
    landmarks_ : array (m, d), in that scale
    width_ : float, in that scale
    root_ : array (m, m), K^(-1/2)
    """

    def __init__(self, n_landmarks: int = 500, width: float = 1.0) -> None:
        self.n_landmarks = n_landmarks
        self.width = width

    def fit(self, X: Any, weight: np.ndarray, random: np.random.Generator) -> Self:
        """Place the landmarks among rows with their weights, all over zero."""
        self.scaling_ = Scaling("auto", "float64").fit(X, weight)
        X = self.scaling_.transform(X)
        m = n_landmarks_of(X.shape[0], self.n_landmarks)
        self.landmarks_ = k_means(X, m, weight, random, max_iter=ROUNDS)
        self.width_ = self.width * spread_of(X, weight)
        self.root_ = inverse_root(gaussian(self.landmarks_, self.landmarks_, self.width_))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """φ of rows, (n, m)."""
        m = len(self.landmarks_)
        found = np.empty((X.shape[0], m))
        for rows in row_batches(X.shape[0], m if sparse.issparse(X) else m + X.shape[1]):
            scaled = self.scaling_.transform(X[rows])
            found[rows] = gaussian(scaled, self.landmarks_, self.width_) @ self.root_
        return found


def n_landmarks_of(n: int, most: int) -> int:
    """How many landmarks n rows have: two rows or more for each, on average.

    >>> n_landmarks_of(100, most=500), n_landmarks_of(10_000, most=500)
    (50, 500)
    """
    return min(most, max(n // 2, 1))


def spread_of(X: Any, weight: np.ndarray) -> float:
    """The root of the mean squared distance of weighted rows (n, d) to their mean; 1 if that is 0.

    >>> spread_of(np.array([[7.0], [9.0]]), np.ones(2))
    1.0
    """
    share = weight / weight.sum()
    mean = np.asarray(X.T @ share).ravel()
    squared = float(share @ squared_lengths(X)) - float(mean @ mean)
    return float(np.sqrt(squared)) if squared > ROUNDING else 1.0


def gaussian(X: Any, Z: np.ndarray, width: float) -> np.ndarray:
    """The kernel between rows (n, d) and landmarks (m, d): (n, m).

    >>> gaussian(np.array([[0.0], [2.0]]), np.zeros((1, 1)), width=1.0).round(3).tolist()
    [[1.0], [0.135]]
    """
    return np.asarray(np.exp(squared_distances(X, Z) / (-2 * width**2)))


def inverse_root(K: np.ndarray) -> np.ndarray:
    """K^(-1/2) of a symmetric K (m, m), on the directions in which it is more than rounding.

    The symmetric root, not a triangular one or one in the basis of eigenvectors: its features are
    alike in size, so that a model which scales them does no harm.
    """
    values, vectors = linalg.eigh(K)
    kept = values > LEAST_SHARE * values[-1]
    root: np.ndarray = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return root
