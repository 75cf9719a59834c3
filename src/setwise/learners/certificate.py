"""How far the targets of a bank can be above their minima at most: the duality gap.

With logits z = X W + b, shares p = sigmoid(z), weights w and ridge r = 1 / C, the objective of a
target (in the units of ``losses``) and its dual in shares s in (0, 1) are

    P(W, b) = sum_i w_i [softplus(z_i) - t_i z_i] + r |W|^2 / 2
    D(s)    = sum_i w_i H(s_i) - |A(s)|^2 / 2 r,           A(s) = sum_i w_i (t_i - s_i) x_i

where H is the entropy and a free bias asks for sum_i w_i (t_i - s_i) = 0. No D is above any P, and

    P(W, b) - D(s) = sum_i w_i KL(s_i || p_i) + |A(s) - r W|^2 / 2 r,

a sum of positive terms, which rounding cannot make look small. The obvious s = p leaves |g|^2 / 2 r
for gradient g: too large by the curvature over the ridge, a thousandfold where rows are many. So
the shares are displaced by u = k x'd, d = M^-1 g, with the matrix M = k X'X + r that whitens the
rows: that makes A(s) = r (W - d) and leaves about g' H^-1 g / 2, which is what the excess is, times
how much k exceeds p (1 - p), on average. No share is displaced by more than a quarter of its
distance from 0 or 1, and a last displacement, by a multiple of p (1 - p), makes up for the balance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from setwise.learners.losses import BankLoss, blocks
from setwise.learners.workers import spans

MOST_LOGITS = 2**23  # that are kept at a time: more targets follow one another
LARGEST_SHIFT = 0.25  # in units of p (1 - p): keeps shares within (0, 1), and the bound on KL true


def duality_gaps(loss: BankLoss, W: np.ndarray, steps: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Bounds (L,) on how far W (d + 1, L) is above the minima; infinite where there is none.

    ``steps`` (d + 1, L) are the Newton steps d and ``pull`` (n,) is k times the rows' weight; any
    values are right, good ones make the bounds tight. Costs one and a half evaluations.
    """
    n, L = loss.rows.shape[0], W.shape[1]
    width = max(8, MOST_LOGITS // n // 8 * 8)
    if width >= L:
        return _gaps(loss, W, steps, pull)
    parts = [np.arange(first, min(first + width, L)) for first in range(0, L, width)]
    return np.concatenate([_gaps(loss.taken(p), W[:, p], steps[:, p], pull) for p in parts])


def _gaps(loss: BankLoss, W: np.ndarray, steps: np.ndarray, pull: np.ndarray) -> np.ndarray:
    from setwise.learners._certificate_kernel import displaced, imbalance

    L, (n, width), dtype, free = W.shape[1], loss.T.shape, W.dtype, _has_free_bias(loss)
    Z, U = np.empty((n, width), dtype), np.empty((n, width), dtype)
    wide_W, wide_steps = np.zeros((2, len(W), width), dtype)
    wide_W[:, :L], wide_steps[:, :L] = W, steps
    pull = pull.astype(dtype)[:, None]

    def balance(start: int, stop: int, sums: np.ndarray) -> None:
        loss.rows.fill_logits(start, stop, wide_W, Z[start:stop])
        loss.rows.fill_logits(start, stop, wide_steps, U[start:stop])
        U[start:stop] *= pull[start:stop]
        weight = _weights(loss, start, stop)
        imbalance(Z[start:stop], loss.T[start:stop], weight, U[start:stop], sums[0], sums[1])

    excess, curvature = _added(loss, (2, width), balance)
    shift = excess / np.maximum(curvature, 1e-300) if free else np.zeros(width)
    feasible = np.abs(shift) <= LARGEST_SHIFT
    shift = np.where(feasible, shift, 0).astype(dtype)

    def displace(start: int, stop: int, sums: np.ndarray) -> None:
        part, weight = U[start:stop], _weights(loss, start, stop)
        displaced(Z[start:stop], loss.T[start:stop], weight, part, shift, sums[-2], sums[-1])
        loss.rows.add_gradient(start, stop, part, sums[:-2])

    sums = _added(loss, (len(W) + 2, width), displace)[:, :L]
    short = (sums[:-2] + loss.ridge * W) * loss.penalties
    gaps = sums[-2] + (short**2).sum(axis=0) / (2 * loss.ridge)
    if free:
        # Balanced up to rounding; the best bias is taken to be no further away than 1.
        gaps += np.abs(sums[-1])
    return np.where(feasible[:L] & np.isfinite(gaps), gaps, np.inf)


def _has_free_bias(loss: BankLoss) -> bool:
    return not loss.penalties[-1, 0]


def _weights(loss: BankLoss, start: int, stop: int) -> np.ndarray:
    """The weights of some rows for each target, (rows, L)."""
    part = loss.weight[start:stop]
    return np.ascontiguousarray(np.broadcast_to(part, (stop - start, loss.T.shape[1])))


def _added(
    loss: BankLoss, shape: tuple[int, int], work: Callable[[int, int, np.ndarray], None]
) -> np.ndarray:
    """Sums in double precision that ``work`` adds up block by block, in the order of the rows."""
    n, L = loss.T.shape

    def stripe(span: tuple[int, int]) -> np.ndarray:
        sums = np.zeros(shape)
        for start, stop in blocks(*span, L):
            work(start, stop, sums)
        return sums

    parts = loss.workers.map(stripe, spans(n, loss.rows.stripes(L)))
    return sum(parts[1:], start=parts[0])
