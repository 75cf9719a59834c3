# mypy: ignore-errors
"""The general F-measure maximiser for a block of rows."""

import numpy as np

from setwise.compiling import kernel


@kernel
def take_best(gain, k, taken):
    """Mark the k labels with the largest gains in ``taken``, the first of equals; their sum."""
    for label in range(len(gain)):
        taken[label] = 0
    total = 0.0
    for _ in range(k):
        best, largest = -1, -np.inf
        for label in range(len(gain)):
            if gain[label] > largest and taken[label] == 0:
                best, largest = label, gain[label]
        taken[best] = 1
        total += largest
    return total


@kernel
def best_of_size(k, by_size, gain, taken):
    """Mark the k labels with the largest expected F1 together; return it."""
    S, L = by_size.shape
    for label in range(L):
        gain[label] = 0.0
    for s in range(S):
        worth = 2.0 / (s + 1 + k)
        for label in range(L):
            gain[label] += worth * by_size[s, label]
    return take_best(gain, k, taken)


@kernel
def bounds(k, sizes):
    """(what no set of k labels exceeds, what no set of k labels or more exceeds).

    A true set of s labels gives 2 min(s, k) / (s + k) at most, and 2s / (s + k) falls with k.
    """
    own, beyond = 0.0, 0.0
    for s in range(1, len(sizes)):
        share = 2.0 * sizes[s] / (s + k)
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
    by_size = np.empty((S, L))
    gain = np.empty(L)
    taken = np.zeros(L, dtype=np.uint8)
    for row in range(n):
        for label in range(L):
            for s in range(S):
                by_size[s, label] = size_marginals[row, label, s]
        value[row] = empty_value[row]
        # The typical size first: with a good value in hand, most other sizes need no look.
        typical = typical_size(sizes[row], L)
        for k in range(0, L + 1):
            if k == typical:
                continue
            size = typical if k == 0 else k
            own, beyond = bounds(size, sizes[row])
            if beyond <= value[row] and k > 0:
                break
            if own > value[row]:
                total = best_of_size(size, by_size, gain, taken)
                if total > value[row]:
                    value[row] = total
                    for label in range(L):
                        chosen[row, label] = taken[label]
