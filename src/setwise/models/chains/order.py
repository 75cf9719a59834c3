"""The order of a chain: given, random, by frequency, or learnt on held-out rows.

Learnt orders follow Algorithm 2 of Hong, Batal and Hauskrecht (2015): the next label is the one
whose regression on the features and on the labels chosen so far has the largest weighted
conditional log-likelihood on held-out rows. The regressions of all labels that are left are one
bank; each starts from its own weights of the round before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.data.randomness import as_generator
from setwise.errors import DataError, LabelMismatch
from setwise.models.chains.columns import MaskedWeights, columns_of
from setwise.models.chains.masked_bank import fit_masked

ORDERS = ("frequency", "given", "random", "learned")
LOOSE = 1e-4  # an order needs no more digits


def given_order(order: Any, names: Sequence[Any]) -> np.ndarray:
    """Label numbers of an order of names, or of numbers where these are no names.

    >>> given_order(["b", "a"], ("a", "b")).tolist()
    [1, 0]
    """
    listed = order.tolist() if isinstance(order, np.ndarray) else list(order)
    place = {name: number for number, name in enumerate(names)}
    if not all(label in place for label in listed):
        numbers = all(isinstance(label, int | np.integer) for label in listed)
        if not numbers or not all(0 <= label < len(names) for label in listed):
            unknown = next(label for label in listed if label not in place)
            raise LabelMismatch(
                f"order names {unknown!r}, which is no label; the labels are "
                f"{', '.join(map(repr, names[:10]))}{', ...' if len(names) > 10 else ''}"
            )
        place = {number: number for number in range(len(names))}
    chosen = [place[label] for label in listed]
    if sorted(chosen) != list(range(len(names))):
        raise DataError(
            f"order has {len(listed)} entries, {len(set(chosen))} of them different, but there are "
            f"{len(names)} labels; name each label once"
        )
    return np.array(chosen, dtype=np.int64)


def simple_order(
    kind: str, Y: np.ndarray, weight: np.ndarray | None, random_state: int | None
) -> np.ndarray:
    """The labels of Y (n, L) by column, at random, or by falling weighted frequency."""
    L = Y.shape[1]
    if kind == "random":
        return np.asarray(as_generator(random_state).permutation(L))
    if kind == "frequency":
        counts = Y.sum(axis=0) if weight is None else weight @ Y
        return np.argsort(-counts, kind="stable")
    return np.arange(L)


def learn_order(
    X: Any,
    Y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    *,
    C: float,
    C_labels: float,
    weight: np.ndarray | None = None,
    max_iter: int = 200,
    n_jobs: int | None = None,
) -> np.ndarray:
    """The labels of Y (n, L), greedily by their log-likelihood on the rows ``test``."""
    L = Y.shape[1]
    w_train = None if weight is None else weight[train]
    w_test = np.ones(len(test)) if weight is None else weight[test]
    chosen: list[int] = []
    left = np.arange(L)
    found: MaskedWeights | None = None
    while len(left) > 1:
        parents = np.ones((len(chosen), len(left)), dtype=bool)
        columns = columns_of(X[train], Y[train][:, chosen], C, C_labels)
        found = fit_masked(
            columns, Y[train][:, left], parents, C=C, weight=w_train, start=found,
            max_iter=max_iter, tol=LOOSE, n_jobs=n_jobs, certify=False,
        )  # fmt: skip
        scores = w_test @ log_likelihoods(found, X[test], Y[test][:, chosen], Y[test][:, left])
        best = int(np.argmax(scores))
        chosen.append(int(left[best]))
        left = np.delete(left, best)
        found = _with_a_parent(found, np.delete(np.arange(len(left) + 1), best))
    return np.array([*chosen, *left], dtype=np.int64)


def log_likelihoods(found: MaskedWeights, X: Any, Y: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Of each row and target, (n, m), given the labels Y (n, L)."""
    z = X @ found.features + Y @ found.labels + found.biases
    log_likelihood: np.ndarray = -np.logaddexp(0, (1 - 2 * T) * z)
    return log_likelihood


def _with_a_parent(found: MaskedWeights, targets: np.ndarray) -> MaskedWeights:
    """The weights of some targets, with none yet for one label more."""
    part = found.taken(targets)
    nothing = np.zeros((1, len(targets)), part.labels.dtype)
    return MaskedWeights(
        part.features, np.vstack([part.labels, nothing]), part.biases,
        part.objective, part.converged, part.n_iter,
    )  # fmt: skip
