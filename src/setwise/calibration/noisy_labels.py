"""Annotation errors made on purpose, to see whether a calibrator sees through them (4.10.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.labels import as_binary_csr
from setwise.data.randomness import Seed, as_generator
from setwise.data.sparse_rows import canonical_csr
from setwise.errors import DataError

WAYS = ("add", "move", "remove")


def corrupted(
    Y: Any, alpha: Any, *, ways: Sequence[str] = WAYS, random_state: Seed = None
) -> sparse.csr_array:
    """Label sets Y (n, L) as CSR, each with probability alpha made another one.

    Parameters
    ----------
    Y : 0/1 matrix (n, L)
    alpha : float or (n,)
        How likely each row is corrupted: P(judged wrong | right) of any prediction.
    ways : of "add", "move" (a label becomes another one) and "remove"
        One is drawn at random, of those that a row allows. An empty set can only get a label and
        a full one only lose one: they do, whatever is asked for.

    >>> corrupted(np.array([[1, 0], [1, 1]]), 1.0, ways=["move"], random_state=0).toarray().tolist()
    [[0, 1], [0, 1]]
    """
    Y = as_binary_csr(Y)
    n, L = Y.shape
    chance = np.asarray(alpha, dtype=np.float64)
    chance = np.full(n, chance) if chance.ndim == 0 else chance
    if chance.shape != (n,) or not ((chance >= 0) & (chance <= 1)).all():
        raise DataError(f"alpha must be a probability, or one for each of {n} rows; correct it")
    if not ways or not set(ways) <= set(WAYS):
        raise DataError(f"ways must be some of {WAYS}, not {tuple(ways)}")
    if not L:
        raise DataError("there are no labels to corrupt; pass a matrix with at least one column")
    random = as_generator(random_state)
    rows = np.flatnonzero(random.random(n) < chance)
    sizes = np.diff(Y.indptr)
    way = _allowed_way(sizes[rows], L, ways, random)
    gains, loses = rows[way != "remove"], rows[way != "add"]

    lost = Y.indptr[loses] + random.integers(0, sizes[loses])  # one of a row's entries
    gained = _absent_labels(Y, gains, random.integers(0, L - sizes[gains]))
    kept = np.ones(Y.nnz, dtype=bool)
    kept[lost] = False
    row = np.concatenate([np.repeat(np.arange(n), sizes)[kept], gains])
    label = np.concatenate([Y.indices[kept], gained])
    ones = np.ones(len(row), dtype=np.int8)
    return canonical_csr(sparse.csr_array((ones, (row, label)), shape=(n, L)))


def annotators(
    n_rows: int, rates: Sequence[float], *, random_state: Seed = None
) -> tuple[np.ndarray, np.ndarray]:
    """Which annotator has each row, and that one's rate, (n,) each: equal parts, drawn at random.

    >>> who, rate = annotators(6, [0.1, 0.3, 0.5], random_state=0)
    >>> np.bincount(who).tolist()
    [2, 2, 2]
    """
    if not len(rates):
        raise DataError("there are no annotators; pass the rate of at least one")
    who = as_generator(random_state).permutation(np.arange(n_rows) % len(rates))
    return who, np.asarray(rates, dtype=np.float64)[who]


def _allowed_way(
    sizes: np.ndarray, L: int, ways: Sequence[str], random: np.random.Generator
) -> np.ndarray:
    """One of the ways that sets of these sizes allow, drawn at random."""
    has, lacks = sizes > 0, sizes < L
    allowed = np.column_stack(
        [{"add": lacks, "move": has & lacks, "remove": has}[way] for way in ways]
    )
    order = np.where(allowed, random.random(allowed.shape), -1)
    drawn = np.asarray(ways)[order.argmax(axis=1)]
    none = ~allowed.any(axis=1)
    return np.where(none, np.where(has, "remove", "add"), drawn)


def _absent_labels(Y: sparse.csr_array, rows: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The label of rank r among those that a row does not have, for one r of each row."""
    # The j-th label p_j of a row has p_j - j absent ones before it: those up to r come first.
    sizes = np.diff(Y.indptr)[rows]
    part = Y[rows]
    own = np.repeat(np.arange(len(rows)), sizes)
    before = part.indices - (np.arange(part.nnz) - part.indptr[own])
    passed = np.bincount(own[before <= ranks[own]], minlength=len(rows))
    labels: np.ndarray = ranks + passed
    return labels
