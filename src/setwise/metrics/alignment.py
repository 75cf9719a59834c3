"""The two sides of a comparison, brought to the same rows and the same label columns.

Labels that have names are matched by name: two DataFrames, or label sets and a DataFrame. Two
lists of label sets share the union of their labels. Labels without names are matched by column
number; in label sets beside an array, the labels are column numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.labels import LabelSpace, as_binary_csr, is_frame, is_matrix
from setwise.errors import DataError, LabelMismatch
from setwise.metrics.options import check_choice

PIVOTS = ("document", "label")


def aligned_sets(y_true: Any, y_pred: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Both sides as canonical 0/1 CSR arrays of one shape (n, L)."""
    if _are_sets(y_true) and _are_sets(y_pred):
        union = dict.fromkeys([*LabelSpace.infer(y_true), *LabelSpace.infer(y_pred)])
        space = LabelSpace(union)
        truth, predicted = space.encode(y_true), space.encode(y_pred)
    elif _are_sets(y_true):
        predicted = as_binary_csr(y_pred)
        truth = _encoded_like(y_pred, y_true)
    else:
        truth = as_binary_csr(y_true)
        predicted = _encoded_like(y_true, y_pred)
    _check_shapes(truth.shape, "y_pred", predicted.shape)
    return truth, predicted


def aligned_scores(y_true: Any, scores: Any) -> tuple[sparse.csr_array, np.ndarray]:
    """The relevant labels as a CSR array, and the scores as floats of the same shape (n, L)."""
    values = checked_scores(scores)
    truth = _encoded_like(scores if is_frame(scores) else values, y_true)
    _check_shapes(truth.shape, "scores", values.shape)
    return truth, values


def checked_scores(scores: Any) -> np.ndarray:
    """``scores`` as a two-dimensional array of floats; infinities may stand, NaN may not."""
    values = np.asarray(scores)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise DataError(
            "scores must be a dense array of numbers with one row per document and one column per "
            f"label, got {values.ndim} dimensions of {values.dtype}; densify sparse scores"
        )
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    missing = np.isnan(values)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise DataError(
            f"scores must not be NaN, but row {row}, column {column} is; "
            "give -inf to what should come last"
        )
    return values


def pivoted(
    truth: sparse.csr_array, scores: np.ndarray, pivot: str
) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows = the items to rank for: documents as they stand, or labels by transposition."""
    check_choice("pivot", pivot, PIVOTS)
    return (truth, scores) if pivot == "document" else (truth.T.tocsr(), scores.T)


def _encoded_like(reference: Any, labels: Any) -> sparse.csr_array:
    """``labels`` in the columns of ``reference``, by name where both have names."""
    if _are_sets(labels) or (is_frame(reference) and is_frame(labels)):
        return LabelSpace.infer(reference).encode(labels)
    return as_binary_csr(labels)


def _check_shapes(truth: tuple[int, int], name: str, other: tuple[int, int]) -> None:
    if truth != other:
        raise LabelMismatch(
            f"y_true has {truth[0]} rows and {truth[1]} labels but {name} has {other[0]} rows and "
            f"{other[1]} labels; compare the same rows on the same labels"
        )
    if truth[0] == 0:
        raise DataError("y_true has no rows, so there is nothing to measure; pass at least one")


def _are_sets(Y: Any) -> bool:
    """Whether ``Y`` lists label sets: it is neither a DataFrame nor an array of numbers."""
    return not is_matrix(Y) and not is_frame(Y)
