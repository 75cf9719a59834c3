"""From rankings to sets: how many of each item's first candidates to take.

Rubin et al. 2012, section 5.5. Items are documents (``pivot="document"``) or labels
(``pivot="label"``). With N the number to take for an item:

    proportional   documents: the median size of a training set, x.5 rounded up;
                   labels: ceil(n_test / n_train * N_train)
    calibrated     the true number of relevant candidates
    bep            the N that makes the item's own F1 as large as its order allows

The last two look at the test labels: they compare models, they do not predict. Candidates of equal
score are taken in the order of their columns (documents) or rows (labels).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.labels import as_binary_csr
from setwise.errors import DataError, LabelMismatch
from setwise.metrics.alignment import PIVOTS, aligned_scores, checked_scores, pivoted
from setwise.metrics.options import check_choice
from setwise.metrics.ranked import batches
from setwise.metrics.sets import f1

CUTOFFS = ("proportional", "calibrated", "bep")


def proportional_cutoff(Y_train: Any, n_test: int, pivot: str = "document") -> np.ndarray:
    """The expected number of positives, from training frequencies: (n_test,) or (L,).

    >>> proportional_cutoff(np.array([[1, 0], [1, 1], [1, 0]]), n_test=2, pivot="label")
    array([2, 1])
    """
    check_choice("pivot", pivot, PIVOTS)
    Y = as_binary_csr(Y_train)
    n_train, n_labels = Y.shape
    if n_train == 0:
        raise DataError("Y_train has no rows to count labels in; pass the training labels")
    if pivot == "document":
        typical_size = int(np.floor(np.median(np.diff(Y.indptr)) + 0.5))
        return np.full(n_test, typical_size)
    frequency = np.bincount(Y.indices, minlength=n_labels)
    # The ceiling in whole numbers: as floats, 7 / 100 * 100 exceeds 7.
    expected: np.ndarray = -(-n_test * frequency // n_train)
    return expected


def calibrated_cutoff(y_true: Any, pivot: str = "document") -> np.ndarray:
    """The true number of positives: (n,) or (L,).

    >>> calibrated_cutoff(np.array([[1, 0], [1, 1], [1, 0]]))
    array([1, 2, 1])
    """
    check_choice("pivot", pivot, PIVOTS)
    Y = as_binary_csr(y_true)
    by_row, by_column = np.diff(Y.indptr), np.bincount(Y.indices, minlength=Y.shape[1])
    return np.asarray(by_row if pivot == "document" else by_column, dtype=np.int64)


def break_even_cutoff(y_true: Any, scores: Any, pivot: str = "document") -> np.ndarray:
    """The number of positives with the best F1, the smallest of equally good ones: (n,) or (L,).

    An item without relevant candidates gets 0.

    >>> break_even_cutoff(np.array([[1, 0, 1, 0]]), np.array([[0.9, 0.6, 0.5, 0.1]]))
    array([3])
    """
    Y, scores = pivoted(*aligned_scores(y_true, scores), pivot)
    best = np.zeros(Y.shape[0], dtype=np.int64)
    n_taken = np.arange(1, Y.shape[1] + 1)
    for rows in batches(*Y.shape):
        relevant = Y[rows].toarray()
        in_order = np.take_along_axis(relevant, _best_first(scores[rows]), axis=1)
        tp = np.cumsum(in_order, axis=1, dtype=np.int64)
        half_f1 = tp / (n_taken + tp[:, -1:])
        best[rows] = np.where(tp[:, -1] > 0, half_f1.argmax(axis=1) + 1, 0)
    return best


def top_n(scores: Any, counts: Any, pivot: str = "document") -> sparse.csr_array:
    """The first ``counts`` candidates of each item as label sets: CSR (n, L).

    ``counts`` is one number, or one for each item; more than there are candidates means all.

    >>> top_n(np.array([[0.9, 0.6, 0.7], [0.1, 0.1, 0.0]]), [2, 1]).toarray()
    array([[1, 0, 1],
           [1, 0, 0]], dtype=int8)
    """
    scores = checked_scores(scores)
    check_choice("pivot", pivot, PIVOTS)
    ranked = scores if pivot == "document" else scores.T
    n_items, n_candidates = ranked.shape
    counts = np.minimum(_checked_counts(counts, n_items), n_candidates)
    taken = [
        _best_first(ranked[rows])[np.arange(n_candidates) < counts[rows, None]]
        for rows in batches(n_items, n_candidates)
    ]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    small = np.int32 if indptr[-1] < 2**31 else np.int64
    indices = np.concatenate([np.zeros(0, small), *taken]).astype(small)
    ones = np.ones(len(indices), dtype=np.int8)
    chosen = sparse.csr_array((ones, indices, indptr.astype(small)), shape=ranked.shape)
    chosen.sort_indices()
    return chosen if pivot == "document" else chosen.T.tocsr()


def cutoff_f1(
    y_true: Any,
    scores: Any,
    cutoff: str = "proportional",
    *,
    pivot: str = "document",
    average: str = "macro",
    Y_train: Any = None,
    zero_division: float = 0.0,
) -> float:
    """F1 of the sets that a cut-off makes of the rankings (Rubin et al. 2012, sections 5.4, 5.5).

    ``average="macro"`` is the mean over the items of the pivot, documents or labels; "micro" counts
    all decisions together. The proportional cut-off needs ``Y_train``.

    >>> cutoff_f1(np.array([[1, 0, 1, 0]]), np.array([[0.9, 0.6, 0.5, 0.1]]), "bep")
    0.8
    """
    check_choice("cutoff", cutoff, CUTOFFS)
    check_choice("average", average, ("macro", "micro"))
    Y, values = aligned_scores(y_true, scores)
    if cutoff == "proportional":
        counts = proportional_cutoff(_training_labels(Y_train, Y.shape[1]), Y.shape[0], pivot)
    elif cutoff == "calibrated":
        counts = calibrated_cutoff(Y, pivot)
    else:
        counts = break_even_cutoff(Y, values, pivot)
    items = "instance" if pivot == "document" else "label"
    return f1(
        Y,
        top_n(values, counts, pivot),
        average=items if average == "macro" else "micro",
        zero_division=zero_division,
    )


def _best_first(scores: np.ndarray) -> np.ndarray:
    """The candidates of each item by falling score, equal ones as they stand."""
    return np.argsort(-scores, axis=1, kind="stable")


def _checked_counts(counts: Any, n_items: int) -> np.ndarray:
    counts = np.asarray(counts)
    if counts.dtype.kind not in "iu" or counts.shape not in ((), (n_items,)) or (counts < 0).any():
        raise DataError(
            f"counts must be a whole number of at least 0, or one for each of the {n_items} items; "
            f"got shape {counts.shape} of {counts.dtype}"
        )
    return np.broadcast_to(counts, n_items)


def _training_labels(Y_train: Any, n_labels: int) -> sparse.csr_array:
    if Y_train is None:
        raise DataError("the proportional cut-off counts training labels; pass Y_train")
    Y = as_binary_csr(Y_train)
    if Y.shape[1] != n_labels:
        raise LabelMismatch(
            f"Y_train has {Y.shape[1]} labels but y_true has {n_labels}; "
            "read both with the same label file"
        )
    return Y
