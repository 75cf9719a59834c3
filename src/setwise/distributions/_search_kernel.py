# mypy: ignore-errors
"""The k likeliest sets of each row of a Bernoulli mixture; see ``search.py`` for the method.

Within a row all probabilities are divided by the largest term w_k max P(y | k), so that plain
products serve: what underflows is too small to change a sum.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._branch_kernel import branch, new_tree
from setwise.distributions._flips_kernel import NONE, Lists, flip, next_set, start_lists
from setwise.distributions._narrow_kernel import OPEN, TOLERANCE, Problem, narrow
from setwise.distributions._odds_kernel import fill_odds, log_of_mode

# Pops before labels are fixed a second time, with the better sets found by then.
FIRST_POPS = 32
GROWTH = 4
# Steps of branch and bound for each pop allowed; they cost about as much.
STEPS_PER_POP = 4


class Best(NamedTuple):
    """The k best sets found, by falling probability; 0 where there is none yet."""

    values: np.ndarray  # (k,)
    slots: np.ndarray  # (k,)    where in ``found`` each stands
    found: np.ndarray  # (k, L)
    candidate: np.ndarray  # (L,)  scratch


class Scratch(NamedTuple):
    """What a search works in."""

    on: np.ndarray  # (L, K)  factor of a term where an open label is on
    off: np.ndarray  # (L, K)  where it is off
    upcoming: np.ndarray  # (K,)    term of each component's next set
    term: np.ndarray  # (K,)
    chosen: np.ndarray  # (L,)    values of the open labels


@kernel
def search_rows(log_weights, z, max_pops, sets, log_probs, gaps, pops):
    """Fill ``sets`` (n, k, L) and ``log_probs`` (n, k), best first; ``z`` (n, K, L) is used up.

    ``gaps`` (n,) is the log of an upper bound over the k-th probability, 0 where exact.
    """
    n, K, L = z.shape
    k, n_nodes = sets.shape[1], 2 * max_pops + K
    odds, mode, power = np.empty((K, L)), np.empty(K), np.empty(L)
    labels, extent = np.empty(L, np.int64), np.empty(2, np.int64)
    fixed, candidate = np.empty(L, np.int8), np.empty(L, np.int8)
    best = Best(np.empty(k), np.empty(k, np.int64), np.empty((k, L), np.int8), candidate)
    scratch = Scratch(
        np.empty((L, K)), np.empty((L, K)), np.empty(K), np.empty(K), np.empty(L, np.int8)
    )
    links = np.empty((4, n_nodes), np.int32)  # half the cache that int64 would take
    lists = Lists(
        np.empty((K, L), np.int64), np.empty(K, np.int64), np.empty(K, np.int64),
        np.empty(n_nodes), links[0], links[1], links[2], links[3], np.empty(1, np.int64),
    )  # fmt: skip
    tree = new_tree(K, L)
    for row in range(n):
        fill_odds(z[row], power, odds)
        scale = _fill_modes(log_weights, row, odds, mode)
        problem = Problem(z[row], odds, mode, labels, fixed, extent)
        _open_all(problem, best)
        gaps[row] = _search_row(problem, best, lists, scratch, tree, max_pops, pops, row)
        for rank in range(k):
            value, slot = best.values[rank], best.slots[rank]
            log_probs[row, rank] = math.log(value) + scale
            for i in range(L):
                sets[row, rank, i] = best.found[slot, i] if value > 0 else 0


@kernel
def _fill_modes(log_weights, row, odds, mode):
    """Write w_k max P(y | k) over the largest of them into ``mode``; returns that one's log."""
    scale = -math.inf
    for k in range(len(mode)):
        mode[k] = log_weights[row, k] + log_of_mode(odds, k)
        scale = max(scale, mode[k])
    for k in range(len(mode)):
        mode[k] = math.exp(mode[k] - scale)
    return scale


@kernel
def _open_all(problem, best):
    for i in range(len(problem.labels)):
        problem.labels[i] = i
        problem.fixed[i] = OPEN
    problem.extent[0] = len(problem.mode)
    problem.extent[1] = len(problem.labels)
    for rank in range(len(best.values)):
        best.values[rank] = 0.0
        best.slots[rank] = rank


@kernel
def _search_row(problem, best, lists, scratch, tree, max_pops, pops, row):
    """Narrow and search by turns until the answer is certain; returns its gap."""
    k = len(best.values)
    # The likeliest set of the largest term has at least that term: 1, after scaling.
    lower = 1.0 if k == 1 else 0.0
    upper, limit = math.inf, max(FIRST_POPS, GROWTH * k)
    may_branch = k == 1
    pops[row] = 0
    while True:
        narrow(problem, lower, k == 1)
        allowed = min(limit, max_pops - pops[row])
        upper = min(upper, _threshold_search(problem, best, lists, scratch, allowed, pops, row))
        lower = max(lower, best.values[k - 1])
        if may_branch and upper > lower * (1 + TOLERANCE):
            narrow(problem, lower, True)
            upper = min(upper, _branch(problem, best, scratch, tree, max_pops * STEPS_PER_POP))
            lower = max(lower, best.values[0])
            may_branch = False
        if upper <= lower * (1 + TOLERANCE):
            return 0.0
        if pops[row] >= max_pops:
            return math.log(upper) - math.log(best.values[k - 1])
        limit *= GROWTH


@kernel
def _branch(problem, best, scratch, tree, max_steps):
    """Branch and bound on what is open; returns the upper bound for every set."""
    K, C = problem.extent[0], problem.extent[1]
    _fill_factors(problem, scratch)
    found, upper = branch(
        tree, problem.mode, scratch.on, scratch.off, K, C, best.values[0], max_steps,
        scratch.chosen,
    )  # fmt: skip
    if found > best.values[0]:
        _offer(found, problem, scratch.chosen, best)
    return upper


@kernel
def _threshold_search(problem, best, lists, scratch, max_pops, pops, row):
    """Algorithm 3.3 on what is open; returns the upper bound for every set not yet seen.

    The component whose next set has the largest term is asked first, not each in turn.
    """
    K, C = problem.extent[0], problem.extent[1]
    z, mode, upcoming, chosen = problem.z, problem.mode, scratch.upcoming, scratch.chosen
    start_lists(lists, K, C)
    _fill_factors(problem, scratch)
    for n_pops in range(max_pops + 1):
        bound, k = 0.0, np.int64(0)  # typed: a plain 0 has a type of its own
        for j in range(K):
            bound += upcoming[j]
            if upcoming[j] > upcoming[k]:
                k = j
        if n_pops == max_pops or bound <= best.values[-1] * (1 + TOLERANCE):
            break
        for c in range(C):
            chosen[c] = z[k, c] > 0
        flip(lists, k, next_set(lists, z, k, C), chosen)
        upcoming[k] = 0.0
        if lists.root[k] != NONE:
            upcoming[k] = mode[k] * math.exp(-lists.cost[lists.root[k]])
        pops[row] += 1
        value = _probability(problem, scratch)
        if value > best.values[-1]:
            _offer(value, problem, chosen, best)
    return bound


@kernel
def _fill_factors(problem, scratch):
    """What a term is multiplied by where a label is on, and where it is off."""
    for k in range(problem.extent[0]):
        scratch.upcoming[k] = problem.mode[k]
        for c in range(problem.extent[1]):
            less, positive = problem.odds[k, c], problem.z[k, c] > 0
            scratch.on[c, k] = 1.0 if positive else less
            scratch.off[c, k] = less if positive else 1.0


@kernel
def _probability(problem, scratch):
    """Sum over k of mode_k times the factors of the chosen values."""
    K, term = problem.extent[0], scratch.term
    for k in range(K):
        term[k] = problem.mode[k]
    for c in range(problem.extent[1]):
        factor = scratch.on[c] if scratch.chosen[c] else scratch.off[c]
        for k in range(K):
            term[k] *= factor[k]
    total = 0.0
    for k in range(K):
        total += term[k]
    return total


@kernel
def _offer(value, problem, chosen, best):
    """Take a set among the best, unless it is there already."""
    values, slots, found, candidate = best.values, best.slots, best.found, best.candidate
    for i in range(len(candidate)):
        candidate[i] = problem.fixed[i]
    for c in range(problem.extent[1]):
        candidate[problem.labels[c]] = chosen[c]
    for rank in range(len(values)):
        # One set has one probability, up to rounding.
        if abs(values[rank] - value) <= value * TOLERANCE:
            same = True
            for i in range(len(candidate)):
                same &= found[slots[rank], i] == candidate[i]
            if same:
                return
    rank = len(values) - 1
    slot = slots[rank]
    for i in range(len(candidate)):
        found[slot, i] = candidate[i]
    while rank > 0 and values[rank - 1] < value:
        values[rank] = values[rank - 1]
        slots[rank] = slots[rank - 1]
        rank -= 1
    values[rank] = value
    slots[rank] = slot
