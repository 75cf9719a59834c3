"""Bernoulli mixtures given that the set is not empty.

Given a non-empty set, P(y) = sum over k of v_k P(y | k) for all y but the empty one, with

    v_k = w_k / P(not empty),   P(not empty) = sum over k of w_k P(any label | k).

So weights that sum to more than one serve every answer, and only the empty set needs care. Where
P(any label | k) is the small number that a model gives which is all but sure of no label, it is
summed from positive terms and never taken as one minus something.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from setwise.distributions.blocks import for_each_block, private_copy, row_blocks

# Below this, probabilities of labels leave the range of floats.
LOWEST = -600.0
# A component whose largest log-odds stand here has two labels with probability 1e-26 at most.
LIFTED = -60.0


def given_nonempty(
    log_weights: np.ndarray, logits: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Weights log v (n, K) and log-odds (n, K, L) that give P(y | not empty) directly."""
    log_weights, logits = _lift(log_weights, logits)
    log_terms = log_weights + log_any_label(logits, n_jobs)
    return log_weights - logsumexp(log_terms, axis=1, keepdims=True), logits


def log_any_label(logits: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Log-probability that a component gives any label, (n, K)."""
    from setwise.distributions._odds_kernel import fill_log_nonempty

    n, K, L = logits.shape
    log_any = np.empty((n, K))
    for_each_block(
        lambda block: fill_log_nonempty(private_copy(logits, block), log_any[block]),
        row_blocks(n, K * L),
        n_jobs,
    )
    return log_any


def _lift(log_weights: np.ndarray, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Components far below every label, raised into the range of floats.

    Such a component only matters through its single labels, w_k exp(z_kl): what its log-odds gain,
    its weight may lose.
    """
    highest = logits.max(axis=2).astype(np.float64)  # (n, K)
    gain = np.where(highest < LOWEST, LIFTED - highest, 0.0)
    if not gain.any():
        return log_weights, logits
    return log_weights - gain, logits + gain[:, :, None]
