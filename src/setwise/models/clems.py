"""CLEMS: sets as points whose distances tell the cost of taking one for another.

    |a_i - b_j|  is about  sqrt(cost of predicting set j where set i is true)

for the distinct sets of training, by weighted multidimensional scaling (``cost_embedding``). A
regression learns from x to the point a of the row's set; the prediction is the set j whose point
b_j is nearest to the regressed one. Huang and Lin, Machine Learning 106, 2017.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from setwise.data.arguments import check_count, check_over_zero
from setwise.data.labels import distinct_sets
from setwise.errors import DataError
from setwise.learners.ridge import RidgeRegression
from setwise.models.about import About
from setwise.models.cost_embedding import between, embed
from setwise.models.set_costs import Cost, cost_for, cost_table
from setwise.models.set_only import SetOnlyClassifier
from setwise.storage import storable


@storable
class CLEMS(SetOnlyClassifier):
    """The training set whose embedding is nearest to the one that x points to.

    Parameters
    ----------
    regressor : {"ridge", "forest"} or scikit-learn regressor
        What learns from features to points; it must take many targets at once. "forest" is
        scikit-learn's random forest, as in the paper.
    n_dimensions : int, optional
        Of the points; as many as there are labels unless told.
    C : float
        Inverse strength of the penalty of "ridge"; scikit-learn's ``alpha`` is 1 / (2 C).
    target : {"f1", "jaccard", "hamming", "set_accuracy"} or function
        What a wrong set costs; a function takes truth and prediction, int8 (n, L) both, and returns
        costs (n,), zero where they are equal. A model with a function cannot be saved.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    max_sets : int
        The most frequent distinct sets that are embedded; rows with other sets are not learnt from.
    max_iter : int
        Cap on the steps of the scaling.
    random_state : int
        Seeds a scikit-learn regressor that has a seed.
    n_jobs : int, optional
        Threads of "forest"; all cores by default.

    Attributes
    ----------
    sets_ : CSR array (m, L), what can be predicted
    truths_, predictions_ : arrays (m, M), the points of each set as truth and as prediction
    stress_ : array, that of the start and after each step; it never rises
    regressor_ : the fitted regressor

    Notes
    -----
    A set that training does not have is never predicted.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = CLEMS(C=10).fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('a', 'b')]
    >>> abs(model.truths_[0] - model.predictions_[1]).sum().round(3)  # sqrt(1 - 2 / 3)
    np.float64(0.577)
    """

    about: ClassVar[About] = About(
        paper="Huang 2017; Li 2019, 3.7.2",
        joint=False,
        learners="ridge, random forest, any regressor of scikit-learn",
        cost="m² L + n d min(n, d), m distinct sets",
        why_not="it names the nearest set",
    )

    def __init__(
        self,
        regressor: Any = "ridge",
        *,
        n_dimensions: int | None = None,
        C: float = 1.0,
        target: Any = "f1",
        allow_empty: bool | str = "auto",
        max_sets: int = 5000,
        max_iter: int = 300,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.regressor = regressor
        self.n_dimensions = n_dimensions
        self.C = C
        self.target = target
        self.allow_empty = allow_empty
        self.max_sets = max_sets
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        regressor, cost = self._checked_regressor(), cost_for(self.target)
        weight = np.ones(Y.shape[0]) if sample_weight is None else sample_weight
        X, Y, weight = (part[weight > 0] for part in (X, Y, weight))
        distinct = distinct_sets(Y)
        counts = np.bincount(distinct.inverse, weights=weight)
        kept = np.sort(np.argsort(-counts, kind="stable")[: self.max_sets])
        place = np.full(len(counts), -1)
        place[kept] = np.arange(len(kept))
        of_row = place[distinct.inverse]
        sets = distinct.sets[kept]
        if not self.allow_empty and not sets.nnz:
            raise DataError(
                "allow_empty is False, but the empty set is the only one to predict; bring rows "
                "with labels, raise max_sets, or allow the empty set"
            )
        dense = sets.toarray()
        _check_zero_for_the_truth(cost, dense)
        points = embed(
            *(np.sqrt(cost_table(self.target, dense)), counts[kept]),
            n_dimensions=self.n_dimensions or Y.shape[1],
            max_iter=self.max_iter,
        )
        rows = of_row >= 0
        weights = {} if sample_weight is None else {"sample_weight": weight[rows]}
        regressor.fit(X[rows], points.truths[of_row[rows]], **weights)
        return {
            "sets_": sets,
            "truths_": points.truths,
            "predictions_": points.predictions,
            "stress_": points.stress,
            "regressor_": regressor,
        }

    def _choose(self, X: Any) -> np.ndarray:
        found = np.asarray(self.regressor_.predict(X), dtype=np.float64)
        apart = between(found.reshape(X.shape[0], -1), self.predictions_)
        if not self.allow_empty_:
            apart[:, np.diff(self.sets_.indptr) == 0] = np.inf
        chosen: np.ndarray = self.sets_[apart.argmin(axis=1)].toarray()
        return chosen.astype(np.int8)

    def _checked_regressor(self) -> Any:
        """A new regressor; settings without a meaning are refused."""
        check_count("max_sets", self.max_sets, at_least=1)
        check_count("max_iter", self.max_iter, at_least=1)
        if self.n_dimensions is not None:
            check_count("n_dimensions", self.n_dimensions, at_least=1)
        if isinstance(self.regressor, str) and self.regressor == "ridge":
            check_over_zero("C", self.C, advice="try 1")
            return RidgeRegression(self.C)
        if isinstance(self.regressor, str) and self.regressor == "forest":
            from sklearn.ensemble import RandomForestRegressor

            jobs = -1 if self.n_jobs is None else self.n_jobs
            return RandomForestRegressor(random_state=self.random_state, n_jobs=jobs)
        if not (hasattr(self.regressor, "fit") and hasattr(self.regressor, "predict")):
            raise DataError(
                'regressor must be "ridge", "forest" or a scikit-learn regressor; '
                f"got {self.regressor!r}"
            )
        regressor = clone(self.regressor)
        if "random_state" in regressor.get_params():
            regressor.set_params(random_state=self.random_state)
        return regressor

    def _iterations(self) -> int:
        return len(self.stress_) - 1


def _check_zero_for_the_truth(cost: Cost, sets: np.ndarray) -> None:
    if cost(sets, sets).any():
        raise DataError(
            "the cost function is not zero where the prediction is the truth; subtract that cost"
        )
