# mypy: ignore-errors
"""The sets of one component in decreasing probability, lazily.

A component's likeliest set takes each label's likelier value; flipping label c costs |z_c|, the log
of what the probability loses. With the labels sorted by that cost, sets of flips come in order of
their sums from a heap in which each popped set ends at some position p and leaves two successors:

    extend    flip p + 1 as well
    replace   flip p + 1 in place of p

Each set of flips has one such ancestor, so none comes twice and nothing need be remembered.
A *node* of the heap holds its last position, its cost, and the node that holds its other flips:
sets share their beginnings, and a problem may have any number of labels.

All components of a row keep their heaps in one arena of nodes. They are pairing heaps: linked by
``child`` and ``sibling``, they grow without moving, however unevenly components are asked. Links
are int32, for the cache, and widened when read, so that each function is compiled for one type.
"""

from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel

NONE = np.int64(-1)  # typed: a plain -1 is compiled for as a type of its own
# The root of a component that was not asked yet: its first set has no flips.
UNASKED = np.int64(-2)
FIRST = np.int64(0)


class Lists(NamedTuple):
    """The lists of all components of a row."""

    order: np.ndarray  # (K, L)    labels by rising cost, as far as n_sorted
    n_sorted: np.ndarray  # (K,)
    root: np.ndarray  # (K,)      node of the next set
    cost: np.ndarray  # (nodes,)
    last: np.ndarray  # (nodes,)  position of the last flip
    parent: np.ndarray  # (nodes,)  node of the other flips
    child: np.ndarray  # (nodes,)
    sibling: np.ndarray  # (nodes,)
    n_nodes: np.ndarray  # (1,)


@kernel
def start_lists(lists, K, C):
    """Begin the lists of K components over C labels anew."""
    for k in range(K):
        lists.n_sorted[k] = 0
        lists.root[k] = UNASKED
        for c in range(C):
            lists.order[k, c] = c
    lists.n_nodes[0] = 0


@kernel
def next_set(lists, z, k, C):
    """The node of component k's next set, NONE if it has no flips; puts its successors in place."""
    node = lists.root[k]
    if node == UNASKED:
        lists.root[k] = NONE
        if C > 0:
            lists.root[k] = _new_node(lists, _cost_at(lists, z, k, FIRST, C), FIRST, NONE)
        return NONE
    heap = without_root(lists, node)
    position = np.int64(lists.last[node])
    if position + 1 < C:
        step = _cost_at(lists, z, k, position + 1, C)
        extended = _new_node(lists, lists.cost[node] + step, position + 1, node)
        step -= _cost_at(lists, z, k, position, C)
        replaced = _new_node(
            lists, lists.cost[node] + step, position + 1, np.int64(lists.parent[node])
        )
        heap = meld(lists, meld(lists, heap, extended), replaced)
    lists.root[k] = heap
    return node


@kernel
def flip(lists, k, node, chosen):
    """Flip the labels that a node and its ancestors name."""
    while node != NONE:
        c = lists.order[k, lists.last[node]]
        chosen[c] = 1 - chosen[c]
        node = np.int64(lists.parent[node])


@kernel
def _cost_at(lists, z, k, position, C):
    """Cost of the flip at a position; sorts the labels only as far as they are asked for."""
    order = lists.order
    while lists.n_sorted[k] <= position:
        here = lists.n_sorted[k]
        cheapest = here
        for p in range(here + 1, C):
            if abs(z[k, order[k, p]]) < abs(z[k, order[k, cheapest]]):
                cheapest = p
        c = order[k, here]
        order[k, here] = order[k, cheapest]
        order[k, cheapest] = c
        lists.n_sorted[k] += 1
    return abs(z[k, order[k, position]])


@kernel
def _new_node(lists, cost, last, parent):
    """The number of a node that heads no other yet."""
    node = lists.n_nodes[0]
    lists.n_nodes[0] += 1
    lists.cost[node] = cost
    lists.last[node] = last
    lists.parent[node] = parent
    lists.child[node] = NONE
    lists.sibling[node] = NONE
    return node


@kernel
def meld(lists, a, b):
    """The root of two heaps made one."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    above, below = a, b
    if lists.cost[b] < lists.cost[a]:
        above, below = b, a
    lists.sibling[below] = lists.child[above]
    lists.child[above] = below
    return above


@kernel
def without_root(lists, root):
    """The heap of a root's children: melded in pairs, then the pairs from last to first."""
    sibling = lists.sibling
    pairs, rest = NONE, np.int64(lists.child[root])
    while rest != NONE:
        a, b = rest, np.int64(sibling[rest])
        rest = NONE
        if b != NONE:
            rest = np.int64(sibling[b])
        pair = meld(lists, a, b)
        sibling[pair] = pairs
        pairs = pair
    heap = NONE
    while pairs != NONE:
        pair = pairs
        pairs = np.int64(sibling[pair])
        heap = meld(lists, heap, pair)
    return heap
