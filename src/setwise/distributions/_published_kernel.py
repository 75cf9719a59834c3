# mypy: ignore-errors
"""Algorithms 3.2 and 3.3 of the thesis and Algorithm 2 of the ICML paper; see ``published.py``.

A set is ``words`` of 64 labels. The queues of all components share one arena of nodes, and which
sets a queue has held is told by an open-addressing table of node numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._flips_kernel import NONE, meld, without_root
from setwise.distributions._narrow_kernel import TOLERANCE
from setwise.distributions._odds_kernel import fill_odds, log_of_mode

ONE = np.uint64(1)
MIX = np.uint64(0x9E3779B97F4A7C15)


class Queues(NamedTuple):
    """The queues of all components of a row: pairing heaps in one arena of nodes."""

    words: np.ndarray  # (nodes, words)  the set
    owner: np.ndarray  # (nodes,)        the component whose queue it is in
    cost: np.ndarray  # (nodes,)        log of what it loses against the component's best
    child: np.ndarray  # (nodes,)
    sibling: np.ndarray  # (nodes,)
    place: np.ndarray  # (nodes,)        where the table holds it
    table: np.ndarray  # (slots,)
    root: np.ndarray  # (K,)            NONE where a queue is exhausted or pruned
    n_nodes: np.ndarray  # (1,)


class Row(NamedTuple):
    """What a row's search reads, and the best set it has found."""

    z: np.ndarray  # (K, L)
    mode: np.ndarray  # (K,)  log of each component's largest term
    empty: np.ndarray  # (K,)  log of its term of the empty set
    latest: np.ndarray  # (K,)  the term popped last; when pruning, the largest
    best: np.ndarray  # (words,)


@kernel
def published_rows(log_weights, z, pruning, max_sets, Y, log_prob, pops):
    """Fill the mode of each row, its log-probability and the number of sets popped."""
    n, K, L = z.shape
    n_words, n_slots = (L + 63) // 64, 1
    while n_slots < 2 * max_sets:
        n_slots *= 2
    links = np.empty((4, max_sets), np.int64)
    queues = Queues(
        np.zeros((max_sets, n_words), np.uint64), links[0], np.empty(max_sets), links[1],
        links[2], links[3], np.full(n_slots, NONE), np.empty(K, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    odds, power, new = np.empty((K, L)), np.empty(L), np.empty(n_words, np.uint64)
    mode, empty, latest = np.empty(K), np.empty(K), np.empty(K)
    best = np.empty(n_words, np.uint64)
    for row in range(n):
        fill_odds(z[row], power, odds)
        for k in range(K):
            mode[k] = log_weights[row, k] + log_of_mode(odds, k)
        state = Row(z[row], mode, empty, latest, best)
        _start(state, queues, new)
        log_prob[row] = _search(state, queues, new, pruning, pops, row)
        for i in range(L):
            Y[row, i] = (best[i // 64] >> np.uint64(i % 64)) & ONE


@kernel
def _start(state, queues, new):
    """Queues that hold each component's likeliest set."""
    for node in range(queues.n_nodes[0]):
        queues.table[queues.place[node]] = NONE
    queues.n_nodes[0] = 0
    for k in range(len(state.mode)):
        state.latest[k] = math.exp(state.mode[k])
        state.empty[k] = state.mode[k]
        for w in range(len(new)):
            new[w] = np.uint64(0)
        for i in range(state.z.shape[1]):
            if state.z[k, i] > 0:
                state.empty[k] -= state.z[k, i]
                new[i // 64] |= ONE << np.uint64(i % 64)
        queues.root[k] = _enqueue(queues, k, 0.0, new)


@kernel
def _search(state, queues, new, pruning, pops, row):
    """Ask the components in turn until the rule says stop; log of the best, nan if given up."""
    K, reached = len(state.mode), 0.0
    pops[row] = 0
    n_open = K
    while n_open > 0:
        n_open = 0
        for k in range(K):
            node = queues.root[k]
            if node == NONE:
                continue
            if not _add_flips(queues, k, node, state.z, new):
                return math.nan
            pops[row] += 1
            value = _probability(queues.words[node], state)
            if value > reached:
                reached = value
                for w in range(len(new)):
                    state.best[w] = queues.words[node, w]
            here = math.exp(state.mode[k] - queues.cost[node])
            if pruning:
                if _prunes(state, k, here, reached):
                    queues.root[k] = NONE
            else:
                state.latest[k] = here
                if _sum(state.latest) <= reached * (1 + TOLERANCE):
                    return math.log(reached)
            n_open += queues.root[k] != NONE
    return math.log(reached)


@kernel
def _prunes(state, k, here, reached):
    """Line 13 of Algorithm 2: nothing further down component k's list can be the mode."""
    others = _sum(state.latest) - state.latest[k]
    return here <= reached / len(state.mode) or here + others <= reached * (1 + TOLERANCE)


@kernel
def _sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


@kernel
def _add_flips(queues, k, node, z, new):
    """Algorithm 3.2: pop a node, and queue every single flip of it; False if there is no room."""
    queues.root[k] = without_root(queues, node)
    for i in range(z.shape[1]):
        if queues.n_nodes[0] == len(queues.cost):
            return False
        for w in range(len(new)):
            new[w] = queues.words[node, w]
        bit = ONE << np.uint64(i % 64)
        was_on = (new[i // 64] & bit) != 0
        new[i // 64] ^= bit
        loss = z[k, i] if was_on else -z[k, i]
        added = _enqueue(queues, k, queues.cost[node] + loss, new)
        queues.root[k] = meld(queues, queues.root[k], added)
    return True


@kernel
def _enqueue(queues, k, cost, new):
    """The node of a new set of component k, or NONE if the queue has held it before."""
    key = np.uint64(k + 1) * MIX
    for w in range(len(new)):
        key = (key ^ new[w]) * MIX
        key ^= key >> np.uint64(29)
    last_slot = len(queues.table) - 1
    slot = np.int64(key & np.uint64(last_slot))
    while queues.table[slot] != NONE:
        other = queues.table[slot]
        same = queues.owner[other] == k
        for w in range(len(new)):
            same &= queues.words[other, w] == new[w]
        if same:
            return NONE
        slot = (slot + 1) & last_slot
    node = queues.n_nodes[0]
    queues.n_nodes[0] += 1
    for w in range(len(new)):
        queues.words[node, w] = new[w]
    queues.owner[node] = k
    queues.cost[node] = cost
    queues.place[node] = slot
    queues.child[node] = NONE
    queues.sibling[node] = NONE
    queues.table[slot] = node
    return node


@kernel
def _probability(words, state):
    """Sum over components of their terms of a set."""
    total = 0.0
    for k in range(len(state.empty)):
        log_term = state.empty[k]
        for i in range(state.z.shape[1]):
            if (words[i // 64] >> np.uint64(i % 64)) & ONE:
                log_term += state.z[k, i]
        total += math.exp(log_term)
    return total
