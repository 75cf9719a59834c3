"""The power set method: each label set that training has is a class of its own.

    p(y|x) = softmax over the distinct label sets

It knows all dependencies, but only of sets that it has seen (Li 2019, section 1.3.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.labels import distinct_sets
from setwise.decisions import Decision
from setwise.distributions import Support
from setwise.learners import make_gate
from setwise.models.base import SetClassifier
from setwise.storage import storable


@storable
class PowerSet(SetClassifier):
    """One class a distinct label set.

    Parameters
    ----------
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns the classes. A scikit-learn classifier needs ``predict_proba``.
    C : float
        Inverse strength of the penalty, in scikit-learn's terms; for "logistic" and "elastic".
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    max_iter : int
        Cap on the iterations of "logistic" and "elastic", or trees a class of "boosting".
    random_state : int
        Seeds what chance decides.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    gate_ : the fitted learner of all classes
    sets_ : CSR array (m, L), the classes
    label_names_ : tuple of the labels' names

    Notes
    -----
    A set that training does not have is impossible: its log-probability is -inf.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PowerSet(C=10).fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('a', 'b')]
    """

    def __init__(
        self,
        learner: Any = "logistic",
        *,
        C: float = 1.0,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.C = C
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        if sample_weight is not None:  # a row that weighs nothing adds no class
            X, Y, sample_weight = (part[sample_weight > 0] for part in (X, Y, sample_weight))
        support = distinct_sets(Y)
        T = np.zeros((X.shape[0], len(support)))
        T[np.arange(X.shape[0]), support.inverse] = 1
        gate = make_gate(
            self.learner,
            C=self.C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        return {"gate_": gate.fit(X, T, sample_weight=sample_weight), "sets_": support.sets}

    def _distribution(self, X: Any) -> Support:
        log_scores = np.asarray(self.gate_.log_proba(X), dtype=np.float64)
        return Support(self.sets_, log_scores, allow_empty=self.allow_empty_)

    def _iterations(self) -> int:
        return int(getattr(self.gate_, "n_iter_", 1))
