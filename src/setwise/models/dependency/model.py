"""Conditional dependency networks: each label given x and all other labels, sampled by Gibbs.

    P(y_l | x, y_1 ... y_{l-1}, y_{l+1} ... y_L)   for each label l

Guo and Gu (2011); Li (2019), section 1.3.1. The conditionals are learnt apart, as binary problems
with the other labels as features, and need not belong to one joint distribution: p(y|x) is what
Gibbs sampling settles to when labels take their turns in a fixed order, the most frequent first.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count, check_counts
from setwise.decisions import Decision
from setwise.distributions import Distribution, Sampled
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.errors import DataError
from setwise.learners import make_bank
from setwise.learners.bank_inputs import smoothed_log_odds
from setwise.learners.linear import linear_scores
from setwise.models.about import ANY_LEARNER, About
from setwise.models.base import SetClassifier
from setwise.models.binary_relevance import MAX_LOG_ODDS
from setwise.models.chains.network import best_strength, check_strengths, fit_network
from setwise.models.chains.order import simple_order
from setwise.models.chains.steps import all_others, conditional_of, learnt_steps
from setwise.models.dependency.gibbs import (
    draw_luck,
    linear_samples,
    step_samples,
    without_empty_rows,
)
from setwise.models.dependency.stuck import (
    MOST_ROWS,
    Stuck,
    pairs_by_correlation,
    pairs_by_weight,
    stuck_rows,
    warn_if_stuck,
)
from setwise.models.held_out import held_out_parts
from setwise.models.strength import HELD_OUT_SHARE
from setwise.models.used_columns import put_back, with_used_columns
from setwise.storage import storable


@storable
class DependencyNetwork(SetClassifier):
    """A conditional dependency network (CDN).

    Parameters
    ----------
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns each label. A scikit-learn classifier needs ``predict_proba``. Linear learners
        are sampled by compiled code; others are asked again at each step of each sweep.
    C : float or "auto"
        Inverse strength of the penalty on features, in scikit-learn's terms; for "logistic" and
        "elastic". "auto", for "logistic", takes the one that is best on held-out rows, by the
        log-likelihood of each label given the others.
    C_labels : float
        The same for the other labels. They must not be penalised much less than features: the
        more they say, the less x does (see below).
    n_chains : int
        Chains for each row, which begin with labels drawn by their frequency.
    burn_in : int
        Sweeps of each chain that are not counted.
    n_samples : int
        Sets that are kept for each row, one a sweep, in equal numbers from all chains (rounded up
        to a multiple of ``n_chains``).
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    max_iter : int
        Cap on the iterations of the solver, or trees a label of "boosting".
    random_state : int
        Seeds the chains, and rows held out.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    order_ : array (L,), the label numbers in the order of their turns
    weights_ : array (d, L); biases_ : array (L,); of linear learners
    label_weights_ : array (L, L); [j, i] is what label j adds to the log-odds of label i
    banks_ : list of L fitted learners, in the order of the turns; of other learners
    stuck_ : float, the share of training rows in which two labels decide each other
    chosen_ : what was chosen where "auto" was given
    label_names_ : tuple of the labels' names

    Notes
    -----
    There is no formula for a set's probability: ``log_prob`` is the logarithm of the share of
    samples that are the set, -inf where none is, and no finer than 1 / ``n_samples``.

    Labels that decide each other, always together or never, are the model's documented failure:
    chains stay where they began. ``fit`` warns where it finds this.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = DependencyNetwork(C=10).fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('a', 'b')]
    """

    about: ClassVar[About] = About(
        paper="Guo 2011; Li 2019, 1.3.1",
        joint=False,
        learners=ANY_LEARNER,
        cost="n (d + L) L",
        why_not="samples alone, by Gibbs",
    )

    def __init__(
        self,
        learner: Any = "logistic",
        *,
        C: float | str = 1.0,
        C_labels: float = 1.0,
        n_chains: int = 10,
        burn_in: int = 100,
        n_samples: int = 1000,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.C = C
        self.C_labels = C_labels
        self.n_chains = n_chains
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        logistic = self._checked()
        C: Any = self.C
        if C == "auto":
            parts = held_out_parts(Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state)
            C = best_strength(
                with_used_columns(X)[0], Y.toarray().astype(np.float64), sample_weight, parts,
                _others(Y.shape[1]), self.C_labels, max_iter=self.max_iter, n_jobs=self.n_jobs,
            )  # fmt: skip
        weight = sample_weight
        if weight is not None:  # not every learner leaves out what weighs nothing
            X, Y, weight = X[weight > 0], Y[weight > 0], weight[weight > 0]
        dense = Y.toarray().astype(np.float64)
        order = simple_order("frequency", dense, weight, None)
        fitted = (
            self._network(X, dense, weight, C) if logistic else self._banks(X, dense, order, weight)
        )
        counts = np.ones(len(dense)) if weight is None else weight
        fitted |= {
            "order_": order,
            "start_": smoothed_log_odds(counts @ dense, counts.sum()),
            "chosen_": {"C": C} if self.C == "auto" else {},
        }
        found = _stuck(fitted, X, dense, self._scale)
        warn_if_stuck(found, self.label_names_)
        if self.verbose:
            print(f"network of {dense.shape[1]} labels: {found.share:.1%} of the rows stuck")
        return fitted | {"stuck_": found.share}

    def _network(
        self, X: Any, Y: np.ndarray, weight: np.ndarray | None, C: float
    ) -> dict[str, Any]:
        """All logistic regressions at once."""
        n_features, (X, used) = X.shape[1], with_used_columns(X)
        found = fit_network(
            X, Y, _others(Y.shape[1]), C=C, C_labels=self.C_labels, weight=weight,
            max_iter=self.max_iter, n_jobs=self.n_jobs,
        )  # fmt: skip
        return {
            "weights_": put_back(found.features, used, n_features),
            "biases_": found.biases,
            "label_weights_": found.labels.astype(np.float64),
            "banks_": None,
            "solver_iterations_": found.n_iter,
        }

    def _banks(
        self, X: Any, Y: np.ndarray, order: np.ndarray, weight: np.ndarray | None
    ) -> dict[str, Any]:
        """What other learners learn, label by label: weights if they are linear, else banks."""

        def make() -> Any:
            return make_bank(
                self.learner, C=self.C, max_iter=self.max_iter,  # type: ignore[arg-type]
                random_state=self.random_state, n_jobs=self.n_jobs,
            )  # fmt: skip

        others = all_others(order)
        return learnt_steps(X, Y, order, others, make, scale=self._scale, weight=weight)

    def _distribution(self, X: Any) -> Distribution:
        n, L = X.shape[0], len(self.label_names_)
        luck = draw_luck(
            self.start_, n_chains=self.n_chains, burn_in=self.burn_in, n_samples=self.n_samples,
            random_state=self.random_state,
        )  # fmt: skip

        def make(numbers: np.ndarray) -> Sampled:
            rows = X[numbers]
            alone = self._alone(rows)  # log-odds where no other label is on
            if self.banks_ is None:
                samples = linear_samples(alone, self.label_weights_, self.order_, luck, self.n_jobs)
            else:
                conditional = conditional_of(self.banks_, rows, self._scale, MAX_LOG_ODDS)
                samples = step_samples(conditional, np.arange(len(numbers)), self.order_, luck)
            if not self.allow_empty_:
                samples = without_empty_rows(samples, alone.argmax(axis=1))
            return Sampled(samples, allow_empty=self.allow_empty_)

        size = max(1, BATCH_CELLS // (luck.n_samples * L))
        if n <= size:
            return make(np.arange(n))
        return Batched(make, np.arange(n), L, size, self.allow_empty_)

    def _alone(self, X: Any) -> np.ndarray:
        """Log-odds of each label where no other is on, (n, L)."""
        if self.banks_ is None:
            scores = linear_scores(X, self.weights_, self.biases_, self.n_jobs)
            return scores.astype(np.float64)
        n, L = X.shape[0], len(self.order_)
        conditional = conditional_of(self.banks_, X, self._scale, MAX_LOG_ODDS)
        nothing, rows = np.zeros((n, L - 1), np.int8), np.arange(n)
        alone = np.empty((n, L))
        for i, label in enumerate(self.order_):
            alone[:, label] = conditional(i, rows, nothing)
        return alone

    @property
    def _scale(self) -> float:
        """What labels are multiplied by: as in ``masked_bank`` where there is a penalty."""
        penalised = isinstance(self.learner, str) and self.learner == "elastic"
        return float(np.sqrt(self.C_labels / float(self.C))) if penalised else 1.0

    def _checked(self) -> bool:
        """Whether the learner is "logistic", if all parameters can be used."""
        check_counts(n_chains=self.n_chains, n_samples=self.n_samples, max_iter=self.max_iter)
        check_count("burn_in", self.burn_in, at_least=0)
        check_strengths(self.C, self.C_labels)
        logistic = isinstance(self.learner, str) and self.learner == "logistic"
        if self.C == "auto" and not logistic:
            raise DataError(
                f'C="auto" is for the learner "logistic", not {self.learner!r}; pass a number'
            )
        return logistic

    def _iterations(self) -> int:
        return int(self.solver_iterations_)


def _others(n_labels: int) -> np.ndarray:
    """Each label has all others as parents, bool (L, L)."""
    return ~np.eye(n_labels, dtype=bool)


def _stuck(fitted: dict[str, Any], X: Any, Y: np.ndarray, scale: float) -> Stuck:
    """How many of some of the training rows are stuck."""
    rows = np.unique(np.linspace(0, len(Y) - 1, min(len(Y), MOST_ROWS)).astype(int))
    X, labels = X[rows], Y[rows]
    if fitted["banks_"] is None:
        label_weights = fitted["label_weights_"]
        alone = np.asarray(X @ fitted["weights_"]) + fitted["biases_"]

        def linear(label: int, given: np.ndarray) -> np.ndarray:
            odds: np.ndarray = alone[:, label] + given @ label_weights[:, label]
            return odds

        return stuck_rows(labels, pairs_by_weight(label_weights), linear)
    conditional = conditional_of(fitted["banks_"], X, scale, MAX_LOG_ODDS)
    order = fitted["order_"]
    turn = np.argsort(order)

    def asked(label: int, given: np.ndarray) -> np.ndarray:
        others = np.delete(given[:, order], turn[label], axis=1)
        return conditional(int(turn[label]), np.arange(len(given)), others)

    return stuck_rows(labels, pairs_by_correlation(labels), asked)
