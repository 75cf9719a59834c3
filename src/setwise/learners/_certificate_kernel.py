# mypy: ignore-errors
"""The pass over logits that a certificate takes; ``certificate.py`` has the formulas.

ZU (n, 2 L) are logits and, beside them, what ``pull`` (n,) makes wanted displacements of the shares
times the weight, which is (n, L). Sums run in the precision of ZU over ``RUN`` rows at a time, then
in double precision.
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
def displaced(ZU, T, weight, pull, R, shift, distance, excess, curvature):
    """R becomes weight * (share - target); add three sums (L,): distances from p, R, and bends.

    ``shift`` (L,), in units of p (1 - p), is taken off all shares: what balances them. Bends are
    weight * p (1 - p).
    """
    n, L = R.shape
    sums, totals, bends = np.zeros(L, R.dtype), np.zeros(L, R.dtype), np.zeros(L, R.dtype)
    for i in range(n):
        k = pull[i]
        for label in range(L):
            p, q = _shares(ZU[i, label])
            w = weight[i, label]
            one = unit(p)
            two = one + one
            six = two + two + two
            u = _kept(k * ZU[i, L + label], w, p, q) + shift[label] * p * q
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
            R[i, label] = w * (p - T[i, label] - u)
            totals[label] += R[i, label]
            bends[label] += w * p * q
        if i % RUN == RUN - 1 or i == n - 1:
            _flush(sums, distance)
            _flush(totals, excess)
            _flush(bends, curvature)
