"""Independent draws from Bernoulli mixtures, with or without the empty set."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp

from setwise.distributions.blocks import row_blocks


def draw_mixture(
    log_weights: np.ndarray,
    logits: np.ndarray,
    size: int,
    allow_empty: bool,
    random: np.random.Generator,
) -> np.ndarray:
    """``size`` sets of each row, int8 (size, n, L).

    ``log_weights`` (n, K) are the logs of what components are drawn in proportion to. Random
    numbers are used up row by row, so that the draws do not depend on the blocks.
    """
    n, _, L = logits.shape
    samples = np.empty((size, n, L), dtype=np.int8)
    weights = np.exp(log_weights - logsumexp(log_weights, axis=1, keepdims=True))
    limits = weights.cumsum(axis=1)  # (n, K)
    for rows in row_blocks(n, size * (L + 2)):
        limit = limits[rows]
        luck = random.random((len(limit), size, L + 2))  # (b, size, L + 2)
        chosen = _first_above(limit[:, None, :], luck[:, :, 0, None])  # (b, size, 1)
        z = np.take_along_axis(logits[rows], chosen, axis=1).astype(np.float64)
        sets = luck[:, :, 2:] < expit(z)  # (b, size, L)
        if not allow_empty:
            sets = _with_first_label(sets, z, luck[:, :, 1])
        samples[:, rows] = sets.transpose(1, 0, 2)
    return samples


def _with_first_label(sets: np.ndarray, z: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Draws given any label: the first one drawn from its distribution, those behind it free.

    P(first label <= l) is 1 - prod over j <= l of P(y_j = 0), over its value at the last label.
    """
    reached = -np.expm1(-np.logaddexp(0, z).cumsum(axis=2))  # (b, size, L)
    first = _first_above(reached, luck[:, :, None])
    label = np.arange(z.shape[2])
    nonempty: np.ndarray = (label == first) | (sets & (label > first))
    return nonempty


def _first_above(limits: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Where rising limits (..., m) first exceed ``luck`` in [0, 1) times the last; (..., 1)."""
    # Sums of weights end near one, not at it, and a product may round up to its last limit.
    position = (luck * limits[..., -1:] >= limits).sum(axis=-1, keepdims=True)
    last: np.ndarray = np.minimum(position, limits.shape[-1] - 1)
    return last
