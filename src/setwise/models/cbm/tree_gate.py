"""A gate that is a binary tree of logistic regressions (Li 2019, section 3.12.2).

The components are the leaves (``component_tree.py``), and a row goes left at a node with

    σ(x'v + b),     log π_k(x) = sum over the nodes above k of log σ(± (x'v + b))

In the M-step every node is a binary problem of its own, with the rows that reach it: weighted by
the responsibilities of the leaves below it, and with the share that goes left as the target. A row
has few responsible components, so it takes part in about log K problems for each, not in K. In a
prediction, branches that hardly anything of a row reaches are not evaluated.

Weights are penalised by |v|^2 / 4 C: of two components it is the same gate as a softmax, where each
of the two has half of v. Biases are free.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.learners.linear import linear_scores
from setwise.learners.workers import Workers, spans
from setwise.models.cbm.component_tree import sides, tree_of_components
from setwise.models.cbm.linear import improved, squares, with_columns
from setwise.models.cbm.rows import TrainingRows
from setwise.storage import storable

LEAST_MASS = 1e-6  # of rows: a node with less on one side is left as it is
SPAN_PAIRS = 2**12  # of a row and a node: worth a thread's start


@storable
class TreeGate:
    """A probabilistic binary tree over the components.

    Parameters
    ----------
    C : float
        Inverse strength of the penalty, as in ``LinearGate``.
    steps : int
        Steps of each node's solver in a round of EM.
    min_path : float
        Branches that less than this share of a row reaches are left out of predictions; 0 leaves
        out none. Never more than 1 / 2 K, so that half of every row arrives.
    random_state : int
        Seeds the order of rows in the solver for sparse rows.

    Attributes: ``children_`` (K - 1, 2), see ``component_tree``; ``weights_`` (K - 1, d) and
    ``biases_`` (K - 1,) of the nodes.
    """

    in_basis: ClassVar[bool] = True

    def __init__(
        self,
        C: float = 1.0,
        steps: int = 4,
        min_path: float = 1e-6,
        random_state: int | None = 0,
    ) -> None:
        self.C, self.steps, self.min_path, self.random_state = C, steps, min_path, random_state

    children_: np.ndarray
    weights_: np.ndarray
    biases_: np.ndarray

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.children_) + 1

    def improve(self, training: TrainingRows, T: np.ndarray, workers: Workers) -> None:
        """A few steps at each node on responsibilities T (n, K); the first plant the tree."""
        if not hasattr(self, "children_"):
            self.children_ = tree_of_components(training, T)
            self._start(training, T)
        left, right = (sparse.csr_array(side.astype(np.float64)) for side in sides(self.children_))
        shares = sparse.csr_array(T.T)  # (K, n)
        reaching, turning = (left + right) @ shares, left @ shares  # (K - 1, n)

        def node(number: int) -> None:
            rows, arriving = _entries(reaching, number)
            going = np.zeros(len(training.weight))
            which, values = _entries(turning, number)
            going[which] = values
            self._improve_node(number, training, rows, arriving, going[rows])

        # Parents first: they have the most rows, so that the threads end together.
        workers.map(node, range(len(self.children_)))

    def log_proba(self, X: Any) -> np.ndarray:
        """Log weights of the components, (n, K), by the whole tree."""
        weights = np.ascontiguousarray(self.weights_.T)
        Z = linear_scores(X, weights, self.biases_).T.astype(np.float64)  # (K - 1, n)
        log_pi = np.zeros((self.n_components, X.shape[0]))
        log_paths = np.zeros_like(Z)
        for node, (left, right) in enumerate(self.children_):
            log_right = log_paths[node] - np.logaddexp(0, Z[node])
            for child, log_path in ((left, log_right + Z[node]), (right, log_right)):
                place = log_pi[~child] if child < 0 else log_paths[child]
                place[:] = log_path
        return log_pi.T

    def pruned_log_proba(
        self, X: Any, min_path: float | None = None, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log weights (n, K) without what branches lost, and how much that was, (n,).

        A component behind a branch that less than ``min_path`` of a row reaches has -inf, and the
        others are scaled up. No probability of a set, or of anything else, changes by more than
        what was lost.
        """
        least = min(self.min_path if min_path is None else min_path, 0.5 / self.n_components)
        log_least = np.log(least) if least > 0 else -np.inf
        n, X = X.shape[0], X.astype(self.weights_.dtype, copy=False)
        X = X if sparse.issparse(X) else np.ascontiguousarray(X)
        log_pi, lost = np.full((n, self.n_components), -np.inf), np.zeros(n)
        # Pairs of a row and where it has come: a node, or a leaf below zero. One level at a time.
        rows, places = np.arange(n), np.full(n, 0 if len(self.children_) else ~0)
        log_paths = np.zeros(n)
        with Workers(n_jobs) as workers:
            while len(rows):
                pruned, leaf = log_paths < log_least, places < 0
                lost += np.bincount(rows[pruned], np.exp(log_paths[pruned]), minlength=n)
                ends, inner = leaf & ~pruned, ~leaf & ~pruned
                log_pi[rows[ends], ~places[ends]] = log_paths[ends]
                rows, nodes, log_paths = rows[inner], places[inner], log_paths[inner]
                z = self._scores(X, rows, nodes, workers).astype(np.float64)
                log_right = log_paths - np.logaddexp(0, z)
                log_paths = np.stack([log_right + z, log_right], axis=1).ravel()
                rows, places = np.repeat(rows, 2), self.children_[nodes].ravel()
        return log_pi - np.log1p(-lost)[:, None], lost

    def turn(self, basis: np.ndarray) -> None:
        """From coordinates in the basis (d, r) to features."""
        self.weights_ = np.ascontiguousarray((basis @ self.weights_.T).T, dtype=self.biases_.dtype)

    @property
    def penalty(self) -> float:
        """What the objective pays for the weights."""
        return squares(self.weights_) / (2 * self._strength)

    @property
    def _strength(self) -> float:
        return 2 * self.C

    def _start(self, training: TrainingRows, T: np.ndarray) -> None:
        """No weights, and the biases that send each component its share."""
        mass = T.T @ training.weight
        to_left, to_right = (side @ mass + 0.5 for side in sides(self.children_))
        dtype = training.X.dtype
        self.weights_ = np.zeros((len(self.children_), training.X.shape[1]), dtype)
        self.biases_ = np.log(to_left / to_right).astype(dtype)

    def _improve_node(
        self,
        node: int,
        training: TrainingRows,
        rows: np.ndarray,
        arriving: np.ndarray,
        going: np.ndarray,
    ) -> None:
        """A few steps of one node, on how much of the rows arrives and how much goes left, (m,)."""
        weight = training.weight[rows] * arriving
        share = np.minimum(going / arriving, 1)
        to_left = float(weight @ share)
        if min(to_left, weight.sum() - to_left) < LEAST_MASS:
            return  # without a finite optimum
        X, columns = training.X[rows], np.arange(training.X.shape[1])
        if sparse.issparse(X):  # a weight of a feature that no row here has is best at zero
            columns = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
            X = with_columns(X, columns)
        found = improved(
            X, share.astype(X.dtype)[:, None], weight,
            np.append(self.weights_[node, columns], self.biases_[node])[:, None],
            C=self._strength, steps=self.steps, seed=self.random_state,
        )  # fmt: skip
        self.weights_[node] = 0
        self.weights_[node, columns], self.biases_[node] = found[:-1, 0], found[-1, 0]

    def _scores(self, X: Any, rows: np.ndarray, nodes: np.ndarray, workers: Workers) -> np.ndarray:
        """Log-odds of going left, for pairs of a row and a node, (m,)."""
        from setwise.models.cbm._tree_kernel import score_dense_pairs, score_sparse_pairs

        scores = np.empty(len(rows), self.weights_.dtype)

        def score(span: tuple[int, int]) -> None:
            here = slice(*span)
            pairs = rows[here], nodes[here], self.weights_, self.biases_, scores[here]
            if sparse.issparse(X):
                score_sparse_pairs(X.indptr, X.indices, X.data, *pairs)
            else:
                score_dense_pairs(X, *pairs)

        workers.map(score, spans(len(rows), -(-len(rows) // SPAN_PAIRS)))
        return scores


def _entries(table: sparse.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns and the values of a row's entries."""
    here = slice(table.indptr[row], table.indptr[row + 1])
    return table.indices[here], table.data[here]
