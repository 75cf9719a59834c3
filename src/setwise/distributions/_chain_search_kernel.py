# mypy: ignore-errors
"""Searches for the likeliest sets of linear chains; see ``chain_search.py`` for the methods.

Labels stand in chain order, and prefixes are kept as the lists of their labels that are on.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._chain_kernel import advance, log_odds, refresh, softplus

ROOT = 0
TOLERANCE = 1e-12  # log-probabilities that differ by less are equal
NODES_A_POP = 8  # for each pop that is allowed; a search ends when all of these are made


@kernel
def beam_rows(base, weights, width, sets, log_probs, gaps):
    """Fill ``sets`` (n, k, L), all zero, and ``log_probs`` (n, k), all -inf, for k up to ``width``.

    ``gaps`` (n,): no set that was dropped on the way exceeds the k-th found by more; 0 if none
    exceeds it.
    """
    n, L = base.shape
    k = sets.shape[1]
    on, count = np.empty((2, width, L), np.int32), np.empty((2, width), np.int64)
    score, candidates = np.empty((2, width)), np.empty(2 * width)
    for row in range(n):
        now, size, dropped = 0, 1, -math.inf
        count[0, 0], score[0, 0] = 0, 0.0
        for i in range(L):
            for b in range(size):
                z = log_odds(base[row], weights, i, on[now, b], count[now, b])
                candidates[2 * b] = softplus(z) - score[now, b]
                candidates[2 * b + 1] = softplus(-z) - score[now, b]
            kept = min(2 * size, width)
            order = np.argsort(candidates[: 2 * size], kind="mergesort")
            if kept < 2 * size:
                dropped = max(dropped, -candidates[order[kept]])
            then = 1 - now
            for b in range(kept):
                candidate = order[b]
                old = candidate >> 1
                score[then, b] = -candidates[candidate]
                count[then, b] = count[now, old]
                for c in range(count[now, old]):
                    on[then, b, c] = on[now, old, c]
                if candidate & 1:
                    on[then, b, count[then, b]] = i
                    count[then, b] += 1
            now, size = then, kept
        for rank in range(min(k, size)):
            log_probs[row, rank] = score[now, rank]
            for c in range(count[now, rank]):
                sets[row, rank, on[now, rank, c]] = 1
        # Where all sets were kept, none was dropped, and the last rank may be -inf as well.
        short = dropped - log_probs[row, k - 1] if dropped > -math.inf else 0.0
        gaps[row] = short if short > TOLERANCE else 0.0


@kernel
def list_rows(base, weights, sets, log_probs):
    """Fill the same by looking at all 2^L sets."""
    n, L = base.shape
    values, on = np.empty(L, np.int8), np.empty(L, np.int64)
    count, score = np.zeros(L + 1, np.int64), np.zeros(L + 1)
    for row in range(n):
        values[:] = 0
        first = 0
        while first >= 0:
            refresh(base[row], weights, values, first, on, count, score)
            _take(score[L], on, count[L], sets[row], log_probs[row])
            first = advance(values)


@kernel
def _take(value, on, size, sets, log_probs):
    """Put a new set among the best (k, L), whose log-probabilities fall."""
    rank = len(log_probs) - 1
    if not value > log_probs[rank]:
        return
    while rank > 0 and log_probs[rank - 1] < value:
        log_probs[rank] = log_probs[rank - 1]
        for i in range(sets.shape[1]):
            sets[rank, i] = sets[rank - 1, i]
        rank -= 1
    log_probs[rank] = value
    for i in range(sets.shape[1]):
        sets[rank, i] = 0
    for c in range(size):
        sets[rank, on[c]] = 1


@kernel
def _offer(value, on, size, sets, log_probs):
    """Put a set among the best, unless it is there already."""
    for rank in range(len(log_probs)):
        if abs(log_probs[rank] - value) <= 1e-9 * max(1.0, abs(value)):
            common, held = 0, 0
            for i in range(sets.shape[1]):
                held += sets[rank, i]
            for c in range(size):
                common += sets[rank, on[c]]
            if common == size and held == size:
                return
    _take(value, on, size, sets, log_probs)


class Nodes(NamedTuple):
    """Prefixes that end with a label that is on, each a link to the one that ends before it.

    The first, ROOT, is the empty one.
    """

    bound: np.ndarray  # no set with this prefix is likelier
    score: np.ndarray  # log-probability of the prefix
    depth: np.ndarray  # its labels
    before: np.ndarray  # the node of the label that was on before
    heap: np.ndarray  # open nodes, the largest bound first
    extent: np.ndarray  # (2,) nodes made, nodes open
    lost: np.ndarray  # (1,) the largest bound of a prefix that there was no room for


@kernel
def best_first_rows(
    base, weights, low, high, log_epsilon, informed, max_pops, sets, log_probs, gaps, pops
):  # fmt: skip
    """Improve on ``sets`` (n, k, L) and ``log_probs`` (n, k), which hold k good sets of each row.

    ``low[i, m]`` and ``high[i, m]`` (L + 1, L) are the least and the most that labels from i on can
    add to the log-odds of label m; they are used where ``informed``. Prefixes less likely than
    ``log_epsilon`` are not followed: where both ways on are so, the likelier is taken to its end.
    """
    n, L = base.shape
    size = NODES_A_POP * max_pops + L
    nodes = Nodes(
        np.empty(size), np.empty(size), np.empty(size, np.int32), np.empty(size, np.int32),
        np.empty(size, np.int32), np.empty(2, np.int64), np.empty(1),
    )  # fmt: skip
    on, z = np.empty(L, np.int64), np.empty(L)
    for row in range(n):
        nodes.extent[:] = 0
        nodes.lost[0] = -math.inf
        _push(nodes, 0.0, 0.0, 0, ROOT)
        best, left = log_probs[row], -math.inf
        pops[row] = 0
        while nodes.extent[1] > 0:
            left = nodes.bound[nodes.heap[0]]
            if left <= best[-1] + TOLERANCE:
                left = -math.inf
                break
            if pops[row] == max_pops or nodes.extent[0] == size:
                break
            pops[row] += 1
            left = -math.inf
            _expand(
                nodes, _pop(nodes), base[row], weights, low, high, log_epsilon, informed, on, z,
                sets[row], best,
            )  # fmt: skip
        left = max(left, nodes.lost[0], log_epsilon)  # what was not followed
        gaps[row] = left - best[-1] if left > best[-1] + TOLERANCE else 0.0


@kernel
def _expand(nodes, node, base, weights, low, high, log_epsilon, informed, on, z, sets, best):
    """Follow a prefix to each label that may be the next one on, and to its end without any.

    Labels that are off change no odds, so that one pass over the labels serves all of these ways.
    """
    L, first = len(base), nodes.depth[node]
    count = _labels(nodes, node, on)
    for m in range(first, L):
        z[m] = log_odds(base, weights, m, on, count)
    score = nodes.score[node]  # with all labels before i off that the prefix had not decided
    for i in range(first, L):
        if score <= best[-1] + TOLERANCE:
            return
        off, up, is_last = score - softplus(z[i]), score - softplus(-z[i]), i + 1 == L
        if is_last:
            on[count] = i
            _offer(up, on, count + 1, sets, best)
        elif max(off, up) < log_epsilon:
            _finish(base, weights, i, on, count, score, sets, best)
            return
        elif up >= log_epsilon:
            bound = _most(up, i, z, weights, low, high, best[-1]) if informed else up
            if bound > best[-1] + TOLERANCE:
                if nodes.extent[0] < len(nodes.bound):
                    _push(nodes, bound, up, i + 1, node)
                else:
                    nodes.lost[0] = max(nodes.lost[0], bound)
        if off < log_epsilon and not is_last:
            return
        score = off
    _offer(score, on, count, sets, best)


@kernel
def _most(score, i, z, weights, low, high, enough):
    """What a prefix whose last label i is on can become at most, or some number up to ``enough``.

    ``z`` are log-odds without label i.
    """
    for m in range(i + 1, len(z)):
        if score <= enough + TOLERANCE:
            break
        own = z[m] + weights[m, i]
        score -= softplus(-max(own + high[i + 1, m], -own - low[i + 1, m]))
    return score


@kernel
def _finish(base, weights, i, on, count, score, sets, best):
    """Take a prefix of i labels to its end by the likelier value of each label."""
    for m in range(i, len(base)):
        z = log_odds(base, weights, m, on, count)
        score -= softplus(-abs(z))
        if z > 0:
            on[count] = m
            count += 1
    _offer(score, on, count, sets, best)


@kernel
def _labels(nodes, node, on):
    """Write the labels that are on in a prefix; returns how many."""
    count = 0
    while node != ROOT:
        on[count] = nodes.depth[node] - 1
        count += 1
        node = nodes.before[node]
    return count


@kernel
def _is_ahead(nodes, first, second):
    """By bound, then by depth: of equals, the one that is nearer its end."""
    if nodes.bound[first] != nodes.bound[second]:
        return nodes.bound[first] > nodes.bound[second]
    return nodes.depth[first] > nodes.depth[second]


@kernel
def _push(nodes, bound, score, depth, before):
    """Open a prefix of so many labels, the last one on."""
    node, place = nodes.extent[0], nodes.extent[1]
    nodes.bound[node], nodes.score[node] = bound, score
    nodes.depth[node], nodes.before[node] = depth, before
    nodes.extent[0] += 1
    nodes.extent[1] += 1
    heap = nodes.heap
    while place > 0 and _is_ahead(nodes, node, heap[(place - 1) >> 1]):
        heap[place] = heap[(place - 1) >> 1]
        place = (place - 1) >> 1
    heap[place] = node
    return node


@kernel
def _pop(nodes):
    heap = nodes.heap
    top = heap[0]
    nodes.extent[1] -= 1
    size = nodes.extent[1]
    node, place = heap[size], 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _is_ahead(nodes, heap[child + 1], heap[child]):
            child += 1
        if not _is_ahead(nodes, heap[child], node):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = node
    return top
