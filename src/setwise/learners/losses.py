"""Penalised losses of linear scores with their gradients, one pass over the rows at a time.

Weights are (d + 1, L), the biases last. With c = C, each in its problem's own units:

- bank, target l:  sum_i w_il [softplus(z_il) - t_il z_il] + |W_l|^2 / 2 C_l
- softmax:         sum_i w_i [log sum_k exp z_ik - sum_k t_ik z_ik] + |W|^2 / 2 C

These are the documented objectives divided by C, so that the curvature of the first term does not
depend on C and one preconditioner can serve targets of different C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from setwise.learners.design import BLOCK_LOGITS, DenseRows, SparseRows
from setwise.learners.tiled import TiledRows
from setwise.learners.workers import Workers, spans

# A vector register holds eight single or four double numbers; what is left over runs one by one.
LANES = 8
SAMPLED_BLOCKS = 4
FEWEST_ROWS = 64  # of a block: with less, a matrix product spends its time on reading weights


@dataclass(frozen=True)
class BankLoss:
    """Losses of many targets that share their rows."""

    rows: DenseRows | SparseRows
    T: np.ndarray  # (n, L) targets, L filled up with `padded`
    weight: np.ndarray  # (n, 1), or (n, L) filled up
    ridge: np.ndarray  # (L,) 1 / C
    penalties: np.ndarray  # (d + 1, 1) by which weights are multiplied before they are penalised
    workers: Workers

    def evaluate(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (L,) in double precision, and gradients (d + 1, L)."""
        from setwise.learners._residual_kernel import logistic, logistic_own

        fill = logistic if self.weight.shape[1] == 1 else logistic_own
        L = W.shape[1]
        padded_W = padded(W)
        loss, G = _summed(self.rows, fill, self.T, self.weight, padded_W, self.workers)
        return _with_penalty(loss[:L], G[:, :L], W, self.penalties, self.ridge)

    def spreads(self, W: np.ndarray) -> np.ndarray:
        """Means of p (1 - p) over the weighted rows, (L,), from a few blocks of them."""
        L = W.shape[1]
        if not W[:-1].any():  # all rows have the same
            p = expit(W[-1].astype(np.float64) * self.rows.ones)
            return np.asarray(p * (1 - p))
        total, sums = np.full(L, 1e-100), np.zeros(L)
        every = list(blocks(0, len(self.T), L))
        for start, stop in every[:: -(-len(every) // SAMPLED_BLOCKS)]:
            Z = np.empty((stop - start, L), W.dtype)
            self.rows.fill_logits(start, stop, W, Z)
            p, weight = expit(Z), self.weight[start:stop, :L]
            sums += (weight * p * (1 - p)).sum(axis=0)
            total += weight.sum(axis=0)
        spreads: np.ndarray = sums / total
        return spreads

    def taken(self, targets: np.ndarray) -> BankLoss:
        """The loss of some of the targets."""
        # What fills up the columns is never looked at: any target will do.
        wide = np.zeros(padded_width(len(targets)), dtype=np.intp)
        wide[: len(targets)] = targets

        def columns(matrix: np.ndarray) -> np.ndarray:
            taken = np.empty((len(matrix), len(wide)), matrix.dtype)

            def stripe(span: tuple[int, int]) -> None:
                part = slice(*span)
                np.take(matrix[part], wide, axis=1, out=taken[part], mode="clip")

            self.workers.map(stripe, spans(len(matrix), self.rows.stripes(len(wide))))
            return taken

        weight = columns(self.weight) if self.weight.shape[1] > 1 else self.weight
        ridge = self.ridge[targets]
        return BankLoss(self.rows, columns(self.T), weight, ridge, self.penalties, self.workers)


@dataclass(frozen=True)
class SoftmaxLoss:
    """The loss of one softmax."""

    rows: DenseRows | SparseRows
    T: np.ndarray  # (n, K), or (n,) where each row is of one class
    weight: np.ndarray  # (n, 1)
    ridge: float
    penalties: np.ndarray  # (d + 1, 1) by which weights are multiplied before they are penalised
    workers: Workers

    def evaluate(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The value (1,) in double precision, and the gradient (d + 1, K)."""
        from setwise.learners._residual_kernel import softmax, softmax_of_classes

        fill = softmax if self.T.ndim == 2 else softmax_of_classes
        loss, G = _summed(self.rows, fill, self.T, self.weight, W, self.workers)
        value, G = _with_penalty(loss, G, W, self.penalties, self.ridge)
        return value.sum(keepdims=True), G

    def taken(self, targets: np.ndarray) -> SoftmaxLoss:
        """Itself: there is but one problem."""
        return self


def padded(columns: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The columns, with zeros up to a multiple of ``LANES``; a few are left as they are."""
    L = columns.shape[1]
    width = padded_width(L)
    if width == L:
        return np.ascontiguousarray(columns, dtype)
    wide = np.zeros((columns.shape[0], width), dtype or columns.dtype)
    wide[:, :L] = columns
    return wide


def padded_width(L: int) -> int:
    """How many columns ``padded`` makes of L.

    >>> padded_width(3), padded_width(9)
    (3, 16)
    """
    return L if L <= LANES // 2 else -(-L // LANES) * LANES


def blocks(start: int, stop: int, L: int) -> Iterator[tuple[int, int]]:
    """The rows from start to stop in blocks whose logits fit a core's cache."""
    rows = block_rows(L)
    for first in range(start, stop, rows):
        yield first, min(first + rows, stop)


def block_rows(L: int) -> int:
    """Rows to a block of L logits each."""
    return max(FEWEST_ROWS, BLOCK_LOGITS // L)


def _summed(
    rows: DenseRows | SparseRows,
    fill: Callable[..., None],
    T: np.ndarray,
    weight: np.ndarray,
    W: np.ndarray,
    workers: Workers,
) -> tuple[np.ndarray, np.ndarray]:
    """Losses (L,) and gradients (d + 1, L) without the penalty, added stripe by stripe."""
    if isinstance(rows, TiledRows):
        return rows.summed(fill, T, weight, W, workers)
    n, L = len(T), W.shape[1]

    def stripe(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        loss, G = np.zeros(L), np.zeros_like(W)
        Z = np.empty((block_rows(L), L), W.dtype)
        for start, stop in blocks(*span, L):
            part = Z[: stop - start]
            rows.fill_logits(start, stop, W, part)
            fill(part, T[start:stop], weight[start:stop], loss)
            rows.add_gradient(start, stop, part, G)
        return loss, G

    parts = workers.map(stripe, spans(n, rows.stripes(L)))
    loss, G = parts[0]
    for more_loss, more_G in parts[1:]:
        loss += more_loss
        G += more_G
    return loss, G


def _with_penalty(
    loss: np.ndarray,
    G: np.ndarray,
    W: np.ndarray,
    penalties: np.ndarray,
    ridge: np.ndarray | float,
) -> tuple[np.ndarray, np.ndarray]:
    value, G = loss.astype(np.float64), np.ascontiguousarray(G)
    shrink = np.asarray(ridge, dtype=W.dtype)
    size = max(1, BLOCK_LOGITS // W.shape[1])
    for start in range(0, len(W), size):  # pieces that stay in a cache
        some = slice(start, start + size)
        shrunk = W[some] * penalties[some]
        value += 0.5 * ridge * np.einsum("dl,dl->l", shrunk, shrunk, dtype=np.float64)
        shrunk *= penalties[some]
        G[some] += shrunk * shrink
    return value, G
