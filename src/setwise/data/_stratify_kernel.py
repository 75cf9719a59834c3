# mypy: ignore-errors
"""The three passes of stratification: deal units to parts, move single ones, swap pairs.

Units are rows, or groups of rows. They come as CSR arrays: unit u holds ``counts[e]`` positives of
label ``labels[e]`` for ``starts[u] <= e < starts[u + 1]``. Every unit also holds one label more,
the last, which counts its rows: the size of a part is balanced as one more label.

``excess`` (labels, parts) is what each part has of each label beyond what it should have. A pass
lowers the sum of ``weight * excess ** 2`` and updates ``excess`` and ``part`` in place.
"""

import numpy as np

from setwise.compiling import kernel

# More than rounding can feign: otherwise two changes could undo each other for ever.
SMALLEST_GAIN = 1e-9


@kernel
def deal(starts, labels, counts, label_starts, label_units, excess, luck):
    """Part of each unit, int64 (m,), by iterative stratification; ``excess`` starts at -wanted.

    ``label_starts``, ``label_units`` list the units of each label, in the order to deal them;
    ``luck`` (m,) in [0, 1) decides between parts that want a unit equally.
    """
    n_labels = len(label_starts) - 1
    remaining = np.zeros(n_labels)
    for e in range(len(labels)):
        remaining[labels[e]] += counts[e]
    part = np.full(len(starts) - 1, -1)
    for _ in range(n_labels):
        rarest = _rarest(remaining)
        if rarest < 0:
            break
        for e in range(label_starts[rarest], label_starts[rarest + 1]):
            unit = label_units[e]
            if part[unit] >= 0:
                continue
            part[unit] = _keenest(excess, rarest, luck[unit])
            for f in range(starts[unit], starts[unit + 1]):
                remaining[labels[f]] -= counts[f]
                excess[labels[f], part[unit]] += counts[f]
    return part


@kernel
def _rarest(remaining):
    """The label with the fewest positives left, or -1: a scan, as there is but one per label."""
    rarest = -1
    for label in range(len(remaining)):
        fewer = rarest < 0 or remaining[label] < remaining[rarest]
        if remaining[label] > 0 and fewer:
            rarest = label
    return rarest


@kernel
def _keenest(excess, label, luck):
    """The part that lacks most of a label, then most rows; ``luck`` chooses between equals."""
    rows = len(excess) - 1
    best, n_equal = 0, 1
    for p in range(1, excess.shape[1]):
        gap = excess[label, p] - excess[label, best]
        if gap == 0:
            gap = excess[rows, p] - excess[rows, best]
        if gap < 0:
            best, n_equal = p, 1
        elif gap == 0:
            n_equal += 1
    chosen = int(luck * n_equal)
    for p in range(best, excess.shape[1]):
        equal = excess[label, p] == excess[label, best] and excess[rows, p] == excess[rows, best]
        if equal and chosen == 0:
            return p
        chosen -= equal
    return best


@kernel
def move(starts, labels, counts, weight, max_sweeps, excess, part):
    """Give units to other parts, one at a time, while that lowers the sum; empties no part."""
    n_units = np.zeros(excess.shape[1], np.int64)
    for here in part:
        n_units[here] += 1
    for _ in range(max_sweeps):
        n_moves = 0
        for unit in range(len(part)):
            here = part[unit]
            if n_units[here] == 1:
                continue
            there, change = _best_move(starts, labels, counts, weight, excess, unit, here)
            if change < -SMALLEST_GAIN:
                _carry(starts, labels, counts, excess, unit, here, there)
                part[unit] = there
                n_units[here] -= 1
                n_units[there] += 1
                n_moves += 1
        if n_moves == 0:
            break


@kernel
def swap(starts, labels, counts, weight, first, members, max_sweeps, n_offers, excess, part):
    """Exchange units between parts, two at a time, while that lowers the sum.

    Each unit is carried to the part that suits it best, and the next ``n_offers`` units there are
    tried in return. ``members[first[p]:first[p + 1]]`` are the units of part p; updated in place.
    """
    place = np.empty_like(members)
    for i in range(len(members)):
        place[members[i]] = i
    cursor = first[:-1].copy()
    for _ in range(max_sweeps):
        n_swaps = 0
        for unit in range(len(part)):
            here = part[unit]
            there, change = _best_move(starts, labels, counts, weight, excess, unit, here)
            _carry(starts, labels, counts, excess, unit, here, there)
            partner = _best_partner(
                starts, labels, counts, weight, excess, first, members, cursor,
                n_offers, here, there, -change - SMALLEST_GAIN,
            )  # fmt: skip
            if partner < 0:
                _carry(starts, labels, counts, excess, unit, there, here)
                continue
            _carry(starts, labels, counts, excess, partner, there, here)
            part[unit], part[partner] = there, here
            members[place[unit]], members[place[partner]] = partner, unit
            place[unit], place[partner] = place[partner], place[unit]
            n_swaps += 1
        if n_swaps == 0:
            break


@kernel
def _best_partner(
    starts, labels, counts, weight, excess, first, members, cursor, n_offers, here, there, limit
):  # fmt: skip
    """The unit of ``there`` that is best moved ``here``, or -1 if none changes less than ``limit``.

    The cursor goes round the members of a part, so that all of them are offered in time.
    """
    partner = -1
    for _ in range(min(n_offers, first[there + 1] - first[there])):
        other = members[cursor[there]]
        cursor[there] += 1
        if cursor[there] == first[there + 1]:
            cursor[there] = first[there]
        change = _change(starts, labels, counts, weight, excess, other, there, here)
        if change < limit:
            limit, partner = change, other
    return partner


@kernel
def _best_move(starts, labels, counts, weight, excess, unit, here):
    """The other part to which a unit is best moved, and the change of the sum."""
    best, there = np.inf, here
    for p in range(excess.shape[1]):
        if p != here:
            change = _change(starts, labels, counts, weight, excess, unit, here, p)
            if change < best:
                best, there = change, p
    return there, best


@kernel
def _change(starts, labels, counts, weight, excess, unit, here, there):
    """What moving a unit from ``here`` to ``there`` adds to the sum."""
    change = 0.0
    for e in range(starts[unit], starts[unit + 1]):
        label, c = labels[e], counts[e]
        change += weight[label, here] * c * (c - 2 * excess[label, here])
        change += weight[label, there] * c * (c + 2 * excess[label, there])
    return change


@kernel
def _carry(starts, labels, counts, excess, unit, here, there):
    for e in range(starts[unit], starts[unit + 1]):
        excess[labels[e], here] -= counts[e]
        excess[labels[e], there] += counts[e]
