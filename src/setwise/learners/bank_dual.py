"""Banks on sparse rows, block by block: targets to the dual solver and back."""

from __future__ import annotations

import numpy as np

from setwise.learners.bank_problem import BankProblem
from setwise.learners.dual import solve_block
from setwise.learners.dual_block import Block, Candidate, row_norms
from setwise.learners.losses import padded
from setwise.learners.solution import Solution
from setwise.learners.workers import Workers

# Targets that go through a sweep side by side: a cache line of weights in single precision. Fewer
# leave lanes idle; more are no faster for each, and leave threads idle.
BLOCK_TARGETS = 16
ROUNDING = 100  # units in the last place: what a duality gap may be off


def solve_by_dual(
    problem: BankProblem,
    start: np.ndarray | None,
    *,
    max_iter: int,
    tol: float,
    workers: Workers,
    seed: int | None,
) -> Solution:
    """The bank's minima by dual coordinate descent, block by block."""
    L, norms = problem.n_targets, row_norms(problem.X)
    tol = max(tol, ROUNDING * float(np.finfo(problem.X.dtype).eps)) if tol > 0 else tol
    edges = range(0, L, _block_width(L))

    def solved(first: int) -> Solution:
        targets = slice(first, min(first + edges.step, L))
        block = _block(problem, targets, norms)
        candidate = None if start is None else _candidate(start[:, targets], block.T.dtype)
        # Every block visits the rows in the same orders, so that its neighbours do not matter.
        random = np.random.default_rng(seed)
        found = solve_block(block, candidate, max_iter=max_iter, tol=tol, random=random)
        width = targets.stop - targets.start  # the rest is padding
        weights, values = found.weights[:, :width], found.values[:width]
        return Solution(weights, values, found.converged[:width], found.n_iter)

    parts = workers.map(solved, edges)
    return Solution(
        np.concatenate([part.weights for part in parts], axis=1),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.converged for part in parts]),
        max(part.n_iter for part in parts),
    )


def _block_width(L: int) -> int:
    """Targets to a block, a multiple of eight: few enough blocks for the cache, even in size."""
    blocks = -(-L // BLOCK_TARGETS)
    return -(-L // (8 * blocks)) * 8


def _block(problem: BankProblem, targets: slice, norms: np.ndarray) -> Block:
    """Some targets for the dual solver, padded by problems as easy as any."""
    weight = problem.weight if problem.weight.shape[1] == 1 else problem.weight[:, targets]
    cost = (weight * problem.C[targets]).astype(problem.X.dtype)
    T = _filled(problem.dense_targets(targets), 0.5)
    return Block(problem.X, norms, T, _filled(cost, 1.0), problem.bias)


def _candidate(start: np.ndarray, dtype: np.dtype) -> Candidate:
    """Weights to start from, (d + 1, L), padded; their objective is still to be found."""
    wide = padded(start.astype(dtype))
    bias = wide[-1].astype(np.float64)
    return Candidate(wide[:-1], bias, np.full(len(bias), np.inf))


def _filled(columns: np.ndarray, value: float) -> np.ndarray:
    """Columns padded with a value."""
    wide = padded(columns)
    wide[:, columns.shape[1] :] = value
    return wide
