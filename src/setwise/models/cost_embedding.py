"""Points whose distances are the square roots of costs: weighted scaling by majorisation.

Each set has two points, one for where it is true and one for where it is predicted, so that a cost
may be another one when the two sets change places (Huang and Lin 2017, the mirroring trick). With
truths a_i (m, M), predictions b_j (m, M), D_ij = sqrt(cost of j where i is true), and weights w_i,
how often set i is true,

    stress = sum over i, j of w_i (|a_i - b_j| - D_ij)^2.

SMACOF (de Leeuw 1977) replaces it by a quadratic function that lies above it and touches it at the
last points, so it never rises. Only pairs of a truth and a prediction count, with the weight of the
truth, which gives each step in closed form; with R_ij = D_ij / |a_i - b_j| and the b_j centred,

    a_i <- [ (sum over j of R_ij) a_i - sum over j of R_ij b_j ] / m
    b_j <- [ (sum over i of w_i R_ij) b_j - sum over i of w_i R_ij a_i + sum over i of w_i a_i ] / w

where w is the sum of the weights, and the last sum has the new a_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

TINY = 1e-12


@dataclass(frozen=True)
class Embedding:
    """Points of the sets as truths and as predictions, (m, M) each, and the stress on the way.

    >>> found = embed(np.array([[0.0, 2.0], [2.0, 0.0]]), np.ones(2), 1)
    >>> abs(found.truths[0] - found.predictions[1]).round(3)
    array([2.])
    """

    truths: np.ndarray
    predictions: np.ndarray
    stress: np.ndarray  # (steps + 1,)


def embed(
    distances: np.ndarray,
    weights: np.ndarray,
    n_dimensions: int,
    *,
    tol: float = 1e-6,
    max_iter: int = 300,
) -> Embedding:
    """Points for wanted distances (m, m), rows being the truths, and weights (m,) over zero.

    It stops where a step lowers the stress by less than ``tol`` of the stress of no embedding, in
    which all points are one, or after ``max_iter`` steps.
    """
    m = len(distances)
    w = weights / weights.mean()
    truths, predictions = _start(distances, n_dimensions)
    scale = float((w[:, None] * distances**2).sum()) or 1.0
    apart = between(truths, predictions)
    stress = [_stress(apart, distances, w)]
    for _ in range(max_iter):
        ratio = distances / np.maximum(apart, TINY)
        ratio[apart < TINY] = 0.0
        new_truths = (ratio.sum(axis=1)[:, None] * truths - ratio @ predictions) / m
        weighted = ratio * w[:, None]
        pull = weighted.sum(axis=0)[:, None] * predictions - weighted.T @ truths
        predictions = (pull + w @ new_truths) / m
        truths = new_truths
        apart = between(truths, predictions)
        stress.append(_stress(apart, distances, w))
        if stress[-2] - stress[-1] <= tol * scale:
            break
    return Embedding(truths, predictions, np.array(stress))


def classical_scaling(distances: np.ndarray, n_dimensions: int) -> np.ndarray:
    """Points (m, M) whose inner products are nearest to those that squared distances ask for.

    The distances (m, m) are symmetric.
    """
    m = len(distances)
    k = min(n_dimensions, m)
    values, vectors = linalg.eigh(_inner_products(distances), subset_by_index=[m - k, m - 1])
    return _widened((vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1], n_dimensions)


def _start(distances: np.ndarray, n_dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of truths and of predictions: the same ones where costs are symmetric."""
    if np.allclose(distances, distances.T):
        points = classical_scaling((distances + distances.T) / 2, n_dimensions)
        return points, points.copy()
    left, values, right = linalg.svd(_inner_products(distances))
    roots = np.sqrt(values[:n_dimensions])
    k = len(roots)
    return _widened(left[:, :k] * roots, n_dimensions), _widened(right[:k].T * roots, n_dimensions)


def _inner_products(distances: np.ndarray) -> np.ndarray:
    """What centred points must have as inner products to be so far apart, (m, m)."""
    squared = distances**2
    rows, columns = squared.mean(axis=1)[:, None], squared.mean(axis=0)
    inner: np.ndarray = -0.5 * (squared - rows - columns + squared.mean())
    return inner


def _widened(points: np.ndarray, n_dimensions: int) -> np.ndarray:
    """The points in as many dimensions as asked for, the last ones zero."""
    wide = np.zeros((len(points), n_dimensions))
    wide[:, : points.shape[1]] = points
    return wide


def between(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Distances of the rows of A (n, M) to those of B (m, M): (n, m).

    >>> between(np.array([[3.0, 0.0]]), np.array([[0.0, 4.0], [3.0, 0.0]]))
    array([[5., 0.]])
    """
    own = np.einsum("nd,nd->n", A, A)[:, None] + np.einsum("nd,nd->n", B, B)
    squared: np.ndarray = own - 2 * (A @ B.T)
    squared[squared < TINY * own] = 0.0  # what is left is rounding
    np.sqrt(squared, out=squared)
    return squared


def _stress(apart: np.ndarray, distances: np.ndarray, w: np.ndarray) -> float:
    return float(np.einsum("i,ij->", w, (apart - distances) ** 2))
