# mypy: ignore-errors
"""Alias tables (Walker 1977, as Vose 1991 fills them): a draw from T weights in constant time."""

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._random_kernel import inlined


@kernel
def fill_aliases(weights, accept, other):
    """For each row of weights (C, T): place t keeps its own with ``accept``, else ``other``."""
    C, T = weights.shape
    scaled = np.empty(T)
    small, large = np.empty(T, np.int64), np.empty(T, np.int64)
    for c in range(C):
        total = weights[c].sum()
        n_small, n_large = 0, 0
        for t in range(T):
            scaled[t] = weights[c, t] * T / total
            accept[c, t] = 1.0
            other[c, t] = t
            if scaled[t] < 1.0:
                small[n_small] = t
                n_small += 1
            else:
                large[n_large] = t
                n_large += 1
        while n_small > 0 and n_large > 0:
            n_small -= 1
            low, high = small[n_small], large[n_large - 1]
            accept[c, low] = scaled[low]
            other[c, low] = high
            scaled[high] -= 1.0 - scaled[low]
            if scaled[high] < 1.0:
                n_large -= 1
                small[n_small] = high
                n_small += 1


@inlined
def draw_alias(u, accept, other, row, size):
    """A place by the alias table that begins at ``row``, from a number in [0, 1)."""
    v = u * size
    k = min(int(v), size - 1)
    return k if v - k < accept[row + k] else np.int64(other[row + k])
