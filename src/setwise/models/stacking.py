"""Stacked binary relevance: labels predicted again, from what a first stage says of the others.

    2BR    p_l = P(y_l = 1 | x, probabilities of all labels by binary relevance)
    DBR    p_l = P(y_l = 1 | x, the other labels themselves)

2BR (Godbole and Sarawagi 2004; Tsoumakas et al. 2009) learns its second stage from probabilities of
rows that the first stage has not seen, else it would trust them too much. DBR, dependent binary
relevance (Montañés et al. 2014), learns from true labels, and is given those that the first stage
predicts. Both know how labels go together but answer label by label: as a product.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit

from setwise.data.arguments import check_count
from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.learners import make_bank
from setwise.learners.linear import linear_scores
from setwise.metrics.options import check_choice
from setwise.models.about import ANY_LEARNER, LABELS_APART, About
from setwise.models.base import SetClassifier
from setwise.models.binary_relevance import MAX_LOG_ODDS, BinaryRelevance
from setwise.models.chains.network import C_LABELS, check_strengths, fit_network
from setwise.models.chains.steps import with_labels
from setwise.models.folds import dealt_out, n_units
from setwise.models.strength import LEARNERS_WITH_C
from setwise.storage import storable

KINDS = ("2BR", "DBR")


@storable
class StackedBinaryRelevance(SetClassifier):
    """Two stages of one classifier a label.

    Parameters
    ----------
    kind : {"2BR", "DBR"}
        Whether the second stage sees probabilities of all labels, or the other labels themselves.
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns each label.
    second_learner : the same kinds, optional
        What learns each label in the second stage, if not ``learner``.
    use_features : bool
        Whether the second stage sees the features too.
    C : float or "auto"
        Inverse strength of the penalty on features, in scikit-learn's terms; for "logistic" and
        "elastic". "auto" takes the one that is best for the first stage on held-out rows.
    C_labels : float
        The same for what the first stage says.
    n_folds : int
        Parts of the rows, each of which is predicted by a first stage of the others; for "2BR".
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    max_iter : int
        Cap on the iterations of "logistic" and "elastic", or trees a label of "boosting".
    random_state : int
        Seeds what chance decides: folds, rows held out.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    first_ : the fitted learner of the first stage
    second_ : that of the second stage; for "DBR" a list of one a label, or None
    weights_, biases_, label_weights_ : arrays (d, L), (L,) and (L, L) of a logistic second stage of
        "DBR"; [j, l] is what label j adds to the log-odds of label l
    chosen_ : what was chosen where "auto" was given
    label_names_ : tuple of the labels' names

    Notes
    -----
    There is no joint probability of labels: the distribution is the product of the second stage's.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = StackedBinaryRelevance("DBR", C=10).fit(X, [{"a"}, {"a"}, {"b", "c"}, {"b", "c"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('b', 'c')]
    >>> bool(model.label_weights_[1, 2] > 0 > model.label_weights_[0, 1])
    True
    """

    about: ClassVar[About] = About(
        paper="Godbole 2004; Montañés 2014",
        joint=False,
        learners=ANY_LEARNER,
        cost="n (d + L) L; with n d L for each fold",
        why_not=LABELS_APART,
    )

    def __init__(
        self,
        kind: str = "2BR",
        *,
        learner: Any = "logistic",
        second_learner: Any = None,
        use_features: bool = True,
        C: float | str = 1.0,
        C_labels: float = C_LABELS,
        n_folds: int = 5,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kind = kind
        self.learner = learner
        self.second_learner = second_learner
        self.use_features = use_features
        self.C = C
        self.C_labels = C_labels
        self.n_folds = n_folds
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        check_choice("kind", self.kind, KINDS)
        check_strengths(self.C, self.C_labels)
        check_count("n_folds", self.n_folds, at_least=2)
        C = self._strength(X, Y, sample_weight, groups)
        first = self._bank(C).fit(X, Y, sample_weight=sample_weight)
        common = {"first_": first, "C_": C, "chosen_": {"C": C} if self.C == "auto" else {}}
        if self.kind == "2BR":
            said = self._out_of_fold(first, X, Y, sample_weight, groups, C)
            joined = with_labels(self._seen(X), self._scale(C) * said)
            second: Any = self._bank(C, self._second()).fit(joined, Y, sample_weight=sample_weight)
            return common | {"second_": second, **_NO_WEIGHTS}
        return common | self._from_labels(X, Y.toarray().astype(np.float64), sample_weight, C)

    def _from_labels(self, X: Any, Y: np.ndarray, weight: Any, C: Any) -> dict[str, Any]:
        """The second stage of "DBR": all labels at once where they are logistic regressions."""
        others = ~np.eye(Y.shape[1], dtype=bool)
        learner = self._second()
        if isinstance(learner, str) and learner == "logistic":
            found = fit_network(
                self._seen(X), Y, others, C=C, C_labels=self.C_labels, weight=weight,
                max_iter=self.max_iter, n_jobs=self.n_jobs,
            )  # fmt: skip
            return {
                "second_": None,
                "weights_": found.features,
                "biases_": found.biases,
                "label_weights_": found.labels.astype(np.float64),
            }
        if weight is not None:  # not every learner leaves out what weighs nothing
            X, Y, weight = X[weight > 0], Y[weight > 0], weight[weight > 0]
        seen, scale = self._seen(X), self._scale(C)
        banks = [
            self._bank(C, learner).fit(
                with_labels(seen, scale * Y * others[label]), Y[:, [label]], sample_weight=weight
            )
            for label in range(Y.shape[1])
        ]
        return {"second_": banks, **_NO_WEIGHTS}

    def _out_of_fold(
        self, first: Any, X: Any, Y: sparse.csr_array, weight: Any, groups: Any, C: Any
    ) -> np.ndarray:
        """Probabilities (n, L) of each row by a first stage that has not seen it, if there can be.

        With a single row, or group, there is but the one that has.
        """
        if n_units(weight, groups, Y.shape[0]) < 2:
            return probabilities(first, X)
        part = dealt_out(Y, weight, groups, self.n_folds, self.random_state)
        said = np.empty(Y.shape)
        for number in range(part.max() + 1):
            inside, outside = np.flatnonzero(part == number), np.flatnonzero(part != number)
            own = None if weight is None else weight[outside]
            bank = self._bank(C).fit(X[outside], Y[outside], sample_weight=own)
            said[inside] = probabilities(bank, X[inside])
        return said

    def _distribution(self, X: Any) -> Product:
        said, seen = probabilities(self.first_, X), self._seen(X)
        scale = self._scale(self.C_)
        if self.kind == "2BR":
            logits = self.second_.logits(with_labels(seen, scale * said))
        else:
            labels = (said > 0.5).astype(np.float64)
            logits = self._given(seen, labels, scale)
        logits = np.asarray(logits, dtype=np.float64).clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)

    def _given(self, seen: Any, labels: np.ndarray, scale: float) -> np.ndarray:
        """Log-odds (n, L) of each label given the others."""
        if self.second_ is None:
            scores = linear_scores(seen, self.weights_, self.biases_, self.n_jobs)
            return np.asarray(scores + labels @ self.label_weights_)
        others = ~np.eye(labels.shape[1], dtype=bool)
        columns = [
            bank.logits(with_labels(seen, scale * labels * others[label]))[:, 0]
            for label, bank in enumerate(self.second_)
        ]
        return np.stack(columns, axis=1)

    def _strength(self, X: Any, Y: sparse.csr_array, weight: Any, groups: Any) -> Any:
        first = BinaryRelevance(
            self.learner, C=self.C, max_iter=self.max_iter, random_state=self.random_state,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        return first.with_chosen_C(X, Y, weight, groups).C if self.C == "auto" else self.C

    def _second(self) -> Any:
        """What learns the second stage."""
        return self.learner if self.second_learner is None else self.second_learner

    def _bank(self, C: Any, learner: Any = None) -> Any:
        return make_bank(
            self.learner if learner is None else learner,
            C=C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _seen(self, X: Any) -> Any:
        """The features that the second stage sees."""
        return X if self.use_features else X[:, :0]

    def _scale(self, C: Any) -> float:
        """What the first stage's answers are multiplied by, so that C_labels is their penalty."""
        learner = self._second()
        penalised = isinstance(learner, str) and learner in LEARNERS_WITH_C
        return float(np.sqrt(self.C_labels / float(C))) if penalised else 1.0

    def _iterations(self) -> int:
        return int(getattr(self.first_, "n_iter_", 1))


_NO_WEIGHTS: dict[str, Any] = {"weights_": None, "biases_": None, "label_weights_": None}


def probabilities(bank: Any, X: Any) -> np.ndarray:
    """P(y_l = 1) of each label by a bank, (n, L)."""
    p: np.ndarray = expit(np.asarray(bank.logits(X), dtype=np.float64))
    return p
