# mypy: ignore-errors
"""Sweeps of dual coordinate descent over CSR rows, with the targets of a block as lanes.

See ``dual.py`` for the mathematics and the names.
"""

import numpy as np

from setwise.compiling import lane_function, lane_kernel
from setwise.learners._lanes_kernel import exp, unit


@lane_function
def _sigmoid(x):
    one = unit(x)
    return one / (one + exp(-x))


@lane_function
def _root(tau, z, share, A, n_newton):
    """The x with x + A sigmoid(x) = z + A share, between tau and z.

    Newton's method from the end of [tau, z] that is nearest to zero, or from zero inside it: on
    either side of zero the function bends one way only, so that steps do not overshoot.
    """
    one = unit(z)
    low, high = min(tau, z), max(tau, z)
    x = max(low, min(high, one - one))
    for _ in range(n_newton):
        s = _sigmoid(x)
        x -= (x - z + A * (s - share)) / (one + A * s * (one - s))
        x = max(low, min(high, x))
    return x


@lane_kernel
def sweep(indptr, indices, data, norms, order, cost, bias_square, n_newton, tau, W, bias, short):
    """One visit of every row in ``order``: tau (n, L), W (d, L) and bias (2, L) move in place.

    ``bias`` holds the centre and the displacement from it. What the coordinates are short of their
    optima when they are visited is added to ``short`` (L,).
    """
    L = W.shape[1]
    z, step = np.empty(L, W.dtype), np.empty(L, W.dtype)
    for i in order:
        for label in range(L):
            z[label] = bias[0, label] + bias[1, label]
        for entry in range(indptr[i], indptr[i + 1]):
            j, value = indices[entry], data[entry]
            for label in range(L):
                z[label] += value * W[j, label]
        for label in range(L):
            c, old = cost[i, label], tau[i, label]
            share = _sigmoid(old)
            new = _root(old, z[label], share, (norms[i] + bias_square[label]) * c, n_newton)
            change = c * (share - _sigmoid(new))
            short[label] += (old - z[label]) * change
            tau[i, label] = new
            step[label] = change
            bias[1, label] += bias_square[label] * change
        for entry in range(indptr[i], indptr[i + 1]):
            j, value = indices[entry], data[entry]
            for label in range(L):
                W[j, label] += value * step[label]


@lane_kernel
def balance(tau, T, cost, shift, sums, curvature):
    """Sums over rows of cost * (sigmoid - T) and of its derivative, at tau + shift, each (L,)."""
    n, L = tau.shape
    one = unit(tau[0, 0])
    for i in range(n):
        for label in range(L):
            s = _sigmoid(tau[i, label] + shift[label])
            sums[label] += cost[i, label] * (s - T[i, label])
            curvature[label] += cost[i, label] * s * (one - s)
