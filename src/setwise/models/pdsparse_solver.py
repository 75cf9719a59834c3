"""The primal-dual sparse problem (Yen et al. 2016, section 3), its solution and its certificate.

    min over W   sum over k of [ |w_k|^2 / 2 + l1 |w_k|_1 ]  +  sum over i of C_i loss(W' x_i, y_i)

    loss(z, y) = [1 + max of z over labels not in y  -  min of z over labels in y]_+

A row without labels, or with all of them, has no loss. The dual is over the blocks that
``_pdsparse_kernel`` describes; with w_k = shrink(X' a_k, l1),

    min over a   sum over k of |w_k|^2 / 2  +  sum over i and labels k not in y_i of a_ik

and minus its value is a lower bound of the primal one: the gap says how far both are from optimal.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.randomness import as_generator
from setwise.errors import DataError, NotConverged

INNER_SWEEPS = 5  # at most, over active labels, for each that searches among all labels
CHECK_EVERY = 3  # searches between two certificates
MAX_CELLS = 2**28  # of the two tables, features by labels, that the solver works on
CALM = 1e-3  # rows whose block moves by less of its mass wait for the next search
FIRST_ROOM = 8  # labels beside its own that a row may have active at first


@dataclass(frozen=True)
class SparseMargins:
    """What was found.

    >>> X, Y = sparse.csr_array(np.eye(2)), sparse.csr_array(np.eye(2, dtype=np.int8))
    >>> found = solve_margins(X, Y, np.ones(2), l1=0.0)
    >>> found.weights.toarray().round(3)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    weights: sparse.csr_array  # (d, L)
    primal: float
    dual: float
    n_iter: int
    active: float  # multipliers a row that are not zero, on average

    @property
    def gap(self) -> float:
        """How far the objective may be above its minimum, relative to it."""
        return (self.primal - self.dual) / max(self.primal, 1e-12)


def solve_margins(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    caps: np.ndarray,
    *,
    l1: float,
    tol: float = 1e-3,
    max_iter: int = 300,
    random_state: int | None = 0,
) -> SparseMargins:
    """Weights of all labels at once.

    Parameters
    ----------
    X : csr_array (n, d)
    Y : csr_array (n, L), canonical
    caps : array (n,)
        C_i, what the loss of each row counts.
    l1 : float
        Strength of the L1 penalty.
    tol : float
        The relative gap to reach.
    max_iter : int
        Cap on the searches, which visit every row and look at all labels.
    random_state : int
        Seeds the order of rows.
    """
    from setwise.models._pdsparse_kernel import sweep

    # Features without a value need no place in the tables.
    present = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    if len(present) * Y.shape[1] > MAX_CELLS:
        raise DataError(
            f"{len(present)} features by {Y.shape[1]} labels are more than the {MAX_CELLS} cells "
            "that the solver's tables may have; leave out rare features or labels"
        )
    problem = _Problem(X[:, present], Y, np.asarray(caps, dtype=np.float64), float(l1))
    random = as_generator(random_state)
    rows = np.flatnonzero(problem.caps)
    n_iter, primal, dual = 0, np.inf, -np.inf
    while n_iter < max_iter:
        refused, _ = sweep(*problem.state(random.permutation(rows)), True)
        n_iter += 1
        if refused:
            problem.make_room()
        for _ in range(INNER_SWEEPS):
            if sweep(*problem.state(random.permutation(rows)), False)[1] == 0:
                break
        if n_iter % CHECK_EVERY == 0 or n_iter == max_iter:
            primal, dual = problem.primal(), problem.dual()
            if primal - dual <= tol * primal:
                break
    weights = problem.weights(present, X.shape[1])
    found = SparseMargins(weights, primal, dual, n_iter, problem.active())
    if found.gap > tol:
        warnings.warn(
            f"the gap is {found.gap:.2g} after {n_iter} searches, not {tol:g}; raise max_iter or "
            "tol, lower C, or scale the features",
            NotConverged,
            stacklevel=2,
        )
    return found


class _Problem:
    """Rows, active labels and tables, laid out for the kernel."""

    def __init__(self, X: sparse.csr_array, Y: sparse.csr_array, caps: np.ndarray, l1: float):
        self.X, self.caps, self.l1 = X.astype(np.float64), caps, l1
        self.norms = np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()
        self.own = np.diff(Y.indptr).astype(np.int64)
        self.used, self.moved = self.own.copy(), np.zeros(len(caps))
        self.V, self.W = np.zeros((2, X.shape[1], Y.shape[1]))
        self._lay_out(self.own, Y.indptr[:-1], Y.indices, np.zeros(Y.nnz), FIRST_ROOM)

    def state(self, order: np.ndarray) -> tuple[Any, ...]:
        """What a sweep takes, save whether it searches."""
        return (
            *(self.X.indptr.astype(np.int64), self.X.indices.astype(np.int32), self.X.data),
            *(self.norms, order, self.caps, self.first, self.room, self.own, self.used),
            *(self.labels, self.alpha, self.V, self.W, self.l1, self.moved, CALM),
        )

    def make_room(self) -> None:
        """Twice as many places for labels beside a row's own."""
        places = 2 * int((self.room - self.own).max())
        self._lay_out(self.used, self.first, self.labels, self.alpha, places)

    def _lay_out(
        self, used: np.ndarray, first: Any, labels: Any, alpha: np.ndarray, places: int
    ) -> None:
        L = self.V.shape[1]
        self.room = np.minimum(self.own + places, L)
        into = np.concatenate([[0], np.cumsum(self.room)])
        here = np.repeat(into[:-1], used) + _count_up(used)
        there = np.repeat(np.asarray(first, dtype=np.int64), used) + _count_up(used)
        new_labels, new_alpha = np.zeros(into[-1], dtype=np.int32), np.zeros(into[-1])
        new_labels[here], new_alpha[here] = labels[there], alpha[there]
        self.first, self.labels, self.alpha = into[:-1], new_labels, new_alpha

    def primal(self) -> float:
        """The objective at W."""
        from setwise.models._pdsparse_kernel import losses

        loss = losses(np.asarray(self.X @ self.W), self.labels, self.first, self.own)
        penalty = 0.5 * np.vdot(self.W, self.W) + self.l1 * np.abs(self.W).sum()
        return float(penalty + self.caps @ loss)

    def dual(self) -> float:
        """The lower bound at alpha."""
        here = np.repeat(self.first, self.used) + _count_up(self.used)
        others = np.minimum(self.alpha[here], 0).sum()
        # The block of a row of zeros changes no weight, so that it is best at all of its mass; no
        # sweep visits such a row, whose loss is one.
        idle = (self.norms == 0) & (self.own > 0) & (self.own < self.V.shape[1])
        return float(self.caps[idle].sum() - others - 0.5 * np.vdot(self.W, self.W))

    def active(self) -> float:
        """Multipliers a row that are not zero."""
        here = np.repeat(self.first, self.used) + _count_up(self.used)
        return float(np.count_nonzero(self.alpha[here]) / max(1, len(self.own)))

    def weights(self, present: np.ndarray, d: int) -> sparse.csr_array:
        """W with its place for every feature, CSR (d, L)."""
        found = sparse.csr_array(self.W)
        lengths = np.zeros(d, dtype=np.int64)
        lengths[present] = np.diff(found.indptr)
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        return sparse.csr_array((found.data, found.indices, ptr), shape=(d, self.W.shape[1]))


def _count_up(lengths: np.ndarray) -> np.ndarray:
    """0, 1, ... for each length in turn.

    >>> _count_up(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    counted: np.ndarray = np.arange(ends[-1] if len(ends) else 0)
    counted -= np.repeat(ends - lengths, lengths)
    return counted
