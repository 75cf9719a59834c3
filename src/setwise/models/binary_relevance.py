"""Binary relevance: one independent classifier a label.

    p(y|x) = prod over l of  p(y_l | x)

The simplest model, the baseline of all the papers, and the first stage of BR-rerank (Li 2019,
section 4.1). All labels are learnt at once, as one bank.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.errors import NotConverged
from setwise.learners import make_bank
from setwise.learners.bank_problem import in_single_precision
from setwise.models.about import ANY_LEARNER, LABELS_APART, About
from setwise.models.base import SetClassifier
from setwise.models.climb import climb_both_ways
from setwise.models.held_out import held_out_parts
from setwise.models.strength import HELD_OUT_SHARE, MIDDLE, ROUGH_TOL, STRENGTHS, is_auto
from setwise.storage import storable

#: Log-odds beyond which a label is as good as certain: no probability is exactly 0 or 1.
MAX_LOG_ODDS = 30.0


@storable
class BinaryRelevance(SetClassifier):
    """Independent labels.

    Parameters
    ----------
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns each label. A scikit-learn classifier needs ``predict_proba``.
    C : float or "auto"
        Inverse strength of the penalty, in scikit-learn's terms; for "logistic" and "elastic".
        "auto" takes the one that is best on held-out rows, by their log-likelihood.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    max_iter : int
        Cap on the iterations of "logistic" and "elastic", or trees a label of "boosting".
    random_state : int
        Seeds what chance decides: the order of rows in a solver, rows held out for tuning.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    bank_ : the fitted learner of all labels
    chosen_ : what was chosen where "auto" was given
    label_names_ : tuple of the labels' names

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = BinaryRelevance(C=10).fit(X, [{"low"}, {"low"}, {"high"}, {"high"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('low',), ('high',)]
    >>> round(float(model.predict_dist(np.array([[3.0]])).mode()[1][0]), 2)
    -0.02
    """

    about: ClassVar[About] = About(
        paper="Boutell 2004; Li 2019, 4.1",
        joint=False,
        learners=ANY_LEARNER,
        cost="n d L",
        why_not=LABELS_APART,
    )

    def __init__(
        self,
        learner: Any = "logistic",
        *,
        C: float | str = 1.0,
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
        C: Any = self.C
        if is_auto(C, self.learner):
            C = self._best_C(X, Y, sample_weight, groups)
        bank = self._bank(C).fit(X, Y, sample_weight=sample_weight)
        return {"bank_": bank, "chosen_": {"C": C} if self.C == "auto" else {}}

    def with_chosen_C(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any = None, groups: Any = None
    ) -> BinaryRelevance:
        """A copy, not fitted, whose C is a number: the one that held-out rows like best."""
        model: BinaryRelevance = clone(self)
        if is_auto(self.C, self.learner):
            model.C = self._best_C(X, Y, sample_weight, groups)
        return model

    def _best_C(self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any) -> float:
        train, test = held_out_parts(Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state)
        weight = None if sample_weight is None else sample_weight[train]
        judges = 1.0 if sample_weight is None else sample_weight[test][:, None]
        truth = Y[test].toarray()
        X = in_single_precision(X)

        def score(C: float) -> float:
            bank = self._bank(C)
            bank.tol = max(bank.tol, ROUGH_TOL)
            with warnings.catch_warnings():  # a strength that takes too long is not for long
                warnings.simplefilter("ignore", NotConverged)
                bank.fit(X[train], Y[train], sample_weight=weight)
            z = bank.logits(X[test])
            return -float((judges * (np.logaddexp(0, z) - truth * z)).mean())

        return climb_both_ways(STRENGTHS, MIDDLE, score)[0]

    def _bank(self, C: float) -> Any:
        return make_bank(
            self.learner,
            C=C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _distribution(self, X: Any) -> Product:
        logits = np.asarray(self.bank_.logits(X), dtype=np.float64)
        logits = logits.clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)

    def _iterations(self) -> int:
        return int(getattr(self.bank_, "n_iter_", 1))
