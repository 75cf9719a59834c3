"""Labels of the nearest rows: MLkNN and BRkNN.

MLkNN (Zhang and Zhou 2007) counts how many of a row's k nearest neighbours have label l, and asks
how likely that count is among rows with the label and among those without:

    P(y_l = 1 | count j) ∝ P(y_l = 1) P(j | y_l = 1)
    P(y_l = 1)     = (s + rows with l) / (2 s + n)
    P(j | y_l = 1) = (s + rows with l that have j such neighbours) / (s (k + 1) + rows with l)

with smoothing s. BRkNN (Spyromitros, Tsoumakas and Vlahavas 2008) takes the share of neighbours
that have the label. Both answer label by label: what they predict is a product.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count, check_over_zero
from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.learners.nearest import nearest_rows
from setwise.models.about import LABELS_APART, About
from setwise.models.base import SetClassifier
from setwise.storage import storable


def neighbour_counts(
    numbers: np.ndarray, Y: sparse.csr_array, weight: np.ndarray | None = None
) -> sparse.csr_array:
    """How many of each row's neighbours (b, k) have each label of Y (n, L), CSR (b, L).

    With weights (b, k), how much they weigh together.
    """
    b, k = numbers.shape
    ones = np.ones(numbers.shape) if weight is None else weight
    starts = k * np.arange(b + 1)
    neighbours = sparse.csr_array((ones.ravel(), numbers.ravel(), starts), (b, Y.shape[0]))
    return sparse.csr_array(neighbours @ Y.astype(np.float64))


def count_table(
    counts: sparse.csr_array, Y: sparse.csr_array, weight: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the rows with label l and count j, and of those without it, (L, k + 1) each."""
    every = _by_count(counts, weight, np.full(Y.shape[1], weight.sum()), k)
    with_label = sparse.csr_array(counts.multiply(Y))
    having = _by_count(with_label, weight, Y.T @ weight, k)
    return having, np.maximum(every - having, 0.0)


def _by_count(
    counts: sparse.csr_array, weight: np.ndarray, total: np.ndarray, k: int
) -> np.ndarray:
    """Weight of the rows with each count, (L, k + 1); what is left of (L,) ``total`` counts 0."""
    counts = counts.tocoo()
    cells = counts.col.astype(np.int64) * (k + 1) + np.rint(counts.data).astype(np.int64)
    L = counts.shape[1]
    table = np.bincount(cells, weight[counts.row], minlength=L * (k + 1)).reshape(L, k + 1)
    table[:, 0] = np.maximum(total - table.sum(axis=1), 0.0)
    return table


class Neighbours(SetClassifier):
    """What models of neighbours share: the rows, and who is near."""

    #: Whether ``smoothing`` may be "auto".
    may_choose: ClassVar[bool] = False
    k: int
    smoothing: float | str
    n_jobs: int | None

    def _kept(self, X: Any, Y: sparse.csr_array, sample_weight: Any) -> tuple[Any, Any, np.ndarray]:
        """Rows, labels and weights without the rows that weigh nothing."""
        check_count("k", self.k, at_least=1)
        if self.smoothing != "auto" or not self.may_choose:
            check_over_zero("smoothing", self.smoothing, advice="try 1.0")
        if sample_weight is None:
            return X, Y, np.ones(Y.shape[0])
        X, Y, weight = (part[sample_weight > 0] for part in (X, Y, sample_weight))
        return X, Y, weight

    def _near(self, X: Any) -> np.ndarray:
        """The numbers of the nearest training rows, (b, k)."""
        return nearest_rows(self._asking(X), self.rows_, self.n_neighbours_, n_jobs=self.n_jobs)

    def _asking(self, X: Any) -> Any:
        """New rows, sparse or dense as those of training are."""
        return sparse.csr_array(X) if sparse.issparse(self.rows_) else dense_rows(X)


@storable
class MLkNN(Neighbours):
    """Each label by how many of the nearest rows have it, and how telling that is.

    Parameters
    ----------
    k : int
        Neighbours; all other rows where there are fewer.
    smoothing : float
        Rows of each kind that are added to all counts, over zero.
    count_self : bool
        Whether a training row is one of its own neighbours, as in scikit-multilearn. It then knows
        its own labels, which no new row does: probabilities are worse.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    random_state : int
        Seeds which rows are held out where a target is tuned; nothing else is left to chance.
    n_jobs : int, optional
        Threads; all cores by default.

    Attributes
    ----------
    rows_ : array or CSR array (n, d), the training rows; n_neighbours_ : int, of a new row
    prior_ : array (L,), P(y_l = 1)
    given_label_, given_none_ : array (L, k + 1), P(count | y_l = 1) and P(count | y_l = 0)
    log_odds_ : array (L, k + 1), of the label given the count
    label_names_ : tuple of the labels' names

    Notes
    -----
    It says nothing of labels together: its distribution is the product of its labels. Distances are
    Euclidean, so that features should be of similar size. Of rows equally near, those that come
    first in training are taken. A weight makes a row count so often, but it is one neighbour still.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> model = MLkNN(k=2, allow_empty=True).fit(X, [{"a"}, {"a"}, {"a"}, {"b"}, {"b"}, {"b"}])
    >>> model.predict_proba(np.array([[0.05]])).round(2).tolist()
    [[0.8, 0.2]]
    """

    about: ClassVar[About] = About(
        paper="Zhang 2007",
        joint=False,
        learners="neighbours",
        cost="n² d",
        why_not=LABELS_APART,
        keeps_rows=True,
    )

    def __init__(
        self,
        k: int = 10,
        *,
        smoothing: float = 1.0,
        count_self: bool = False,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.smoothing = smoothing
        self.count_self = count_self
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        X, Y, weight = self._kept(X, Y, sample_weight)
        n = Y.shape[0]
        k = min(self.k, n if self.count_self else n - 1)
        rows = as_rows(X)
        numbers = nearest_rows(rows, rows, k, own=not self.count_self, n_jobs=self.n_jobs)
        having, lacking = count_table(neighbour_counts(numbers, Y), Y, weight, k)
        s = float(self.smoothing)
        prior = (s + having.sum(axis=1)) / (2 * s + weight.sum())
        given_label, given_none = (
            (s + table) / (s * (k + 1) + table.sum(axis=1, keepdims=True))
            for table in (having, lacking)
        )
        odds = np.log(prior / (1 - prior))[:, None] + np.log(given_label / given_none)
        return {
            "rows_": rows,
            "labels_": Y,
            "n_neighbours_": k,
            "prior_": prior,
            "given_label_": given_label,
            "given_none_": given_none,
            "log_odds_": odds,
        }

    def _distribution(self, X: Any) -> Product:
        counts = neighbour_counts(self._near(X), self.labels_).tocoo()
        logits = np.tile(self.log_odds_[:, 0], (counts.shape[0], 1))
        count = np.rint(counts.data).astype(np.int64)
        logits[counts.row, counts.col] = self.log_odds_[counts.col, count]
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)


@storable
class BRkNN(Neighbours):
    """Each label by the share of the nearest rows that have it.

    Parameters
    ----------
    k : int
        Neighbours; all rows where there are fewer.
    smoothing : float
        Neighbours with and without each label that are added to the counts, over zero, so that no
        probability is 0 or 1; which labels are over one half does not depend on it.
    target, allow_empty, random_state, n_jobs
        As in ``MLkNN``. For target "hamming" this is BRkNN as published; where the empty set is not
        allowed, "set_accuracy" gives its variant a, which then takes the likeliest label.

    Attributes
    ----------
    rows_ : array or CSR array (n, d), the training rows; n_neighbours_ : int
    label_names_ : tuple of the labels' names

    Notes
    -----
    It says nothing of labels together: its distribution is the product of its labels.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
    >>> model = BRkNN(k=2, allow_empty=True).fit(X, [{"a"}, {"a"}, {"b"}, {"b"}, {"b"}])
    >>> model.predict_proba(np.array([[0.05]])).round(2).tolist()
    [[0.83, 0.17]]
    """

    about: ClassVar[About] = About(
        paper="Spyromitros 2008",
        joint=False,
        learners="neighbours",
        cost="nothing; n d for each new row",
        why_not=LABELS_APART,
        keeps_rows=True,
    )

    def __init__(
        self,
        k: int = 10,
        *,
        smoothing: float = 0.5,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.smoothing = smoothing
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        X, Y, weight = self._kept(X, Y, sample_weight)
        return {
            "rows_": as_rows(X),
            "labels_": Y,
            "row_weights_": weight,
            "n_neighbours_": min(self.k, Y.shape[0]),
        }

    def _distribution(self, X: Any) -> Product:
        near = self._near(X)
        weight = self.row_weights_[near]  # (b, k)
        weight = weight * (weight.shape[1] / weight.sum(axis=1, keepdims=True))
        having = neighbour_counts(near, self.labels_, weight).toarray()
        lacking = np.maximum(near.shape[1] - having, 0.0)
        s = float(self.smoothing)
        logits = np.log(having + s) - np.log(lacking + s)
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)


def dense_rows(X: Any) -> np.ndarray:
    """The rows as one block of memory."""
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X)


def as_rows(X: Any) -> Any:
    """Training rows as they are kept."""
    return sparse.csr_array(X) if sparse.issparse(X) else dense_rows(X)
