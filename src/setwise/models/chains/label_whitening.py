"""Variables in which regressions on features and on a part of the labels have curvature one.

With (b, W, V) = R U for an upper triangular R, a target without the last labels in U is without
them in V: one factor serves all places of a chain, whose parents are a prefix of the labels. Where
parents are no prefix, R mixes no label with another.

Solvers keep biases last; in U they stand first, as every target has one.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from setwise.learners.whitening import Diagonal, Triangular, Whitening
from setwise.learners.workers import Workers

BLOCK = 256  # rows of a factor's product that a thread takes at a time
# Of a diagonal, beside ones. At the minimum most rows are sure, and few of a feature's rows bend
# the loss: with the whole diagonal frequent features are slow, and steps are twice as many on
# bibtex, enron and yahoo_arts; without any, features of very different scale hardly converge.
DIAGONAL_SHARE = 1 / 64


class BiasFirst:
    """A change of variables for weights (D + 1, m) whose biases stand last, in W as in G."""

    def __init__(self, inner: Whitening) -> None:
        self._inner = inner
        self.exact = not isinstance(inner, Diagonal)  # whether its gradients make Newton steps

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V."""
        return np.roll(self._inner.weights(V), -1, axis=0)

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """V such that R V = W."""
        return self._inner.inverse(np.roll(W, 1, axis=0))

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""
        return self._inner.gradient(np.roll(G, 1, axis=0))

    def plain_gradient(self, G: np.ndarray) -> np.ndarray:
        """The gradient in W of one in V, where R is diagonal: R^-1 is its own transpose."""
        return np.roll(self._inner.inverse(G), -1, axis=0)


def whitening_for(
    hessian: np.ndarray, n_features: int, prefix: bool, dtype: np.dtype, workers: Workers
) -> BiasFirst:
    """By a curvature (D + 1, D + 1) of features, labels and biases, or by its diagonal (D + 1,).

    ``prefix`` tells whether the parents of every target are the first so many labels.
    """
    if hessian.ndim == 1:
        return BiasFirst(Diagonal(1 + DIAGONAL_SHARE * np.roll(hessian, 1), dtype))
    bound = np.roll(hessian, (1, 1), axis=(0, 1))
    if not prefix:
        return BiasFirst(LabelsApart(bound, 1 + n_features, dtype))
    blocks = len(bound) > BLOCK
    return BiasFirst(InBlocks(bound, dtype, workers) if blocks else Triangular(bound, dtype))


class InBlocks(Triangular):
    """A factor whose products leave out most of its zeros, and are shared among threads."""

    def __init__(self, bound: np.ndarray, dtype: np.dtype, workers: Workers) -> None:
        super().__init__(bound, dtype)
        self._workers = workers
        D = len(bound)
        self._blocks = [(start, min(start + BLOCK, D)) for start in range(0, D, BLOCK)]

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V, where R is upper triangular."""
        W = np.empty_like(V)

        def block(span: tuple[int, int]) -> None:
            first, last = span
            np.matmul(self._inverse[first:, first:last].T, V[first:], out=W[first:last])

        self._workers.map(block, self._blocks)
        return W

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""
        pulled = np.empty_like(G)

        def block(span: tuple[int, int]) -> None:
            first, last = span
            np.matmul(self._inverse[first:last, :last], G[:last], out=pulled[first:last])

        self._workers.map(block, self._blocks)
        return pulled


class LabelsApart:
    """R that makes the curvature of features one, and that of each label given the features.

    With H in blocks of features and labels and F F' = H_xx, R' H R is the identity but for how
    labels curve together: exact for a target with one parent.
    """

    def __init__(self, bound: np.ndarray, n_features: int, dtype: np.dtype) -> None:
        f, D = n_features, len(bound)
        features = Triangular(bound[:f, :f].copy(), np.dtype(np.float64))
        pulled = features.gradient(bound[:f, f:])  # F^-1 H_xy
        left = np.diag(bound)[f:] - (pulled**2).sum(axis=0)
        scale = 1 / np.sqrt(np.maximum(left, 1e-9 * np.diag(bound)[f:].max()))
        R = np.zeros((D, D))
        R[:f, :f] = features.weights(np.eye(f))
        R[:f, f:] = -features.weights(pulled) * scale
        R[np.arange(f, D), np.arange(f, D)] = scale
        self._R = R.astype(dtype)
        self._inverse = linalg.solve_triangular(R, np.eye(D)).astype(dtype)

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V."""
        W: np.ndarray = self._R @ V
        return W

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """V such that R V = W."""
        V: np.ndarray = self._inverse @ W
        return V

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""
        pulled: np.ndarray = self._R.T @ G
        return pulled
