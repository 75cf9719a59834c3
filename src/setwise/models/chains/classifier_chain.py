"""Classifier chains: each label depends on x and on the labels before it.

    p(y|x) = prod over i of  p(y_i | x, y_1 ... y_{i-1})

Hong, Batal and Hauskrecht (2015), section 3; Read et al. (2009), who predict greedily; Dembczyński
et al. (2010), who look for the likeliest set. Both are one distribution here, searched in different
ways. Logistic regressions are learnt for all places of the chain at once (``masked_bank``), other
learners place by place, elastic nets on columns that all places share (``steps``).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.decisions import Decision
from setwise.distributions.chain import Chain
from setwise.distributions.chain_search import ChainSearch
from setwise.distributions.step_chain import StepChain
from setwise.errors import DataError
from setwise.learners import ElasticNetBank, make_bank
from setwise.learners.linear import linear_scores
from setwise.models.about import ANY_LEARNER, About
from setwise.models.base import SetClassifier
from setwise.models.binary_relevance import MAX_LOG_ODDS
from setwise.models.chains.network import (
    C_LABELS,
    best_strength,
    chain_parents,
    check_strengths,
    fit_network,
)
from setwise.models.chains.order import ORDERS, given_order, learn_order, simple_order
from setwise.models.chains.steps import (
    conditional_of,
    elastic_steps,
    labels_before,
    learnt_steps,
)
from setwise.models.held_out import held_out_parts
from setwise.models.strength import HELD_OUT_SHARE
from setwise.storage import storable


@storable
class ClassifierChain(SetClassifier):
    """A chain of classifiers, each with the labels before its own as features.

    Parameters
    ----------
    order : {"frequency", "given", "random", "learned"} or sequence of labels
        The order of the chain: most frequent first, by column, by chance, greedily by the
        log-likelihood of held-out rows (Algorithm 2), or these labels, by name or by number.
    search : {"a_star", "beam", "greedy", "exhaustive", "epsilon", "uniform_cost"}
        How the likeliest sets are looked for, see ``setwise.distributions.chain_search``. "greedy"
        makes this the original classifier chain.
    width : int
        Prefixes that "beam" keeps.
    epsilon : float
        The least probability of a prefix that "epsilon" follows.
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns each label. A scikit-learn classifier needs ``predict_proba``. A learnt order is
        found with logistic regressions, whatever the learner.
    C : float or "auto"
        Inverse strength of the penalty on features, in scikit-learn's terms; for "logistic" and
        "elastic". "auto", for "logistic", takes the one that is best on held-out rows, by their
        log-likelihood.
    C_labels : float
        The same for the labels that a label depends on.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    max_iter : int
        Cap on the iterations of the solver, or trees a label of "boosting".
    random_state : int
        Seeds what chance decides: a random order, rows held out.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    order_ : array (L,), the label numbers in the order of the chain
    weights_ : array (d, L); biases_ : array (L,); of linear learners
    label_weights_ : array (L, L); [j, i] is what label j adds to the log-odds of label i
    banks_ : list of L fitted learners, in the order of the chain; of other learners
    chosen_ : what was chosen where "auto" was given
    label_names_ : tuple of the labels' names

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = ClassifierChain(C=10).fit(X, [{"a"}, {"a"}, {"b", "c"}, {"b", "c"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('b', 'c')]
    >>> bool(model.label_weights_[0, 1] < 0)
    True
    """

    about: ClassVar[About] = About(
        paper="Read 2009; Dembczyński 2010",
        joint=True,
        learners=ANY_LEARNER,
        cost="n (d + L) L",
    )

    def __init__(
        self,
        order: Any = "frequency",
        *,
        search: str = "a_star",
        width: int = 15,
        epsilon: float = 0.25,
        learner: Any = "logistic",
        C: float | str = 1.0,
        C_labels: float = C_LABELS,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.search = search
        self.width = width
        self.epsilon = epsilon
        self.learner = learner
        self.C = C
        self.C_labels = C_labels
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        self._search()  # refuses what it does not know before anything is learnt
        check_strengths(self.C, self.C_labels)
        logistic = isinstance(self.learner, str) and self.learner == "logistic"
        if self.C == "auto" and not logistic:
            raise DataError(
                f'C="auto" is for the learner "logistic", not {self.learner!r}; pass a number'
            )
        dense = Y.toarray().astype(np.float64)
        learned = isinstance(self.order, str) and self.order == "learned"
        order: Any = None if learned else self._order(dense, sample_weight)
        parts = None
        if learned or self.C == "auto":
            parts = held_out_parts(Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state)
        C: Any = self.C
        if C == "auto" and parts is not None:
            first = simple_order("frequency", dense, sample_weight, None) if learned else order
            C = best_strength(
                X, dense, sample_weight, parts, chain_parents(first), self.C_labels,
                max_iter=self.max_iter, n_jobs=self.n_jobs,
            )  # fmt: skip
        if learned and parts is not None:
            order = learn_order(
                X, dense, *parts, C=C, C_labels=self.C_labels, weight=sample_weight,
                max_iter=self.max_iter, n_jobs=self.n_jobs,
            )  # fmt: skip
        if not logistic:
            return {"order_": order, "chosen_": {}} | self._steps(X, dense, order, sample_weight)
        found = fit_network(
            X, dense, chain_parents(order), C=C, C_labels=self.C_labels, weight=sample_weight,
            max_iter=self.max_iter, n_jobs=self.n_jobs,
        )  # fmt: skip
        if self.verbose:
            print(f"chain of {dense.shape[1]} labels: objective {found.objective.sum():.6g}")
        return {
            "order_": order,
            "weights_": found.features,
            "biases_": found.biases,
            "label_weights_": found.labels.astype(np.float64),
            "banks_": None,
            "solver_iterations_": found.n_iter,
            "chosen_": {"C": C} if self.C == "auto" else {},
        }

    def _steps(
        self, X: Any, Y: np.ndarray, order: np.ndarray, weight: np.ndarray | None
    ) -> dict[str, Any]:
        """What other learners learn: weights if they are linear, else a bank for each place."""

        def make() -> Any:
            return make_bank(
                self.learner, C=self.C, max_iter=self.max_iter,  # type: ignore[arg-type]
                random_state=self.random_state, n_jobs=self.n_jobs,
            )  # fmt: skip

        bank, scale = make(), self._scale
        if isinstance(bank, ElasticNetBank):
            return elastic_steps(X, Y, order, bank, scale=scale, weight=weight)
        before = labels_before(order)
        return learnt_steps(X, Y, order, before, make, scale=scale, weight=weight)

    @property
    def _scale(self) -> float:
        """What labels are multiplied by: as in ``masked_bank`` where there is a penalty."""
        penalised = isinstance(self.learner, str) and self.learner == "elastic"
        return float(np.sqrt(self.C_labels / float(self.C))) if penalised else 1.0

    def _order(self, Y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if not isinstance(self.order, str):
            return given_order(self.order, self.label_names_)
        if self.order not in ORDERS:
            raise DataError(
                f"order is one of {', '.join(ORDERS)}, or a list of labels, not {self.order!r}"
            )
        return simple_order(self.order, Y, weight, self.random_state)

    def _search(self) -> ChainSearch:
        return ChainSearch(self.search, self.width, self.epsilon)

    def _distribution(self, X: Any) -> Chain | StepChain:
        if self.banks_ is not None:
            conditional = conditional_of(self.banks_, X, self._scale, MAX_LOG_ODDS)
            rows = np.arange(X.shape[0])
            return StepChain(conditional, rows, self.order_, self._search(), self.allow_empty_)
        logits = linear_scores(X, self.weights_, self.biases_, self.n_jobs).astype(np.float64)
        return Chain(
            logits, self.label_weights_, self.order_, self._search(), self.allow_empty_,
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def _iterations(self) -> int:
        return int(self.solver_iterations_)
