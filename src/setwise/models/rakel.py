"""RAkEL: power sets of small subsets of the labels (Tsoumakas, Katakis and Vlahavas 2011).

Disjoint subsets (RAkELd) give a joint probability: labels depend on each other inside a subset,

    p(y|x) = prod over subsets b of  softmax over the sets that training has in b

Overlapping ones (RAkELo) answer about the same label several times: its probability is the mean of
what the subsets with it say, or the share of those that predict it. There is then no joint
probability: the distribution is the product of these means.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count
from setwise.data.labels import distinct_sets
from setwise.data.randomness import as_generator
from setwise.decisions import Decision
from setwise.distributions import BlockProduct, Distribution, Product, Support
from setwise.errors import DataError
from setwise.learners import make_gate
from setwise.learners.workers import Workers
from setwise.metrics.options import check_choice
from setwise.models.about import ANY_LEARNER, About
from setwise.models.base import SetClassifier
from setwise.models.binary_relevance import MAX_LOG_ODDS
from setwise.models.powerset import one_class_a_row
from setwise.storage import storable

VOTINGS = ("probability", "votes")
SUBSETS_A_LABEL = 2  # overlapping, by default, as in the paper


@storable
class RAkEL(SetClassifier):
    """Power sets of random subsets of k labels.

    Parameters
    ----------
    k : int
        Labels of a subset; disjoint ones may leave fewer for the last.
    n_models : int, optional
        How many overlapping subsets; twice as many as labels by default, if there are so many
        different ones. Disjoint ones are as many as it takes.
    overlapping : bool
        Whether subsets may share labels.
    label_sets : list of lists of labels, optional
        The subsets themselves, labels by name or by number; ``k`` and ``n_models`` are not used.
    voting : {"probability", "votes"}
        What overlapping subsets say of a label: how likely it is, or whether it is in the set that
        they predict, as published.
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns the classes of a subset.
    C : float
        Inverse strength of the penalty, in scikit-learn's terms; for "logistic" and "elastic".
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    max_iter : int
        Cap on the iterations of "logistic" and "elastic", or trees a class of "boosting".
    random_state : int
        Seeds the subsets.
    n_jobs : int, optional
        Threads, each with a subset at a time; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    label_sets_ : list of arrays, the label numbers of each subset
    gates_ : list of the fitted learners; sets_ : list of CSR arrays, their classes
    label_names_ : tuple of the labels' names

    Notes
    -----
    Overlapping subsets have no joint probability: what they predict is the product of mean votes.
    Disjoint ones make a set impossible that has labels of a subset together which training does not
    have together: its log-probability is -inf.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = RAkEL(k=2, C=10).fit(X, [{"a"}, {"a"}, {"b", "c"}, {"b", "c"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('b', 'c')]
    >>> [subset.tolist() for subset in model.label_sets_]
    [[0, 2], [1, 2], [0, 1]]
    """

    about: ClassVar[About] = About(
        paper="Tsoumakas 2011",
        joint=False,
        learners=ANY_LEARNER,
        cost="n d 2^k K, K subsets",
        why_not="mean votes; yes with disjoint subsets",
    )

    def __init__(
        self,
        k: int = 3,
        *,
        n_models: int | None = None,
        overlapping: bool = True,
        label_sets: Sequence[Sequence[Any]] | None = None,
        voting: str = "probability",
        learner: Any = "logistic",
        C: float = 1.0,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.n_models = n_models
        self.overlapping = overlapping
        self.label_sets = label_sets
        self.voting = voting
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
        check_choice("voting", self.voting, VOTINGS)
        if sample_weight is not None:  # a row that weighs nothing adds no class
            X, Y, sample_weight = (part[sample_weight > 0] for part in (X, Y, sample_weight))
        subsets = self._subsets(Y, sample_weight)
        columns = sparse.csc_array(Y)

        def power_set(subset: np.ndarray) -> tuple[Any, sparse.csr_array]:
            support = distinct_sets(columns[:, subset])
            gate = self._gate().fit(X, one_class_a_row(support), sample_weight)
            return gate, support.sets

        with Workers(self.n_jobs) as workers:
            found = workers.map(power_set, subsets)
        return {
            "label_sets_": subsets,
            "gates_": [gate for gate, _ in found],
            "sets_": [sets for _, sets in found],
        }

    def _subsets(self, Y: sparse.csr_array, weight: Any) -> list[np.ndarray]:
        if self.label_sets is not None:
            return given_subsets(self.label_sets, self.label_names_, overlapping=self.overlapping)
        check_count("k", self.k, at_least=1)
        if self.n_models is not None:
            check_count("n_models", self.n_models, at_least=1)
        drawn = random_subsets(
            Y.shape[1], self.k, self.n_models, self.overlapping, self.random_state
        )
        # Drawn from the most frequent label on, so that columns may stand anyhow.
        counts = Y.sum(axis=0) if weight is None else Y.T @ weight
        by_count = np.argsort(-np.asarray(counts), kind="stable")
        return [np.sort(by_count[subset]) for subset in drawn]

    def _gate(self) -> Any:
        return make_gate(
            self.learner,
            C=self.C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=1,
        )

    def _distribution(self, X: Any) -> Distribution:
        with Workers(self.n_jobs) as workers:
            scores = workers.map(lambda gate: gate.log_proba(X), self.gates_)
        parts = [
            Support(sets, np.asarray(log_scores, dtype=np.float64))
            for sets, log_scores in zip(self.sets_, scores, strict=True)
        ]
        if not self.overlapping:
            return BlockProduct(self.label_sets_, parts, self.allow_empty_)
        mean = self._mean_votes(parts, X.shape[0])
        with np.errstate(divide="ignore"):
            logits = (np.log(mean) - np.log1p(-mean)).clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)

    def _mean_votes(self, parts: list[Support], n: int) -> np.ndarray:
        """What the subsets with a label say of it on average, (n, L)."""
        L = len(self.label_names_)
        votes, voters = np.zeros((n, L)), np.zeros(L)
        for subset, part in zip(self.label_sets_, parts, strict=True):
            votes[:, subset] += part.marginals() if self.voting == "probability" else part.mode()[0]
            voters[subset] += 1
        if self.voting == "probability":
            return (votes / voters).clip(0.0, 1.0)
        return (votes + 0.5) / (voters + 1)  # none is sure of a label

    def _iterations(self) -> int:
        return max(int(getattr(gate, "n_iter_", 1)) for gate in self.gates_)


def random_subsets(
    L: int, k: int, n_models: int | None, overlapping: bool, random_state: int | None
) -> list[np.ndarray]:
    """Different subsets of k of L labels, sorted, so many that each label is in one.

    Labels are shuffled and dealt out k at a time, again and again if subsets may overlap: no label
    is in many more of them than another.

    >>> [s.tolist() for s in random_subsets(5, 2, None, False, 0)]
    [[2, 4], [0, 3], [1]]
    """
    random, k = as_generator(random_state), min(k, L)
    if not overlapping:
        order = random.permutation(L)
        return [np.sort(order[start : start + k]) for start in range(0, L, k)]
    possible = comb(L, k)
    wanted = min(SUBSETS_A_LABEL * L if n_models is None else n_models, possible)
    if wanted * k < L:
        raise DataError(
            f"{wanted} subsets of {k} labels cannot hold all {L}; "
            f"pass n_models of {-(-L // k)} at least, or a larger k"
        )
    found: dict[tuple[int, ...], None] = {}
    while len(found) < wanted:
        order = random.permutation(L)
        around = np.concatenate([order, order[:k]])  # the last takes labels from the start
        for start in range(0, L, k):
            found.setdefault(tuple(np.sort(around[start : start + k]).tolist()))
    return [np.array(subset) for subset in list(found)[:wanted]]


def given_subsets(
    label_sets: Sequence[Sequence[Any]], names: tuple[Any, ...], *, overlapping: bool
) -> list[np.ndarray]:
    """Subsets of labels by name, or by number where no label has that name, as numbers."""
    number_of = {i: i for i in range(len(names))} | {name: i for i, name in enumerate(names)}
    subsets = []
    for subset in label_sets:
        odd = [label for label in subset if label not in number_of]
        if odd:
            raise DataError(f"label_sets names {odd[0]!r}, but there is no such label")
        numbers = np.array([number_of[label] for label in subset], dtype=np.int64)
        if not len(numbers) or len(np.unique(numbers)) < len(numbers):
            raise DataError(f"each of label_sets has some labels, each once, not {list(subset)!r}")
        subsets.append(numbers)
    count = np.bincount(np.concatenate([*subsets, np.array([], dtype=np.int64)]), None, len(names))
    if not count.all():
        missing = names[int(np.argmin(count))]
        raise DataError(f"no subset of label_sets has the label {missing!r}; add it to one")
    if not overlapping and (count > 1).any():
        shared = names[int(np.argmax(count))]
        raise DataError(
            f"several subsets of label_sets have the label {shared!r}; pass overlapping=True"
        )
    return subsets
