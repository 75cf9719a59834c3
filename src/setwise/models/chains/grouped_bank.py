"""Logistic regressions on sparse features and on some of the labels each, bank by bank.

Targets with the same parents are one bank, solved by dual coordinate descent, whose duality gap
proves how close it is. That is for banks of many targets, which go through a sweep side by side:
the next label of a chain is looked for by one bank, the best tree by one for each parent.
"""

from __future__ import annotations

import numpy as np

from setwise.learners.bank_problem import BankProblem, without_idle_rows
from setwise.learners.bank_solvers import solve
from setwise.learners.solution import Solution
from setwise.learners.workers import Workers
from setwise.models.chains.columns import Columns, MaskedWeights

SEED = 0  # of the order in which rows are visited
LOOSE_SWEEPS = 20  # at most, where nothing is to be proven
WORTH_A_BANK = 8  # targets: with fewer, lanes are idle


def fit_groups(
    columns: Columns,
    T: np.ndarray,
    parents: np.ndarray,
    *,
    C: float,
    weight: np.ndarray,
    start: MaskedWeights | None,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    certify: bool,
) -> Solution:
    """The minima of targets T (n, m), none of them constant, each with its parents (L, m).

    Weights are (d + L + 1, m): of features, of scaled labels, and biases. Without ``certify`` a few
    sweeps have to do, whatever they prove.
    """
    d, L = columns.X.shape[1], columns.labels.shape[1]
    groups = groups_of(parents)
    inner_jobs = n_jobs if len(groups) == 1 else 1
    solver, steps = ("auto", max_iter) if certify else ("dual", min(max_iter, LOOSE_SWEEPS))

    def solved(targets: np.ndarray) -> tuple[np.ndarray, Solution]:
        own = np.flatnonzero(parents[:, targets[0]])
        used = np.concatenate([np.arange(d), d + own, [d + L]])
        X, part, own_weight = without_idle_rows(
            columns.joined(own), np.ascontiguousarray(T[:, targets]), weight[:, None]
        )
        problem = BankProblem(X, part, own_weight, np.full(len(targets), C), "free")
        first = None if start is None else start.stacked(targets, columns.scale)[used]
        with Workers(inner_jobs) as workers:
            found = solve(
                problem, first, solver=solver, max_iter=steps, tol=tol, workers=workers, seed=SEED
            )  # fmt: skip
        return used, found

    m = T.shape[1]
    W, values = np.zeros((d + L + 1, m), columns.X.dtype), np.empty(m)
    converged, n_iter = np.zeros(m, dtype=bool), 0
    with Workers(n_jobs) as workers:
        results = workers.map(solved, groups)
    for targets, (used, found) in zip(groups, results, strict=True):
        W[np.ix_(used, targets)] = found.weights
        values[targets], converged[targets] = found.values, found.converged
        n_iter = max(n_iter, found.n_iter)
    return Solution(W, values, converged, n_iter)


def are_banks(parents: np.ndarray) -> bool:
    """Whether targets with parents (L, m) fall into banks that are worth it."""
    return bool(parents.shape[1] >= WORTH_A_BANK * len(groups_of(parents)))


def groups_of(parents: np.ndarray) -> list[np.ndarray]:
    """The numbers of targets with the same parents, for each set of parents."""
    _, group = np.unique(parents, axis=1, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    return np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1])
