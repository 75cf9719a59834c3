"""Measures of rankings: whether the relevant candidates come first.

Rubin et al. 2012, section 5.3. ``y_true`` says what is relevant, in any form of label sets;
``scores`` is a dense (n, L) array, higher is better. With ``pivot="document"`` each document ranks
the labels, with ``pivot="label"`` each label ranks the documents. The answer is the mean over these
items, or with ``per_item=True`` the values themselves, (n,) or (L,).

An item without relevant candidates has nothing to rank: it is nan and left out of the mean. So is,
for the measures that compare pairs (``auc_roc``, ``ranking_loss``, ``is_error``, ``margin``), an
item without irrelevant ones. Where no item is left, the mean is nan. Shares are fractions from 0 to
1; the paper prints one-error, is-error and ranking loss as percentages.

Ties, that is candidates of equal score:

- ``auc_roc``, ``ranking_loss``, ``one_error``, ``precision_at_k`` and ``ndcg_at_k`` are exact
  expectations over all orders of the tied candidates;
- ``average_precision`` counts every tied candidate as ranked above, as scikit-learn does;
- ``auc_pr`` lets the true and false positives of a tie group come in evenly;
- ``is_error`` and ``margin`` assume the worst: of a tie group the irrelevant candidates come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.metrics import ranking_formulas as formulas
from setwise.metrics.averaging import mean_of_defined
from setwise.metrics.options import check_positive
from setwise.metrics.ranked import rank_relevant

FORMULAS = (
    formulas.auc_roc,
    formulas.auc_pr,
    formulas.average_precision,
    formulas.one_error,
    formulas.is_error,
    formulas.margin,
    formulas.ranking_loss,
)


def auc_roc(
    y_true: Any, scores: Any, *, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Area under the ROC curve: the share of rightly ordered pairs, a tie being half right.

    >>> auc_roc(np.array([[1, 0, 1, 0]]), np.array([[0.9, 0.6, 0.5, 0.1]]))
    0.75
    """
    return _answer(formulas.auc_roc(rank_relevant(y_true, scores, pivot)), per_item)


def auc_pr(
    y_true: Any, scores: Any, *, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Area under the precision-recall curve, by the method of Davis and Goadrich (2006).

    The curve passes through the (TP, FP) of every distinct score. Between two of them the false
    positives grow evenly with each true positive, and the area is made of trapezoids over recall.
    Before the first score that has a true positive, precision is held at that score's precision.

    >>> auc_pr(np.array([[1, 0, 1, 0]]), np.array([[0.9, 0.6, 0.5, 0.1]]))
    0.7916666666666666
    """
    return _answer(formulas.auc_pr(rank_relevant(y_true, scores, pivot)), per_item)


def average_precision(
    y_true: Any, scores: Any, *, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Mean over the relevant candidates of the precision at their rank.

    >>> average_precision(np.array([[1, 0, 1, 0]]), np.array([[0.9, 0.6, 0.5, 0.1]]))
    0.8333333333333333
    """
    return _answer(formulas.average_precision(rank_relevant(y_true, scores, pivot)), per_item)


def mean_average_precision(
    y_true: Any, scores: Any, *, pivot: str = "label", per_item: bool = False
) -> float | np.ndarray:
    """``average_precision`` of the labels, each ranking the documents; their mean is the "MAP".

    >>> mean_average_precision(np.array([[1], [0], [1]]), np.array([[0.9], [0.6], [0.5]]))
    0.8333333333333333
    """
    return average_precision(y_true, scores, pivot=pivot, per_item=per_item)


def one_error(
    y_true: Any, scores: Any, *, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Share of items whose highest candidate is irrelevant.

    >>> one_error(np.array([[1, 0], [1, 0]]), np.array([[0.9, 0.6], [0.5, 0.5]]))
    0.25
    """
    return _answer(formulas.one_error(rank_relevant(y_true, scores, pivot)), per_item)


def is_error(
    y_true: Any, scores: Any, *, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Share of items without a perfect ranking, all relevant candidates above all irrelevant ones.

    >>> is_error(np.array([[1, 0], [1, 0]]), np.array([[0.9, 0.6], [0.5, 0.5]]))
    0.5
    """
    return _answer(formulas.is_error(rank_relevant(y_true, scores, pivot)), per_item)


def margin(
    y_true: Any, scores: Any, *, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Rank of the lowest relevant candidate minus rank of the highest irrelevant one, at least 0.

    This is the definition of Loza Mencía and Fürnkranz (2008), which the paper follows. A perfect
    ranking has margin 0, the worst C - 1 of C candidates; the paper prints the range as [1, C].

    >>> margin(np.array([[1, 0, 0, 1]]), np.array([[0.9, 0.6, 0.5, 0.1]]))
    2.0
    """
    return _answer(formulas.margin(rank_relevant(y_true, scores, pivot)), per_item)


def ranking_loss(
    y_true: Any, scores: Any, *, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Share of wrongly ordered pairs, 1 - ``auc_roc`` (Rubin et al. 2012, footnote 15).

    >>> ranking_loss(np.array([[1, 0, 1, 0]]), np.array([[0.9, 0.6, 0.5, 0.1]]))
    0.25
    """
    return _answer(formulas.ranking_loss(rank_relevant(y_true, scores, pivot)), per_item)


def precision_at_k(
    y_true: Any, scores: Any, *, k: int = 5, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Share of relevant candidates among the first k; the divisor is k even with fewer than k.

    >>> precision_at_k(np.array([[1, 0, 1, 0]]), np.array([[0.9, 0.6, 0.5, 0.1]]), k=2)
    0.5
    """
    check_positive("k", k)
    return _answer(formulas.precision_at_k(rank_relevant(y_true, scores, pivot), k), per_item)


def ndcg_at_k(
    y_true: Any, scores: Any, *, k: int | None = 5, pivot: str = "document", per_item: bool = False
) -> float | np.ndarray:
    """Discounted gain, the sum of 1 / log2(1 + rank) over the relevant among the first k, normed.

    It is divided by what the best ranking gains. ``k=None`` takes all ranks.

    >>> ndcg_at_k(np.array([[0, 1, 0]]), np.array([[0.9, 0.1, 0.0]]), k=3)
    0.6309297535714575
    """
    if k is not None:
        check_positive("k", k)
    return _answer(formulas.ndcg_at_k(rank_relevant(y_true, scores, pivot), k), per_item)


def ranking_measures(
    y_true: Any, scores: Any, *, pivot: str = "document", k: Sequence[int] = (1, 3, 5)
) -> dict[str, float]:
    """All ranking measures from one sort: "auc_roc", "margin", "precision_at_1", "ndcg_at_5", ...

    >>> measures = ranking_measures(np.array([[1, 0, 1]]), np.array([[0.9, 0.6, 0.5]]), k=[1])
    >>> measures["auc_roc"], measures["margin"], measures["precision_at_1"]
    (0.5, 1.0, 1.0)
    """
    for size in k:
        check_positive("k", size)
    ranked = rank_relevant(y_true, scores, pivot)
    values = {formula.__name__: formula(ranked) for formula in FORMULAS}
    for size in k:
        values[f"precision_at_{size}"] = formulas.precision_at_k(ranked, size)
        values[f"ndcg_at_{size}"] = formulas.ndcg_at_k(ranked, size)
    return {name: mean_of_defined(value) for name, value in values.items()}


def _answer(values: np.ndarray, per_item: bool) -> float | np.ndarray:
    return values if per_item else mean_of_defined(values)
