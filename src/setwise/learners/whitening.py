"""Changes of variables after which losses have curvature of about one in all directions.

A logistic loss has the Hessian X' diag(w p (1 - p)) X + ridge. Böhning (1992) bounds p (1 - p) by
1/4 (and its like in a softmax by 1/2), which yields one matrix for all targets and all weights, and
so one Cholesky factor R with R R' = (that matrix)^-1: in V with W = R V the bound is the identity.
Where targets are rare, or weights large, the bound is far too large beside the ridge. Here 1/4 is
replaced by the mean of p (1 - p) over rows, at base rates or at the weights of a start, and by its
geometric mean over targets: no bound any more, but the line search needs none, and L-BFGS takes
less than half the steps on mediamill.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import linalg

from setwise.learners.design import DenseRows, SparseRows
from setwise.learners.losses import BankLoss, SoftmaxLoss
from setwise.learners.tiled import TiledRows
from setwise.learners.workers import Workers

# The product X'X costs as much as d / 2L evaluations of L targets, or, if X is sparse, as more.
# Beyond this many it is not regained, and the diagonal has to do.
WORTH_EVALUATIONS = 100
LEAST_SPREAD = 1e-6
LEAST_SHARE = 1e-25  # of the largest curvature, that the least is taken to have


class Whitening(Protocol):
    """W = R V."""

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V."""

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """V such that R V = W."""

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""


class Triangular:
    """By the Cholesky factor of the whole bound."""

    def __init__(self, bound: np.ndarray, dtype: np.dtype) -> None:
        lower = _factor(bound, float(np.finfo(dtype).eps))
        inverse = linalg.solve_triangular(lower, np.eye(len(bound)), lower=True)
        self._lower, self._inverse = lower.astype(dtype), inverse.astype(dtype)

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V."""
        W: np.ndarray = self._inverse.T @ V
        return W

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """V such that R V = W."""
        V: np.ndarray = self._lower.T @ W
        return V

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""
        pulled: np.ndarray = self._inverse @ G
        return pulled


def _factor(bound: np.ndarray, jitter: float) -> np.ndarray:
    """Its Cholesky factor; a bound that rounding has made indefinite is raised until it has one."""
    # Each feature by its own measure: a share of the largest would drown those of small scale. Some
    # of the largest must do where the factor's inverse would overflow.
    diagonal = np.diag_indices_from(bound)
    bound[diagonal] = (1 + jitter) * bound[diagonal] + LEAST_SHARE * bound[diagonal].max()
    try:
        factor: np.ndarray = linalg.cholesky(bound, lower=True)
    except linalg.LinAlgError:
        return _factor(bound, 10 * jitter)
    return factor


class Diagonal:
    """By the diagonal of the bound alone."""

    def __init__(self, bound: np.ndarray, dtype: np.dtype) -> None:
        least = float(np.finfo(dtype).tiny)  # so that the scale is finite in this precision
        self.scale = (1 / np.sqrt(np.maximum(bound, least))).astype(dtype)[:, None]

    def weights(self, V: np.ndarray) -> np.ndarray:
        """R V."""
        W: np.ndarray = self.scale * V
        return W

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """V such that R V = W."""
        V: np.ndarray = W / self.scale
        return V

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """R' G: the gradient in V."""
        pulled: np.ndarray = self.scale * G
        return pulled


class Unchanged:
    """W = V."""

    def weights(self, V: np.ndarray) -> np.ndarray:
        """V."""
        return V

    def inverse(self, W: np.ndarray) -> np.ndarray:
        """W."""
        return W

    def gradient(self, G: np.ndarray) -> np.ndarray:
        """G."""
        return G


class DiagonalEach(Diagonal):
    """By the diagonal of each target's own bound, (d + 1, L)."""

    def __init__(self, bound: np.ndarray, dtype: np.dtype) -> None:
        least = float(np.finfo(dtype).tiny)
        self.scale = (1 / np.sqrt(np.maximum(bound, least))).astype(dtype)

    def taken(self, columns: np.ndarray) -> DiagonalEach:
        """The same for some of the targets."""
        part = copy(self)
        part.scale = self.scale[:, columns]
        return part


class Curvature:
    """The Hessian of typical targets, up to how sure they are of their rows.

    ``weight`` (n,) is what targets have on average, ``ridge`` (d + 1,) their penalties. The whole
    of X'X is made if that is worth its price for ``n_targets``, else its diagonal.
    """

    def __init__(
        self,
        rows: DenseRows | SparseRows,
        weight: np.ndarray,
        ridge: np.ndarray,
        *,
        n_targets: int,
        workers: Workers | None = None,
    ) -> None:
        self.weight, self._ridge, self._dtype = weight, ridge, rows.dtype
        n, d = rows.shape
        if n * d**2 <= 2 * WORTH_EVALUATIONS * n_targets * rows.size:
            self._squares = rows.gram(weight, workers)
        else:
            self._squares = rows.square_sums(weight)

    def whitening(self, spread: float) -> Whitening:
        """For rows whose p (1 - p) is ``spread``."""
        hessian = spread * self._squares
        if hessian.ndim == 1:
            return Diagonal(hessian + self._ridge, self._dtype)
        hessian[np.diag_indices_from(hessian)] += self._ridge
        return Triangular(hessian, self._dtype)


def typical(spreads: np.ndarray) -> float:
    """The geometric mean of values of p (1 - p), (L,)."""
    return float(np.exp(np.log(np.maximum(spreads, LEAST_SPREAD)).mean()))


@dataclass(frozen=True)
class WhitenedLoss:
    """A loss as a function of V; that of a softmax has all of V in one column."""

    loss: BankLoss | SoftmaxLoss
    whitening: Whitening

    def evaluate(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values, one per column of V, and gradients of the shape of V."""
        W = self.whitening.weights(V.reshape(self.loss.rows.shape[1] + 1, -1))
        values, G = self.loss.evaluate(W)
        return values, self.whitening.gradient(G).reshape(V.shape)

    def taken(self, columns: np.ndarray) -> WhitenedLoss:
        """The same for some of the columns."""
        whitening = self.whitening
        if isinstance(whitening, DiagonalEach):
            whitening = whitening.taken(columns)
        return WhitenedLoss(self.loss.taken(columns), whitening)


def whitened(loss: SoftmaxLoss, whitening: Whitening) -> WhitenedLoss:
    """The loss as a function of V; the tiled rows take a diagonal R, so that W need not be made."""
    rows = loss.rows
    if type(whitening) is Diagonal and isinstance(rows, TiledRows):
        scale = whitening.scale  # (d + 1, 1)
        loss = replace(loss, rows=rows.scaled(scale[:, 0]), penalties=loss.penalties * scale)
        return WhitenedLoss(loss, Unchanged())
    return WhitenedLoss(loss, whitening)
