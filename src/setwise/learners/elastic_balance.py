"""The shift of a softmax's weights that its penalty prefers (Friedman et al. 2010, section 4.1).

Adding one vector to the weights of all classes changes no probability, only the penalty. Steps of
single classes move along such a shift slowly; taken at once, it saves most of the rounds.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse


def balanced(weights: sparse.csr_array, l1_ratio: float) -> sparse.csr_array:
    """Weights (d, K) with each feature's shifted together to where their penalty is least.

    The best shift c of b (K,) minimises sum_k l1_ratio |b_k - c| + (1 - l1_ratio) / 2 (b_k - c)^2;
    it is zero unless the slope at zero exceeds what the zeros among b can hold.
    """
    K = weights.shape[1]
    counts = np.diff(weights.indptr)
    signs = sparse.csr_array(
        (np.sign(weights.data), weights.indices, weights.indptr), weights.shape
    )
    slope = (1 - l1_ratio) * weights.sum(axis=1) + l1_ratio * signs.sum(axis=1)
    shifted = np.flatnonzero(np.abs(slope) > l1_ratio * (K - counts))
    if not len(shifted):
        return weights
    rows = weights[shifted].toarray()  # (m, K): rows with many zeros are not among them
    change = sparse.csr_array(-best_shift(rows, l1_ratio)[:, None] * np.ones(K))
    place = sparse.csr_array(
        (np.ones(len(shifted)), (shifted, np.arange(len(shifted)))), (len(counts), len(shifted))
    )
    moved = (weights + place @ change).tocsr()
    moved.eliminate_zeros()
    return moved


def best_shift(rows: np.ndarray, l1_ratio: float) -> np.ndarray:
    """The shift (m,) of each row (m, K) of weights that makes its elastic net smallest.

    Where i of the K weights lie below the shift, the derivative vanishes at c_i, which falls with
    i; as the sorted weights rise with i, the two meet at the median of both together.
    """
    K = rows.shape[1]
    if l1_ratio == 1:
        return np.partition(rows, K // 2, axis=1)[:, K // 2]
    below = np.arange(K + 1)
    zeros = rows.mean(axis=1)[:, None] - l1_ratio / (1 - l1_ratio) * (2 * below - K) / K
    shift: np.ndarray = np.median(np.hstack([rows, zeros]), axis=1)
    return shift
