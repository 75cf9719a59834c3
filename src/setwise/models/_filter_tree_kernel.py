# mypy: ignore-errors
"""Walks down a condensed filter tree: at level k label k is decided, given those before it.

The score of level k is scores[row, k] + sum of links[l, k] over the labels l < k that were taken;
the label is taken where it is over zero.
"""

import numpy as np

from setwise.compiling import kernel


@kernel
def go_down(links, row_scores, chosen, onward, first):
    """Decide labels from ``first`` on, in place; ``onward`` (L,) has the links of those taken."""
    L = chosen.size
    for k in range(first, L):
        chosen[k] = 0
        if row_scores[k] + onward[k] > 0.0:
            chosen[k] = 1
            for j in range(k + 1, L):
                onward[j] += links[k, j]


@kernel
def walk(links, scores):
    """The set (n, L) and the scores (n, L) on the way from the root, of each row."""
    n, L = scores.shape
    chosen = np.zeros((n, L), dtype=np.int8)
    margins = np.empty((n, L))
    for i in range(n):
        margins[i] = 0.0
        go_down(links, scores[i], chosen[i], margins[i], 0)
        for k in range(L):
            margins[i, k] += scores[i, k]
    return chosen, margins


@kernel
def duel(links, scores, rows, paths, truth, level, want_sets):
    """Both sets that a node's children end in, for each visit.

    ``rows`` (V,) and ``paths`` (V, L) say which row is at which node: the labels of its path before
    ``level``. Returns true positives and sizes, (V, 2) each, and the sets (2, V, L) if wanted.
    """
    V, L = paths.shape
    tp, size = np.zeros((V, 2), np.int64), np.zeros((V, 2), np.int64)
    sets = np.zeros((2, V if want_sets else 0, L), dtype=np.int8)
    chosen = np.zeros(L, dtype=np.int8)
    before, onward = np.empty(L), np.empty(L)
    for v in range(V):
        i = rows[v]
        before[:] = 0.0
        for k in range(level):
            chosen[k] = paths[v, k]
            if chosen[k] == 1:
                for j in range(level + 1, L):
                    before[j] += links[k, j]
        for side in range(2):
            chosen[level] = side
            onward[:] = before
            if side == 1:
                for j in range(level + 1, L):
                    onward[j] += links[level, j]
            go_down(links, scores[i], chosen, onward, level + 1)
            for k in range(L):
                if chosen[k] == 1:
                    size[v, side] += 1
                    tp[v, side] += truth[i, k]
            if want_sets:
                sets[side, v] = chosen
    return tp, size, sets
