# mypy: ignore-errors
"""Block-coordinate Frank-Wolfe in the dual of the max-margin loss (Yen et al. 2016, Algorithm 1).

Row i owns a block of multipliers a_i: over zero for its labels, under zero for others, both adding
up to the same mass, which is at most C_i. Only an active set of them is stored, the row's own
labels first. V = X' a and W = V shrunk by the L1 penalty are kept up to date, features by labels.
"""

import numpy as np

from setwise.compiling import kernel


@kernel
def mass_above(b, m, own, tau):
    """How much mass the own labels have over the others at the multiplier ``tau``."""
    total = 0.0
    for a in range(m):
        if a < own:
            total += max(b[a] - tau, 0.0)
        else:
            total -= max(tau - b[a], 0.0)
    return total


@kernel
def balance(b, m, own, scratch):
    """The multiplier at which both sides have the same mass: exact, between two breakpoints."""
    for a in range(m):  # sorted by insertion: active sets are small
        value, p = b[a], a
        while p > 0 and scratch[p - 1] > value:
            scratch[p] = scratch[p - 1]
            p -= 1
        scratch[p] = value
    low, high = 0, m - 1
    while high - low > 1:
        middle = (low + high) // 2
        if mass_above(b, m, own, scratch[middle]) > 0.0:
            low = middle
        else:
            high = middle
    at_low = mass_above(b, m, own, scratch[low])
    at_high = mass_above(b, m, own, scratch[high])
    if at_low <= at_high:
        return scratch[low]
    return scratch[low] + at_low / (at_low - at_high) * (scratch[high] - scratch[low])


@kernel
def simplex(b, first, last, sign, mass):
    """The multiplier at which sum max(sign b - tau, 0) is ``mass`` (Michelot's rule)."""
    total, count = 0.0, last - first
    for a in range(first, last):
        total += sign * b[a]
    tau = (total - mass) / count
    while True:
        total, left = 0.0, 0
        for a in range(first, last):
            if sign * b[a] > tau:
                total += sign * b[a]
                left += 1
        if left == 0 or left >= count:  # rounding must not bring back what was left out
            return tau
        count = left
        tau = (total - mass) / count


@kernel
def project(b, m, own, cap, scratch):
    """``b`` (m,) becomes the nearest feasible block: Algorithm 3 of the paper, in place."""
    tau = balance(b, m, own, scratch)
    mass = 0.0
    for a in range(own):
        mass += max(b[a] - tau, 0.0)
    above, below = tau, tau
    if mass > cap:
        above = simplex(b, 0, own, 1.0, cap)
        below = -simplex(b, own, m, -1.0, cap)
    for a in range(m):
        if a < own:
            b[a] = max(b[a] - above, 0.0)
        else:
            b[a] = min(b[a] - below, 0.0)


@kernel
def score_all(columns, x, W, z):
    """``z`` (L,) becomes the scores of all labels for the row with values ``x`` in ``columns``."""
    z[:] = 0.0
    for p in range(len(columns)):
        value, w = x[p], W[columns[p]]
        for k in range(len(z)):
            z[k] += value * w[k]


@kernel
def score_active(columns, x, W, active, m, b):
    """``b`` (m,) becomes the scores of the first m active labels."""
    for a in range(m):
        b[a] = 0.0
    for p in range(len(columns)):
        value, w = x[p], W[columns[p]]
        for a in range(m):
            b[a] += value * w[active[a]]


@kernel
def drop_idle(active, alpha, m, own):
    """How many labels stay active when others than the row's own go if they have no multiplier."""
    kept = own
    for a in range(own, m):
        if alpha[a] != 0.0:
            active[kept], alpha[kept] = active[a], alpha[a]
            kept += 1
    return kept


@kernel
def worst_rival(z, own_labels, is_own):
    """The label of the highest score but the row's own ones, and the lowest score of those.

    ``is_own`` (L,) is all False, before and after.
    """
    lowest, worst = np.inf, -1
    for k in own_labels:
        is_own[k] = True
        lowest = min(lowest, z[k])
    for k in range(len(z)):
        if not is_own[k] and (worst < 0 or z[k] > z[worst]):
            worst = k
    for k in own_labels:
        is_own[k] = False
    return worst, lowest


@kernel
def take_up(worst, active, alpha, m, own):
    """Make a label active unless it is: how many then are, and whether there was no room for it."""
    for a in range(own, m):
        if active[a] == worst:
            return m, False
    if m == len(active):
        return m, True
    active[m], alpha[m] = worst, 0.0
    return m + 1, False


@kernel
def best_block(b, alpha, m, own, norm, cap, scratch):
    """``b`` (m,) becomes the best block where the scores are ``b`` and the block is ``alpha``."""
    for a in range(m):
        slope = b[a] if a < own else b[a] + 1.0
        b[a] = alpha[a] - slope / norm
    project(b, m, own, cap, scratch)


@kernel
def move(alpha, b, m, active, columns, x, V, W, shrink):
    """``alpha`` becomes ``b``, and V and W follow; returns the largest step of a multiplier."""
    largest = 0.0
    for a in range(m):
        step = b[a] - alpha[a]
        if step != 0.0:
            alpha[a] = b[a]
            largest = max(largest, abs(step))
            k = active[a]
            for p in range(len(columns)):
                j = columns[p]
                V[j, k] += step * x[p]
                v = V[j, k]
                W[j, k] = v - min(max(v, -shrink), shrink)
    return largest


@kernel
def sweep(
    ptr,
    columns,
    values,
    norms,
    order,
    caps,
    first,
    room,
    own,
    used,
    labels,
    alpha,
    V,
    W,
    shrink,
    moved,
    calm,
    search,
):
    """Visit rows in ``order``, improving ``alpha``, V and W in place.

    With ``search`` each row first drops idle labels and takes up the one that violates its margin
    most; without, rows are left alone whose block last ``moved`` by less than ``calm``, a share of
    their mass. Returns for how many rows there was no room for a label, and how many moved more.
    """
    L = W.shape[1]
    z, b, scratch = np.empty(L), np.empty(L), np.empty(L)
    is_own = np.zeros(L, dtype=np.bool_)
    refused, n_moved = 0, 0
    for i in order:
        n_own, m = own[i], used[i]
        if norms[i] == 0.0 or n_own == 0 or n_own == L or caps[i] == 0.0:
            continue  # no loss, or none that weights can change
        js, x = columns[ptr[i] : ptr[i + 1]], values[ptr[i] : ptr[i + 1]]
        active = labels[first[i] : first[i] + room[i]]
        block = alpha[first[i] : first[i] + room[i]]
        if search:
            score_all(js, x, W, z)
            m = drop_idle(active, block, m, n_own)
            worst, lowest = worst_rival(z, active[:n_own], is_own)
            if 1.0 + z[worst] > lowest:
                m, is_full = take_up(worst, active, block, m, n_own)
                refused += is_full
            used[i], moved[i] = m, 0.0
            for a in range(m):
                b[a] = z[active[a]]
        elif moved[i] < calm:
            continue
        else:
            score_active(js, x, W, active, m, b)
        if m == n_own:
            continue
        best_block(b, block, m, n_own, norms[i], caps[i], scratch)
        moved[i] = move(block, b, m, active, js, x, V, W, shrink) / caps[i]
        n_moved += moved[i] >= calm
    return refused, n_moved


@kernel
def losses(Z, labels, first, own):
    """[1 + the highest score of the others - the lowest of the row's own]_+ of each row."""
    n, L = Z.shape
    loss = np.zeros(n)
    is_own = np.zeros(L, dtype=np.bool_)
    for i in range(n):
        if own[i] == 0 or own[i] == L:
            continue
        worst, lowest = worst_rival(Z[i], labels[first[i] : first[i] + own[i]], is_own)
        loss[i] = max(1.0 + Z[i, worst] - lowest, 0.0)
    return loss
