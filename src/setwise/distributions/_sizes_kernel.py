# mypy: ignore-errors
"""How many labels a set of a Bernoulli mixture has, alone and together with each label.

In a component |y| has the generating polynomial f(x) = product over labels of (1 - p_l + p_l x),
and given y_l = 1 the others have g_l(x) = f(x) / (1 - p_l + p_l x). Multiplying costs one pass per
label; dividing costs one more if it starts at the right end, with e = exp(-|log-odds|) <= 1:

    p <= 1/2   from the bottom   h[s] = f[s]     - e h[s - 1],   p g = e h,   h = (1 - p) g
    p >  1/2   from the top      t[s] = f[s + 1] - e t[s + 1],   p g = t

Either way an error is carried on with factor e at most, while from the other end it would grow
with 1 / e. So f is kept to its last coefficient that matters and never cut off at the sizes asked
for. The product has positive terms only; what division adds is below 1e-13 of a label's marginal.
(Products of prefixes and suffixes, which need no division, cost S / 2 times as much.)

Lanes are eight components in the product, eight labels in division: no step waits for another lane.
"""

import math

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._odds_kernel import fill_odds
from setwise.distributions._vectors_kernel import WIDTH, load, spread, store

# Trailing coefficients of w_k f below this are cut off: what is lost in a row is this times the
# number of components times the expected number of labels, or less.
SMALLEST_TERM = 1e-16
# Labels are multiplied in two at a time: f is read and written once for both.
TOGETHER = 2


@kernel
def fill_sizes(log_weights, z, size_marginals, sizes):
    """Write P(y_l = 1, |y| = s) (n, L, S) for s = 1..S, and P(|y| = s) (n, S + 1) for s = 0..S."""
    n, K, L = z.shape
    S = sizes.shape[1] - 1
    wide_L = (L + WIDTH - 1) // WIDTH * WIDTH
    odds, power, kept = np.zeros((K, wide_L)), np.empty(L), np.empty(K, np.int64)
    # Lanes are columns of flat arrays. Labels beyond the last have odds 0: they are off.
    weights, signed = np.empty(K + WIDTH), np.zeros(wide_L * WIDTH)
    on, off = np.empty(wide_L * WIDTH), np.empty(wide_L * WIDTH)
    f, joint = np.empty((max(L, S) + 2 * TOGETHER + 1) * WIDTH), np.empty(wide_L * S)
    positive, packed, falling = np.empty(L, np.int64), np.empty(WIDTH), np.empty(S * WIDTH)
    for row in range(n):
        n_kept = _keep_heavy(log_weights[row], kept, weights)
        sizes[row] = 0.0
        joint[:] = 0.0
        for start in range(0, n_kept, WIDTH):
            n_lanes = min(WIDTH, n_kept - start)
            for lane in range(n_lanes):
                k = kept[start + lane]
                fill_odds(z[row, k : k + 1], power, odds[k : k + 1])
                _into_lane(z[row, k], odds[k], lane, signed)
            _fill_probabilities(signed, on, off)
            degree = _multiply(weights[start : start + WIDTH], on, off, L, f)
            for lane in range(n_lanes):
                k = kept[start + lane]
                for s in range(min(degree, S) + 1):
                    sizes[row, s] += f[s * WIDTH + lane]
                n_positive = _take_positive(z[row, k], positive)
                _divide_from_top(
                    f, degree, lane, odds[k], positive[:n_positive], packed, falling, joint
                )
            n_sizes = min(degree + 1, S)
            for lane in range(0, n_lanes, 2):
                # Without a partner the next lane has weight 0, and whose odds it takes is the same.
                k, other = kept[start + lane], kept[start + min(lane + 1, n_lanes - 1)]
                _divide_from_bottom(f, n_sizes, lane, odds[k], odds[other], joint)
        _write_out(joint, size_marginals[row])


@kernel
def _keep_heavy(log_weights, kept, weights):
    """Number the components that matter and write their weights, zeros behind them."""
    K, n_kept = len(log_weights), 0
    for k in range(K):
        weight = math.exp(log_weights[k])
        if weight * K >= SMALLEST_TERM:
            kept[n_kept] = k
            weights[n_kept] = weight
            n_kept += 1
    weights[n_kept:] = 0.0
    return n_kept


@kernel
def _into_lane(z, odds, lane, signed):
    """Write a component's odds, with the sign of z, into its lane."""
    for i in range(len(z)):
        signed[i * WIDTH + lane] = odds[i] if z[i] > 0 else -odds[i]


@kernel
def _fill_probabilities(signed, on, off):
    for i in range(len(signed)):
        e = abs(signed[i])
        likelier = 1 / (1 + e)
        less = likelier * e
        positive = signed[i] > 0
        on[i] = likelier if positive else less
        off[i] = less if positive else likelier


@kernel
def _multiply(weights, on, off, L, f):
    """Write weight * f into ``f``, zeros behind it; returns the highest degree of its lanes."""
    f[:] = 0.0
    store(load(weights, 0), f, 0)
    degree = 0
    for i in range(0, L, TOGETHER):
        on0, off0 = load(on, i * WIDTH), load(off, i * WIDTH)
        on1, off1 = load(on, (i + 1) * WIDTH), load(off, (i + 1) * WIDTH)
        c0, c1, c2 = off0 * off1, off0 * on1 + on0 * off1, on0 * on1
        degree += TOGETHER
        below = second_below = spread(0.0)
        for s in range(degree + 1):
            here = load(f, s * WIDTH)
            store(c0 * here + (c1 * below + c2 * second_below), f, s * WIDTH)
            below, second_below = here, below
        degree = _trimmed(f, degree)
    return degree


@kernel
def _trimmed(f, degree):
    """The degree without trailing coefficients that are small in every lane; zeros there."""
    while degree > 0:
        largest = 0.0
        for j in range(degree * WIDTH, (degree + 1) * WIDTH):
            largest = max(largest, f[j])
        if largest >= SMALLEST_TERM:
            break
        for j in range(degree * WIDTH, (degree + 1) * WIDTH):
            f[j] = 0.0
        degree -= 1
    return degree


@kernel
def _take_positive(z, positive):
    """Number the labels over one half; returns how many there are."""
    n_positive = 0
    for i in range(len(z)):
        positive[n_positive] = i
        n_positive += z[i] > 0
    return n_positive


@kernel
def _divide_from_bottom(f, n_sizes, lane, odds, other_odds, joint):
    """Add p g to ``joint`` (L / WIDTH, S, WIDTH) for the components of a lane and the next one.

    Two at once, for ``joint`` is then read and written half as often. Odds of 0 add nothing.
    """
    S = len(joint) // len(odds)
    for first in range(0, len(odds), WIDTH):
        e, other_e = load(odds, first), load(other_odds, first)
        h = other_h = spread(0.0)
        for s in range(n_sizes):
            h = spread(f[s * WIDTH + lane]) - e * h
            other_h = spread(f[s * WIDTH + lane + 1]) - other_e * other_h
            at = first * S + s * WIDTH
            store(load(joint, at) + e * h + other_e * other_h, joint, at)


@kernel
def _divide_from_top(f, degree, lane, odds, positive, packed, falling, joint):
    """Add p g to ``joint`` for the labels over one half, few as they are; sets their odds to 0."""
    S = len(joint) // len(odds)
    n_sizes = min(S, degree)
    for start in range(0, len(positive), WIDTH):
        n_packed = min(WIDTH, len(positive) - start)
        packed[:] = 0.0
        for j in range(n_packed):
            packed[j] = odds[positive[start + j]]
            odds[positive[start + j]] = 0.0
        e, t = load(packed, 0), spread(0.0)
        for s in range(degree - 1, n_sizes - 1, -1):
            t = spread(f[(s + 1) * WIDTH + lane]) - e * t
        for s in range(n_sizes - 1, -1, -1):
            t = spread(f[(s + 1) * WIDTH + lane]) - e * t
            store(t, falling, s * WIDTH)
        for j in range(n_packed):
            i = positive[start + j]
            at = i // WIDTH * WIDTH * S + i % WIDTH
            for s in range(n_sizes):
                joint[at + s * WIDTH] += falling[s * WIDTH + j]


@kernel
def _write_out(joint, size_marginals):
    """Copy ``joint`` into the answer (L, S); what rounding made negative is 0."""
    L, S = size_marginals.shape
    for i in range(L):
        at = i // WIDTH * WIDTH * S + i % WIDTH
        for s in range(S):
            size_marginals[i, s] = max(joint[at + s * WIDTH], 0.0)
