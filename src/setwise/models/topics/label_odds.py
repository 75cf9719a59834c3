"""From a document's distribution over labels to the odds of each label.

theta_d says which labels a document's words speak for, and sums to one however many labels there
are. The log-odds of a label are taken as linear in log theta,

    logit p(y_c = 1 | d)  =  slope * log theta_dc + intercept,

one slope and intercept for all labels, fitted to documents that the model has not seen.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from setwise.learners.platt import fit_sigmoids, smoothed_targets

MAX_CELLS = 2_000_000  # as many pairs of a document and a label are enough
MAX_LOG_ODDS = 30.0
SMALLEST = 1e-12


def log_odds(theta: np.ndarray, slope: float, intercept: float) -> np.ndarray:
    """Log-odds of each label, (n, C)."""
    z: np.ndarray = slope * np.log(np.maximum(theta, SMALLEST)) + intercept
    return z.clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)


def fit_log_odds(theta: np.ndarray, Y: sparse.csr_array) -> tuple[float, float]:
    """Slope and intercept, from documents that were held out.

    >>> theta = np.array([[0.8, 0.2], [0.1, 0.9], [0.7, 0.3], [0.4, 0.6]])
    >>> slope, intercept = fit_log_odds(theta, sparse.csr_array(theta > 0.5))
    >>> log_odds(theta, slope, intercept)[0].round(1)
    array([ 1.3, -1.7])
    """
    rows = max(1, MAX_CELLS // theta.shape[1])
    z = np.log(np.maximum(theta[:rows], SMALLEST)).reshape(-1, 1)
    truth = Y[:rows].toarray().reshape(-1, 1).astype(np.float64)
    weight = np.full(z.shape, 1 / len(z))
    slope, intercept, _ = fit_sigmoids(z, smoothed_targets(truth, np.ones(z.shape)), weight)
    if slope[0] <= 0:  # so few or so odd documents that more evidence would count against a label
        return odds_by_size(Y)
    return float(slope[0]), float(intercept[0])


def odds_by_size(Y: sparse.csr_array) -> tuple[float, float]:
    """Where nothing can be held out: the odds of a label are theta times the mean set size."""
    return 1.0, float(np.log(max(Y.nnz, 1) / max(Y.shape[0], 1)))
