# mypy: ignore-errors
"""What every answer of a Bernoulli mixture begins with: exp(-|z|) of its log-odds, and its users.

With odds e = exp(-|z|) a label has its likelier value with probability 1 / (1 + e) and the other
with e / (1 + e). Nothing overflows, and small probabilities keep all their digits.

The exponential is our own because the library's is called one number at a time: this one is plain
arithmetic that the compiler turns into vector instructions. Cody and Waite's reduction to
|r| <= log(2) / 2, then a Taylor polynomial; the error is below 4e-16 of the value.
"""

import math

import numpy as np

from setwise.compiling import kernel, lane_kernel

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # its last 21 bits are zero: products with integers are exact
LN2_LOW = 1.90821492927058770002e-10
# Adding 1.5 * 2**52 rounds to an integer and leaves that integer in the lowest bits.
ROUND = 6755399441055744.0
# exp of less would be subnormal, and slow; 3e-308 in its place changes no sum.
SMALLEST = -708.0
# A product of so many factors up to 2 stays below the largest float.
FACTORS_PER_LOG = 512


@lane_kernel
def fill_odds(z, power, odds):
    """Write exp(-|z|) into ``odds``; both (K, L), ``power`` (L,) is scratch."""
    bits = power.view(np.int64)
    for k in range(z.shape[0]):
        for i in range(z.shape[1]):
            power[i] = max(-abs(z[k, i]), SMALLEST) * LOG2_E + ROUND
        for i in range(z.shape[1]):
            n = power[i] - ROUND
            r = (max(-abs(z[k, i]), SMALLEST) - n * LN2_HIGH) - n * LN2_LOW
            # Taylor's terms in pairs, which need not wait for each other as Horner's must.
            r2 = r * r
            r4 = r2 * r2
            low = (1 / 24 + r * (1 / 120)) + r2 * (1 / 720 + r * (1 / 5040))
            high = (1 / 40320 + r * (1 / 362880)) + r2 * (1 / 3628800 + r * (1 / 39916800))
            tail = low + r4 * (high + r4 * (1 / 479001600))
            odds[k, i] = 1 + (r + (r2 * (1 / 2 + r * (1 / 6)) + r4 * tail))
        for i in range(z.shape[1]):
            bits[i] = (bits[i] + 1023) << 52
        for i in range(z.shape[1]):
            odds[k, i] *= power[i]


@kernel
def log_of_mode(odds, k):
    """Log-probability of component k's likeliest set: minus the sum over labels of log(1 + e)."""
    total = 0.0
    L = odds.shape[1]
    for start in range(0, L, FACTORS_PER_LOG):
        stop = min(L, start + FACTORS_PER_LOG)
        even, odd = 1.0, 1.0  # two chains, so that one multiplication need not wait for the other
        for i in range(start, stop - 1, 2):
            even *= 1 + odds[k, i]
            odd *= 1 + odds[k, i + 1]
        if (stop - start) % 2:
            even *= 1 + odds[k, stop - 1]
        total -= math.log(even) + math.log(odd)
    return total


@kernel
def add_marginals(log_weights, z, marginals):
    """Add the sum over k of w_k P(y_l = 1 | k) to ``marginals`` (n, L)."""
    n, K, L = z.shape
    odds, power = np.empty((K, L)), np.empty(L)
    for row in range(n):
        fill_odds(z[row], power, odds)
        for k in range(K):
            weight = math.exp(log_weights[row, k])
            for i in range(L):
                likelier = weight / (1 + odds[k, i])
                marginals[row, i] += likelier if z[row, k, i] > 0 else likelier * odds[k, i]


@kernel
def fill_log_joint(z, Y, log_joint):
    """Add log P(Y | k) to ``log_joint`` (n, K), which holds the log weights."""
    n, K, L = z.shape
    odds, power = np.empty((K, L)), np.empty(L)
    for row in range(n):
        fill_odds(z[row], power, odds)
        for k in range(K):
            missing, wrong = 0.0, 0.0  # what likely labels left out and unlikely ones cost
            for i in range(L):
                on = z[row, k, i] * Y[row, i]
                missing += max(on, 0.0) - max(z[row, k, i], 0.0)
                wrong += min(on, 0.0)
            log_joint[row, k] += log_of_mode(odds, k) + missing + wrong


@kernel
def fill_log_nonempty(z, log_nonempty):
    """Write log P(any label | k) into ``log_nonempty`` (n, K): a sum of positive terms only."""
    n, K, L = z.shape
    odds, power = np.empty((K, L)), np.empty(L)
    for row in range(n):
        fill_odds(z[row], power, odds)
        for k in range(K):
            some, none = 0.0, 1.0
            for i in range(L):
                likelier = 1 / (1 + odds[k, i])
                on = likelier if z[row, k, i] > 0 else likelier * odds[k, i]
                some += none * on
                none *= likelier * odds[k, i] if z[row, k, i] > 0 else likelier
            log_nonempty[row, k] = math.log(some)
