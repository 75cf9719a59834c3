# mypy: ignore-errors
"""The few smallest numbers of each row of a block, by keeping a short sorted list."""

import numpy as np

from setwise.compiling import kernel


@kernel
def smallest(products, half_squares, own, numbers, keys):
    """The columns j with the least half_squares[j] - products[i, j], rising, of each row i.

    ``numbers`` (b, m) gets the columns and ``keys`` (b, m) their values; of equal values the first
    column comes first. ``own`` (b,) is a column that is left out, -1 for none.
    """
    b, n = products.shape
    m = numbers.shape[1]
    for i in range(b):
        filled, worst = 0, np.inf
        skipped = own[i]
        for j in range(n):
            key = half_squares[j] - products[i, j]
            if filled == m and key >= worst:
                continue
            if j == skipped:
                continue
            place = filled if filled < m else m - 1
            while place > 0 and keys[i, place - 1] > key:
                keys[i, place] = keys[i, place - 1]
                numbers[i, place] = numbers[i, place - 1]
                place -= 1
            keys[i, place] = key
            numbers[i, place] = j
            filled = min(filled + 1, m)
            worst = keys[i, m - 1] if filled == m else np.inf
