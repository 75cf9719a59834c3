"""Whole label sets of the nearest rows: LPkNN (Spyromitros, Tsoumakas and Vlahavas 2008).

Each of the k nearest training rows j votes for its own label set y_j:

    p(y|x) = (Σ_j w_j [y_j = y] + s p(y)) / (Σ_j w_j + s)      w_j = exp(γ (1 - d_j² / D²))

where d_j is the distance to the neighbour, D² the mean of d² over neighbours of training rows, and
p(y) how common the set is in training. Published are equal votes, γ = 0 and s = 0. Near rows tell
more than far ones, and rows that are far from all others tell little: γ and s are taken such that
held-out rows are likeliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from setwise.data.arguments import check_from_zero
from setwise.data.labels import DistinctSets, distinct_sets
from setwise.data.set_index import SetIndex
from setwise.decisions import Decision
from setwise.distributions import Distribution, Support
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.learners.nearest import nearest_with_distances
from setwise.metrics.options import check_choice
from setwise.models.about import About
from setwise.models.folds import n_units
from setwise.models.held_out import held_out_parts
from setwise.models.neighbours import Neighbours, as_rows
from setwise.storage import storable

METRICS = ("euclidean", "cosine")
DECAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
SMOOTHINGS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
HELD_OUT_SHARE = 0.2
MOST_EXPONENT = 300.0  # of votes, so that they stay finite


def votes(squared: np.ndarray, typical: float, decay: float) -> np.ndarray:
    """What each neighbour's vote weighs by its squared distance, (b, k); one at a typical one."""
    if typical == 0:
        return np.ones_like(squared)
    exponent = decay * (1 - squared / typical)
    return np.exp(np.minimum(exponent, MOST_EXPONENT))


def likeliest_votes(
    agree: np.ndarray,
    squared: np.ndarray,
    weight: np.ndarray,
    prior: np.ndarray,
    typical: float,
    *,
    judges: np.ndarray | None = None,
    decays: Sequence[float] = DECAYS,
    smoothings: Sequence[float] = SMOOTHINGS,
) -> tuple[float, float]:
    """The decay γ and smoothing s under which rows are likeliest.

    Parameters
    ----------
    agree : array (b, k) of bool
        Which neighbours have the row's own set.
    squared, weight : array (b, k)
        Their squared distances, and how much they weigh otherwise.
    prior : array (b,)
        How common the row's own set is; rows for whose set nobody could vote do not count.
    typical : float
        D², the squared distance at which a vote weighs one.
    judges : array (b,), optional
        How much each row counts.
    decays, smoothings : what is tried
    """
    judges = np.ones(len(prior)) if judges is None else judges
    possible = ((prior > 0) | agree.any(axis=1)) & (judges > 0)
    if not possible.any():
        return _middle(decays), _middle(smoothings)
    agree, squared, weight, prior, judges = (
        part[possible] for part in (agree, squared, weight, prior, judges)
    )
    best, chosen = -np.inf, (decays[0], smoothings[0])
    for decay in decays:
        w = weight * votes(squared, typical, decay)
        own, total = (w * agree).sum(axis=1), w.sum(axis=1)
        for s in smoothings:
            likelihood = float(judges @ (np.log(own + s * prior) - np.log(total + s)))
            if likelihood > best:
                best, chosen = likelihood, (decay, s)
    return chosen


def _middle(values: Sequence[float]) -> float:
    """What is taken where no row can judge: one, or the only one there is."""
    return values[0] if len(values) == 1 else 1.0


@storable
class LPkNN(Neighbours):
    """Each label set by how many of the nearest rows have it, the nearer the more.

    Parameters
    ----------
    k : int
        Neighbours; all rows where there are fewer.
    metric : {"euclidean", "cosine"}
        What is near. "cosine" compares rows of length one: for words, whatever their number.
    decay : float or "auto"
        By how much nearer rows weigh more: 0 counts all neighbours alike. "auto" takes what makes
        held-out rows likeliest.
    smoothing : float or "auto"
        How many votes go to sets by their share of training, over zero.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    random_state : int
        Seeds which rows are held out.
    n_jobs : int, optional
        Threads; all cores by default.

    Attributes
    ----------
    rows_ : array or CSR array (n, d), the training rows; n_neighbours_ : int, of a new row
    sets_ : CSR array (m, L), the distinct sets; set_of_row_ : array (n,), the place of each row's
    prior_ : array (m,), how common each is
    typical_ : float, the mean squared distance of neighbours
    decay_, smoothing_ : float, as given or as chosen
    label_names_ : tuple of the labels' names

    Notes
    -----
    A set that training does not have is impossible: its log-probability is -inf. Features should be
    of similar size. A weight makes a row count so often, but it is one neighbour still. Quick to
    learn, and unlike linear models in what it gets wrong: worth trying in a ``ModelAverage``, and
    under a ``Reranker``. A saved model holds its training rows.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
    >>> model = LPkNN(k=2, decay=0.0, smoothing=0.1)
    >>> model.fit(X, [{"a"}, {"a"}, {"a", "b"}, {"b"}, {"b"}]).predict_sets([[0.3], [5.3]])
    [('a',), ('b',)]
    >>> model.predict_proba([[5.04]]).round(2).tolist()
    [[0.5, 0.98]]
    """

    about: ClassVar[About] = About(
        paper="Spyromitros 2008",
        joint=True,
        learners="neighbours",
        cost="n² d / 5 to choose its votes; n d for each new row",
        keeps_rows=True,
    )
    may_choose: ClassVar[bool] = True

    def __init__(
        self,
        k: int = 30,
        *,
        metric: str = "euclidean",
        decay: float | str = "auto",
        smoothing: float | str = "auto",
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.metric = metric
        self.decay = decay
        self.smoothing = smoothing
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        check_choice("metric", self.metric, METRICS)
        if self.decay != "auto":
            check_from_zero("decay", self.decay, advice='try 4.0 or "auto"')
        if groups is not None and sample_weight is not None:
            groups = groups[sample_weight > 0]
        X, Y, weight = self._kept(X, Y, sample_weight)
        rows, support = self._comparable(as_rows(X)), distinct_sets(Y)
        typical, decay, smoothing = self._chosen(rows, Y, support, weight, groups)
        share = np.bincount(support.inverse, weight, minlength=len(support)) / weight.sum()
        return {
            "rows_": rows,
            "row_weights_": weight,
            "sets_": support.sets,
            "set_of_row_": support.inverse,
            "prior_": share,
            "n_neighbours_": min(self.k, Y.shape[0]),
            "typical_": typical,
            "decay_": decay,
            "smoothing_": smoothing,
        }

    def _chosen(
        self,
        rows: Any,
        Y: sparse.csr_array,
        support: DistinctSets,
        weight: np.ndarray,
        groups: Any,
    ) -> tuple[float, float, float]:
        """The typical squared distance, and the decay and smoothing that held-out rows like best.

        Neighbours of held-out rows are of other groups, as those of new rows are.
        """
        decays = DECAYS if self.decay == "auto" else (float(self.decay),)
        smoothings = SMOOTHINGS if self.smoothing == "auto" else (float(self.smoothing),)
        if n_units(None, groups, Y.shape[0]) < 2:
            return self._typical(rows), _middle(decays), _middle(smoothings)
        train, test = held_out_parts(Y, None, groups, HELD_OUT_SHARE, self.random_state)
        near, squared = nearest_with_distances(
            rows[test], rows[train], min(self.k, len(train)), n_jobs=self.n_jobs
        )
        typical = float(squared.mean()) or self._typical(rows)
        of_train, of_test = support.inverse[train], support.inverse[test]
        share = np.bincount(of_train, weight[train], minlength=len(support)) / weight[train].sum()
        decay, smoothing = likeliest_votes(
            of_train[near] == of_test[:, None],
            squared,
            weight[train][near],
            share[of_test],
            typical,
            judges=weight[test],
            decays=decays,
            smoothings=smoothings,
        )
        return typical, decay, smoothing

    def _typical(self, rows: Any) -> float:
        """The mean squared distance of rows to their nearest others; 0 where all rows are one."""
        k = min(self.k, rows.shape[0] - 1)
        squared = nearest_with_distances(rows, rows, k, own=True, n_jobs=self.n_jobs)[1]
        return float(squared[squared > 0].mean()) if squared.any() else 0.0

    def _distribution(self, X: Any) -> Distribution:
        # Neighbours are few, and found once; votes for all sets are made when they are asked for.
        near, squared = nearest_with_distances(
            self._comparable(self._asking(X)), self.rows_, self.n_neighbours_, n_jobs=self.n_jobs
        )
        index = SetIndex(self.sets_)
        n, (m, L) = X.shape[0], self.sets_.shape
        size = max(1, BATCH_CELLS // m)
        if n <= size:
            return self._support(near, squared, index)
        return Batched(
            lambda rows: self._support(near[rows], squared[rows], index),
            np.arange(n),
            L,
            size,
            self.allow_empty_,
        )

    def _support(self, near: np.ndarray, squared: np.ndarray, index: SetIndex) -> Support:
        """Votes of the neighbours (b, k) for the sets of training, (b, m)."""
        b, m = near.shape[0], self.sets_.shape[0]
        weight = self.row_weights_[near] * votes(squared, self.typical_, self.decay_)
        cells = m * np.arange(b)[:, None] + self.set_of_row_[near]
        voted = np.bincount(cells.ravel(), weight.ravel(), minlength=b * m).reshape(b, m)
        return Support(index, np.log(voted + self.smoothing_ * self.prior_), self.allow_empty_)

    def _comparable(self, rows: Any) -> Any:
        """Rows as distances are computed of them."""
        return normalize(rows) if self.metric == "cosine" else rows
