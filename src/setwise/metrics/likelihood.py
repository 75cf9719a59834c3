"""A measure of whole distributions: the probability that they give to the true sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.errors import DataError
from setwise.metrics.averaging import checked_weights

# Rounding may lift the logarithm of a sure thing a little over 0; a larger excess is a mistake.
SLACK = 1e-6


def conditional_log_likelihood_loss(
    log_prob: Any, *, normalize: bool = False, sample_weight: Any = None
) -> float:
    """Sum of -log p(y | x) over the rows (Hong et al. 2015, eq. 5.13); their mean if ``normalize``.

    ``log_prob`` (n,) holds natural logarithms; a set that was given no probability costs inf.

    >>> conditional_log_likelihood_loss(np.log([0.5, 0.5]), normalize=True)
    0.6931471805599453
    """
    log_prob = np.asarray(log_prob, dtype=np.float64)
    if log_prob.ndim != 1 or len(log_prob) == 0:
        raise DataError(f"log_prob needs one number per row, got shape {log_prob.shape}")
    if not (log_prob <= SLACK).all():
        raise DataError(
            "log_prob must hold logarithms of probabilities, none of them NaN or over 0; "
            f"the largest is {log_prob.max()}"
        )
    weights = checked_weights(sample_weight, len(log_prob))
    if weights is None:
        weights = np.ones(len(log_prob))
    counted = weights > 0  # 0 times inf is no number
    loss = float(-(weights[counted] * log_prob[counted]).sum())
    return loss / float(weights.sum()) if normalize else loss
