# mypy: ignore-errors
"""The likeliest set by branch and bound, for rows whose components are many and unsure.

Labels are decided one after the other. With w_k the component's largest term, given the labels
decided so far, no set that has them exceeds the sum of all w_k. The threshold algorithm bounds what
is left by sets that differ from component to component; this bound is of one set, and far lower
where components disagree. A step costs O(K), where a set from a list costs O(K C).
"""

from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._narrow_kernel import TOLERANCE

UNSEEN, HALF, DONE = 0, 1, 2


class Tree(NamedTuple):
    """The path from the root to where the search is: at depth d there are d labels decided."""

    order: np.ndarray  # (L,)        the label to decide at d
    terms: np.ndarray  # (L + 1, K)  w_k
    state: np.ndarray  # (L + 1,)    how many values of the label were tried
    first: np.ndarray  # (L + 1,)    the value with the higher bound
    second: np.ndarray  # (L + 1,)   the bound of the other value
    path: np.ndarray  # (L,)        values decided, by label


@kernel
def new_tree(K, L):
    """A tree for K components and L labels."""
    return Tree(
        np.empty(L, np.int64), np.empty((L + 1, K)), np.empty(L + 1, np.int64),
        np.empty(L + 1, np.int8), np.empty(L + 1), np.empty(L, np.int8),
    )  # fmt: skip


@kernel
def branch(tree, mode, on, off, K, C, least, max_steps, chosen):
    """Look for sets of C labels likelier than ``least``; the best is written to ``chosen``.

    ``on`` and ``off`` (C, K) are what a label's values multiply the K terms ``mode`` by. Returns
    its probability, 0 if there is none, and an upper bound for all sets: the larger of that and
    ``least``, unless the steps did not suffice.
    """
    found, enough = 0.0, least * (1 + TOLERANCE)
    depth, bound = np.int64(0), _start(tree, mode, on, off, K, C)
    while depth >= 0:
        if depth == C:  # all is decided: the bound is the probability
            found, enough = bound, bound * (1 + TOLERANCE)
            chosen[:C] = tree.path[:C]
            depth -= 1
            continue
        state, label = tree.state[depth], tree.order[depth]
        if state == DONE:
            depth -= 1
            continue
        if state == UNSEEN:
            if max_steps == 0:
                return found, max(max(found, least), _open_bound(tree, depth, bound))
            max_steps -= 1
            bound = _look(tree, depth, on[label], off[label], K)
        else:
            bound = tree.second[depth]
        tree.state[depth] += 1
        if bound <= enough:
            continue
        value = tree.first[depth] if state == UNSEEN else 1 - tree.first[depth]
        tree.path[label] = value
        factor = on[label] if value == 1 else off[label]
        for k in range(K):
            tree.terms[depth + 1, k] = tree.terms[depth, k] * factor[k]
        depth += 1
        tree.state[depth] = UNSEEN
    return found, max(found, least)


@kernel
def _start(tree, mode, on, off, K, C):
    """Begin at the root, with the labels first that lower the bound the most; returns the bound."""
    lowest = tree.second  # not needed yet
    for c in range(C):
        with_label, without = 0.0, 0.0
        for k in range(K):
            with_label += mode[k] * on[c, k]
            without += mode[k] * off[c, k]
        lowest[c] = min(with_label, without)
    tree.order[:C] = np.argsort(lowest[:C])
    bound = 0.0
    for k in range(K):
        tree.terms[0, k] = mode[k]
        bound += mode[k]
    tree.state[0] = UNSEEN
    return bound


@kernel
def _look(tree, depth, on, off, K):
    """Compute the bounds of both values of the label at a depth; returns the higher."""
    terms = tree.terms[depth]
    with_label, without = 0.0, 0.0
    for k in range(K):
        with_label += terms[k] * on[k]
        without += terms[k] * off[k]
    tree.first[depth] = with_label >= without
    tree.second[depth] = min(with_label, without)
    return max(with_label, without)


@kernel
def _open_bound(tree, depth, bound):
    """The largest bound of what was not tried: the path itself, and what branches off it."""
    for above in range(depth):
        if tree.state[above] == HALF:
            bound = max(bound, tree.second[above])
    return bound
