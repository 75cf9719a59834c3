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
distance from 0 or 1.

That may leave an imbalance e = sum_i w_i (s_i - t_i), which a free bias forbids. A last shift by
e p (1 - p) / B, for B = sum_i w_i p_i (1 - p_i), makes up for it. It takes a second pass over the
rows to see what it costs, but a bound is at hand: with K the sum of divergences before it and a the
remainder A(s) - r W, they become at most

    (sqrt(K) + |e| / sqrt(B))^2      and      |a| + |e| max_i |x_i|.

(The divergence has second derivatives of at most 2 e^2 / B along the shift, as shares keep half of
their distance from 0 and 1, and a first one of at most 1.16 |e| sqrt(2.2 K / B).) The second pass
is made where this bound is neither small enough nor nearly what it would be without an imbalance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from setwise.learners.losses import BankLoss, block_rows, blocks, padded
from setwise.learners.workers import spans

LARGEST_SHIFT = 0.25  # in units of p (1 - p): keeps shares within (0, 1), and the bound on KL true


NEARLY = 1.05  # times the gap without an imbalance: a bound that a second pass need not improve


def duality_gaps(
    loss: BankLoss,
    W: np.ndarray,
    steps: np.ndarray,
    pull: np.ndarray,
    enough: np.ndarray | None = None,
) -> np.ndarray:
    """Bounds (L,) on how far W (d + 1, L) is above the minima; infinite where there is none.

    ``steps`` (d + 1, L) are the Newton steps d and ``pull`` (n,) is k times the rows' weight; any
    values are right, good ones make the bounds tight. A bound that is within ``enough`` (L,), or
    has no hope to be, is not made any tighter. Costs one and a half evaluations, and as much again
    where it takes two passes.
    """
    still = np.zeros(W.shape[1])
    first = _passed(loss, W, steps, pull, still)
    if not _has_free_bias(loss):
        return first.gaps(loss.ridge, imbalance=0 * still)
    longest = float(np.sqrt(loss.rows.longest_square))
    gaps = first.gaps(loss.ridge, imbalance=first.excess, longest=longest)
    balanced = first.gaps(loss.ridge, imbalance=0 * still)
    settled = gaps <= NEARLY * balanced
    if enough is not None:
        settled |= (gaps <= enough) | (balanced > enough)
    shift = first.excess / np.maximum(first.curvature, 1e-300)
    again = np.flatnonzero(~settled & (np.abs(shift) <= LARGEST_SHIFT))
    if len(again):
        part = loss if len(again) == len(gaps) else loss.taken(again)
        second = _passed(part, W[:, again], steps[:, again], pull, shift[again])
        # Balanced up to rounding; the best bias is taken to be no further away than 1.
        tight = second.gaps(part.ridge, imbalance=0 * shift[again]) + np.abs(second.excess)
        gaps[again] = np.fmin(gaps[again], tight)
    return gaps


def gradient_gaps(loss: BankLoss, W: np.ndarray, G: np.ndarray) -> np.ndarray:
    """As ``duality_gaps`` with steps of zero, from the gradients G (d + 1, L) at W, in no pass.

    The curvature B is that of a block of rows: a smaller one makes bounds larger, never wrong.
    """
    L, stop = W.shape[1], min(len(loss.T), block_rows(W.shape[1]))
    wide = padded(W)
    Z = np.empty((stop, wide.shape[1]), W.dtype)
    loss.rows.fill_logits(0, stop, wide, Z)
    p = expit(Z[:, :L].astype(np.float64))
    curvature = (loss.weight[:stop, :L] * p * (1 - p)).sum(axis=0)
    short = np.sqrt(((G * loss.penalties).astype(np.float64) ** 2).sum(axis=0))
    still = np.zeros(L)
    imbalance = G[-1].astype(np.float64) if _has_free_bias(loss) else still
    longest = float(np.sqrt(loss.rows.longest_square))
    only = _Pass(still, imbalance, curvature, short)
    return only.gaps(loss.ridge, imbalance=imbalance, longest=longest)


class _Pass(NamedTuple):
    """What a pass over the rows adds up, (L,) each."""

    distance: np.ndarray  # divergences of the shares from p, weighted
    excess: np.ndarray  # their imbalance
    curvature: np.ndarray  # weight * p (1 - p)
    short: np.ndarray  # |A(s) - r W|

    def gaps(self, ridge: np.ndarray, *, imbalance: np.ndarray, longest: float = 0) -> np.ndarray:
        """Bounds on the gaps after a shift that makes up for an imbalance (L,); maybe infinite."""
        curvature = np.maximum(self.curvature, 1e-300)
        spread = (np.sqrt(self.distance) + np.abs(imbalance) / np.sqrt(curvature)) ** 2
        gaps = spread + (self.short + np.abs(imbalance) * longest) ** 2 / (2 * ridge)
        feasible = np.abs(imbalance) <= LARGEST_SHIFT * curvature
        return np.where(feasible & np.isfinite(gaps), gaps, np.inf)


def _passed(
    loss: BankLoss, W: np.ndarray, steps: np.ndarray, pull: np.ndarray, shift: np.ndarray
) -> _Pass:
    """Shares displaced by the steps and by a shift (L,) in units of p (1 - p), and their sums."""
    from setwise.learners._certificate_kernel import displaced

    L, (n, width), dtype = W.shape[1], loss.T.shape, W.dtype
    # One product for both: where targets are few, it is the reading of the rows that takes time.
    both = np.hstack([padded(W), padded(steps, dtype)])
    wide_shift = padded(shift[None], dtype)[0]
    pull = pull.astype(dtype)

    def stripe(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        sums, G = np.zeros((3, width)), np.zeros((len(W), width))
        rows = block_rows(2 * width)
        logits = np.empty((rows, 2 * width), dtype)
        residuals, weights = np.empty((2, rows, width), dtype)
        for start, stop in blocks(*span, 2 * width):
            ZU, R, weight = (part[: stop - start] for part in (logits, residuals, weights))
            loss.rows.fill_logits(start, stop, both, ZU)
            weight[:] = loss.weight[start:stop]
            targets, pulls = loss.T[start:stop], pull[start:stop]
            displaced(ZU, targets, weight, pulls, R, wide_shift, *sums)
            loss.rows.add_gradient(start, stop, R, G)
        return sums, G

    parts = loss.workers.map(stripe, spans(n, loss.rows.stripes(width)))
    sums, G = (sum(more, start=0 * more[0])[:, :L] for more in zip(*parts, strict=True))
    short = (G + loss.ridge * W) * loss.penalties
    distance, excess, curvature = sums
    return _Pass(distance, excess, curvature, np.sqrt((short**2).sum(axis=0)))


def _has_free_bias(loss: BankLoss) -> bool:
    return not loss.penalties[-1, 0]
