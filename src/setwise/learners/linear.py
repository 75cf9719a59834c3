"""Linear scores of many targets on dense or sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.design import rows_of
from setwise.learners.workers import Workers, spans


def linear_scores(
    X: Any, weights: np.ndarray, biases: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """X W + b, (n, L), in the precision of the weights; sparse rows are shared among threads."""
    if not sparse.issparse(X):
        scores: np.ndarray = X.astype(weights.dtype, copy=False) @ weights
        scores += biases
        return scores
    X = X.astype(weights.dtype, copy=False)
    rows, W = rows_of(X, bias=True), np.vstack([weights, biases])
    Z = np.empty((X.shape[0], W.shape[1]), W.dtype)
    with Workers(n_jobs) as workers:
        workers.map(
            lambda span: rows.fill_logits(*span, W, Z[span[0] : span[1]]),
            spans(X.shape[0], rows.stripes(W.shape[1])),
        )
    return Z
