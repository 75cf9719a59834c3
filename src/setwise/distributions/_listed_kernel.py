# mypy: ignore-errors
"""How likely a Bernoulli mixture finds each set of a list, for each row.

In component k a set has the probability of the empty one times the odds exp(z_kl) of its labels, so
that a sum over sets of a few labels takes multiplications only, and no logarithm but the last:

    P(y) = Σ_k a_k Π_{l in y} exp(z_kl),   a_k = w_k Π_l 1 / (1 + exp(z_kl))

No product is above w_k, as a_k contains what any odds above one could add. Where a_k is so small,
or a set so unlikely, that a product may have left the range of floats, logs are summed instead.

Lanes are eight components.
"""

import math

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._odds_kernel import fill_odds, log_of_mode
from setwise.distributions._vectors_kernel import WIDTH, load, spread, store

# While every log a_k is between these, what a product loses below the smallest float is at most
# exp(-708 + 300) in the end, which is nothing to a sum above SAFE.
LOWEST, HIGHEST = -300.0, 300.0
SAFE = 1e-160


@kernel
def fill_listed(log_weights, z, indptr, labels, scores):
    """Write log P of each set, whose labels stand as in a sparse array, into ``scores`` (n, m)."""
    log_a, a, odds, terms, lanes = _scratch(z)
    for row in range(len(z)):
        in_range = _prepare(log_weights[row], z[row], log_a, a, odds)
        for number in range(len(indptr) - 1):
            of_set = labels[indptr[number] : indptr[number + 1]]
            scores[row, number] = _log_prob(of_set, z[row], log_a, a, odds, in_range, terms, lanes)


@kernel
def fill_lists(log_weights, z, starts, indptr, labels, scores):
    """The same for sets (m,) of which each row has its own, from ``starts[row]`` on."""
    log_a, a, odds, terms, lanes = _scratch(z)
    for row in range(len(z)):
        if starts[row] == starts[row + 1]:
            continue
        in_range = _prepare(log_weights[row], z[row], log_a, a, odds)
        for number in range(starts[row], starts[row + 1]):
            of_set = labels[indptr[number] : indptr[number + 1]]
            scores[number] = _log_prob(of_set, z[row], log_a, a, odds, in_range, terms, lanes)


@kernel
def _scratch(z):
    """Log a_k, a_k and odds, in whole lanes; then what a sum in logs and one in lanes need."""
    _, K, L = z.shape
    wide_K = (K + WIDTH - 1) // WIDTH * WIDTH
    return np.empty(K), np.zeros(wide_K), np.zeros(L * wide_K), np.empty(K), np.empty(WIDTH)


@kernel
def _prepare(log_weights, z, log_a, a, odds):
    """Fill log a_k, a_k and the odds of a row; whether products of them stay in range."""
    K, L = z.shape
    power, near = np.empty(L), np.empty((K, L))
    fill_odds(z, power, near)
    in_range = True
    for k in range(K):
        log_a[k] = log_weights[k] + log_of_mode(near, k)
        for i in range(L):
            odds[i * len(a) + k] = 1 / near[k, i] if z[k, i] > 0 else near[k, i]
            log_a[k] -= max(z[k, i], 0.0)
        a[k] = math.exp(log_a[k])
        in_range &= log_a[k] == -np.inf or LOWEST < log_a[k] < HIGHEST
    return in_range


@kernel
def _log_prob(labels, z, log_a, a, odds, in_range, terms, lanes):
    """Log P of one set."""
    if len(log_a) == 1:  # a product, whose log is a sum
        total = log_a[0]
        for label in labels:
            total += z[0, label]
        return total
    if in_range:
        total = _sum_of_products(a, odds, labels, lanes)
        if total > SAFE:
            return math.log(total)
    return _log_sum(log_a, z, labels, terms)


@kernel
def _sum_of_products(a, odds, labels, lanes):
    """The sum over components of a_k times their odds of the labels."""
    wide_K = len(a)
    sums = spread(0.0)
    for first in range(0, wide_K, WIDTH):
        product = load(a, first)
        for label in labels:
            product = product * load(odds, label * wide_K + first)
        sums = sums + product
    store(sums, lanes, 0)
    return lanes.sum()


@kernel
def _log_sum(log_a, z, labels, terms):
    """The same in logs, by the largest term."""
    largest = -np.inf
    for k in range(len(log_a)):
        terms[k] = log_a[k]
        for label in labels:
            terms[k] += z[k, label]
        largest = max(largest, terms[k])
    if largest == -np.inf:
        return largest
    total = 0.0
    for term in terms:
        total += math.exp(term - largest)
    return largest + math.log(total)
