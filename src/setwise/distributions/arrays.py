"""Whether two arrays make a Bernoulli mixture."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from setwise.errors import DataError

# Weights in single precision sum to one up to this.
WEIGHT_SLACK = 1e-3


def check_mixture(log_pi: np.ndarray, logits: np.ndarray) -> None:
    """Refuse shapes that do not fit, weights that do not sum to one, log-odds that are not finite.

    >>> check_mixture(np.zeros((2, 1)), np.zeros((2, 1, 3)))
    """
    if logits.ndim != 3 or log_pi.shape != logits.shape[:2] or 0 in logits.shape[1:]:
        raise DataError(
            f"expected log_pi (n, K) and logits (n, K, L) with at least one component and one "
            f"label, got {log_pi.shape} and {logits.shape}"
        )
    _check_weights(log_pi)
    _check_logits(logits)


def _check_weights(log_pi: np.ndarray) -> None:
    total = np.exp(logsumexp(log_pi.astype(np.float64), axis=1))  # (n,)
    wrong = np.flatnonzero(~(np.abs(total - 1) <= WEIGHT_SLACK))
    if len(wrong):
        raise DataError(
            f"the weights of row {wrong[0]} sum to {total[wrong[0]]:.4g}, not to one; "
            "pass log_softmax of the gate's scores as log_pi"
        )


def _check_logits(logits: np.ndarray) -> None:
    # The sum of all is finite unless one is not: one cheap pass in the usual case.
    if not np.isfinite(logits.sum(dtype=np.float64)) and not np.isfinite(logits).all():
        row, k, label = np.argwhere(~np.isfinite(logits))[0]
        raise DataError(
            f"log-odds must be finite, but row {row}, component {k}, label {label} has "
            f"{logits[row, k, label]}; clip them, to ±700 if a label is certain"
        )


def log_normalised(log_weights: np.ndarray) -> np.ndarray:
    """Logs of weights (n, K) that sum to one, float64 and C-ordered; some weight is not zero.

    >>> log_normalised(np.log([[1.0, 3.0]])).round(3)
    array([[-1.386, -0.288]])
    """
    shifted = np.array(log_weights, dtype=np.float64, order="C")
    shifted -= shifted.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted
