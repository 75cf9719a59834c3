# mypy: ignore-errors
"""The general F-measure maximiser for a block of rows.

With Δ_lk = sum over s of p_ls 2 / (s + k), the best set of k labels has the k largest Δ_lk. Few
sizes k need that look. No set of k labels exceeds ``bounds``, whatever its labels; and from the
gains at one size k follow bounds for larger sizes j. With m_l = sum over s of p_ls,

    Δ_lj <= Δ_lk (σ_l + k) / (σ_l + j),      σ_l = 2 m_l / Δ_lk - k,

by Jensen's inequality: (s + k) / (s + j) is concave in s, and σ_l is the mean of s that Δ_lk gives.
"""

import math

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._vectors_kernel import WIDTH, load, spread, store

# What rounding may take from a bound.
SLACK = 1 + 1e-12


@kernel
def take_best(gain, k, order):
    """Bring the k labels with the largest gains to the front of ``order``; returns their sum.

    Best first, the lower number first of equals. ``order`` holds each label once; the better the
    order it has, the less is moved.
    """
    for place in range(len(order)):
        label = order[place]
        own = gain[label]
        if place >= k:
            last = order[k - 1]
            if own < gain[last] or (own == gain[last] and label > last):  # most labels
                continue
            order[place] = last
        to = min(place, k - 1)
        while to > 0 and (
            gain[order[to - 1]] < own or (gain[order[to - 1]] == own and order[to - 1] > label)
        ):
            order[to] = order[to - 1]
            to -= 1
        order[to] = label
    total = 0.0
    for place in range(k):
        total += gain[order[place]]
    return total


@kernel
def fill_gains(by_size, worth, S, gain):
    """Write sum over s of ``worth[s] p_ls`` for each label; ``by_size`` (L / 8, S, 8)."""
    for first in range(0, len(gain), WIDTH):
        # Two sums, so that one addition need not wait for the other.
        even = odd = spread(0.0)
        for s in range(0, S - 1, 2):
            at = first * S + s * WIDTH
            even = even + spread(worth[s]) * load(by_size, at)
            odd = odd + spread(worth[s + 1]) * load(by_size, at + WIDTH)
        if S % 2:
            even = even + spread(worth[S - 1]) * load(by_size, (first + WIDTH) * S - WIDTH)
        store(even + odd, gain, first)


@kernel
def largest_mean_size(k, gain, marginal):
    """The largest σ_l of the labels with a gain."""
    largest = 0.0
    for label in range(len(gain)):
        if gain[label] > 0:
            largest = max(largest, 2 * marginal[label] / gain[label] - k)
    return largest


@kernel
def fill_running_sums(gain, order, n_sorted, running):
    """Write bounds for the sum of the j largest gains, of which ``n_sorted`` are in order."""
    total, last = 0.0, math.inf
    running[0] = 0.0
    for place in range(len(order)):
        if place < n_sorted:
            last = gain[order[place]]
        total += last
        running[place + 1] = total


@kernel
def bounds(k, sizes, worth):
    """(what no set of k labels exceeds, what no set of k labels or more exceeds).

    A true set of s labels gives 2 min(s, k) / (s + k) at most, and 2s / (s + k) falls with k.
    """
    own, beyond = 0.0, 0.0
    for s in range(1, len(sizes)):
        share = worth[s + k] * sizes[s]
        own += share * min(s, k)
        beyond += share * s
    return own, beyond


@kernel
def typical_size(sizes, largest):
    """The mean size, rounded, from 1 to ``largest``."""
    mean = 0.0
    for s in range(1, len(sizes)):
        mean += s * sizes[s]
    return max(1, min(largest, int(mean + 0.5)))


@kernel
def maximise(size_marginals, sizes, empty_value, chosen, value):
    """The F1-optimal set of each row into ``chosen`` (n, L), its expected F1 into ``value`` (n,).

    ``size_marginals`` (n, L, S) holds P(y_l = 1, |y| = s), ``sizes`` (n, S + 1) holds P(|y| = s),
    ``empty_value`` (n,) the expected F1 of the empty set.
    """
    n, L, S = size_marginals.shape
    wide_L = (L + WIDTH - 1) // WIDTH * WIDTH
    by_size, gain, marginal = np.zeros(wide_L * S), np.empty(wide_L), np.empty(wide_L)
    order, running = np.empty(L, dtype=np.int64), np.empty(L + 1)
    worth = 2.0 / np.arange(L + S + 1)  # of a true label, by the sizes of both sets together
    ones = np.ones(S)
    for row in range(n):
        for label in range(L):
            order[label] = label
            at = label // WIDTH * WIDTH * S + label % WIDTH
            for s in range(S):
                by_size[at + s * WIDTH] = size_marginals[row, label, s]
        value[row] = empty_value[row]
        # The typical size first: with a good value in hand, most other sizes need no look.
        typical = typical_size(sizes[row], L)
        fill_gains(by_size, worth[typical + 1 :], S, gain)
        fill_gains(by_size, ones, S, marginal)
        mean_size = largest_mean_size(typical, gain, marginal)
        n_sorted = min(L, 2 * typical + WIDTH)
        take_best(gain, n_sorted, order)
        fill_running_sums(gain, order, n_sorted, running)
        if running[typical] > value[row]:
            take(running[typical], typical, order, row, chosen, value)
        for k in range(1, L + 1):
            if k == typical:
                continue
            if k > typical:
                falls = SLACK * (mean_size + typical) / (mean_size + k)
                if running[k] * falls <= value[row]:
                    if running[L] * falls <= value[row]:
                        break
                    continue
            own, beyond = bounds(k, sizes[row], worth)
            if beyond <= value[row]:
                break
            if own > value[row]:
                fill_gains(by_size, worth[k + 1 :], S, gain)
                total = take_best(gain, k, order)
                if total > value[row]:
                    take(total, k, order, row, chosen, value)


@kernel
def take(total, k, order, row, chosen, value):
    """Choose the first k labels of ``order``."""
    value[row] = total
    chosen[row] = 0
    for place in range(k):
        chosen[row, order[place]] = 1
