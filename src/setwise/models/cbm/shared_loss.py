"""The loss of label detectors that components share, with its gradient (Li 2019, section 3.12.1).

For label l, with weights w and a bias B_k for each component,

    sum_n sum_k s_nk loss(y_nl, x_n'w + B_k)  +  |w|^2 / 2 C  +  sum_k (B_k - mean B)^2 / 2 C

where s_nk is row n's weight times component k's responsibility for it. The thesis writes B_k as
c_0 + c_k; with a Gaussian prior on c_k and none on c_0, the best c_0 is the mean of all B_k. The
prior keeps the biases of labels that a component never has finite, and lets those of an empty
component be the mean.

Most s_nk are zero. With E_nl = sum_k s_nk (b_kl(x_n) - y_nl) the gradient in w is X'E, and no row
is ever copied for its components: a pass costs O(n L (d + components a row)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from setwise.learners.design import DenseRows, SparseRows
from setwise.learners.losses import block_rows, blocks, padded
from setwise.learners.workers import Workers, spans

MAX_STRIPES = 8  # each has a gradient of its own, to be cleared and added

Block = tuple[int, int, np.ndarray]  # from row, to row, shared logits (m, L)


@dataclass(frozen=True)
class SharedLoss:
    """Losses of some labels in V (d + K, A): the weights, then the biases of the components."""

    rows: DenseRows | SparseRows  # n, without a bias
    Y: sparse.csr_array  # (n, L)
    place: np.ndarray  # (L,) at which column of V a label stands, or -1
    shares: sparse.csr_array  # (n, K)
    ridge: float  # 1 / C
    workers: Workers
    # Gradients of stripes, used again: asking for new memory takes longer than filling it.
    memory: dict[int, np.ndarray] = field(default_factory=dict, compare=False, repr=False)

    def evaluate(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (A,) in double precision, and gradients (d + K, A)."""
        d, A = self.rows.shape[1], V.shape[1]
        loss, G = self._summed(padded(V))
        apart = V[d:] - V[d:].mean(axis=0)
        shrunk = np.vstack([V[:d], apart])
        values = loss[:A] + 0.5 * self.ridge * _squares(shrunk)
        return values, G[:, :A] + V.dtype.type(self.ridge) * shrunk

    def taken(self, columns: np.ndarray) -> SharedLoss:
        """The losses of some of the columns."""
        now = np.full(self.place.max() + 2, -1, np.int32)  # the last stands for no column
        now[columns] = np.arange(len(columns), dtype=np.int32)
        return replace(self, place=now[self.place], memory={})

    def curvatures(self, V: np.ndarray) -> np.ndarray:
        """About the diagonals of the Hessians at V, (d + K, A).

        Exact for the biases; for the weights as if all rows were equally sure of a label.
        """
        from setwise.models.cbm._shared_kernel import add_curvatures

        d, A = self.rows.shape[1], V.shape[1]
        wide, pairs = padded(V), self._pairs

        def stripe(span: tuple[int, int]) -> np.ndarray:
            H = np.zeros_like(wide[d:])
            for start, _, Z in self.logits(span, wide):
                add_curvatures(Z, start, *pairs, wide[d:], H)
            return H

        biases = sum(self.workers.map(stripe, self._stripes(A)), np.zeros((1, 1)))[:, :A]
        mass: np.ndarray = np.asarray(self.shares.sum(axis=1, dtype=np.float64))
        spread = biases.sum(axis=0) / mass.sum()
        squares = self.rows.square_sums(mass)[:-1, None] * spread
        found: np.ndarray = np.vstack([squares, biases]) + self.ridge
        return found

    def logits(self, span: tuple[int, int], V: np.ndarray) -> Iterator[Block]:
        """The shared logits of a run of rows, block by block, in memory that is used again."""
        A = V.shape[1]
        memory = np.empty((block_rows(A), A), V.dtype)
        W = V[: self.rows.shape[1] + 1]  # the last row stands where a bias would, and is not used
        for start, stop in blocks(*span, A):
            Z = memory[: stop - start]
            self.rows.fill_logits(start, stop, W, Z)
            yield start, stop, Z

    def _summed(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Losses (A,) and gradients (d + K, A) without the penalty, added stripe by stripe."""
        from setwise.models.cbm._likelihood_kernel import fill_targets
        from setwise.models.cbm._shared_kernel import residuals

        d, A = self.rows.shape[1], V.shape[1]

        def stripe(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            loss, G = np.zeros(A), self._gradient(span[0], V)
            targets = np.empty((block_rows(A), A), V.dtype)
            for start, stop, Z in self.logits(span, V):
                T = targets[: stop - start]
                T[:] = 0
                rows = np.arange(start, stop)
                fill_targets(self.Y.indptr, self.Y.indices, rows, self.place, T)
                residuals(Z, T, start, *self._pairs, V[d:], loss, G[d:])
                self.rows.add_gradient(start, stop, Z, G[: d + 1])
            return loss, G

        parts = self.workers.map(stripe, self._stripes(A))
        loss, G = parts[0]
        for more_loss, more_G in parts[1:]:
            loss += more_loss
            G += more_G
        return loss, G

    def _gradient(self, stripe: int, V: np.ndarray) -> np.ndarray:
        """Zeros of the shape of V."""
        if stripe not in self.memory:
            self.memory[stripe] = np.zeros_like(V)
        else:
            self.memory[stripe][:] = 0
        return self.memory[stripe]

    def _stripes(self, A: int) -> list[tuple[int, int]]:
        return spans(self.rows.shape[0], min(self.rows.stripes(A), MAX_STRIPES))

    @property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.shares.indptr, self.shares.indices, self.shares.data


@dataclass(frozen=True)
class ScaledLoss:
    """A loss as a function of V / scale, where its curvature is about one."""

    loss: SharedLoss
    scale: np.ndarray  # (d + K, A)

    def evaluate(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (A,), and gradients (d + K, A)."""
        values, G = self.loss.evaluate(self.scale * V)
        return values, self.scale * G

    def taken(self, columns: np.ndarray) -> ScaledLoss:
        """The same for some of the columns."""
        return ScaledLoss(self.loss.taken(columns), self.scale[:, columns])


def _squares(V: np.ndarray) -> np.ndarray:
    squares: np.ndarray = np.einsum("dl,dl->l", V, V, dtype=np.float64)
    return squares
