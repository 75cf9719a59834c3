"""Full conditionals by any learner: one bank a label, on the features and on all other labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from setwise.models.chains.steps import with_labels


def fit_conditionals(
    X: Any,
    Y: np.ndarray,
    order: np.ndarray,
    make: Callable[[], Any],
    *,
    scale: float = 1.0,
    weight: np.ndarray | None = None,
) -> list[Any]:
    """A bank of one target for each label, in order; other labels count ``scale`` times."""
    turned = Y[:, order]
    return [
        make().fit(
            with_labels(X, scale * np.delete(turned, i, axis=1)),
            turned[:, [i]],
            sample_weight=weight,
        )
        for i in range(len(order))
    ]


def linear_conditionals(
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
        labels[np.delete(order, i), label] = scale * own[d:]
        biases[label] = banks[i].biases_[0]
    return weights, biases, labels
