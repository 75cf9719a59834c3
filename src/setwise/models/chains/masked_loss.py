"""Losses of regressions each of which uses its own columns of a matrix that all share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise.learners.design import DenseRows, SparseRows
from setwise.learners.losses import BankLoss, padded
from setwise.learners.workers import Workers
from setwise.models.chains.label_whitening import BiasFirst


@dataclass(frozen=True)
class OwnColumns(BankLoss):
    """A bank's loss whose penalties (D + 1, m), zero or one, differ between targets."""

    def taken(self, targets: np.ndarray) -> OwnColumns:
        """The loss of some of the targets."""
        part = super().taken(targets)
        penalties = self.penalties[:, targets]
        return OwnColumns(part.rows, part.T, part.weight, part.ridge, penalties, part.workers)


def own_columns(
    rows: DenseRows | SparseRows,
    T: np.ndarray,
    weight: np.ndarray,
    mask: np.ndarray,
    C: float,
    workers: Workers,
) -> OwnColumns:
    """The losses of targets T (n, m) on rows of weight (n,), with what a mask (D + 1, m) shows."""
    penalties = mask.copy()
    penalties[-1] = 0
    weight = weight[:, None].astype(rows.dtype)
    targets, ridge = padded(T, rows.dtype), np.full(T.shape[1], 1 / C)
    return OwnColumns(rows, targets, weight, ridge, penalties, workers)


@dataclass(frozen=True)
class MaskedLoss:
    """A loss as a function of U, of which a mask says what may move."""

    loss: BankLoss
    mask: np.ndarray  # (D + 1, m), of weights
    own: np.ndarray  # the same, of U
    whitening: BiasFirst

    def evaluate(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (m,) and gradients (D + 1, m) in U."""
        values, G = self.loss.evaluate(self.whitening.weights(U) * self.mask)
        return values, self.whitening.gradient(G) * self.own

    def taken(self, targets: np.ndarray) -> MaskedLoss:
        """The loss of some of the targets."""
        part = self.loss.taken(targets)
        return MaskedLoss(part, self.mask[:, targets], self.own[:, targets], self.whitening)
