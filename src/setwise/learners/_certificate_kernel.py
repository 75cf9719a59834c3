# mypy: ignore-errors
"""The passes over logits that a certificate takes; ``certificate.py`` has the formulas.

Z (n, L) are logits, U (n, L) wanted displacements of the shares times the weight, and ``weight``
is (n, L). Sums run in the precision of Z over ``RUN`` rows at a time, then in double precision.
"""

import numpy as np

from setwise.compiling import lane_function, lane_kernel
from setwise.learners._lanes_kernel import exp, unit
from setwise.learners._residual_kernel import RUN


@lane_function
def _shares(z):
    """Probabilities p and 1 - p, neither by subtraction, so that small ones keep their digits."""
    one = unit(z)
    e = exp(-abs(z))
    larger = one / (one + e)
    smaller = e * larger
    positive = z >= one - one
    return (larger if positive else smaller), (smaller if positive else larger)


@lane_function
def _kept(u, weight, p, q):
    """The displacement u / weight, within a quarter of the room that the share has."""
    one = unit(p)
    room = min(p, q) / (one + one + one + one)
    safe = weight if weight > one - one else one
    return min(max(u / safe, -room), room)


@lane_function
def _flush(sums, totals):
    for label in range(len(sums)):
        totals[label] += sums[label]
        sums[label] = 0


@lane_kernel
def imbalance(Z, T, weight, U, excess, curvature):
    """Add the sums of weight * (displaced share - target) and of weight * p (1 - p), (L,) each."""
    n, L = Z.shape
    sums, bends = np.zeros(L, Z.dtype), np.zeros(L, Z.dtype)
    for i in range(n):
        for label in range(L):
            p, q = _shares(Z[i, label])
            w = weight[i, label]
            sums[label] += w * (p - T[i, label] - _kept(U[i, label], w, p, q))
            bends[label] += w * p * q
        if i % RUN == RUN - 1 or i == n - 1:
            _flush(sums, excess)
            _flush(bends, curvature)


@lane_kernel
def displaced(Z, T, weight, U, shift, distance, excess):
    """U becomes weight * (share - target); add distances from p, and the sums of U, (L,) each.

    ``shift`` (L,), in units of p (1 - p), is taken off all shares: what balances them.
    """
    n, L = Z.shape
    sums, totals = np.zeros(L, Z.dtype), np.zeros(L, Z.dtype)
    for i in range(n):
        for label in range(L):
            p, q = _shares(Z[i, label])
            w = weight[i, label]
            one = unit(p)
            two = one + one
            six = two + two + two
            u = _kept(U[i, label], w, p, q) + shift[label] * p * q
            # The divergence of a share p - u from p is p f(u / p) + q f(-u / q) for
            # f(x) = (1 - x) log(1 - x) + x, at most x^2 / 2 + x^3 / 6 + x^4 / 6 for |x| <= 1 / 2.
            x, y = u / p, u / q  # the exponential has a floor: neither is zero
            sums[label] += (
                w
                * u
                * (
                    x * (one / two + x / six + x * x / six)
                    + y * (one / two - y / six + y * y / six)
                )
            )
            U[i, label] = w * (p - T[i, label] - u)
            totals[label] += U[i, label]
        if i % RUN == RUN - 1 or i == n - 1:
            _flush(sums, distance)
            _flush(totals, excess)
