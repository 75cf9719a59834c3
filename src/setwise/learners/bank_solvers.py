"""The solver of a bank: L-BFGS for dense rows, dual coordinate descent for sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.errors import DataError
from setwise.learners.bank_dual import solve_by_dual
from setwise.learners.bank_lbfgs import solve_by_lbfgs
from setwise.learners.bank_problem import BankProblem
from setwise.learners.solution import Solution
from setwise.learners.workers import Workers

# Sweeps after which "auto" leaves a target to L-BFGS: where rows are many and features few,
# coordinates hang together and descend slowly.
PATIENCE = 40
SOLVERS = ("auto", "lbfgs", "dual")


def solve(
    problem: BankProblem,
    start: np.ndarray | None,
    *,
    solver: str,
    max_iter: int,
    tol: float,
    workers: Workers,
    seed: int | None,
) -> Solution:
    """The bank's minima from ``start`` (d + 1, L) on, or from nothing, by the solver named."""
    if solver == "lbfgs" or (solver == "auto" and not sparse.issparse(problem.X)):
        return solve_by_lbfgs(problem, start, max_iter=max_iter, tol=tol, workers=workers)
    sweeps = min(max_iter, PATIENCE) if solver == "auto" else max_iter
    found = solve_by_dual(problem, start, max_iter=sweeps, tol=tol, workers=workers, seed=seed)
    late = np.flatnonzero(~found.converged)
    if not len(late) or found.n_iter >= max_iter:
        return found
    rest = solve_by_lbfgs(
        problem.taken(late),
        found.weights[:, late],
        max_iter=max_iter - found.n_iter,
        tol=tol,
        workers=workers,
    )
    return found.replaced(late, rest)


def check_solver(name: str, X: Any) -> None:
    """Refuse a solver that there is not, or that is not for these rows."""
    if name not in SOLVERS:
        raise DataError(f"solver must be one of {', '.join(SOLVERS)}, not {name!r}")
    if name == "dual" and not sparse.issparse(X):
        raise DataError("solver='dual' is for sparse X; pass a CSR array, or solver='auto'")
