"""Maximum branchings: the best tree of a directed graph (Chu and Liu 1965; Edmonds 1967)."""

from __future__ import annotations

import numpy as np


def maximum_branching(scores: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """The parent of each label, -1 for none, with the largest sum of scores and no cycle.

    Parameters
    ----------
    scores : array (L, L)
        ``scores[j, i]`` is what label i is worth with parent j; the diagonal is not looked at.
    alone : array (L,)
        What a label is worth without a parent: an edge from a root above all.

    Examples
    --------
    >>> maximum_branching(np.array([[0.0, 5.0], [4.0, 0.0]]), np.array([1.0, 1.0])).tolist()
    [-1, 0]
    """
    L = len(alone)
    weight = np.full((L + 1, L + 1), -np.inf)  # the root is the last
    weight[:L, :L] = scores
    weight[L, :L] = alone
    weight[np.arange(L + 1), np.arange(L + 1)] = -np.inf
    parents = _branching(weight)[:L]
    found: np.ndarray = np.where(parents == L, -1, parents)
    return found


def _branching(weight: np.ndarray) -> np.ndarray:
    """Parents of all nodes but the last, the root, of which the entry says nothing."""
    n = len(weight)
    parents: np.ndarray = weight.argmax(axis=0)
    parents[n - 1] = n - 1
    cycle = _cycle(parents)
    if cycle is None:
        return parents
    # The cycle becomes one node: entering it at i means giving up i's own edge in it.
    rest = np.setdiff1d(np.arange(n), cycle)
    gain = weight[np.ix_(rest, cycle)] - weight[parents[cycle], cycle]
    entry, exit_ = gain.argmax(axis=1), weight[np.ix_(cycle, rest)].argmax(axis=0)
    m = len(rest)
    small = np.full((m + 1, m + 1), -np.inf)
    # The cycle stands first, so that the root stays last.
    small[1:, 1:] = weight[np.ix_(rest, rest)]
    small[1:, 0] = gain.max(axis=1)
    small[0, 1:] = weight[cycle[exit_], rest]
    small[0, m] = -np.inf
    found = _branching(small)
    for place, node in enumerate(rest[:-1]):
        above = found[place + 1]
        parents[node] = cycle[exit_[place]] if above == 0 else rest[above - 1]
    into = found[0] - 1
    parents[cycle[entry[into]]] = rest[into]
    return parents


def _cycle(parents: np.ndarray) -> np.ndarray | None:
    """The nodes of some cycle, or None; the last node is the root."""
    n = len(parents)
    state = np.zeros(n, dtype=int)  # 0 not seen, otherwise the number of the walk
    state[n - 1] = -1
    for start in range(n - 1):
        node, walk = start, []
        while state[node] == 0:
            state[node] = start + 1
            walk.append(node)
            node = int(parents[node])
        if state[node] == start + 1:
            return np.array(walk[walk.index(node) :])
    return None
