# mypy: ignore-errors
"""How many labels a set of a Bernoulli mixture has, alone and together with each label.

In a component |y| has the generating polynomial f(x) = product over labels of (1 - p_l + p_l x),
and given y_l = 1 the others have g_l(x) = f(x) / (1 - p_l + p_l x). Multiplying costs one pass per
label; dividing costs one more if it starts at the right end, with e = exp(-|log-odds|) <= 1:

    p <= 1/2   from the bottom   p g[s]     = (f[s] - p g[s - 1]) e
    p >  1/2   from the top      p g[s - 1] =  f[s] - p g[s] e

Either way an error is carried on with factor e at most, while from the other end it would grow
with 1 / e. So f is kept to its last coefficient that matters and never cut off at the sizes asked
for. The product has positive terms only; what division adds is below 1e-13 of a label's marginal.
(Products of prefixes and suffixes, which need no division, cost S / 2 times as much.)
"""

import math

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._odds_kernel import fill_odds

# Trailing coefficients of w_k f below this are cut off: what is lost in a row is this times the
# number of components times the expected number of labels, or less.
SMALLEST_TERM = 1e-16
# Labels are multiplied in by fours: f is read and written once for all of them.
TOGETHER = 4


@kernel
def fill_sizes(log_weights, z, size_marginals, sizes):
    """Write P(y_l = 1, |y| = s) (n, L, S) for s = 1..S, and P(|y| = s) (n, S + 1) for s = 0..S."""
    n, K, L = z.shape
    S = sizes.shape[1] - 1
    odds, power, joint = np.empty((K, L)), np.empty(L), np.empty((S, L))
    on, off = np.zeros(L + TOGETHER), np.ones(L + TOGETHER)
    f, new = np.empty(L + 3 * TOGETHER), np.empty(L + 3 * TOGETHER)
    quotient = np.empty(L)
    for row in range(n):
        fill_odds(z[row], power, odds)
        for s in range(S):
            sizes[row, s] = 0.0
            for i in range(L):
                joint[s, i] = 0.0
        sizes[row, S] = 0.0
        for k in range(K):
            weight = math.exp(log_weights[row, k])
            if weight * K < SMALLEST_TERM:
                continue
            _fill_probabilities(z[row, k], odds[k], on, off)
            degree = _multiply(weight, on, off, L, f, new)
            for s in range(min(degree, S) + 1):
                sizes[row, s] += f[TOGETHER + s]
            _divide_from_bottom(z[row, k], odds[k], f, degree, power, quotient, joint)
            _divide_from_top(z[row, k], odds[k], f, degree, joint)
        for i in range(L):
            for s in range(S):
                size_marginals[row, i, s] = joint[s, i]


@kernel
def _fill_probabilities(z, odds, on, off):
    for i in range(len(z)):
        likelier = 1 / (1 + odds[i])
        less = likelier * odds[i]
        positive = z[i] > 0
        on[i] = likelier if positive else less
        off[i] = less if positive else likelier


@kernel
def _multiply(weight, on, off, L, f, new):
    """Write weight * f into ``f[TOGETHER:]``, zeros before and behind it; returns its degree."""
    for s in range(len(f)):
        f[s] = 0.0
    f[TOGETHER] = weight
    degree = 0
    for i in range(0, L, TOGETHER):
        # Two factors of two labels each, a and b; c = a b.
        a0, a2 = off[i] * off[i + 1], on[i] * on[i + 1]
        a1 = off[i] * on[i + 1] + on[i] * off[i + 1]
        b0, b2 = off[i + 2] * off[i + 3], on[i + 2] * on[i + 3]
        b1 = off[i + 2] * on[i + 3] + on[i + 2] * off[i + 3]
        c0, c1, c2 = a0 * b0, a0 * b1 + a1 * b0, a0 * b2 + a1 * b1 + a2 * b0
        c3, c4 = a1 * b2 + a2 * b1, a2 * b2
        degree += TOGETHER
        for s in range(degree + 1):
            low = c2 * f[s + 2] + (c3 * f[s + 1] + c4 * f[s])
            new[s] = c0 * f[s + 4] + c1 * f[s + 3] + low
        for s in range(degree + 1):
            f[TOGETHER + s] = new[s]
        while degree > 0 and f[TOGETHER + degree] < SMALLEST_TERM:
            f[TOGETHER + degree] = 0.0
            degree -= 1
    return degree


@kernel
def _divide_from_bottom(z, odds, f, degree, factor, quotient, joint):
    """Add p g to ``joint`` (S, L) for the labels up to one half, all in one vector."""
    S, L = joint.shape
    for i in range(L):
        factor[i] = 0.0 if z[i] > 0 else odds[i]
        quotient[i] = 0.0
    for s in range(min(degree, S - 1) + 1):
        here = f[TOGETHER + s]
        for i in range(L):
            quotient[i] = max((here - quotient[i]) * factor[i], 0.0)
            joint[s, i] += quotient[i]


@kernel
def _divide_from_top(z, odds, f, degree, joint):
    """Add p g to ``joint`` for the labels over one half, few as they are, one by one."""
    S = len(joint)
    for i in range(len(z)):
        if z[i] > 0:
            quotient = 0.0
            for s in range(degree - 1, S - 1, -1):
                quotient = max(f[TOGETHER + s + 1] - quotient * odds[i], 0.0)
            for s in range(min(degree, S) - 1, -1, -1):
                quotient = max(f[TOGETHER + s + 1] - quotient * odds[i], 0.0)
                joint[s, i] += quotient
