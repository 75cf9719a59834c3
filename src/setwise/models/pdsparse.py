"""PD-Sparse: one sparse linear score a label, by a margin between a row's labels and all others.

    min over W   sum over k of [ |w_k|^2 / 2 + l1 |w_k|_1 ]  +  C sum over i of loss(W' x_i, y_i)

    loss(z, y) = [1 + max of z over labels not in y  -  min of z over labels in y]_+

Yen, Huang, Zhong, Ravikumar and Dhillon, ICML 2016. Only a few labels violate the margin of a row,
so few multipliers are not zero, and the L1 penalty leaves few weights: ``pdsparse_solver`` uses
both. The scores rank labels; sets are made of them by a threshold, tuned on held-out rows as in
Li 2019, section 3.7.2.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count, check_from_zero, check_over_zero
from setwise.learners.in_threads import in_threads
from setwise.metrics.options import check_choice
from setwise.models.about import About
from setwise.models.folds import n_units
from setwise.models.held_out import held_out_parts
from setwise.models.pdsparse_solver import SparseMargins, solve_margins
from setwise.models.score_thresholds import TARGETS, squashed, tuned_thresholds
from setwise.models.set_only import SetOnlyClassifier, without_empty
from setwise.storage import storable

HELD_OUT_SHARE = 0.2


@storable
class PDSparse(SetOnlyClassifier):
    """Sparse max-margin scores of labels, with a tuned threshold.

    Parameters
    ----------
    C : float
        What the loss of a row counts beside the penalties.
    l1 : float
        Strength of the L1 penalty; the more, the fewer weights.
    fit_intercept : bool
        Add a constant feature, penalised as all others.
    normalize : bool
        Scale rows to length one first, which suits text.
    target : {"f1", "jaccard", "hamming", "set_accuracy", "micro_f1", "macro_f1"}
        What the threshold is tuned for ("macro_f1": one for each label), on a fifth of the rows and
        by weights learnt from the others.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one. If not, a row of which
        no label reaches the threshold gets its best one.
    tol, max_iter
        The relative gap between primal and dual to reach, and the cap on searches among all labels.
    random_state : int
        Seeds the order of rows, and which rows are held out.
    n_jobs : int, optional
        Threads; there is work for two, the fit and the one that the threshold is tuned by.

    Attributes
    ----------
    weights_ : CSR array (d, L)
    intercept_ : array (L,)
    threshold_ : array (1,), or (L,) for "macro_f1", of scores squashed to numbers from 0 to 1
    gap_ : float, the relative gap that was reached

    Notes
    -----
    A row with no labels, or with all, teaches nothing: the loss compares the row's labels with
    others. Memory holds two tables of features by labels while it learns.

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [3.0, 1.0], [0.0, 2.0], [1.0, 3.0]])
    >>> model = PDSparse(l1=0.01).fit(X, [{"x"}, {"x"}, {"y"}, {"y"}])
    >>> model.predict_sets(np.array([[1.0, 0.0]]))
    [('x',)]
    >>> model.rank_scores(np.array([[2.0, 0.0]])).round(1)
    array([[ 0.5, -0.5]])
    """

    about: ClassVar[About] = About(
        paper="Yen 2016; Li 2019, 3.7.2",
        joint=False,
        learners="linear, max-margin",
        cost="nnz(X) L",
        why_not="its scores rank labels, they are no probabilities",
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        l1: float = 0.01,
        fit_intercept: bool = True,
        normalize: bool = False,
        target: str = "f1",
        allow_empty: bool | str = "auto",
        tol: float = 0.01,
        max_iter: int = 300,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.l1 = l1
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.target = target
        self.allow_empty = allow_empty
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def rank_scores(self, X: Any) -> np.ndarray:
        """Scores to rank by, (n, L)."""
        return self._scores(self._features(X))

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        self._check()
        weight = np.ones(Y.shape[0]) if sample_weight is None else sample_weight
        rows = self._rows(X)
        train = test = np.flatnonzero(weight)
        if n_units(sample_weight, groups, Y.shape[0]) > 1:  # else it has to be on both sides
            train, test = held_out_parts(
                *(Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state)
            )
        parts = (train, np.arange(len(weight)))

        def solved(number: int) -> SparseMargins:
            return self._solved(rows[parts[number]], Y[parts[number]], weight[parts[number]])

        part, found = in_threads(solved, 2, self.n_jobs)
        threshold = tuned_thresholds(
            *(str(self.target), _product(rows[test], part.weights)),
            *(Y[test].toarray(), weight[test]),
            allow_empty=self._may_be_empty(Y),
        )
        return {
            "weights_": found.weights[: X.shape[1]],
            "intercept_": self._last(found.weights),
            "threshold_": threshold,
            "gap_": float(found.gap),
            "searches_": found.n_iter,
        }

    def _choose(self, X: Any) -> np.ndarray:
        scores = squashed(self._scores(X))
        chosen = (scores >= self.threshold_).astype(np.int8)
        above = scores - self.threshold_ if np.isfinite(self.threshold_).all() else scores
        return chosen if self.allow_empty_ else without_empty(chosen, above)

    def _scores(self, X: Any) -> np.ndarray:
        rows = _scaled(X) if self.normalize else X
        scores = _product(rows, self.weights_)
        scores += self.intercept_
        return scores

    def _rows(self, X: Any) -> sparse.csr_array:
        """The rows as the solver takes them, the constant feature last."""
        rows = sparse.csr_array(_scaled(X) if self.normalize else X, dtype=np.float64)
        if not self.fit_intercept:
            return rows
        constant = sparse.csr_array(np.ones((rows.shape[0], 1)))
        return sparse.csr_array(sparse.hstack([rows, constant], format="csr"))

    def _last(self, weights: sparse.csr_array) -> np.ndarray:
        L = weights.shape[1]
        last: np.ndarray = weights[[-1]].toarray()[0] if self.fit_intercept else np.zeros(L)
        return last

    def _solved(self, X: Any, Y: sparse.csr_array, weight: np.ndarray) -> SparseMargins:
        return solve_margins(
            *(X, Y, self.C * weight),
            l1=self.l1,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )

    def _check(self) -> None:
        """Refuse settings without a meaning, before anything is learnt."""
        check_choice("target", self.target, TARGETS)
        check_count("max_iter", self.max_iter, at_least=1)
        check_over_zero("C", self.C, advice="try 1")
        check_from_zero("l1", self.l1, advice="try 0.01")

    def _iterations(self) -> int:
        return int(self.searches_)


def _product(X: Any, weights: sparse.csr_array) -> np.ndarray:
    product = X @ weights
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def _scaled(X: Any) -> Any:
    """Rows of length one; rows of zeros stay as they are."""
    if sparse.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
        scale = np.repeat(lengths, np.diff(X.indptr))
        return sparse.csr_array((X.data / scale, X.indices, X.indptr), shape=X.shape)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1.0)
