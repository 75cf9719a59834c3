# mypy: ignore-errors
"""A softmax along a line of logits, and at a point of it: classes are the lanes."""

import math

import numpy as np

from setwise.compiling import lane_kernel
from setwise.learners._lanes_kernel import exp, unit


@lane_kernel
def along(Z, D, T, weight, length, sums):
    """Add the loss at logits Z + length D, its slope and its curvature there to ``sums`` (3,)."""
    n, K = Z.shape
    shares = np.empty(K, Z.dtype)
    one = unit(Z[0, 0])
    a = one * length
    for i in range(n):
        top = Z[i, 0] + a * D[i, 0]
        for k in range(K):
            shares[k] = Z[i, k] + a * D[i, k]
        inner = total = first = second = target = one - one
        for k in range(K):
            top = max(top, shares[k])
            inner += T[i, k] * shares[k]
            target += T[i, k] * D[i, k]
        for k in range(K):
            shares[k] = exp(shares[k] - top)
        for k in range(K):
            part = shares[k] * D[i, k]
            total += shares[k]
            first += part
            second += part * D[i, k]
        w = weight[i]
        mean = first / total
        sums[0] += w * (math.log(total) + top - inner)
        sums[1] += w * (mean - target)
        sums[2] += w * max(second / total - mean * mean, one - one)


@lane_kernel
def advance(Z, D, T, weight, length, R):
    """Z += length D, in place, and R = weight * (softmax(Z) - T)."""
    n, K = Z.shape
    one = unit(Z[0, 0])
    a = one * length
    for i in range(n):
        for k in range(K):
            Z[i, k] += a * D[i, k]
        top, total = Z[i, 0], one - one
        for k in range(K):
            top = max(top, Z[i, k])
        for k in range(K):
            R[i, k] = exp(Z[i, k] - top)
        for k in range(K):
            total += R[i, k]
        share = one / total
        for k in range(K):
            R[i, k] = weight[i] * (R[i, k] * share - T[i, k])
