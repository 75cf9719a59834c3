"""Pair potentials: four weights a pair of labels, or the one number of them that matters.

A pair l < m adds theta_lm[y_l, y_m] to the score of a set, a weight for each of the four values. As
a polynomial in y_l and y_m this is

    theta[0, 0] + (theta[1, 0] - theta[0, 0]) y_l + (theta[0, 1] - theta[0, 0]) y_m + q_lm y_l y_m
    q_lm = theta[0, 0] - theta[0, 1] - theta[1, 0] + theta[1, 1]

The constant cancels in p(y|x), and what is linear is the same as a change of the biases, which are
free. So only q_lm matters to the likelihood; the penalty then asks for the cheapest four weights of
that q_lm. These are q_lm / 4 times (+1, -1, -1, +1): of all of them the least in sum of squares,
q_lm^2 / 4, and none is less in sum of magnitudes, |q_lm|. Learning q under these penalties is
learning the four weights; the biases beside them differ by their linear part.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

#: Squares of the four weights together, in squares of their interaction.
SHARE_OF_SQUARE = 0.25

_SIGNS = np.array([[0.25, -0.25], [-0.25, 0.25]])


def four_weights(interactions: np.ndarray) -> np.ndarray:
    """The cheapest theta (L, L, 2, 2) of interactions q (L, L), symmetric; zero unless l < m.

    >>> four_weights(np.array([[0.0, 4.0], [4.0, 0.0]]))[0, 1].tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    weights: np.ndarray = np.triu(interactions, 1)[:, :, None, None] * _SIGNS
    return weights


def linear_part(interactions: np.ndarray) -> np.ndarray:
    """What those four weights add to each label alone, (L,): -q_lm / 2 for each of its pairs.

    >>> linear_part(np.array([[0.0, 4.0], [4.0, 0.0]])).tolist()
    [-2.0, -2.0]
    """
    sums: np.ndarray = -interactions.sum(axis=1) / 2
    return sums


def pair_scores(sets: sparse.csr_array, interactions: np.ndarray) -> np.ndarray:
    """What the pairs add to the score of each set: sums of q_lm over the pairs in it, (m,).

    >>> sets = sparse.csr_array([[1.0, 0.0], [1.0, 1.0]])
    >>> pair_scores(sets, np.array([[0.0, 4.0], [4.0, 0.0]])).tolist()
    [0.0, 4.0]
    """
    sums: np.ndarray = sets.multiply(sets @ interactions).sum(axis=1)
    return sums / 2


def as_matrix(pairs: np.ndarray, n_labels: int) -> np.ndarray:
    """Numbers of the pairs l < m, row by row, as a symmetric matrix with zeros on its diagonal.

    >>> as_matrix(np.array([5.0]), 2).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    matrix = np.zeros((n_labels, n_labels), pairs.dtype)
    matrix[np.triu_indices(n_labels, 1)] = pairs
    matrix += matrix.T
    return matrix


def of_pairs(matrix: np.ndarray) -> np.ndarray:
    """The entries l < m of a matrix (L, L), row by row."""
    entries: np.ndarray = matrix[np.triu_indices(len(matrix), 1)]
    return entries


def all_sets(n_labels: int) -> np.ndarray:
    """All 2^L sets, 0/1 int8 (2^L, L); the first label counts one, the next two, and so on.

    >>> all_sets(2).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    numbers = np.arange(2**n_labels)
    bits: np.ndarray = (numbers[:, None] >> np.arange(n_labels)) & 1
    return bits.astype(np.int8)
