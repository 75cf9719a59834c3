"""A few targets in the dual solver: their objectives, and certificates of how close they are.

``dual.py`` has the formulas and the names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass
class Candidate:
    """Weights with their objective: (d, L), (L,) and (L,)."""

    W: np.ndarray
    bias: np.ndarray
    primal: np.ndarray

    def keep_better(self, other: Candidate) -> None:
        """Take over the columns in which the other has the lower objective."""
        better = other.primal < self.primal
        if better.all():
            self.W, self.bias, self.primal = other.W, other.bias, other.primal
        else:
            self.W[:, better] = other.W[:, better]
            self.bias[better] = other.bias[better]
            self.primal[better] = other.primal[better]


@dataclass(frozen=True)
class Block:
    """A few targets on their rows."""

    X: sparse.csr_array  # (n, d)
    norms: np.ndarray  # (n,) of `row_norms`
    T: np.ndarray  # (n, L)
    cost: np.ndarray  # (n, L)
    bias: str  # "free", "penalised" or "none"

    def logits(self, W: np.ndarray) -> np.ndarray:
        """X W, (n, L)."""
        from setwise.learners._sparse_kernel import fill_logits

        Z = np.empty_like(self.T)
        nothing = np.zeros(W.shape[1], W.dtype)
        X = self.X
        fill_logits(X.indptr, X.indices, X.data, 0, X.shape[0], W, nothing, Z)
        return Z

    def primal(self, W: np.ndarray, bias: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """P (L,) in double precision, from logits without the bias, which are used up."""
        Z += bias.astype(Z.dtype)
        squares = square_sums(W)
        if self.bias == "penalised":
            squares += bias**2
        value: np.ndarray = squares / 2 + self.residuals(Z)
        return value

    def residuals(self, Z: np.ndarray) -> np.ndarray:
        """Losses (L,); Z becomes cost * (sigmoid(Z) - T)."""
        from setwise.learners._residual_kernel import logistic_own

        loss = np.zeros(Z.shape[1])
        logistic_own(Z, self.T, self.cost, loss)
        return loss

    def certified(
        self, tau: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, Candidate, np.ndarray]:
        """Feasible tau, the weights they stand for, and D (L,): never above the optimum."""
        from setwise.learners._sparse_kernel import add_gradient

        if self.bias == "free":
            tau = tau + balancing_shift(tau, self.T, self.cost).astype(tau.dtype)
        R = tau.copy()
        dual = self.residuals(R) - np.einsum("nl,nl->l", R, tau, dtype=np.float64)
        X, W = self.X, np.zeros((self.X.shape[1], tau.shape[1]), tau.dtype)
        add_gradient(X.indptr, X.indices, X.data, 0, X.shape[0], -R, W)
        dual -= square_sums(W) / 2
        Z = self.logits(W)
        if self.bias == "free":
            bias = bias + balancing_shift(Z + bias.astype(Z.dtype), self.T, self.cost)
        elif self.bias == "penalised":
            bias = -R.sum(axis=0, dtype=np.float64)
            dual -= bias**2 / 2
        return tau, Candidate(W, bias, self.primal(W, bias, Z)), dual


def balancing_shift(Z: np.ndarray, T: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """What to add to logits Z (n, L) so that cost * (sigmoid - T) sums to zero, (L,).

    Newton's method between bounds; a step that would leave them goes to their middle instead.
    """
    from setwise.learners._dual_kernel import balance

    L = Z.shape[1]
    reach = 40.0 + float(np.abs(Z).max(initial=0))
    low, high, shift = np.full(L, -reach), np.full(L, reach), np.zeros(L)
    precision = np.finfo(Z.dtype).eps * cost.sum(axis=0, dtype=np.float64)
    for _ in range(100):
        sums, curvature = np.zeros(L), np.zeros(L)
        balance(Z, T, cost, shift.astype(Z.dtype), sums, curvature)
        low, high = np.where(sums < 0, shift, low), np.where(sums > 0, shift, high)
        if (np.abs(sums) <= precision).all():
            break
        step = shift - sums / np.maximum(curvature, 1e-100)
        shift = np.where((step >= low) & (step <= high), step, (low + high) / 2)
    return shift


def row_norms(X: sparse.csr_array) -> np.ndarray:
    """Squared lengths of the rows (n,), in the precision of X."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    norms = np.bincount(row, X.data.astype(np.float64) ** 2, minlength=X.shape[0])
    return norms.astype(X.dtype)


def square_sums(W: np.ndarray) -> np.ndarray:
    """Squared lengths of the columns (L,), exact enough for long columns in single precision."""
    sums: np.ndarray = np.zeros(W.shape[1])
    for start in range(0, len(W), 1024):
        part = W[start : start + 1024]
        sums += np.einsum("dl,dl->l", part, part)
    return sums
