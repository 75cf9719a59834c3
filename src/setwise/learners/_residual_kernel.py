# mypy: ignore-errors
"""Residuals and losses of logits, in one pass over them.

Logits Z (n, L) are overwritten by weight * (probability - target), from which the caller's matrix
product makes a gradient; the losses are added to ``loss``. Sums run in the precision of Z over
``RUN`` rows at a time, then in double precision.
"""

import math

import numpy as np

from setwise.compiling import lane_function, lane_kernel
from setwise.learners._lanes_kernel import exp, log1p, unit

RUN = 256
LANES = 32  # sums of a row that are added up at once


@lane_function
def _sigmoid_and_loss(z, target):
    """Probability, and softplus(z) - target * z without overflow or cancellation."""
    one = unit(z)
    zero = one - one
    e = exp(-abs(z))
    share = one / (one + e)
    probability = share if z >= zero else e * share
    return probability, max(z, zero) - target * z + log1p(e)


@lane_kernel
def logistic(Z, T, weight, loss):
    """Losses (L,) of each target and residuals; ``weight`` (n, 1) serves all targets."""
    n, L = Z.shape
    sums = np.zeros(L, Z.dtype)
    for i in range(n):
        w = weight[i, 0]
        for label in range(L):
            target = T[i, label]
            probability, cost = _sigmoid_and_loss(Z[i, label], target)
            Z[i, label] = w * (probability - target)
            sums[label] += w * cost
        if i % RUN == RUN - 1 or i == n - 1:
            _flush(sums, loss)


@lane_kernel
def logistic_own(Z, T, weight, loss):
    """As ``logistic``, with weights (n, L): each target has its own."""
    n, L = Z.shape
    sums = np.zeros(L, Z.dtype)
    for i in range(n):
        for label in range(L):
            target, w = T[i, label], weight[i, label]
            probability, cost = _sigmoid_and_loss(Z[i, label], target)
            Z[i, label] = w * (probability - target)
            sums[label] += w * cost
        if i % RUN == RUN - 1 or i == n - 1:
            _flush(sums, loss)


@lane_function
def _flush(sums, loss):
    for label in range(len(sums)):
        loss[label] += sums[label]
        sums[label] = 0


@lane_kernel
def softmax(Z, T, weight, loss):
    """Cross-entropy of the rows, added to ``loss[0]``, and residuals."""
    n, K = Z.shape
    for i in range(n):
        top, one = Z[i, 0], unit(Z[i, 0])
        inner = total = one - one
        for k in range(K):
            top = max(top, Z[i, k])
            inner += T[i, k] * Z[i, k]
        for k in range(K):
            Z[i, k] = exp(Z[i, k] - top)
        for k in range(K):
            total += Z[i, k]
        w = weight[i, 0]
        loss[0] += w * (math.log(total) + top - inner)
        share = one / total
        for k in range(K):
            Z[i, k] = w * (Z[i, k] * share - T[i, k])


@lane_kernel
def softmax_of_classes(Z, classes, weight, loss):
    """As ``softmax``, for rows of one class each, (n,): thousands of them, and no zeros."""
    n, K = Z.shape
    one = unit(Z[0, 0])
    sums = np.empty(LANES, Z.dtype)
    whole = K - K % LANES
    for i in range(n):
        top = Z[i, 0]
        for k in range(K):
            top = max(top, Z[i, k])
        own = Z[i, classes[i]]
        for k in range(K):
            Z[i, k] = exp(Z[i, k] - top)
        # Many sums at once: a single one would wait for each addition before the next.
        for lane in range(LANES):
            sums[lane] = one - one
        for k in range(0, whole, LANES):
            for lane in range(LANES):
                sums[lane] += Z[i, k + lane]
        total = one - one
        for k in range(whole, K):
            total += Z[i, k]
        for lane in range(LANES):
            total += sums[lane]
        w = weight[i, 0]
        loss[0] += w * (math.log(total) + top - own)
        share = w / total
        for k in range(K):
            Z[i, k] *= share
        Z[i, classes[i]] -= w
