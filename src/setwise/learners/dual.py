"""Banks on sparse rows: dual coordinate descent with targets as lanes (Yu, Huang and Lin 2011).

With costs c_i = C w_i the primal objective of a target, and its dual in shares s_i in (0, 1), are

    P(w, b) = |w|^2 / 2 + sum_i c_i [softplus(z_i) - t_i z_i],       z_i = x_i'w + b
    D(s)    = -|w(s)|^2 / 2 - sum_i c_i [s_i log s_i + (1 - s_i) log(1 - s_i)],
    w(s)    = sum_i c_i (t_i - s_i) x_i

where a free bias asks for sum_i c_i (t_i - s_i) = 0. At the optimum s_i = sigmoid(z_i). A row's
share is moved to its own optimum while the others rest; tau_i = logit(s_i) is what is stored, so
that soft targets and shares near 0 or 1 are nothing special. A sweep visits all rows; the targets
of a block go through it side by side.

The bias takes part in every visit as a feature of value ``bias_square ** 0.5`` that is penalised
for its distance from a centre; the centre follows it after each sweep (the method of multipliers).
Newton steps on the bias alone between sweeps, the obvious way, oscillate from C = 100 on. For a
certificate the shares are shifted along tau until their sum is right, w is made anew from them, and
b is its best: then P - D bounds the distance to the optimum.
"""

from __future__ import annotations

import numpy as np

from setwise.learners.dual_block import Block, Candidate, balancing_shift
from setwise.learners.solution import Solution

COLD_SHARE = 1e-3  # hard targets start this far from their share's end of (0, 1)
N_NEWTON = 3  # steps towards a row's optimum, while c_i |x_i|^2 is below `EASY`
EASY = 100.0
EXTRA_SWEEPS = 20  # beyond the cap, while a warm start is still better
BIAS_SHARE = 0.25  # of a row's mean square: the square of the bias feature
BIAS_PULL = 20.0  # that square in units of 1 / curvature, at least: for banks of little weight


def solve_block(
    block: Block,
    start: Candidate | None,
    *,
    max_iter: int,
    tol: float,
    random: np.random.Generator,
) -> Solution:
    """The block's minima from ``start`` on (None: from nothing), never worse than it."""
    best, tau = _cold(block) if start is None else _warm(block, start)
    first = best.primal.copy()
    lower = np.full(len(first), -np.inf)
    tau, candidate, dual = block.certified(tau, best.bias)
    sweeps, limit, past = 0, max_iter, np.full(len(first), np.inf)
    while True:
        lower = np.maximum(lower, dual)
        best.keep_better(candidate)
        converged = best.primal - lower <= tol * np.abs(best.primal)
        improved = converged | (best.primal < first) | (start is None)
        if sweeps >= max_iter and not improved.all():
            limit = min(sweeps + 2, max_iter + EXTRA_SWEEPS)
        if converged.all() or sweeps >= limit:
            break
        sweeper = Sweeper(block, tau, candidate, random)
        while sweeps < limit:
            short = sweeper.sweep()
            sweeps += 1
            # What is left after a sweep is to what it found as that is to what the last one found.
            left = short * np.minimum(1, short / np.maximum(past, 1e-100))
            past = short
            if (converged | (left <= tol * np.abs(best.primal))).all():
                break
        tau, candidate, dual = block.certified(sweeper.tau, sweeper.bias.sum(axis=0, dtype=float))
    weights = np.vstack([best.W, best.bias.astype(best.W.dtype)])
    return Solution(weights, best.primal, converged, sweeps)


class Sweeper:
    """Sweeps over the rows of a block, in a new order each time."""

    def __init__(
        self, block: Block, tau: np.ndarray, start: Candidate, random: np.random.Generator
    ) -> None:
        self.block, self.tau, self.random = block, tau, random
        self.W = start.W.copy()
        dtype = block.T.dtype
        self.bias_square = _bias_square(block).astype(dtype)
        hardest = float(block.cost.max() * (block.norms.max() + self.bias_square.max()))
        # From zero the root is at most about log(c_i |x_i|^2) away, and a step goes about one.
        self.n_newton = N_NEWTON + int(np.ceil(np.log(max(hardest / EASY, 1))))
        self.bias = np.zeros((2, tau.shape[1]), dtype)  # centre and displacement
        self.bias[0 if block.bias == "free" else 1] = start.bias

    def sweep(self) -> np.ndarray:
        """What the rows were short of their own optima when they were visited, (L,)."""
        from setwise.learners._dual_kernel import sweep

        X, block = self.block.X, self.block
        order = self.random.permutation(X.shape[0])
        short = np.zeros(self.tau.shape[1])
        sweep(
            X.indptr, X.indices, X.data, block.norms, order, block.cost, self.bias_square,
            self.n_newton, self.tau, self.W, self.bias, short,
        )  # fmt: skip
        if block.bias == "free":
            self.bias[0] += self.bias[1]
        return short


def _bias_square(block: Block) -> np.ndarray:
    """The square of the bias feature, (L,)."""
    total = block.cost.sum(axis=0, dtype=np.float64)
    if block.bias != "free":
        return np.full(len(total), float(block.bias == "penalised"))
    # Weights or rates that vanish in this precision must not make the square infinite.
    least_curvature = float(np.finfo(block.cost.dtype).tiny) ** 0.75
    total = np.maximum(total, least_curvature)
    rate = np.einsum("nl,nl->l", block.cost, block.T, dtype=np.float64) / total
    curvature = np.maximum(total * rate * (1 - rate), least_curvature)
    least = BIAS_SHARE * float(block.norms.mean())
    square: np.ndarray = np.maximum(least, BIAS_PULL / curvature)
    return square


def _cold(block: Block) -> tuple[Candidate, np.ndarray]:
    """No weights, with the bias that is best without them, and shares close to the targets."""
    d, L = block.X.shape[1], block.T.shape[1]
    W, Z, bias = np.zeros((d, L), block.T.dtype), np.zeros_like(block.T), np.zeros(L)
    if block.bias == "free":
        bias = balancing_shift(Z, block.T, block.cost)
    shares = np.clip(block.T, COLD_SHARE, 1 - COLD_SHARE)
    tau = np.log(shares) - np.log1p(-shares)
    return Candidate(W, bias, block.primal(W, bias, Z)), tau


def _warm(block: Block, start: Candidate) -> tuple[Candidate, np.ndarray]:
    """The start with its objective, and the shares that its logits ask for."""
    Z = block.logits(start.W)
    tau = Z + start.bias.astype(Z.dtype)
    return Candidate(start.W, start.bias, block.primal(start.W, start.bias, Z)), tau
