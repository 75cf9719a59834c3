# mypy: ignore-errors
"""Targets of a component, its logits on sparse rows, and the likelihood of the rows' labels.

A component has classifiers for some labels only: ``position`` (L,) says at which column of its
logits a label stands, or -1. Labels of a row are those of a CSR matrix (``indptr``, ``indices``).
"""

import numpy as np

from setwise.compiling import lane_function, lane_kernel
from setwise.learners._lanes_kernel import exp, log1p, unit


@lane_kernel
def fill_targets(indptr, indices, rows, position, T):
    """T (m, A) = 1 where a row has the label; it must be 0 before."""
    for i in range(len(rows)):
        for p in range(indptr[rows[i]], indptr[rows[i] + 1]):
            place = position[indices[p]]
            if place >= 0:
                T[i, place] = 1


@lane_function
def _softplus(z):
    one = unit(z)
    return max(z, one - one) + log1p(exp(-abs(z)))


@lane_kernel
def fill_log_likelihood(Z, indptr, indices, rows, position, log_likelihood):
    """Log prod over labels with a classifier of p(y_l), (m,), from logits Z (m, A)."""
    m, A = Z.shape
    lanes = np.zeros(A, Z.dtype)
    for i in range(m):
        for a in range(A):
            lanes[a] = _softplus(Z[i, a])
        total = 0.0
        for a in range(A):
            total -= lanes[a]
        for p in range(indptr[rows[i]], indptr[rows[i] + 1]):
            place = position[indices[p]]
            if place >= 0:
                total += Z[i, place]
        log_likelihood[i] = total


@lane_kernel
def fill_mapped_logits(indptr, indices, data, rows, column, W, bias, Z):
    """Z (m, A) = X W + bias for some rows of a CSR X; ``column`` (d,) finds a feature in W."""
    A = W.shape[1]
    for i in range(len(rows)):
        for a in range(A):
            Z[i, a] = bias[a]
        for p in range(indptr[rows[i]], indptr[rows[i] + 1]):
            place = column[indices[p]]
            if place >= 0:
                value = data[p]
                for a in range(A):
                    Z[i, a] += value * W[place, a]
