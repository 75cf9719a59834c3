"""Measures of predicted label sets: how right the whole set is, and how right its labels are.

Li 2019 (thesis), section 2.1. With TP, FP and FN of an item:

    precision  TP / (TP + FP)              f1       2 TP / (2 TP + FP + FN)
    recall     TP / (TP + FN)              jaccard  TP / (TP + FP + FN)

``average`` says what the items are: "instance" (rows, then their mean; also "samples"), "label"
(columns, then their mean; also "macro"), or "micro" (one item: the whole matrix).

``y_true`` and ``y_pred`` are 0/1 arrays, sparse matrices, DataFrames (matched by column name), or
lists of label sets. ``sample_weight`` (n,) counts a row as often as it says.

``zero_division`` is the worth of 0/0, for example the recall of a row without labels: a number from
0 to 1, or nan, which leaves such items out of the mean. The default is 0, as in scikit-learn; the
reference system of the papers counts 1, so pass ``zero_division=1.0`` to compare with its tables.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from setwise.errors import DataError
from setwise.metrics.averaging import checked_weights, mean_of_defined
from setwise.metrics.counts import Counts, Overlap, overlap
from setwise.metrics.options import check_choice

AVERAGES = {
    "instance": "instance",
    "label": "label",
    "micro": "micro",
    "samples": "instance",
    "macro": "label",
}
RATIOS = ("precision", "recall", "f1", "jaccard")


def precision(
    y_true: Any,
    y_pred: Any,
    *,
    average: str = "instance",
    zero_division: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Share of the predicted labels that are relevant (Li 2019, eqs. 2.6, 2.19, 2.28).

    >>> precision([{"sea", "sun"}, {"town"}], [{"sea"}, {"sun"}])
    0.5
    """
    return _measure("precision", y_true, y_pred, average, zero_division, sample_weight)


def recall(
    y_true: Any,
    y_pred: Any,
    *,
    average: str = "instance",
    zero_division: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Share of the relevant labels that are predicted (Li 2019, eqs. 2.7, 2.20, 2.29).

    >>> recall([{"sea", "sun"}, {"town"}], [{"sea"}, {"sun"}])
    0.25
    """
    return _measure("recall", y_true, y_pred, average, zero_division, sample_weight)


def f1(
    y_true: Any,
    y_pred: Any,
    *,
    average: str = "instance",
    zero_division: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Harmonic mean of precision and recall (Li 2019, eqs. 2.8, 2.21, 2.30).

    >>> f1([{"sea"}, set()], [{"sea"}, set()])
    0.5
    >>> f1([{"sea"}, set()], [{"sea"}, set()], zero_division=1.0)
    1.0
    """
    return _measure("f1", y_true, y_pred, average, zero_division, sample_weight)


def jaccard(
    y_true: Any,
    y_pred: Any,
    *,
    average: str = "instance",
    zero_division: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Size of the intersection over size of the union (Li 2019, eqs. 2.10, 2.22).

    >>> jaccard([{"sea", "sun"}, {"town"}], [{"sea"}, {"sun"}], average="micro")
    0.25
    """
    return _measure("jaccard", y_true, y_pred, average, zero_division, sample_weight)


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of wrong binary decisions, (FP + FN) / L, over all rows (Li 2019, eq. 2.12).

    >>> hamming_loss(np.array([[1, 0], [0, 1]]), np.array([[1, 1], [0, 1]]))
    0.25
    """
    pair = overlap(y_true, y_pred)
    n, L = pair.truth.shape
    return _hamming_loss(pair.by_instance(), L, checked_weights(sample_weight, n))


def subset_accuracy(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose set is exactly right (Li 2019, eq. 2.13; Hong et al. 2015, 5.3).

    The same function is called ``set_accuracy`` and ``exact_match``; 1 minus it is the 0/1 loss.

    >>> subset_accuracy([{"sea", "sun"}, {"town"}], [{"sun", "sea"}, {"sun"}])
    0.5
    """
    pair = overlap(y_true, y_pred)
    weights = checked_weights(sample_weight, pair.truth.shape[0])
    return _subset_accuracy(pair.by_instance(), weights)


set_accuracy = subset_accuracy
exact_match = subset_accuracy


def set_measures(
    y_true: Any, y_pred: Any, *, zero_division: float = 0.0, sample_weight: Any = None
) -> dict[str, float]:
    """All set measures from one count: "set_accuracy", "hamming_loss", "instance_f1", ...

    >>> measures = set_measures([{"sea", "sun"}, {"town"}], [{"sea", "sun"}, {"sea"}])
    >>> measures["set_accuracy"], measures["instance_f1"], measures["micro_recall"]
    (0.5, 0.5, 0.6666666666666666)
    """
    _check_zero_division(zero_division)
    pair = overlap(y_true, y_pred)
    weights = checked_weights(sample_weight, pair.truth.shape[0])
    rows = pair.by_instance()
    measures = {
        "set_accuracy": _subset_accuracy(rows, weights),
        "hamming_loss": _hamming_loss(rows, pair.truth.shape[1], weights),
    }
    for average in ("instance", "label", "micro"):
        counts = _counted(pair, average, weights)
        row_weights = weights if average == "instance" else None
        for ratio in RATIOS:
            values = getattr(counts, ratio)(zero_division)
            measures[f"{average}_{ratio}"] = mean_of_defined(values, row_weights)
    return measures


def _measure(
    ratio: str, y_true: Any, y_pred: Any, average: str, zero_division: float, sample_weight: Any
) -> float:
    """The mean of one ratio over the items that ``average`` names."""
    check_choice("average", average, AVERAGES)
    _check_zero_division(zero_division)
    pair = overlap(y_true, y_pred)
    weights = checked_weights(sample_weight, pair.truth.shape[0])
    values = getattr(_counted(pair, AVERAGES[average], weights), ratio)(zero_division)
    return mean_of_defined(values, weights if AVERAGES[average] == "instance" else None)


def _counted(pair: Overlap, average: str, weights: np.ndarray | None) -> Counts:
    """The counts per item; weights enter here except for rows, whose mean they enter."""
    if average == "instance":
        return pair.by_instance()
    return pair.by_label(weights) if average == "label" else pair.in_all(weights)


def _hamming_loss(rows: Counts, n_labels: int, weights: np.ndarray | None) -> float:
    # Where there are no labels at all, no decision is wrong.
    return mean_of_defined(rows.errors / max(n_labels, 1), weights)


def _subset_accuracy(rows: Counts, weights: np.ndarray | None) -> float:
    return mean_of_defined((rows.errors == 0).astype(float), weights)


def _check_zero_division(zero_division: Any) -> None:
    is_number = isinstance(zero_division, Real)
    if not is_number or not (np.isnan(zero_division) or 0 <= zero_division <= 1):
        raise DataError(
            f"zero_division must be a number from 0 to 1, or nan; got {zero_division!r}"
        )
