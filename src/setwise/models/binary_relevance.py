"""Binary relevance: one independent classifier a label.

    p(y|x) = prod over l of  p(y_l | x)

The simplest model, the baseline of all the papers, and the first stage of BR-rerank (Li 2019,
section 4.1). All labels are learnt at once, as one bank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.learners import make_bank
from setwise.models.base import SetClassifier
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
    C : float
        Inverse strength of the penalty, in scikit-learn's terms; for "logistic" and "elastic".
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
        bank = make_bank(
            self.learner,
            C=self.C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        return {"bank_": bank.fit(X, Y, sample_weight=sample_weight)}

    def _distribution(self, X: Any) -> Product:
        logits = np.asarray(self.bank_.logits(X), dtype=np.float64)
        logits = logits.clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)

    def _iterations(self) -> int:
        return int(getattr(self.bank_, "n_iter_", 1))
