# mypy: ignore-errors
"""The k likeliest sets of a mixture in logs: for rows whose k-th set is out of the range of floats.

``_search_kernel.py`` works with probabilities over the largest one, which end at e^-708. This is
the same threshold algorithm without its shortcuts: a sum costs an exponential for each term.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._flips_kernel import NONE, Lists, flip, next_set, start_lists
from setwise.distributions._narrow_kernel import TOLERANCE
from setwise.distributions._odds_kernel import fill_odds, log_of_mode


class Best(NamedTuple):
    """The k best sets found, by falling log-probability; -inf where there is none yet."""

    values: np.ndarray  # (k,)
    sets: np.ndarray  # (k, L)


@kernel
def search_rows_in_logs(log_weights, z, max_pops, sets, log_probs, gaps, pops):
    """As ``search_rows``; begins with the sets that it finds in ``sets``, and adds to ``pops``."""
    n, K, L = z.shape
    n_nodes = 2 * max_pops + K
    odds, power, mode = np.empty((K, L)), np.empty(L), np.empty(K)
    upcoming, term, chosen = np.empty(K), np.empty(K), np.empty(L, np.int8)
    links = np.empty((4, n_nodes), np.int32)
    lists = Lists(
        np.empty((K, L), np.int64), np.empty(K, np.int64), np.empty(K, np.int64),
        np.empty(n_nodes), links[0], links[1], links[2], links[3], np.empty(1, np.int64),
    )  # fmt: skip
    for row in range(n):
        fill_odds(z[row], power, odds)
        for k in range(K):
            mode[k] = log_weights[row, k] + log_of_mode(odds, k)
        best = Best(log_probs[row], sets[row])
        _weigh_again(best, z[row], mode, term, chosen)
        start_lists(lists, K, L)
        upcoming[:] = mode
        bound = _log_sum(upcoming)
        for _ in range(max_pops):
            if _reached(best, bound):
                break
            k = np.argmax(upcoming)
            for i in range(L):
                chosen[i] = z[row, k, i] > 0
            flip(lists, k, next_set(lists, z[row], k, L), chosen)
            upcoming[k] = -math.inf
            if lists.root[k] != NONE:
                upcoming[k] = mode[k] - lists.cost[lists.root[k]]
            pops[row] += 1
            _offer(_log_probability(z[row], mode, term, chosen), chosen, best)
            bound = _log_sum(upcoming)
        gaps[row] = 0.0 if _reached(best, bound) else bound - best.values[-1]


@kernel
def _reached(best, bound):
    """Whether no set that is still to come is likelier than the last of the best."""
    last = best.values[-1]
    return bound == -math.inf or bound <= last + TOLERANCE * (1 + abs(last))


@kernel
def _weigh_again(best, z, mode, term, chosen):
    """Put the sets that are there in order of their log-probabilities, computed anew."""
    for rank in range(len(best.values)):
        if best.values[rank] > -math.inf:
            chosen[:] = best.sets[rank]
            # The ranks before this one are in order, and it is free for what is moved.
            best.values[rank] = -math.inf
            _insert(_log_probability(z, mode, term, chosen), chosen, best, rank)


@kernel
def _log_probability(z, mode, term, chosen):
    """Log of the sum over k of exp(mode_k) times what the chosen values cost component k."""
    K, L = z.shape
    for k in range(K):
        cost = 0.0
        for i in range(L):
            cost += abs(z[k, i]) if (z[k, i] > 0) != (chosen[i] == 1) else 0.0
        term[k] = mode[k] - cost
    return _log_sum(term)


@kernel
def _log_sum(terms):
    largest = np.max(terms)
    if largest == -math.inf:
        return largest
    total = 0.0
    for k in range(len(terms)):
        total += math.exp(terms[k] - largest)
    return largest + math.log(total)


@kernel
def _offer(value, chosen, best):
    """Take a set among the best, unless it is there already: then with the very same value."""
    if value <= best.values[-1]:
        return
    for rank in range(len(best.values)):
        if best.values[rank] == value and np.all(best.sets[rank] == chosen):
            return
    _insert(value, chosen, best, len(best.values) - 1)


@kernel
def _insert(value, chosen, best, rank):
    """Write a set over that of ``rank`` and move it up to its place."""
    while rank > 0 and best.values[rank - 1] < value:
        best.values[rank] = best.values[rank - 1]
        best.sets[rank] = best.sets[rank - 1]
        rank -= 1
    best.values[rank] = value
    best.sets[rank] = chosen
