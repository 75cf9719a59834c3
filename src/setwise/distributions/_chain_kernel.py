# mypy: ignore-errors
"""Sums over the sets of linear chains, listed or drawn; see ``chain.py``.

Labels stand in chain order throughout: ``base`` (n, L) are the log-odds of each label where no
other is on, ``weights[i, j]`` is what label j adds to the log-odds of label i, for j < i.
"""

import math

import numpy as np

from setwise.compiling import kernel


@kernel
def softplus(z):
    """log(1 + exp(z))."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@kernel
def log_odds(base, weights, i, on, count):
    """Of label i, given the first ``count`` labels of ``on``."""
    z = base[i]
    for c in range(count):
        z += weights[i, on[c]]
    return z


@kernel
def advance(values):
    """The next set in counting order, the last label changing fastest; its first new label.

    -1 after the last set.
    """
    i = len(values) - 1
    while i >= 0 and values[i]:
        values[i] = 0
        i -= 1
    if i >= 0:
        values[i] = 1
    return i


@kernel
def refresh(base, weights, values, first, on, count, score):
    """Log-probabilities of the prefixes of ``values`` from label ``first`` on.

    ``score[i]`` is that of the first i labels, ``count[i]`` how many of ``on`` are among them.
    """
    for i in range(first, len(base)):
        z = log_odds(base, weights, i, on, count[i])
        count[i + 1] = count[i]
        if values[i]:
            score[i + 1] = score[i] - softplus(-z)
            on[count[i]] = i
            count[i + 1] += 1
        else:
            score[i + 1] = score[i] - softplus(z)


@kernel
def add_set(on, size, weight, joint, sizes):
    """Count a set in the sums by size, unless it has more labels than they go to."""
    if size < len(sizes):
        sizes[size] += weight
        for c in range(size):
            joint[on[c], size - 1] += weight


@kernel
def list_sizes(base, weights, joint, sizes):
    """Add up P(y_l = 1, |y| = s) (n, L, S) and P(|y| = s) (n, S + 1) over all sets."""
    n, L = base.shape
    values, on = np.empty(L, np.int8), np.empty(L, np.int64)
    count, score = np.zeros(L + 1, np.int64), np.zeros(L + 1)
    for row in range(n):
        values[:] = 0
        first = 0
        while first >= 0:
            refresh(base[row], weights, values, first, on, count, score)
            add_set(on, count[L], math.exp(score[L]), joint[row], sizes[row])
            first = advance(values)


@kernel
def list_pairs(base, weights, pairs):
    """Add up P(y_l = 1, y_m = 1) (n, L, L) over all sets."""
    n, L = base.shape
    values, on = np.empty(L, np.int8), np.empty(L, np.int64)
    count, score = np.zeros(L + 1, np.int64), np.zeros(L + 1)
    for row in range(n):
        values[:] = 0
        first = 0
        while first >= 0:
            refresh(base[row], weights, values, first, on, count, score)
            p = math.exp(score[L])
            for c in range(count[L]):
                for e in range(count[L]):
                    pairs[row, on[c], on[e]] += p
            first = advance(values)


@kernel
def first_limits(base, limits):
    """P(the first label that is on stands at i or before), rising; 1 at the end if all counted."""
    score = 0.0
    for i in range(len(base)):
        score -= softplus(base[i])
        limits[i] = -math.expm1(score)


@kernel
def draw(base, weights, luck, nonempty, limits, on, means):
    """One set by its uniform numbers ``luck`` (L + 1,); returns its size.

    ``means`` gets what each label's probability was when its turn came. A set that must not be
    empty has its first label drawn beforehand: where none is on yet, ``base`` alone decides.
    """
    L = len(base)
    first = -1
    if nonempty:
        first = 0
        while first < L - 1 and luck[L] * limits[L - 1] >= limits[first]:
            first += 1
    count = 0
    for i in range(L):
        if i < first:
            means[i] = 0.0
        elif i == first:
            means[i] = 1.0
        else:
            means[i] = 1.0 / (1.0 + math.exp(-log_odds(base, weights, i, on, count)))
        if luck[i] < means[i]:
            on[count] = i
            count += 1
    return count


@kernel
def draw_sets(base, weights, luck, nonempty, samples):
    """Fill ``samples`` (n, S, L), all zero, by uniform numbers (n, S, L + 1)."""
    n, L = base.shape
    limits, on, means = np.empty(L), np.empty(L, np.int64), np.empty(L)
    for row in range(n):
        first_limits(base[row], limits)
        for s in range(samples.shape[1]):
            size = draw(base[row], weights, luck[row, s], nonempty, limits, on, means)
            for c in range(size):
                samples[row, s, on[c]] = 1


@kernel
def draw_sums(base, weights, luck, nonempty, marginals, joint, sizes):
    """Means over drawn sets of what ``list_sizes`` sums; ``luck`` (S, L + 1) serves all rows.

    ``marginals`` (n, L) average the labels' probabilities when their turn came, not the draws:
    that has the same mean and spreads less.
    """
    n, L = base.shape
    limits, on, means = np.empty(L), np.empty(L, np.int64), np.empty(L)
    share = 1.0 / len(luck)
    for row in range(n):
        first_limits(base[row], limits)
        for s in range(len(luck)):
            size = draw(base[row], weights, luck[s], nonempty, limits, on, means)
            add_set(on, size, share, joint[row], sizes[row])
            for i in range(L):
                marginals[row, i] += share * means[i]


@kernel
def draw_pairs(base, weights, luck, nonempty, pairs):
    """Shares of the drawn sets with both of two labels, (n, L, L)."""
    n, L = base.shape
    limits, on, means = np.empty(L), np.empty(L, np.int64), np.empty(L)
    share = 1.0 / len(luck)
    for row in range(n):
        first_limits(base[row], limits)
        for s in range(len(luck)):
            size = draw(base[row], weights, luck[s], nonempty, limits, on, means)
            for c in range(size):
                for e in range(size):
                    pairs[row, on[c], on[e]] += share
