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

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setwise.learners.solution import Solution

COLD_SHARE = 1e-3  # hard targets start this far from their share's end of (0, 1)
N_NEWTON = 3  # steps towards a row's optimum, while c_i |x_i|^2 is below `EASY`
EASY = 100.0
EXTRA_SWEEPS = 20  # beyond the cap, while a warm start is still better
BIAS_SHARE = 0.25  # of a row's mean square: the square of the bias feature
BIAS_PULL = 20.0  # that square in units of 1 / curvature, at least: for banks of little weight


@dataclass
class Candidate:
    """Weights with their objective: (d, L), (L,) and (L,)."""

    W: np.ndarray
    bias: np.ndarray
    primal: np.ndarray

    def keep_better(self, other: Candidate) -> None:
        """Take over the columns in which the other has the lower objective."""
        better = other.primal < self.primal
        if better.all():
            self.W, self.bias, self.primal = other.W, other.bias, other.primal
        else:
            self.W[:, better] = other.W[:, better]
            self.bias[better] = other.bias[better]
            self.primal[better] = other.primal[better]


@dataclass(frozen=True)
class Block:
    """A few targets on their rows."""

    X: sparse.csr_array  # (n, d)
    norms: np.ndarray  # (n,) of `row_norms`
    T: np.ndarray  # (n, L)
    cost: np.ndarray  # (n, L)
    bias: str  # "free", "penalised" or "none"

    def logits(self, W: np.ndarray) -> np.ndarray:
        """X W, (n, L)."""
        from setwise.learners._sparse_kernel import fill_logits

        Z = np.empty_like(self.T)
        nothing = np.zeros(W.shape[1], W.dtype)
        X = self.X
        fill_logits(X.indptr, X.indices, X.data, 0, X.shape[0], W, nothing, Z)
        return Z

    def primal(self, W: np.ndarray, bias: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """P (L,) in double precision, from logits without the bias, which are used up."""
        Z += bias.astype(Z.dtype)
        squares = square_sums(W)
        if self.bias == "penalised":
            squares += bias**2
        value: np.ndarray = squares / 2 + self.residuals(Z)
        return value

    def residuals(self, Z: np.ndarray) -> np.ndarray:
        """Losses (L,); Z becomes cost * (sigmoid(Z) - T)."""
        from setwise.learners._residual_kernel import logistic_own

        loss = np.zeros(Z.shape[1])
        logistic_own(Z, self.T, self.cost, loss)
        return loss

    def certified(
        self, tau: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, Candidate, np.ndarray]:
        """Feasible tau, the weights they stand for, and D (L,): never above the optimum."""
        from setwise.learners._sparse_kernel import add_gradient

        if self.bias == "free":
            tau = tau + balancing_shift(tau, self.T, self.cost).astype(tau.dtype)
        R = tau.copy()
        dual = self.residuals(R) - np.einsum("nl,nl->l", R, tau, dtype=np.float64)
        X, W = self.X, np.zeros((self.X.shape[1], tau.shape[1]), tau.dtype)
        add_gradient(X.indptr, X.indices, X.data, 0, X.shape[0], -R, W)
        dual -= square_sums(W) / 2
        Z = self.logits(W)
        if self.bias == "free":
            bias = bias + balancing_shift(Z + bias.astype(Z.dtype), self.T, self.cost)
        elif self.bias == "penalised":
            bias = -R.sum(axis=0, dtype=np.float64)
            dual -= bias**2 / 2
        return tau, Candidate(W, bias, self.primal(W, bias, Z)), dual


def solve_block(
    block: Block,
    start: Candidate | None,
    *,
    max_iter: int,
    tol: float,
    random: np.random.Generator,
) -> Solution:
    """The block's minima from ``start`` on (None: from nothing), never worse than it."""
    best = _cold(block) if start is None else start
    tau = _cold_tau(block.T) if start is None else block.logits(best.W)
    if start is not None:
        tau += best.bias.astype(tau.dtype)
        best.primal = block.primal(best.W, best.bias, block.logits(best.W))
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
    rate = np.einsum("nl,nl->l", block.cost, block.T, dtype=np.float64) / total
    least = BIAS_SHARE * float(block.norms.mean())
    square: np.ndarray = np.maximum(least, BIAS_PULL / (total * rate * (1 - rate)))
    return square


def _cold(block: Block) -> Candidate:
    """No weights, and the bias that is best without them."""
    d, L = block.X.shape[1], block.T.shape[1]
    W, Z, bias = np.zeros((d, L), block.T.dtype), np.zeros_like(block.T), np.zeros(L)
    if block.bias == "free":
        bias = balancing_shift(Z, block.T, block.cost)
    return Candidate(W, bias, block.primal(W, bias, Z))


def _cold_tau(T: np.ndarray) -> np.ndarray:
    shares = np.clip(T, COLD_SHARE, 1 - COLD_SHARE)
    tau: np.ndarray = np.log(shares) - np.log1p(-shares)
    return tau


def balancing_shift(Z: np.ndarray, T: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """What to add to logits Z (n, L) so that cost * (sigmoid - T) sums to zero, (L,).

    Newton's method between bounds; a step that would leave them goes to their middle instead.
    """
    from setwise.learners._dual_kernel import balance

    L = Z.shape[1]
    reach = 40.0 + float(np.abs(Z).max(initial=0))
    low, high, shift = np.full(L, -reach), np.full(L, reach), np.zeros(L)
    precision = np.finfo(Z.dtype).eps * cost.sum(axis=0, dtype=np.float64)
    for _ in range(100):
        sums, curvature = np.zeros(L), np.zeros(L)
        balance(Z, T, cost, shift.astype(Z.dtype), sums, curvature)
        low, high = np.where(sums < 0, shift, low), np.where(sums > 0, shift, high)
        if (np.abs(sums) <= precision).all():
            break
        step = shift - sums / np.maximum(curvature, 1e-100)
        shift = np.where((step >= low) & (step <= high), step, (low + high) / 2)
    return shift


def row_norms(X: sparse.csr_array) -> np.ndarray:
    """Squared lengths of the rows (n,), in the precision of X."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    norms = np.bincount(row, X.data.astype(np.float64) ** 2, minlength=X.shape[0])
    return norms.astype(X.dtype)


def square_sums(W: np.ndarray) -> np.ndarray:
    """Squared lengths of the columns (L,), exact enough for long columns in single precision."""
    sums: np.ndarray = np.zeros(W.shape[1])
    for start in range(0, len(W), 1024):
        part = W[start : start + 1024]
        sums += np.einsum("dl,dl->l", part, part)
    return sums
