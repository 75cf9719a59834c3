# mypy: ignore-errors
"""Sums over the sets of each row's free labels; see ``pruned.py``.

A set of a row's free labels is a number: bit k is the k-th of them. ``free`` (n, F) are the free
labels of each row, of which the first ``count`` count.
"""

import math

import numpy as np

from setwise.compiling import kernel


@kernel
def score_sets(z, fixed, interactions, free, count, scores):
    """Scores of the 2^count sets of a row, relative to that without any free label.

    ``fixed`` (L,) is 1 where a label is on in all of them. A set without its lowest label comes
    before it: one label is added at a time.
    """
    scores[0] = 0.0
    L = len(z)
    base = np.empty(count)
    for k in range(count):
        label = free[k]
        base[k] = z[label]
        for m in range(L):
            if fixed[m]:
                base[k] += interactions[label, m]
    for number in range(1, 2**count):
        lowest = 0
        while not (number >> lowest) & 1:
            lowest += 1
        total = base[lowest]
        for k in range(lowest + 1, count):
            if (number >> k) & 1:
                total += interactions[free[lowest], free[k]]
        scores[number] = scores[number & (number - 1)] + total


@kernel
def list_scores(Z, fixed, interactions, free, count, scores):
    """Scores (n, 2^F) of the sets of all rows; those that a row does not have are left alone."""
    for row in range(len(Z)):
        score_sets(Z[row], fixed[row], interactions, free[row], count[row], scores[row])


@kernel
def add_losses(Z, Y, weight, fixed, interactions, free, count, R, by_pair):
    """The weighted loss; fills its gradient by Z, R (n, L), all zero, and adds that by pairs.

    ``by_pair`` (L, L) gets each pair of free labels and each of a free and a fixed label twice, at
    its two places.
    """
    n, L = Z.shape
    F = free.shape[1]
    scores, mean, both = np.empty(2**F), np.empty(F), np.empty((F, F))
    on = np.empty(F, np.int64)
    loss = 0.0
    for row in range(n):
        size = count[row]
        score_sets(Z[row], fixed[row], interactions, free[row], size, scores)
        true = 0
        for k in range(size):
            true += int(Y[row, free[row, k]]) << k
        top = scores[0]
        for number in range(2**size):
            top = max(top, scores[number])
        total = 0.0
        reached = scores[true]
        for number in range(2**size):
            scores[number] = math.exp(scores[number] - top)
            total += scores[number]
        loss += weight[row] * (math.log(total) + top - reached)
        mean[:] = 0.0
        both[:] = 0.0
        for number in range(2**size):
            p = scores[number] / total - (number == true)
            taken = 0
            for k in range(size):
                if (number >> k) & 1:
                    on[taken] = k
                    taken += 1
            for c in range(taken):
                mean[on[c]] += p
                for e in range(c):
                    both[on[c], on[e]] += p
        for k in range(size):
            label = free[row, k]
            slope = weight[row] * mean[k]
            R[row, label] = slope
            for m in range(L):
                if fixed[row, m]:
                    by_pair[label, m] += slope
                    by_pair[m, label] += slope
            for j in range(k):
                slope = weight[row] * both[k, j]
                by_pair[label, free[row, j]] += slope
                by_pair[free[row, j], label] += slope
    return loss
