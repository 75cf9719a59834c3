"""Binary-pruned inference: in each row only the labels in doubt are free (Ghamrawi, McCallum 2005).

A binary relevance model settles the labels that it gives a probability below a limit, or above one
minus it. Of the others, the ``max_free`` most doubtful are free, and the sums of the field are over
their 2^F sets; a row without doubt keeps its most doubtful label free. While learning, a label that
binary relevance would settle wrongly is free before all others, so that the true set is in the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from setwise.distributions import Distribution, Sampled
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.learners.workers import Workers, spans
from setwise.models.crf.potentials import all_sets

PIECES = 8  # that the rows are cut into, whatever the number of threads


class Pruning(NamedTuple):
    """What is free in each row, and what the other labels are."""

    free: np.ndarray  # (n, F) label numbers, of which each row uses the first few
    counts: np.ndarray  # (n,) how many
    fixed: np.ndarray  # (n, L) int8: 1 for labels that are on and not free

    def rows(self, selection: Any) -> Pruning:
        """The same for some rows."""
        return Pruning(self.free[selection], self.counts[selection], self.fixed[selection])


def pruned(
    logits: np.ndarray, *, limit: float, max_free: int, Y: np.ndarray | None = None
) -> Pruning:
    """What to leave free by a binary relevance model's log-odds (n, L); Y are true sets, if known.

    >>> pruned(np.array([[9.0, 0.5, -9.0]]), limit=0.01, max_free=2).fixed.tolist()
    [[1, 0, 0]]
    """
    L = logits.shape[1]
    doubt = -np.abs(logits)
    settled = logits > 0
    if Y is not None:
        wrong = settled != (Y > 0)
        doubt = np.where(wrong, np.abs(logits), doubt)  # over zero: before those in doubt
        settled = Y > 0
    F = min(max_free, L)
    order = np.argsort(-doubt, axis=1, kind="stable")[:, :F]
    count = (doubt > -np.log((1 - limit) / limit)).sum(axis=1).clip(1, F)
    fixed = settled.astype(np.int8)
    used = np.arange(F) < count[:, None]
    fixed[np.nonzero(used)[0], order[used]] = 0
    return Pruning(order, count, fixed)


@dataclass(frozen=True)
class OnFree:
    """Minus the log-likelihood of rows, each over the sets of its free labels."""

    pruning: Pruning
    Y: np.ndarray  # (n, L)
    weight: np.ndarray  # (n,)

    def evaluate(
        self, Z: np.ndarray, interactions: np.ndarray, workers: Workers
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, its gradient by Z (n, L), and by each pair, as a symmetric (L, L)."""
        from setwise.models.crf._pruned_kernel import add_losses

        R, pairs = np.zeros(Z.shape), interactions.astype(np.float64)
        scores = Z.astype(np.float64)

        def piece(span: tuple[int, int]) -> tuple[float, np.ndarray]:
            rows = slice(*span)
            free, count, fixed = self.pruning.rows(rows)
            by_pair = np.zeros_like(pairs)
            loss = add_losses(
                scores[rows], self.Y[rows], self.weight[rows], fixed, pairs, free, count,
                R[rows], by_pair,
            )  # fmt: skip
            return float(loss), by_pair

        parts = workers.map(piece, spans(len(Z), min(PIECES, len(Z))))
        by_pair = np.sum([part[1] for part in parts], axis=0)
        loss = sum(part[0] for part in parts)
        return loss, R.astype(Z.dtype), by_pair.astype(Z.dtype)


def pruned_distribution(
    Z: np.ndarray, interactions: np.ndarray, pruning: Pruning, *, allow_empty: bool
) -> Distribution:
    """p(y|x) over the sets of each row's free labels; made in batches where rows are many."""
    n, L = Z.shape

    def make(numbers: np.ndarray) -> Sampled:
        return _listed(Z[numbers], interactions, pruning.rows(numbers), allow_empty)

    size = max(1, BATCH_CELLS // (2 ** pruning.free.shape[1] * L))
    if n <= size:
        return make(np.arange(n))
    return Batched(make, np.arange(n), L, size, allow_empty)


def _listed(
    Z: np.ndarray, interactions: np.ndarray, pruning: Pruning, allow_empty: bool
) -> Sampled:
    """All sets of a batch of rows, weighed by their scores."""
    from setwise.models.crf._pruned_kernel import list_scores

    n, F = len(Z), int(pruning.counts.max(initial=1))
    scores = np.full((n, 2**F), -np.inf)
    sizes = (np.ascontiguousarray(Z, np.float64), interactions.astype(np.float64))
    list_scores(sizes[0], pruning.fixed, sizes[1], pruning.free, pruning.counts, scores)
    bits = all_sets(F)  # (2^F, F)
    sets = np.repeat(pruning.fixed[None], 2**F, axis=0)  # (2^F, n, L)
    for k in range(F):
        rows = np.flatnonzero(pruning.counts > k)
        sets[:, rows, pruning.free[rows, k]] = bits[:, k, None]
    return Sampled(sets, scores.T, allow_empty)
