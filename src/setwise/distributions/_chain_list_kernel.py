# mypy: ignore-errors
"""How likely a linear chain finds each set of a list, for each row, or the sets of each row's own.

With z the log-odds of all labels given the labels of a set,

    log P(y) = Σ_{l in y} z_l - log Π_l (1 + exp(z_l)),   exp(z_l) = exp(base_l) exp(inner_l)

where ``base`` belongs to the row and ``inner`` to the set: what takes exponentials is done once for
each of them, and for both together there are multiplications, and a logarithm now and then. Where
an exponential or a product of some factors may leave the range of floats, every label has
exponentials of its own instead. Sets of a row's own are too many for that, but made of few labels:
exp(inner) is then the product of what each of these multiplies the odds by.

Lanes are eight labels.
"""

import math

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._chain_kernel import softplus
from setwise.distributions._vectors_kernel import WIDTH, load, spread, store

STEPS = 8  # factors of a lane before its logarithm is taken
LARGEST = 80.0  # log-odds of which the product of so many factors is in range
FAR = 600.0  # log-odds: times the odds of one below, what underflows, at -745, is nothing to one


@kernel
def score_list(base, inner, indptr, labels, scores):
    """Write log P of sets, whose labels stand as in a sparse array, into ``scores`` (n, m).

    ``base`` (n, L) are log-odds where no label is on, ``inner`` (m, L) what the sets' labels add.
    """
    n, L = base.shape
    wide = (L + WIDTH - 1) // WIDTH * WIDTH
    odds, most = np.zeros(n * wide), np.empty(n)
    own, lanes = np.zeros(wide), np.empty(WIDTH)
    for row in range(n):
        most[row] = _fill_odds(base[row], odds, row * wide)
    for number in range(len(inner)):
        added = _fill_odds(inner[number], own, 0)
        for row in range(n):
            if max(most[row], added) <= FAR and most[row] + added <= LARGEST:
                total = -_log_of_product(odds, row * wide, own, lanes)
            else:
                total = -_sum_of_softplus(base[row], inner[number])
            for place in range(indptr[number], indptr[number + 1]):
                total += base[row, labels[place]] + inner[number, labels[place]]
            scores[row, number] = total


@kernel
def label_odds(weights):
    """What each label, where it is on, multiplies the odds of all labels by, and the log of most.

    Lanes of labels behind one another, (L * wide,), and (L,).
    """
    L = len(weights)
    wide = (L + WIDTH - 1) // WIDTH * WIDTH
    odds, most = np.zeros(L * wide), np.empty(L)
    for label in range(L):
        most[label] = _fill_odds(weights[label], odds, label * wide)
    return odds, most


@kernel
def score_own(base, weights, added, most, indptr, labels, row, log_prob):
    """Write log P of each set, whose labels stand as in a sparse array, for its own row.

    ``base`` (n, L) as above; ``weights`` (L, L) are what a label adds to the log-odds of each other
    one, ``added`` and ``most`` their ``label_odds``; ``row`` (m,) rises.
    """
    L = base.shape[1]
    wide = (L + WIDTH - 1) // WIDTH * WIDTH
    odds, lanes = np.zeros(wide), np.empty(WIDTH)
    now, highest = -1, 0.0
    for number in range(len(row)):
        if row[number] != now:
            now = row[number]
            highest = _fill_odds(base[now], odds, 0)
        on = labels[indptr[number] : indptr[number + 1]]
        gain = 0.0  # that the labels may add to any log-odds; what a base lost is nothing if small
        for label in on:
            gain += max(most[label], 0.0)
        if gain <= FAR and highest + gain <= LARGEST:
            total = -_log_of_products(odds, added, on, lanes)
        else:
            total = -_sum_of_softplus_of(base[now], weights, on)
        for label in on:
            total += base[now, label]
            for other in on:
                total += weights[other, label]
        log_prob[number] = total


@kernel
def _fill_odds(z, odds, first):
    """The largest z; writes exp(z) into ``odds`` from ``first`` on."""
    largest = -np.inf
    for i in range(len(z)):
        odds[first + i] = math.exp(min(z[i], FAR))
        largest = max(largest, z[i])
    return largest


@kernel
def _log_of_product(odds, first, own, lanes):
    """Log Π (1 + odds · own); what fills the last lanes is zero."""
    total, size = 0.0, len(own)
    for start in range(0, size, STEPS * WIDTH):
        product = spread(1.0)
        for i in range(start, min(start + STEPS * WIDTH, size), WIDTH):
            product = product + product * (load(odds, first + i) * load(own, i))
        store(product, lanes, 0)
        for lane in range(WIDTH):
            total += math.log(lanes[lane])
    return total


@kernel
def _sum_of_softplus(base, inner):
    total = 0.0
    for i in range(len(base)):
        total += softplus(base[i] + inner[i])
    return total


@kernel
def _log_of_products(odds, added, on, lanes):
    """Log Π (1 + odds · Π added), the inner product over the labels that are on."""
    total, size = 0.0, len(odds)
    for start in range(0, size, STEPS * WIDTH):
        product = spread(1.0)
        for i in range(start, min(start + STEPS * WIDTH, size), WIDTH):
            factor = load(odds, i)
            for label in on:
                factor = factor * load(added, label * size + i)
            product = product + product * factor
        store(product, lanes, 0)
        for lane in range(WIDTH):
            total += math.log(lanes[lane])
    return total


@kernel
def _sum_of_softplus_of(base, weights, on):
    total = 0.0
    for i in range(len(base)):
        z = base[i]
        for label in on:
            z += weights[label, i]
        total += softplus(z)
    return total
