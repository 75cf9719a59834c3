"""Documents as counts of words: what the topic models read, and refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.errors import DataError

MAX_TOKENS = 2**31 - 1


def word_counts(X: Any) -> sparse.csr_array:
    """Rows of features as counts, int32 CSR with sorted words and no zeros.

    >>> word_counts(np.array([[0.0, 2.0]])).data
    array([2], dtype=int32)
    """
    counts = sparse.csr_array(X)
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    values = counts.data
    wrong = (values < 0) | (values != np.floor(values))
    if wrong.any():
        start = "Negative values in data: " if (values < 0).any() else ""
        raise DataError(
            f"{start}topic models read documents as counts of words, whole numbers from 0 on, "
            f"but X holds {float(values[wrong.argmax()]):g}; pass counts as CountVectorizer makes "
            "them, not tf-idf weights or scaled features"
        )
    if values.sum(dtype=np.float64) > MAX_TOKENS:
        raise DataError(
            f"X counts {values.sum(dtype=np.float64):.3g} words, and {MAX_TOKENS} fit; "
            "pass fewer documents, or counts that are not scaled up"
        )
    whole = sparse.csr_array(
        (values.astype(np.int32), counts.indices.astype(np.int32), counts.indptr.astype(np.int64)),
        shape=counts.shape,
    )
    whole.eliminate_zeros()
    return whole


def repeated(counts: sparse.csr_array, Y: sparse.csr_array, weight: Any) -> tuple[Any, Any]:
    """Documents and their labels, each as often as its weight says: a whole number."""
    if weight is None:
        return counts, Y
    weight = np.asarray(weight)
    if (weight != np.floor(weight)).any():
        raise DataError(
            "the topic models count documents, so that sample_weight must be whole numbers: how "
            f"often each document is there; got {float(weight[weight != np.floor(weight)][0]):g}"
        )
    rows = np.repeat(np.arange(counts.shape[0]), weight.astype(np.int64))
    return counts[rows], Y[rows]
