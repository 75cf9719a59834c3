"""Mixtures of chains or trees, each in charge of a part of the feature space (MCC and MCTBN).

    p(y|x) = sum over k of  g_k(x) p_k(y|x)

Hong, Batal and Hauskrecht (2015). Experts are added one by one: the structure of the next is learnt
from rows weighted by how badly the mixture predicts them, 1 - p(y|x) (section 4.3.2), then all
parameters by EM (``experts_em``). Growth ends when the log-likelihood of rows held out inside no
longer rises, by more than its standard error: where rows are few, any rise would do for noise. The
parameters are then learnt again from all rows, with the structures as they are; a single expert
learns its structure from all rows as well.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count
from setwise.decisions import Decision
from setwise.distributions.chain import Chain
from setwise.distributions.chain_search import ChainSearch
from setwise.distributions.experts import Experts, given_any_label
from setwise.distributions.label_tree import LabelTree
from setwise.errors import DataError
from setwise.learners.linear import linear_scores
from setwise.models.about import About
from setwise.models.base import SetClassifier
from setwise.models.chains.classifier_chain import ClassifierChain
from setwise.models.chains.conditional_tree import (
    ConditionalTree,
    edges_of,
    given_parents,
    learn_tree,
    tree_strength,
)
from setwise.models.chains.experts_em import Mixture, Strengths, e_step, fit_expert, run_em
from setwise.models.chains.network import best_strength, chain_parents, check_strengths
from setwise.models.chains.order import ORDERS, given_order, learn_order, simple_order
from setwise.models.folds import n_units
from setwise.models.held_out import held_out_parts
from setwise.models.strength import HELD_OUT_SHARE
from setwise.storage import storable

GATES = (1.0, 0.1)  # what "auto" tries for C_gate, in units of the C of one expert
LAST_EM = 3  # times as many steps of EM with the final structures
LEAST_ROWS = 10  # with fewer, nothing is held out and there is one expert
LEAST_UNITS = 3  # the same for groups of rows: rows are held out twice, the second time of the rest


class Grown(NamedTuple):
    """Structures, the held-out log-likelihood by their number, their mixture, and its gate's C."""

    structures: list[np.ndarray]
    growth: list[float]
    mixture: Mixture
    C_gate: float


def surely_positive(gains: np.ndarray, weight: np.ndarray) -> bool:
    """Whether the weighted mean of gains (n,) is above its own standard error.

    >>> surely_positive(np.array([1.0, 2.0, 1.5]), np.ones(3))
    True
    """
    mean = np.average(gains, weights=weight)
    error = np.sqrt((weight**2 * (gains - mean) ** 2).sum()) / weight.sum()
    return bool(mean > error)


@storable
class MixtureOfExperts(SetClassifier):
    """Chains or trees under a softmax gate.

    Parameters
    ----------
    expert : ClassifierChain or ConditionalTree, optional
        What an expert is: its structure, search and penalties are taken from there. A chain in a
        learnt order by default. With K experts each is penalised K times less than a single one.
    max_experts : int
        The most experts there may be.
    C_gate : float or "auto"
        Inverse strength of the penalty on the gate. "auto" takes the C of one expert or a tenth of
        it: what two experts are best with on held-out rows, by their log-likelihood.
    annealing : int
        Steps of simulated annealing that predictions are looked for by (150 in the paper); 0: the
        threshold algorithm over the experts' own lists, which proves what it finds.
    max_em : int
        Steps of EM at most each time that an expert is added; three times as many at the end.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    random_state : int
        Seeds what chance decides: rows held out, random orders.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        1 prints a line for each number of experts.

    Attributes
    ----------
    structures_ : array (K, L), orders of chains, or parents of trees
    weights_ : array (K, d, L); biases_ : array (K, L); label_weights_ : array (K, L, L)
    gate_ : the fitted gate, None where one expert is left
    growth_ : the mean log-likelihood of held-out rows with 1, 2, ... experts
    chosen_ : what was chosen where the expert's C, or C_gate, is "auto"
    label_names_ : tuple of the labels' names

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = MixtureOfExperts().fit(X, [{"a"}, {"a"}, {"b"}, {"b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('b',)]
    """

    about: ClassVar[About] = About(
        paper="Hong 2015, 4",
        joint=True,
        learners="logistic",
        cost="n (d + L) L K²",
    )

    def __init__(
        self,
        expert: Any = None,
        *,
        max_experts: int = 10,
        C_gate: float | str = "auto",
        annealing: int = 0,
        max_em: int = 10,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.expert = expert
        self.max_experts = max_experts
        self.C_gate = C_gate
        self.annealing = annealing
        self.max_em = max_em
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        self._check()
        if sample_weight is not None:
            counts = sample_weight > 0
            X, Y, sample_weight = X[counts], Y[counts], sample_weight[counts]
            groups = None if groups is None else groups[counts]
        dense = Y.toarray().astype(np.float64)
        weight = np.ones(len(dense)) if sample_weight is None else sample_weight
        base = self._base
        few = len(dense) < LEAST_ROWS or n_units(None, groups, len(dense)) < LEAST_UNITS
        C: Any = base.C
        parts = None
        if not few or C == "auto":
            parts = held_out_parts(Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state)
        if C == "auto" and parts is not None:
            C = self._strength(X, dense, sample_weight, parts)
        if few or parts is None:
            structure = self._simple_structure(dense, weight)
            grown = Grown([structure], [], self._first(X, dense, weight, structure, C), C)
        else:
            own = None if groups is None else groups[parts[0]]
            grown = self._grow(X, dense, weight, parts, own, C)
            if len(grown.structures) == 1:  # the expert alone, which learns from all rows
                structure = self._structure(X, dense, weight, parts, C, 0)
                alone = self._first(X, dense, weight, structure, C)
                grown = Grown([structure], grown.growth, alone, C)
        strengths = self._strengths(C, grown.C_gate, len(grown.structures))
        last = LAST_EM * self.max_em
        mixture, _ = run_em(grown.mixture, X, dense, weight, strengths, max_iter=last)
        chosen = {"C": C} if base.C == "auto" else {}
        if self.C_gate == "auto" and mixture.gate is not None:
            chosen["C_gate"] = grown.C_gate
        return {
            "structures_": np.stack(grown.structures),
            "weights_": np.stack([expert.features for expert in mixture.experts]),
            "biases_": np.stack([expert.biases for expert in mixture.experts]),
            "label_weights_": np.stack(
                [expert.labels.astype(np.float64) for expert in mixture.experts]
            ),
            "gate_": mixture.gate,
            "growth_": grown.growth,
            "chosen_": chosen,
        }

    def _grow(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray,
        parts: tuple[np.ndarray, np.ndarray],
        groups: np.ndarray | None,
        C: float,
    ) -> Grown:
        """Structures and a mixture of them that held-out rows like best (section 4.3.2)."""
        train, test = parts
        X_train, Y_train, w_train = X[train], Y[train], weight[train]
        inner = held_out_parts(
            sparse.csr_array(Y_train), w_train, groups, HELD_OUT_SHARE, self.random_state
        )
        gates = [C * share for share in GATES] if self.C_gate == "auto" else [float(self.C_gate)]
        structures: list[np.ndarray] = []
        growth: list[float] = []
        best: Mixture | None = None
        hard, before = w_train, np.zeros(len(test))
        for number in range(self.max_experts):
            structure = self._structure(X_train, Y_train, hard, inner, C, number)
            mixtures = [self._first(X_train, Y_train, hard, structure, C)]
            if best is not None:
                mixtures = [
                    self._joined(best, mixtures[0], X_train, Y_train, w_train, C, gate)
                    for gate in gates
                ]
            judged = [mixture.log_prob(X[test], Y[test]) for mixture in mixtures]
            scores = [float(np.average(row, weights=weight[test])) for row in judged]
            at = int(np.argmax(scores))
            if self.verbose:
                print(f"{number + 1} experts: log-likelihood of held-out rows {scores[at]:.5g}")
            growth.append(scores[at])
            if best is not None:
                if not surely_positive(judged[at] - before, weight[test]):
                    break
                gates = [gates[at]]
            structures.append(structure)
            best, before = mixtures[at], judged[at]
            missed = -np.expm1(e_step(best.log_joint(X_train, Y_train))[1])
            hard = w_train * np.maximum(missed, 1e-12)
            hard *= w_train.sum() / hard.sum()
        assert best is not None  # as max_experts is at least one
        return Grown(structures, growth, best, gates[0])

    def _strength(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray | None,
        parts: tuple[np.ndarray, np.ndarray],
    ) -> float:
        """The C that is best for one expert, as the expert itself would choose it."""
        base: Any = self._base
        if isinstance(base, ConditionalTree):
            learned = isinstance(base.structure, str)
            given = None if learned else given_parents(base.structure, self.label_names_)
            return tree_strength(X, Y, weight, parts, given, base.C_labels, n_jobs=self.n_jobs)
        edges = chain_parents(simple_order("frequency", Y, weight, None))
        return best_strength(X, Y, weight, parts, edges, base.C_labels, n_jobs=self.n_jobs)

    def _first(
        self, X: Any, Y: np.ndarray, weight: np.ndarray, structure: np.ndarray, C: float
    ) -> Mixture:
        """One expert alone."""
        edges = self._edges(structure)
        expert = fit_expert(X, Y, edges, weight, self._strengths(C, 1.0, 1))
        return Mixture((edges,), (expert,), None)

    def _joined(
        self,
        old: Mixture,
        new: Mixture,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray,
        C: float,
        C_gate: float,
    ) -> Mixture:
        """A mixture with one expert more, which begins with an equal share everywhere, by EM."""
        K = len(old.experts) + 1
        log_joint = np.hstack(
            [old.log_joint(X, Y) + np.log((K - 1) / K), new.log_joint(X, Y) - np.log(K)]
        )
        both = Mixture(old.edges + new.edges, old.experts + new.experts, None)
        strengths, shares = self._strengths(C, C_gate, K), e_step(log_joint)[0]
        return run_em(both, X, Y, weight, strengths, shares=shares, max_iter=self.max_em)[0]

    def _structure(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray,
        parts: tuple[np.ndarray, np.ndarray],
        C: float,
        number: int,
    ) -> np.ndarray:
        """The next expert's order or parents, from weighted rows."""
        base: Any = self._base
        options = {"C": C, "C_labels": base.C_labels, "weight": weight, "n_jobs": self.n_jobs}
        if isinstance(base, ConditionalTree):
            if not isinstance(base.structure, str):
                return given_parents(base.structure, self.label_names_)
            return learn_tree(X, Y, *parts, **options)
        if not isinstance(base.order, str):
            return given_order(base.order, self.label_names_)
        if base.order == "learned":
            return learn_order(X, Y, *parts, **options)
        seed = None if self.random_state is None else self.random_state + number
        return simple_order(base.order, Y, weight, seed)

    def _simple_structure(self, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """What needs no rows held out."""
        if isinstance(self._base, ConditionalTree):
            return np.full(Y.shape[1], -1)
        return simple_order("frequency", Y, weight, None)

    def _edges(self, structure: np.ndarray) -> np.ndarray:
        tree = isinstance(self._base, ConditionalTree)
        return edges_of(structure) if tree else chain_parents(structure)

    def _strengths(self, C: float, C_gate: float, n_experts: int) -> Strengths:
        # Otherwise growth ends at one: the penalty of K experts is K times that of one.
        base = self._base
        return Strengths(n_experts * C, n_experts * base.C_labels, C_gate, self.n_jobs)

    @property
    def _base(self) -> ClassifierChain | ConditionalTree:
        if self.expert is None:
            return ClassifierChain("learned")
        given: ClassifierChain | ConditionalTree = self.expert
        return given

    def _check(self) -> None:
        base = self._base
        if not isinstance(base, ClassifierChain | ConditionalTree):
            raise DataError(
                f"expert is a ClassifierChain or a ConditionalTree, not {self.expert!r}; pass one"
            )
        check_count("max_experts", self.max_experts, at_least=1)
        check_count("max_em", self.max_em, at_least=1)
        check_count("annealing", self.annealing, at_least=0)
        check_strengths(base.C, base.C_labels)
        check_strengths(self.C_gate, 1.0, "C_gate")
        if isinstance(base, ConditionalTree):
            if isinstance(base.structure, str) and base.structure != "learned":
                raise DataError(f'structure is "learned" or parents, not {base.structure!r}')
        else:
            if not isinstance(base.learner, str) or base.learner != "logistic":
                raise DataError(f'experts are "logistic", not {base.learner!r}; leave the learner')
            search = ChainSearch(base.search, base.width, base.epsilon)
            if search.kind == "greedy" and not self.annealing:
                raise DataError(
                    'search="greedy" finds one set of an expert, and the threshold algorithm needs '
                    'several; use search="a_star" or "beam", or annealing=150'
                )
            if isinstance(base.order, str) and base.order not in ORDERS:
                raise DataError(f"order is one of {', '.join(ORDERS)}, not {base.order!r}")

    def _distribution(self, X: Any) -> Experts:
        experts = [self._expert(X, k) for k in range(len(self.structures_))]
        log_pi = Mixture((), (), self.gate_).log_gate(X)
        if not self.allow_empty_:
            log_pi = given_any_label(log_pi, np.stack([e.log_any for e in experts], axis=1))
        return Experts(log_pi, experts, self.annealing)

    def _expert(self, X: Any, k: int) -> Chain | LabelTree:
        base = self._base
        z = linear_scores(X, self.weights_[k], self.biases_[k], self.n_jobs).astype(np.float64)
        if isinstance(base, ConditionalTree):
            logits = np.stack([z, z + self.label_weights_[k].sum(axis=0)], axis=1)
            return LabelTree(logits, self.structures_[k], self.allow_empty_, self.n_jobs)
        search = ChainSearch(base.search, base.width, base.epsilon)
        return Chain(
            z, self.label_weights_[k], self.structures_[k], search, self.allow_empty_,
            n_jobs=self.n_jobs,
        )  # fmt: skip
