# mypy: ignore-errors
"""Passes over trees of labels; see ``label_tree.py``.

Labels stand parents first, at places 1 to L; place 0 is a root that is always off. ``z[v, i - 1]``
are the log-odds of the label at place i where its parent has the value v, ``above[i]`` the place of
that parent.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._chain_kernel import first_limits, softplus

FIXED = -1


@kernel
def log_p(z, i, given, value):
    """Log-probability of a label's value, given its parent's."""
    odds = z[given, i - 1]
    return -softplus(-odds) if value else -softplus(odds)


@kernel
def fill_marginals(z, above, marginals):
    """P(y_l = 1), (n, L), from parents to children."""
    n, _, L = z.shape
    for row in range(n):
        for i in range(1, L + 1):
            up = 0.0 if above[i] == 0 else marginals[row, above[i] - 1]
            on = 1.0 / (1.0 + math.exp(-z[row, 1, i - 1]))
            off = 1.0 / (1.0 + math.exp(-z[row, 0, i - 1]))
            marginals[row, i - 1] = up * on + (1.0 - up) * off


@kernel
def fill_pairs(z, above, pairs):
    """P(y_l = 1, y_m = 1), (n, L, L): given its parent, a label hangs on none before it."""
    n, _, L = z.shape
    for row in range(n):
        joint = pairs[row]
        for i in range(L):
            parent = above[i + 1] - 1
            on = 1.0 / (1.0 + math.exp(-z[row, 1, i]))
            off = 1.0 / (1.0 + math.exp(-z[row, 0, i]))
            up = 0.0 if parent < 0 else joint[parent, parent]
            joint[i, i] = up * on + (1.0 - up) * off
            for j in range(i):
                both = 0.0 if parent < 0 else joint[j, parent]
                joint[i, j] = joint[j, i] = both * on + (joint[j, j] - both) * off


@kernel
def _fill_best(z, above, inside, reach):
    """Max-product, from children to parents.

    ``inside[v, i]`` is the best of all below place i where it has the value v, ``reach[u, v, i]``
    that with its own log-probability where its parent has the value u.
    """
    L = z.shape[1]
    inside[:] = 0.0
    for i in range(L, 0, -1):
        for given in range(2):
            for value in range(2):
                reach[given, value, i] = log_p(z, i, given, value) + inside[value, i]
            inside[given, above[i]] += max(reach[given, 0, i], reach[given, 1, i])


@kernel
def _complete(above, reach, values, first):
    """Give every place from ``first`` on its best value."""
    for i in range(first, len(values)):
        given = values[above[i]]
        values[i] = reach[given, 1, i] > reach[given, 0, i]


@kernel
def top_rows(z, above, sets, log_probs):
    """Fill the k likeliest sets (n, k, L), all zero, and their logs (n, k), all -inf.

    Lawler's partition: of the sets that agree with a found one before place i and differ at i, the
    best changes what hangs below i and nothing else, so that its probability is known beforehand.
    """
    n, _, L = z.shape
    k = sets.shape[1]
    inside, reach = np.empty((2, L + 1)), np.empty((2, 2, L + 1))
    size = k * L + 1
    value, origin = np.empty(size), np.empty(size, np.int32)
    place, heap = np.empty(size, np.int32), np.empty(size, np.int32)
    found = np.zeros((k, L + 1), np.int8)
    for row in range(n):
        _fill_best(z[row], above, inside, reach)
        value[0], origin[0], place[0] = inside[0, 0], FIXED, 0
        heap[0] = 0
        made, n_open = 1, 1
        for rank in range(k):
            if n_open == 0:
                break
            best = _pop(heap, n_open, value)
            n_open -= 1
            values, at = found[rank], place[best]
            if origin[best] == FIXED:
                values[0] = 0
                _complete(above, reach, values, 1)
            else:
                values[:] = found[origin[best]]
                values[at] = 1 - values[at]
                _complete(above, reach, values, at + 1)
            log_probs[row, rank] = value[best]
            for i in range(1, L + 1):
                sets[row, rank, i - 1] = values[i]
            if rank == k - 1:
                break
            for i in range(at + 1, L + 1):
                given, own = values[above[i]], values[i]
                value[made] = value[best] + reach[given, 1 - own, i] - reach[given, own, i]
                origin[made], place[made] = rank, i
                _push(heap, n_open, value, made)
                made += 1
                n_open += 1


@kernel
def _push(heap, size, value, node):
    place = size
    while place > 0 and value[node] > value[heap[(place - 1) >> 1]]:
        heap[place] = heap[(place - 1) >> 1]
        place = (place - 1) >> 1
    heap[place] = node


@kernel
def _pop(heap, size, value):
    top, size = heap[0], size - 1
    node, place = heap[size], 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and value[heap[child + 1]] > value[heap[child]]:
            child += 1
        if value[heap[child]] <= value[node]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = node
    return top


@kernel
def draw_rows(z, above, luck, nonempty, samples):
    """Fill ``samples`` (n, S, L) by uniform numbers (n, S, L + 1), parents first.

    A set that must not be empty has its first label drawn beforehand: all before it are off.
    """
    n, _, L = z.shape
    limits, values = np.empty(L), np.zeros(L + 1, np.int8)
    for row in range(n):
        first_limits(z[row, 0], limits)
        for s in range(samples.shape[1]):
            own = luck[row, s]
            first = 0
            if nonempty:
                first = 1
                while first < L and own[L] * limits[L - 1] >= limits[first - 1]:
                    first += 1
            for i in range(1, L + 1):
                p = 1.0 / (1.0 + math.exp(-z[row, values[above[i]], i - 1]))
                values[i] = i == first or (i > first and own[i - 1] < p)
                samples[row, s, i - 1] = values[i]


class Polynomials(NamedTuple):
    """Coefficients by size, (2, L + 1, S + 1) each: for the two values of a place or its parent."""

    inside: np.ndarray  # labels below a place, given its value
    upward: np.ndarray  # a place and all below, given its parent's value
    left: np.ndarray  # siblings after a place, with all below, given the parent's value
    right: np.ndarray  # outside a place, with its value and those children that are done
    outside: np.ndarray  # all but what is below a place, with its value, which is not counted


@kernel
def fill_sizes(z, above, joint, sizes):
    """Fill P(y_l = 1, |y| = s) (n, L, S) and P(|y| = s) (n, S + 1)."""
    n, _, L = z.shape
    S = sizes.shape[1] - 1
    shape = (2, L + 1, S + 1)
    poly = Polynomials(
        np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    )
    product, context = np.empty(S + 1), np.empty((2, S + 1))
    for row in range(n):
        _size_up(z[row], above, poly, product)
        sizes[row] = poly.inside[0, 0]
        _size_down(z[row], above, poly, product, context)
        for i in range(1, L + 1):
            _multiply(poly.outside[1, i], poly.inside[1, i], product)
            for s in range(1, S + 1):
                joint[row, i - 1, s - 1] = product[s - 1]


@kernel
def _size_up(z, above, poly, product):
    L = z.shape[1]
    poly.inside[:] = 0.0
    poly.inside[:, :, 0] = 1.0
    for i in range(L, 0, -1):
        for given in range(2):
            p = math.exp(log_p(z, i, given, 1))
            q = math.exp(log_p(z, i, given, 0))
            up = poly.upward[given, i]
            for s in range(len(product)):
                up[s] = q * poly.inside[0, i, s]
                if s > 0:
                    up[s] += p * poly.inside[1, i, s - 1]
            poly.left[given, i] = poly.inside[given, above[i]]
            _multiply(up, poly.left[given, i], product)
            poly.inside[given, above[i]] = product


@kernel
def _size_down(z, above, poly, product, context):
    L = z.shape[1]
    poly.right[:, 0] = 0.0
    poly.right[0, 0, 0] = 1.0  # the root is off
    for i in range(1, L + 1):
        for given in range(2):
            _multiply(poly.right[given, above[i]], poly.left[given, i], context[given])
            _multiply(poly.right[given, above[i]], poly.upward[given, i], product)
            poly.right[given, above[i]] = product
        for value in range(2):
            off = math.exp(log_p(z, i, 0, value))
            on = math.exp(log_p(z, i, 1, value))
            for s in range(len(product)):
                poly.outside[value, i, s] = off * context[0, s] + on * context[1, s]
                poly.right[value, i, s] = 0.0
            for s in range(value, len(product)):
                poly.right[value, i, s] = poly.outside[value, i, s - value]


@kernel
def _multiply(first, second, product):
    """The product of two polynomials, up to the size that is kept."""
    top_first, top_second = _degree(first), _degree(second)
    product[:] = 0.0
    for a in range(top_first + 1):
        for b in range(min(top_second, len(product) - 1 - a) + 1):
            product[a + b] += first[a] * second[b]


@kernel
def _degree(polynomial):
    top = len(polynomial) - 1
    while top > 0 and polynomial[top] == 0.0:
        top -= 1
    return top
