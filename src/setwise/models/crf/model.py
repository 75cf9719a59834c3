"""The pairwise conditional random field: label scores that are linear in x, and pairs of labels.

    p(y|x) = exp[sum_l y_l (w_l.x + b_l) + sum_{l<m} theta_lm[y_l, y_m]] / Z(x)

Ghamrawi and McCallum (2005); Li (2019), section 1.3.1. A pair has four weights, one for each of its
values, which do not depend on x (``potentials`` says which part of them matters). Z(x) sums over
2^L sets: over all of them for few labels, else over those that training has (support inference), or
over those of the labels that a binary relevance model leaves in doubt (binary-pruned inference).
Learning maximises the likelihood under the same sum that prediction uses.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from setwise.data.arguments import check_count, check_over_zero
from setwise.data.labels import distinct_sets
from setwise.decisions import Decision
from setwise.distributions import Distribution, Support
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.errors import DataError
from setwise.learners import make_bank
from setwise.learners.bank_problem import in_precision
from setwise.learners.linear import linear_scores
from setwise.models.about import About
from setwise.models.base import SetClassifier
from setwise.models.crf.listed import Likelihood, OnList
from setwise.models.crf.potentials import all_sets, four_weights, linear_part, pair_scores
from setwise.models.crf.pruned import OnFree, pruned, pruned_distribution
from setwise.models.crf.solve import TOL, Strength, fit_field
from setwise.models.strength import best_C, is_auto
from setwise.storage import storable

INFERENCES = ("support", "pruned", "exact")
LEARNERS = ("logistic", "elastic")
MOST_LABELS = 15  # of which all sets are listed
MOST_FREE = 16  # labels of a row that may be free


@storable
class PairwiseCRF(SetClassifier):
    """A conditional random field on pairs of labels.

    Parameters
    ----------
    learner : {"logistic", "elastic"}
        The penalty: squares, or an elastic net, under which many weights are exactly zero. The
        scores are linear in x by the nature of the model, so that no other learner fits.
    inference : {"support", "pruned", "exact"}
        Which sets the sums are over: those seen in training; those of the labels in doubt; or all
        2^L, for up to 15 labels.
    C : float or "auto"
        Inverse strength of the penalty on features, in scikit-learn's terms. "auto" takes the one
        that is best on held-out rows, by their log-likelihood.
    C_pairs : float, optional
        The same for the four weights of each pair; as ``C`` unless given.
    l1_ratio : float
        Share of magnitudes in the elastic net.
    prune : float
        For "pruned": a label that binary relevance gives a probability below this, or above one
        minus this, is settled.
    max_free : int
        For "pruned": labels of a row that are free at most, the most doubtful ones. Work and
        memory grow as 2^max_free.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``; "f1" is CRF+GFM.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    max_iter : int
        Cap on the iterations of the solver.
    tol : float
        How far the objective may be above its minimum, relative to it, by the solver's estimate.
    random_state : int
        Seeds rows held out to tune decisions, and the binary relevance of "pruned".
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    weights_ : array (d, L); biases_ : array (L,)
    interactions_ : array (L, L), symmetric; [l, m] is what l and m add to the score of a set with
        both, beyond what each adds by itself
    pair_weights_ : array (L, L, 2, 2); [l, m, a, b] for l < m is theta_lm[a, b]
    sets_ : CSR array (m, L), the sets of "support"
    bank_ : the binary relevance of "pruned"
    chosen_ : what was chosen where "auto" was given
    label_names_ : tuple of the labels' names

    Notes
    -----
    Under "support" a set that training does not have is impossible: its log-probability is -inf.
    Under "pruned" so is a set that differs from binary relevance in a settled label.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PairwiseCRF(C=10).fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('a', 'b')]
    >>> round(float(model.predict_dist(np.array([[3.0]])).mode()[1][0]), 2)
    -0.02
    """

    about: ClassVar[About] = About(
        paper="Ghamrawi 2005; Li 2019, 1.3.1",
        joint=True,
        learners="logistic, elastic net",
        cost="n (d L + L m), m distinct sets",
    )

    def __init__(
        self,
        learner: str = "logistic",
        *,
        inference: str = "support",
        C: float | str = 1.0,
        C_pairs: float | None = None,
        l1_ratio: float = 0.5,
        prune: float = 0.01,
        max_free: int = 10,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 500,
        tol: float = TOL,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.inference = inference
        self.C = C
        self.C_pairs = C_pairs
        self.l1_ratio = l1_ratio
        self.prune = prune
        self.max_free = max_free
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def pair_weights_(self) -> np.ndarray:
        """The four weights of each pair l < m, (L, L, 2, 2); zero elsewhere."""
        check_is_fitted(self, "interactions_")
        return four_weights(self.interactions_)

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        C: Any = self.C
        self._checked(1.0 if is_auto(C) else C, Y.shape[1])  # before anything takes time
        if is_auto(C):
            C = best_C(self, X, Y, sample_weight, groups)
        strength = self._checked(C, Y.shape[1])
        X = in_precision(X, None)  # refuses entries whose squares overflow
        if sample_weight is not None:  # a row that weighs nothing adds no set
            X, Y, sample_weight = (part[sample_weight > 0] for part in (X, Y, sample_weight))
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        dense = Y.toarray().astype(np.float64)
        likelihood, learnt = self._likelihood(X, Y, dense, weight, C)
        field = fit_field(
            *(X, dense, weight, likelihood, strength),
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )
        if self.verbose:
            print(f"field: {field.n_iter} iterations, objective {field.objective:.6g}")
        return learnt | {
            "weights_": field.weights,
            "biases_": field.biases - linear_part(field.interactions).astype(X.dtype),
            "interactions_": field.interactions.astype(np.float64),
            "objective_": field.objective,
            "solver_iterations_": field.n_iter,
            "chosen_": {"C": C} if self.C == "auto" else {},
        }

    def _likelihood(
        self, X: Any, Y: sparse.csr_array, dense: np.ndarray, weight: np.ndarray, C: float
    ) -> tuple[Likelihood, dict[str, Any]]:
        """What is to be maximised, and what prediction needs besides the field."""
        if self.inference == "support":
            support = distinct_sets(Y)
            sets = support.sets.astype(X.dtype)
            return OnList(sets, support.inverse, weight), {"sets_": support.sets, "bank_": None}
        if self.inference == "exact":
            number = dense.astype(np.int64) @ (1 << np.arange(Y.shape[1]))
            every = sparse.csr_array(all_sets(Y.shape[1]).astype(X.dtype))
            return OnList(every, number, weight), {"sets_": None, "bank_": None}
        bank = make_bank(
            "logistic",
            C=C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(X, Y, sample_weight=weight)
        doubts = self._pruning(bank.logits(X), dense)
        return OnFree(doubts, dense, weight), {"sets_": None, "bank_": bank}

    def _distribution(self, X: Any) -> Distribution:
        Z = linear_scores(X, self.weights_, self.biases_, self.n_jobs).astype(np.float64)
        Z += linear_part(self.interactions_)  # and q_lm for pairs that are on: see potentials
        if self.inference == "pruned":
            doubts = self._pruning(self.bank_.logits(X))
            return pruned_distribution(Z, self.interactions_, doubts, allow_empty=self.allow_empty_)
        n, L = Z.shape
        sets = self.sets_ if self.sets_ is not None else sparse.csr_array(all_sets(L))
        pairs = pair_scores(sets.astype(np.float64), self.interactions_)

        def make(numbers: np.ndarray) -> Support:
            scores = (sets @ Z[numbers].T).T + pairs  # by the labels that are on alone
            return Support(sets, np.asarray(scores), allow_empty=self.allow_empty_)

        size = max(1, BATCH_CELLS // len(pairs))
        return (
            make(np.arange(n))
            if n <= size
            else Batched(make, np.arange(n), L, size, self.allow_empty_)
        )

    def _pruning(self, logits: np.ndarray, Y: np.ndarray | None = None) -> Any:
        return pruned(logits, limit=self.prune, max_free=self.max_free, Y=Y)

    def _checked(self, C: float, n_labels: int) -> Strength:
        """The strengths, if all parameters can be used."""
        for name, value, known in (
            ("learner", self.learner, LEARNERS),
            ("inference", self.inference, INFERENCES),
        ):
            if not isinstance(value, str) or value not in known:
                raise DataError(f"{name} is one of {', '.join(known)}, not {value!r}; pass one")
        C_pairs = C if self.C_pairs is None else self.C_pairs
        check_over_zero("C", C)
        check_over_zero("C_pairs", C_pairs)
        if not 0 < self.l1_ratio <= 1:
            raise DataError(
                f"l1_ratio is over 0 and up to 1, not {self.l1_ratio!r}; "
                'for squares alone use learner="logistic"'
            )
        if not 0 < self.prune < 0.5:
            raise DataError(f"prune is between 0 and 0.5, not {self.prune!r}; try 0.01")
        check_count("max_free", self.max_free, at_least=1)
        check_count("max_iter", self.max_iter, at_least=1)
        if self.max_free > MOST_FREE:
            raise DataError(
                f"max_free is at most {MOST_FREE}, not {self.max_free}: each row has "
                "2^max_free sets; lower it"
            )
        if self.inference == "exact" and n_labels > MOST_LABELS:
            raise DataError(
                f'inference="exact" lists all 2^L sets, for up to {MOST_LABELS} labels, but there '
                f'are {n_labels}; use inference="support" or "pruned"'
            )
        return Strength(C, C_pairs, self.l1_ratio if self.learner == "elastic" else 0.0)

    def _iterations(self) -> int:
        return int(self.solver_iterations_)
