# mypy: ignore-errors
"""Scores of some pairs of a row and a node, x_row' v_node + b_node."""

import numpy as np

from setwise.compiling import lane_kernel


@lane_kernel
def score_dense_pairs(X, rows, nodes, V, biases, scores):
    """Fill scores (m,), from an array X (n, d) and weights V (nodes, d), both C-contiguous."""
    for i in range(len(rows)):
        scores[i] = np.dot(X[rows[i]], V[nodes[i]]) + biases[nodes[i]]


@lane_kernel
def score_sparse_pairs(indptr, indices, data, rows, nodes, V, biases, scores):
    """Fill scores (m,), from a CSR X (n, d) and weights V (nodes, d)."""
    for i in range(len(rows)):
        v = V[nodes[i]]
        total = biases[nodes[i]]
        for p in range(indptr[rows[i]], indptr[rows[i] + 1]):
            total += data[p] * v[indices[p]]
        scores[i] = total
