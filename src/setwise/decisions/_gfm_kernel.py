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
        for k in range(1, L + 1):
            # No set of k labels, or of more, is above this: a true set of s labels gives 2s/(s+k).
            bound = 0.0
            for s in range(1, S + 1):
                bound += 2.0 * s * sizes[row, s] / (s + k)
            if bound <= value[row]:
                break
            for label in range(L):
                gain[label] = 0.0
            for s in range(S):
                worth = 2.0 / (s + 1 + k)
                for label in range(L):
                    gain[label] += worth * by_size[s, label]
            total = take_best(gain, k, taken)
            if total > value[row]:
                value[row] = total
                for label in range(L):
                    chosen[row, label] = taken[label]
