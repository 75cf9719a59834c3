"""LIFT: features of each label's own, the distances to centres of its rows and of the others.

For label l with rows P (that have it) and N (that have not), both are clustered into

    m_l = ceil(ratio min(|P|, |N|))      centres each,

and a linear classifier is learnt on the 2 m_l distances of a row to them:

    p(y|x) = prod over l of  sigma(w_l . d_l(x) + b_l),
    d_l(x) = [ |x - p_1|, ..., |x - p_m|, |x - n_1|, ..., |x - n_m| ].

Zhang and Wu, TPAMI 2015. They have support vector machines where this has logistic regressions on
standardised distances, so that labels have probabilities.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count, check_over_zero
from setwise.decisions import Decision
from setwise.decisions.base import row_batches
from setwise.distributions import Product
from setwise.errors import DataError
from setwise.learners import LogisticBank
from setwise.learners.bank_inputs import smoothed_log_odds
from setwise.learners.workers import Workers
from setwise.models.about import LABELS_APART, About
from setwise.models.base import SetClassifier
from setwise.models.lift_centres import k_means, squared_distances
from setwise.storage import storable

MAX_LOG_ODDS = 30.0
DENSE_CELLS = 2**25  # centres with fewer numbers are kept as a plain array


@storable
class LIFT(SetClassifier):
    """A linear classifier a label, on distances to that label's own centres.

    Parameters
    ----------
    ratio : float
        Centres of each kind, as a share of the rows of the rarer kind; over zero, at most one.
    max_centres : int or None
        At most so many of each kind.
    C : float
        Inverse strength of the penalty, in scikit-learn's terms; distances are standardised.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    max_iter : int
        Cap on the iterations of each logistic regression.
    random_state : int
        Seeds the first centres, of all labels alike.
    n_jobs : int, optional
        Threads; all cores by default.

    Attributes
    ----------
    centres_ : array or CSR array (M, d), of all labels one after another
    combination_ : CSR array (M, L), what the distance to each centre counts for its label
    intercept_ : array (L,)

    Notes
    -----
    A label that all rows have, or none, gets no centres, and its smoothed frequency.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LIFT(C=10).fit(X, [{"low"}, {"low"}, {"high"}, {"high"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('low',), ('high',)]
    >>> model.centres_.shape
    (4, 1)
    """

    about: ClassVar[About] = About(
        paper="Zhang 2015; Li 2019, 3.7.2",
        joint=False,
        learners="logistic on distances",
        cost="n d M, M centres in all",
        why_not=LABELS_APART,
        keeps_rows=True,
    )

    def __init__(
        self,
        *,
        ratio: float = 0.1,
        max_centres: int | None = 100,
        C: float = 1.0,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.ratio = ratio
        self.max_centres = max_centres
        self.C = C
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        self._check()
        X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else X.astype(np.float64)
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        X, Y, weight = (part[weight > 0] for part in (X, Y, weight))
        seed = int(np.random.default_rng(self.random_state).integers(2**62))
        columns = sparse.csc_array(Y)

        def label(number: int) -> tuple[Any, np.ndarray, float]:
            has = np.zeros(X.shape[0], dtype=bool)
            has[columns.indices[columns.indptr[number] : columns.indptr[number + 1]]] = True
            return self._one_label(X, has, weight, np.random.default_rng(seed))

        with Workers(self.n_jobs) as workers:
            found = workers.map(label, range(Y.shape[1]))
        counts = np.array([len(weights) for _, weights, _ in found])
        ends = np.concatenate([[0], np.cumsum(counts)])
        combination = sparse.csc_array(
            (np.concatenate([w for _, w, _ in found]), np.arange(ends[-1]), ends),
            shape=(ends[-1], len(found)),
        )
        return {
            "centres_": _stacked([centres for centres, *_ in found]),
            "combination_": combination.tocsr(),
            "intercept_": np.array([intercept for *_, intercept in found]),
        }

    def _one_label(
        self, X: Any, has: np.ndarray, weight: np.ndarray, random: np.random.Generator
    ) -> tuple[Any, np.ndarray, float]:
        """Centres (2m, d), what distances to them count (2m,), and the intercept."""
        m = self._number(int(has.sum()), int((~has).sum()))
        if m == 0:
            odds = smoothed_log_odds(np.array([weight @ has]), np.array([weight.sum()]))
            return _kept(np.zeros((0, X.shape[1])), X), np.zeros(0), float(odds[0])
        centres = np.concatenate(
            [k_means(X[rows], m, weight[rows], random) for rows in (has, ~has)]
        )
        distances = np.sqrt(squared_distances(X, centres))
        mean = np.average(distances, axis=0, weights=weight)
        spread = np.sqrt(np.average((distances - mean) ** 2, axis=0, weights=weight))
        spread[spread <= 1e-9 * (1 + mean)] = 1.0
        bank = LogisticBank(self.C, max_iter=self.max_iter, n_jobs=1)
        bank.fit((distances - mean) / spread, has[:, None].astype(np.float64), weight)
        weights = bank.weights_[:, 0] / spread
        return _kept(centres, X), weights, float(bank.biases_[0] - mean @ weights)

    def _number(self, n_with: int, n_without: int) -> int:
        """Centres of each kind for a label."""
        m = int(np.ceil(self.ratio * min(n_with, n_without)))
        return m if self.max_centres is None else min(m, self.max_centres)

    def _distribution(self, X: Any) -> Product:
        M = self.centres_.shape[0]
        parts = [
            np.asarray(np.sqrt(squared_distances(X[rows], self.centres_)) @ self.combination_)
            for rows in row_batches(X.shape[0], M)
        ]
        logits = np.concatenate([np.zeros((0, len(self.intercept_))), *parts]) + self.intercept_
        logits = logits.clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)

    def _check(self) -> None:
        """Refuse settings without a meaning, before anything is learnt."""
        if not 0 < self.ratio <= 1:
            raise DataError(f"ratio is over zero and at most one, not {self.ratio!r}; try 0.1")
        if self.max_centres is not None:
            check_count("max_centres", self.max_centres, at_least=1)
        check_over_zero("C", self.C, advice="try 1")


def _kept(centres: np.ndarray, X: Any) -> Any:
    """Centres of sparse rows as sparse rows: far fewer numbers where features are many."""
    return sparse.csr_array(centres) if sparse.issparse(X) else centres


def _stacked(centres: list[Any]) -> Any:
    """All centres as one matrix, a plain array where that is small."""
    if not sparse.issparse(centres[0]):
        return np.concatenate(centres)
    together = sparse.csr_array(sparse.vstack(centres, format="csr"))
    small = together.shape[0] * together.shape[1] <= DENSE_CELLS
    return together.toarray() if small else together
