"""Learning a condensed filter tree, from its last level to its first.

Level k decides label k at 2^k nodes, one for each set of the labels before it; all of them share
one linear classifier of [x, the labels before]. A row that visits a node sends both children down
the levels below, which are learnt already. The child that ends in the cheaper set is the row's
target, and the difference of the costs is its weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners import LogisticBank
from setwise.models.set_costs import cost_for, cost_of_counts

TOLERANCE = 1e-4


@dataclass(frozen=True)
class Visits:
    """Which rows are at which nodes: those on a path (V, L), from level ``start`` (V,) on.

    The nodes before ``start`` are on another path of the same row, where they are counted.
    """

    rows: np.ndarray  # (V,)
    paths: np.ndarray  # int8 (V, L)
    start: np.ndarray  # (V,)


def visits_of(rounds: list[np.ndarray]) -> Visits:
    """The visits on paths (n, L) of each row, a node counted once a row.

    >>> visits_of([np.array([[1, 0, 1]]), np.array([[1, 1, 1]]), np.array([[1, 0, 1]])]).start
    array([0, 2])
    """
    n, L = rounds[0].shape
    rows, paths, starts = [], [], []
    for number, path in enumerate(rounds):
        start = np.zeros(n, dtype=np.int64)
        for earlier in rounds[:number]:
            differs = path != earlier
            shared = np.where(differs.any(axis=1), differs.argmax(axis=1), L)
            start = np.maximum(start, shared + 1)
        new = np.flatnonzero(start < L)  # the node at level k is the path's first k labels
        rows.append(new)
        paths.append(path[new])
        starts.append(start[new])
    return Visits(*(np.concatenate(part) for part in (rows, paths, starts)))


@dataclass(frozen=True)
class Tree:
    """One linear classifier a level."""

    weights: np.ndarray  # (d, L), of features
    intercept: np.ndarray  # (L,)
    links: np.ndarray  # (L, L): [l, k] is what label l adds to the score of level k > l

    def walk(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The sets of rows, int8 (n, L), and the scores on the way."""
        from setwise.models._filter_tree_kernel import walk

        scores = np.asarray(X @ self.weights, dtype=np.float64) + self.intercept
        chosen, margins = walk(self.links, scores)
        return chosen, margins


def learn_tree(
    X: Any,
    truth: np.ndarray,
    weight: np.ndarray,
    visits: Visits,
    target: Any,
    *,
    C: float,
    max_iter: int,
    n_jobs: int | None = None,
    random_state: int | None = 0,
) -> Tree:
    """The tree of rows X (n, d) with sets ``truth`` (n, L), weights (n,) and visits."""
    n, L = truth.shape
    links, intercept = np.zeros((L, L)), np.zeros(L)
    weights, scores = np.zeros((X.shape[1], L)), np.zeros((n, L))
    for level in range(L - 1, -1, -1):
        there = visits.start <= level
        rows, paths = visits.rows[there], visits.paths[there]
        costs = _duel(links, scores, rows, paths, truth, level, target)
        gain = costs[:, 0] - costs[:, 1]  # of taking the label
        counts = weight[rows]
        matters = np.abs(gain) * counts
        if not matters.any():
            continue  # nobody minds: the label is never taken
        bank = LogisticBank(
            C, max_iter=max_iter, tol=TOLERANCE, n_jobs=n_jobs, random_state=random_state
        ).fit(
            _joined(X, rows, paths[:, :level]),
            (gain > 0)[:, None].astype(np.float64),
            matters * (counts.sum() / matters.sum()),
        )
        weights[:, level] = bank.weights_[: X.shape[1], 0]
        links[:level, level] = bank.weights_[X.shape[1] :, 0]
        intercept[level] = bank.biases_[0]
        scores[:, level] = np.asarray(X @ weights[:, level]) + intercept[level]
    return Tree(weights, intercept, links)


def _duel(
    links: np.ndarray,
    scores: np.ndarray,
    rows: np.ndarray,
    paths: np.ndarray,
    truth: np.ndarray,
    level: int,
    target: Any,
) -> np.ndarray:
    """What the sets cost that both children of the visited nodes end in, (V, 2)."""
    from setwise.models._filter_tree_kernel import duel

    of_counts = cost_of_counts(target)
    tp, size, sets = duel(links, scores, rows, paths, truth, level, of_counts is None)
    if of_counts is not None:
        relevant = truth.sum(axis=1, dtype=np.int64)[rows][:, None]
        return of_counts(tp, size, relevant, truth.shape[1])
    cost, asked = cost_for(target), truth[rows]
    return np.stack([cost(asked, side) for side in sets], axis=1)


def _joined(X: Any, rows: np.ndarray, labels: np.ndarray) -> Any:
    """Features of rows, the labels before as features more."""
    if sparse.issparse(X):
        both = [X[rows], sparse.csr_array(labels.astype(X.dtype))]
        return sparse.csr_array(sparse.hstack(both, format="csr"))
    return np.hstack([X[rows], labels.astype(X.dtype)])
