"""The condensed filter tree (CFT): a tournament of all label sets, for any cost.

The leaves of a binary tree are the 2^L sets; level k decides label k. Every node compares the sets
that win its two subtrees, and the classifier of a level learns which is cheaper, weighted by the
difference of their costs (filter trees, Beygelzimer et al. 2009). Li and Lin, ICML 2014, condense
it: a level has one classifier for all its nodes, and only nodes that matter are learnt from, those
on the way to a row's true set and those that its predictions reach.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count, check_over_zero
from setwise.models.about import About
from setwise.models.filter_tree import Tree, learn_tree, visits_of
from setwise.models.set_costs import cost_for
from setwise.models.set_only import SetOnlyClassifier, without_empty
from setwise.storage import storable


@storable
class CondensedFilterTree(SetOnlyClassifier):
    """A walk down a tree whose every turn was learnt for the cost of where it ends.

    Parameters
    ----------
    n_rounds : int
        How often the tree is learnt: after each time, the nodes that predictions for the training
        rows reach are added to those that it is learnt from.
    C : float
        Inverse strength of the penalty of each level's logistic regression, in scikit-learn's
        terms; the weights of a level are scaled to a mean of one.
    target : {"f1", "jaccard", "hamming", "set_accuracy"} or function
        What a wrong set costs; a function takes truth and prediction, int8 (n, L) both, and returns
        costs (n,). A model with a function cannot be saved.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one. If not, a row for which
        no label is taken gets the one with the highest score.
    max_iter : int
        Cap on the iterations of each logistic regression.
    random_state : int
        Seeds the order of rows in the solver.
    n_jobs : int, optional
        Threads; all cores by default.

    Attributes
    ----------
    weights_ : array (d, L), intercept_ : array (L,), of each level
    links_ : array (L, L), what each label adds to the scores of later ones
    visits_ : int, the rows at nodes that the tree was last learnt from, a level, on average

    Notes
    -----
    Labels are decided in the order of their columns, and levels are learnt one after another.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = CondensedFilterTree(C=10).fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('a', 'b')]
    """

    about: ClassVar[About] = About(
        paper="Li 2014; Li 2019, 3.7.2",
        joint=False,
        learners="logistic",
        cost="K n (d L + L²), K rounds",
        why_not="it names the set at the end of its walk",
    )

    def __init__(
        self,
        *,
        n_rounds: int = 4,
        C: float = 1.0,
        target: Any = "f1",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.C = C
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        self._check()
        weight = np.ones(Y.shape[0]) if sample_weight is None else sample_weight
        X, Y, weight = (part[weight > 0] for part in (X, Y, weight))
        truth = Y.toarray().astype(np.int8)
        rounds = [truth]
        for number in range(self.n_rounds):
            visits = visits_of(rounds)
            tree = learn_tree(
                *(X, truth, weight, visits, self.target),
                C=self.C,
                max_iter=self.max_iter,
                n_jobs=self.n_jobs,
                random_state=self.random_state,
            )
            reached = tree.walk(X)[0]
            if number + 1 == self.n_rounds or not _news(reached, rounds):
                break
            rounds.append(reached)
        L = truth.shape[1]
        return {
            "weights_": tree.weights,
            "intercept_": tree.intercept,
            "links_": tree.links,
            "visits_": float((L - visits.start).sum() / L),
            "rounds_": number + 1,
        }

    def _choose(self, X: Any) -> np.ndarray:
        chosen, margins = Tree(self.weights_, self.intercept_, self.links_).walk(X)
        return chosen if self.allow_empty_ else without_empty(chosen, margins)

    def _check(self) -> None:
        """Refuse settings without a meaning, before anything is learnt."""
        cost_for(self.target)
        check_count("n_rounds", self.n_rounds, at_least=1)
        check_count("max_iter", self.max_iter, at_least=1)
        check_over_zero("C", self.C, advice="try 1")

    def _iterations(self) -> int:
        return int(self.rounds_)


def _news(reached: np.ndarray, rounds: list[np.ndarray]) -> bool:
    """Whether some row reaches a set that it has not been at."""
    known = np.zeros(len(reached), dtype=bool)
    for earlier in rounds:
        known |= (reached == earlier).all(axis=1)
    return not known.all()
