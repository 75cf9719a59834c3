"""Labels given others, by any learner: one bank a label, on the features and on its parents.

The parents are the labels before it in a chain, or all others in a dependency network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from setwise.distributions.step_chain import Conditional
from setwise.learners import ElasticNetBank


def with_labels(X: Any, labels: np.ndarray) -> Any:
    """Features (n, d) and labels (n, i) side by side, in the features' own container."""
    if sparse.issparse(X):
        joined = sparse.hstack([X, sparse.csr_array(labels.astype(X.dtype))], format="csr")
        return sparse.csr_array(joined)
    return np.hstack([X, labels.astype(X.dtype)])


def labels_before(order: np.ndarray) -> list[np.ndarray]:
    """The parents of each place of a chain."""
    return [order[:place] for place in range(len(order))]


def all_others(order: np.ndarray) -> list[np.ndarray]:
    """The parents of each place where every label depends on all others."""
    return [np.delete(order, place) for place in range(len(order))]


def learnt_steps(
    X: Any,
    Y: np.ndarray,
    order: np.ndarray,
    parents: Sequence[np.ndarray],
    make: Callable[[], Any],
    *,
    scale: float,
    weight: np.ndarray | None,
) -> dict[str, Any]:
    """What banks learn, as a model's fitted attributes: weights if they are linear, else banks."""
    if weight is not None:  # not every learner leaves out what weighs nothing
        X, Y, weight = X[weight > 0], Y[weight > 0], weight[weight > 0]
    banks = fit_steps(X, Y, order, parents, make, scale=scale, weight=weight)
    parts = linear_parts(banks, order, parents, X.shape[1], scale)
    weights, biases, label_weights = parts or (None, None, None)
    return {
        "weights_": weights,
        "biases_": biases,
        "label_weights_": label_weights,
        "banks_": banks if parts is None else None,
        "solver_iterations_": max(getattr(bank, "n_iter_", 1) for bank in banks),
    }


def elastic_steps(
    X: Any,
    Y: np.ndarray,
    order: np.ndarray,
    bank: ElasticNetBank,
    *,
    scale: float,
    weight: np.ndarray | None,
) -> dict[str, Any]:
    """The same of a chain of elastic nets, in one bank whose places share what they read."""
    if weight is not None:
        X, Y, weight = X[weight > 0], Y[weight > 0], weight[weight > 0]
    bank.fit_in_turn(X, Y[:, order], weight, scale=scale)
    d, L = X.shape[1], len(order)
    found = bank.weights_.toarray()  # (d + L, L), in the order of the chain
    weights, biases, labels = np.empty((d, L)), np.empty(L), np.empty((L, L))
    weights[:, order], biases[order] = found[:d], bank.biases_
    labels[np.ix_(order, order)] = scale * found[d:]
    return {
        "weights_": weights,
        "biases_": biases,
        "label_weights_": labels,
        "banks_": None,
        "solver_iterations_": int(bank.n_steps_.max()),
    }


def fit_steps(
    X: Any,
    Y: np.ndarray,
    order: np.ndarray,
    parents: Sequence[np.ndarray],
    make: Callable[[], Any],
    *,
    scale: float = 1.0,
    weight: np.ndarray | None = None,
) -> list[Any]:
    """A bank of one target for each label, in order; its parents count ``scale`` times."""
    return [
        make().fit(with_labels(X, scale * Y[:, given]), Y[:, [label]], sample_weight=weight)
        for label, given in zip(order, parents, strict=True)
    ]


def conditional_of(banks: Sequence[Any], X: Any, scale: float, limit: float) -> Conditional:
    """Log-odds of the label at a place for rows of X, given its parents."""

    def conditional(place: int, rows: np.ndarray, before: np.ndarray) -> np.ndarray:
        logits = banks[place].logits(with_labels(X[rows], scale * before))
        clipped: np.ndarray = np.asarray(logits[:, 0], dtype=np.float64).clip(-limit, limit)
        return clipped

    return conditional


def linear_parts(
    banks: Sequence[Any],
    order: np.ndarray,
    parents: Sequence[np.ndarray],
    d: int,
    scale: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Weights (d, L), biases (L,) and label weights (L, L) of banks that are linear, or None."""
    if not all(hasattr(bank, "weights_") and hasattr(bank, "biases_") for bank in banks):
        return None
    L = len(order)
    weights, biases, labels = np.zeros((d, L)), np.zeros(L), np.zeros((L, L))
    for bank, label, given in zip(banks, order, parents, strict=True):
        found = bank.weights_
        own = (found.toarray() if sparse.issparse(found) else found)[:, 0]
        weights[:, label] = own[:d]
        labels[given, label] = scale * own[d:]
        biases[label] = bank.biases_[0]
    return weights, biases, labels
