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
        start, n_own, m = first[i], own[i], used[i]
        if norms[i] == 0.0 or n_own == 0 or n_own == L or caps[i] == 0.0:
            continue  # no loss, or none that weights can change
        if search:
            z[:] = 0.0
            for p in range(ptr[i], ptr[i + 1]):
                x, w = values[p], W[columns[p]]
                for k in range(L):
                    z[k] += x * w[k]
            kept = n_own
            for a in range(n_own, m):
                if alpha[start + a] != 0.0:
                    labels[start + kept], alpha[start + kept] = labels[start + a], alpha[start + a]
                    kept += 1
            m = kept
            lowest = np.inf
            for a in range(n_own):
                is_own[labels[start + a]] = True
                lowest = min(lowest, z[labels[start + a]])
            worst = -1
            for k in range(L):
                if not is_own[k] and (worst < 0 or z[k] > z[worst]):
                    worst = k
            for a in range(n_own):
                is_own[labels[start + a]] = False
            known = False
            for a in range(n_own, m):
                known = known or labels[start + a] == worst
            if not known and 1.0 + z[worst] > lowest:
                if m < room[i]:
                    labels[start + m], alpha[start + m] = worst, 0.0
                    m += 1
                else:
                    refused += 1
            used[i], moved[i] = m, 0.0
            if m == n_own:
                continue
            for a in range(m):
                b[a] = z[labels[start + a]]
        else:
            if m == n_own or moved[i] < calm:
                continue
            for a in range(m):
                b[a] = 0.0
            for p in range(ptr[i], ptr[i + 1]):
                x, w = values[p], W[columns[p]]
                for a in range(m):
                    b[a] += x * w[labels[start + a]]
        for a in range(m):
            slope = b[a] if a < n_own else b[a] + 1.0
            b[a] = alpha[start + a] - slope / norms[i]
        project(b, m, n_own, caps[i], scratch)
        moved[i] = 0.0
        for a in range(m):
            step = b[a] - alpha[start + a]
            if step != 0.0:
                alpha[start + a] = b[a]
                moved[i] = max(moved[i], abs(step) / caps[i])
                k = labels[start + a]
                for p in range(ptr[i], ptr[i + 1]):
                    j = columns[p]
                    V[j, k] += step * values[p]
                    v = V[j, k]
                    W[j, k] = v - min(max(v, -shrink), shrink)
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
        lowest, highest = np.inf, -np.inf
        for a in range(first[i], first[i] + own[i]):
            is_own[labels[a]] = True
            lowest = min(lowest, Z[i, labels[a]])
        for k in range(L):
            if not is_own[k]:
                highest = max(highest, Z[i, k])
        for a in range(first[i], first[i] + own[i]):
            is_own[labels[a]] = False
        loss[i] = max(1.0 + highest - lowest, 0.0)
    return loss
