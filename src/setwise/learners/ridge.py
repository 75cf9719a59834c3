"""Ridge regression of many targets at once, in features or in rows, whichever are fewer.

    min over W, b   C sum over i of weight_i |x_i W + b - z_i|^2  +  |W|^2 / 2

b is free: centred targets and features have none. Sparse features are centred implicitly.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from setwise.storage import storable


@storable
class RidgeRegression:
    """Linear regression with an L2 penalty on the weights.

    Parameters
    ----------
    C : float
        Inverse strength of the penalty; scikit-learn's ``alpha`` is 1 / (2 C).

    Attributes
    ----------
    weights_ : array (d, M); intercept_ : array (M,)

    Examples
    --------
    >>> model = RidgeRegression(C=1e6).fit(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]]))
    >>> model.predict(np.array([[2.0]])).round(3)
    array([[5.]])
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, Z: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Learn from X (n, d), dense or sparse, and targets Z (n, M)."""
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        X, Z, weight = (part[weight > 0] for part in (X, Z, weight))
        share = weight / weight.sum()
        mean_x, mean_z = np.asarray(share @ X), share @ Z
        targets, alpha = Z - mean_z, 1 / (2 * self.C)
        solve = _in_rows if X.shape[0] <= X.shape[1] else _in_features
        self.weights_ = solve(X, mean_x, targets, weight, alpha)
        self.intercept_ = mean_z - mean_x @ self.weights_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The regressed targets, (n, M)."""
        found: np.ndarray = np.asarray(X @ self.weights_) + self.intercept_
        return found


def _in_features(
    X: Any, mean: np.ndarray, targets: np.ndarray, weight: np.ndarray, alpha: float
) -> np.ndarray:
    """(X' V X + alpha)^-1 X' V Z of centred rows, V the weights."""
    weighted = _scaled_rows(X, weight)
    gram = _dense(X.T @ weighted) - weight.sum() * np.outer(mean, mean)
    gram[np.diag_indices_from(gram)] += alpha
    moment = np.asarray(X.T @ (weight[:, None] * targets))  # targets are centred: no mean to take
    return np.asarray(linalg.solve(gram, moment, assume_a="pos"))


def _in_rows(
    X: Any, mean: np.ndarray, targets: np.ndarray, weight: np.ndarray, alpha: float
) -> np.ndarray:
    """X' U (U X X' U + alpha)^-1 U Z of centred rows, U the roots of the weights."""
    root = np.sqrt(weight)
    cross = np.asarray(X @ mean)
    gram = _dense(X @ X.T) - cross - cross[:, None] + mean @ mean
    gram *= root * root[:, None]
    gram[np.diag_indices_from(gram)] += alpha
    dual = root[:, None] * linalg.solve(gram, root[:, None] * targets, assume_a="pos")
    return np.asarray(X.T @ dual) - np.outer(mean, dual.sum(axis=0))


def _scaled_rows(X: Any, by: np.ndarray) -> Any:
    return sparse.diags_array(by) @ X if sparse.issparse(X) else by[:, None] * X


def _dense(product: Any) -> np.ndarray:
    return np.asarray(product.toarray() if sparse.issparse(product) else product)
