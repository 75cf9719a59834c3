"""Chains of any learner: one bank a label, on the features and on the labels before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from setwise.distributions.step_chain import Conditional


def with_labels(X: Any, labels: np.ndarray) -> Any:
    """Features (n, d) and labels (n, i) side by side, in the features' own container."""
    if sparse.issparse(X):
        joined = sparse.hstack([X, sparse.csr_array(labels.astype(X.dtype))], format="csr")
        return sparse.csr_array(joined)
    return np.hstack([X, labels.astype(X.dtype)])


def fit_steps(
    X: Any,
    Y: np.ndarray,
    order: np.ndarray,
    make: Callable[[], Any],
    *,
    scale: float = 1.0,
    weight: np.ndarray | None = None,
) -> list[Any]:
    """A bank of one target for each place of the chain; labels count ``scale`` times."""
    return [
        make().fit(with_labels(X, scale * Y[:, order[:i]]), Y[:, [label]], sample_weight=weight)
        for i, label in enumerate(order)
    ]


def conditional_of(banks: Sequence[Any], X: Any, scale: float, limit: float) -> Conditional:
    """Log-odds of the label at a place for rows of X, given the labels before it."""

    def conditional(place: int, rows: np.ndarray, before: np.ndarray) -> np.ndarray:
        logits = banks[place].logits(with_labels(X[rows], scale * before))
        clipped: np.ndarray = np.asarray(logits[:, 0], dtype=np.float64).clip(-limit, limit)
        return clipped

    return conditional


def linear_parts(
    banks: Sequence[Any], order: np.ndarray, d: int, scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Weights (d, L), biases (L,) and label weights (L, L) of banks that are linear, or None."""
    if not all(hasattr(bank, "weights_") and hasattr(bank, "biases_") for bank in banks):
        return None
    L = len(order)
    weights, biases, labels = np.zeros((d, L)), np.zeros(L), np.zeros((L, L))
    for i, label in enumerate(order):
        found = banks[i].weights_
        own = (found.toarray() if sparse.issparse(found) else found)[:, 0]
        weights[:, label] = own[:d]
        labels[order[:i], label] = scale * own[d:]
        biases[label] = banks[i].biases_[0]
    return weights, biases, labels
