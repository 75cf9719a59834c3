"""The power set method: each label set that training has is a class of its own.

    p(y|x) = softmax over the distinct label sets

It knows all dependencies, but only of sets that it has seen (Li 2019, section 1.3.1). There may be
thousands of them: rows keep the number of their class, and softmaxes are made for a block of rows
at a time, of 16 million logits at most, in single precision where classes are many.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.labels import DistinctSets, distinct_sets
from setwise.data.set_index import SetIndex
from setwise.decisions import Decision
from setwise.distributions import Distribution, Support
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.learners import make_gate
from setwise.metrics.options import check_choice
from setwise.models.about import ANY_LEARNER, About
from setwise.models.base import SetClassifier
from setwise.models.strength import best_C, is_auto
from setwise.storage import storable

DTYPES = ("auto", "float32", "float64")
MANY = 256  # classes, beyond which "auto" computes in single precision


@storable
class PowerSet(SetClassifier):
    """One class a distinct label set.

    Parameters
    ----------
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns the classes. A scikit-learn classifier needs ``predict_proba``.
    C : float or "auto"
        Inverse strength of the penalty, in scikit-learn's terms; for "logistic" and "elastic".
        "auto" takes the one that is best on held-out rows, by their log-likelihood.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    max_iter : int
        Cap on the iterations of "logistic" and "elastic", or trees a class of "boosting".
    tol : float
        For "logistic": how far the objective may be above its minimum, relative to it.
    dtype : {"auto", "float32", "float64"}
        What "logistic" computes in; "auto": the precision of X, but float32 where there are more
        than 256 classes.
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
    chosen_ : what was chosen where "auto" was given
    label_names_ : tuple of the labels' names

    Notes
    -----
    A set that training does not have is impossible: its log-probability is -inf. Trees of
    "boosting" are grown for each class: it is for few of them.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PowerSet(C=10).fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('a', 'b')]
    """

    about: ClassVar[About] = About(
        paper="Boutell 2004; Li 2019, 1.3.1",
        joint=True,
        learners=ANY_LEARNER,
        cost="n d m, m distinct sets",
    )

    def __init__(
        self,
        learner: Any = "logistic",
        *,
        C: float | str = 1.0,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-7,
        dtype: str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.C = C
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        C: Any = self.C
        if is_auto(C, self.learner):
            C = best_C(self, X, Y, sample_weight, groups)
        if sample_weight is not None:  # a row that weighs nothing adds no class
            X, Y, sample_weight = (part[sample_weight > 0] for part in (X, Y, sample_weight))
        support = distinct_sets(Y)
        gate = self._gate(C, len(support)).fit(X, one_class_a_row(support), sample_weight)
        chosen = {"C": C} if self.C == "auto" else {}
        return {"gate_": gate, "sets_": support.sets, "chosen_": chosen}

    def _gate(self, C: float, n_classes: int) -> Any:
        check_choice("dtype", self.dtype, DTYPES)
        gate: Any = make_gate(
            self.learner,
            C=C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if isinstance(self.learner, str) and self.learner == "logistic":
            many = "float32" if n_classes > MANY else None
            gate.dtype = many if self.dtype == "auto" else self.dtype
            gate.tol = self.tol
        return gate

    def _distribution(self, X: Any) -> Distribution:
        index = SetIndex(self.sets_)  # for all batches

        def support(rows: Any) -> Support:
            log_scores = np.asarray(self.gate_.log_proba(X[rows]), dtype=np.float64)
            return Support(index, log_scores, allow_empty=self.allow_empty_)

        n, (n_classes, L) = X.shape[0], self.sets_.shape
        if n * n_classes <= BATCH_CELLS:
            return support(slice(None))
        size = max(1, BATCH_CELLS // n_classes)
        return Batched(support, np.arange(n), L, size, allow_empty=self.allow_empty_)

    def _iterations(self) -> int:
        return int(getattr(self.gate_, "n_iter_", 1))


def one_class_a_row(support: DistinctSets) -> sparse.csr_array:
    """What a gate learns from: a one, (n, m), where the row's set stands among the m distinct."""
    n = len(support.inverse)
    return sparse.csr_array(
        (np.ones(n), support.inverse, np.arange(n + 1)), shape=(n, len(support))
    )
