# mypy: ignore-errors
"""Bags: how often each label, or topic, is in a document, with a list of those that are there.

The weights of a bag's items stand in a table by item and entry of the document (an entry is a word
with its count), so that what one item adds to all entries lies together: weights[item * size + e]
for the ``size`` entries, plus a floor of the item.
"""

from typing import NamedTuple

import numpy as np

from setwise.models.topics._random_kernel import inlined, making


class Bag(NamedTuple):
    """How often each item is there; ``active[: size[0]]`` lists those that are."""

    count: np.ndarray  # (items,) float64
    active: np.ndarray  # (items,) int64
    place: np.ndarray  # (items,) int64, where it stands in ``active``
    size: np.ndarray  # (1,) int64


@making
def new_bag(n_items):
    """An empty bag."""
    return Bag(
        np.zeros(n_items),
        np.zeros(n_items, np.int64),
        np.zeros(n_items, np.int64),
        np.zeros(1, np.int64),
    )


@inlined
def clear(bag):
    """Take everything out."""
    for k in range(bag.size[0]):
        bag.count[bag.active[k]] = 0.0
    bag.size[0] = 0


@inlined
def add(bag, item):
    """One more of an item."""
    if bag.count[item] == 0.0:
        bag.active[bag.size[0]] = item
        bag.place[item] = bag.size[0]
        bag.size[0] += 1
    bag.count[item] += 1.0


@inlined
def remove(bag, item):
    """One less of an item; the last of the list takes the place of one that is gone."""
    bag.count[item] -= 1.0
    if bag.count[item] == 0.0:
        bag.size[0] -= 1
        last = bag.active[bag.size[0]]
        bag.active[bag.place[item]] = last
        bag.place[last] = bag.place[item]


@inlined
def fill(bag, counts, least):
    """Hold ``counts`` of each item, which need not be whole, where they are over ``least``."""
    clear(bag)
    for item in range(counts.size):
        if counts[item] > least:
            bag.count[item] = counts[item]
            bag.active[bag.size[0]] = item
            bag.place[item] = bag.size[0]
            bag.size[0] += 1


@inlined
def weigh(bag, weights, floor, size, masses):
    """The sum over the bag of count times weight, for each entry."""
    for e in range(size):
        masses[e] = 0.0
    for k in range(bag.size[0]):
        item = bag.active[k]
        n, low = bag.count[item], floor[item]
        own = weights[item * size : (item + 1) * size]
        for e in range(size):
            masses[e] += n * (own[e] + low)


@inlined
def exchange(old, new, weights, floor, size, first, masses):
    """The masses of entries from ``first`` on, now that ``new`` stands for an ``old``."""
    gone = weights[old * size + first : (old + 1) * size]
    come = weights[new * size + first : (new + 1) * size]
    later, step = masses[first:size], floor[new] - floor[old]
    for e in range(size - first):  # from zero on, else it would not vectorise
        later[e] += (np.float64(come[e]) - np.float64(gone[e])) + step


@inlined
def pick(bag, weights, floor, size, e, point):
    """The item where the sum over the bag, for one entry, passes ``point``; what is left of it."""
    k = 0
    item = bag.active[0]
    mass = bag.count[item] * (weights[item * size + e] + floor[item])
    while point >= mass and k < bag.size[0] - 1:
        point -= mass
        k += 1
        item = bag.active[k]
        mass = bag.count[item] * (weights[item * size + e] + floor[item])
    return item, point


@inlined
def weigh_row(bag, weights, row):
    """The sum of count times weight in one row; four sums, lest each waits for the last."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n, k = bag.size[0], 0
    count, active = bag.count, bag.active
    while k + 3 < n:
        s0 += count[active[k]] * weights[row + active[k]]
        s1 += count[active[k + 1]] * weights[row + active[k + 1]]
        s2 += count[active[k + 2]] * weights[row + active[k + 2]]
        s3 += count[active[k + 3]] * weights[row + active[k + 3]]
        k += 4
    while k < n:
        s0 += count[active[k]] * weights[row + active[k]]
        k += 1
    return (s0 + s1) + (s2 + s3)


@inlined
def pick_in_row(bag, weights, row, point):
    """The item where the sum over the bag, in one row, passes ``point``."""
    k = 0
    item = bag.active[0]
    point -= bag.count[item] * weights[row + item]
    while point >= 0.0 and k < bag.size[0] - 1:
        k += 1
        item = bag.active[k]
        point -= bag.count[item] * weights[row + item]
    return item
