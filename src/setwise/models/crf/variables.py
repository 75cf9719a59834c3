"""Variables in which the loss of a field has a curvature of about one in each direction."""

from __future__ import annotations

import numpy as np

from setwise.learners.design import DenseRows, SparseRows
from setwise.learners.whitening import (
    WORTH_EVALUATIONS,
    Curvature,
    Whitening,
    typical,
)
from setwise.learners.workers import Workers

LEAST_SPREAD = 1e-6
LEAST_SHARE = 1e-9  # of a feature's square, that its variance is taken to have


class CentredScales:
    """Weights by scales of their own, biases for features less their means.

    With W = scale * V, and c the features' means, the biases are scale * V - c.W: what a weight
    adds on average is taken from the bias, which is free, so that neither has to follow the other.
    Magnitudes of weights stay magnitudes of variables.
    """

    def __init__(self, scale: np.ndarray, means: np.ndarray) -> None:
        self.scale, self._means = scale, means  # (d + 1, L), the biases last; (d,)

    def weights(self, V: np.ndarray) -> np.ndarray:
        """W (d + 1, L)."""
        W: np.ndarray = self.scale * V
        W[-1] -= self._means @ W[:-1]
        return W

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """V (d + 1, L)."""
        V = W.copy()
        V[-1] += self._means @ W[:-1]
        V /= self.scale
        return V

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """The gradient in V."""
        pulled = G.copy()
        pulled[:-1] -= self._means[:, None] * G[-1]
        pulled *= self.scale
        return pulled


def whitening_of(
    rows: DenseRows | SparseRows,
    shares: np.ndarray,
    weight: np.ndarray,
    ridge: float,
    workers: Workers,
    *,
    scales_alone: bool,
) -> Whitening:
    """For labels that ``shares`` (L,) of the rows have: one factor for all, or scales of each.

    Magnitudes allow for ``scales_alone``; else the factor is taken if it is worth its price.
    """
    (n, d), L = rows.shape, len(shares)
    spread = np.maximum(shares * (1 - shares), LEAST_SPREAD)
    if scales_alone or n * d**2 > 2 * WORTH_EVALUATIONS * L * rows.size:
        return _centred_scales(rows, spread, weight, ridge)
    ridges = np.full(d + 1, ridge)
    ridges[-1] = 0
    curvature = Curvature(rows, weight, ridges, n_targets=L, workers=workers)
    return curvature.whitening(typical(spread))


def _centred_scales(
    rows: DenseRows | SparseRows, spread: np.ndarray, weight: np.ndarray, ridge: float
) -> CentredScales:
    total, squares = weight.sum(), rows.square_sums(weight)
    means = np.asarray(rows.X.T @ weight.astype(rows.dtype)).astype(np.float64) / total
    variances = np.maximum(squares[:-1] - total * means**2, LEAST_SHARE * squares[:-1])
    bound = np.append(variances, total)[:, None] * spread
    bound[:-1] += ridge
    scale = 1 / np.sqrt(np.maximum(bound, float(np.finfo(rows.dtype).tiny)))
    return CentredScales(scale.astype(rows.dtype), means.astype(rows.dtype))
