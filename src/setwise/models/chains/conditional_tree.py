"""Conditional trees: each label depends on x and on one other label at most (CTBN).

    p(y|x) = prod over i of  p(y_i | x, y_parent(i))

Batal, Hong and Hauskrecht (2013); Hong, Batal and Hauskrecht (2015), section 4.3.1. The tree is the
maximum branching of a graph whose edge j -> i weighs the log-likelihood, on held-out rows, of label
i given x and label j; an edge from a root above all stands for no parent. The regressions of all
pairs are banks that start from those without a parent.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.decisions import Decision
from setwise.distributions.label_tree import LabelTree, parents_first
from setwise.errors import DataError, LabelMismatch
from setwise.learners.linear import linear_scores
from setwise.models.about import About
from setwise.models.base import SetClassifier
from setwise.models.chains.branching import maximum_branching
from setwise.models.chains.columns import MaskedWeights, columns_of
from setwise.models.chains.masked_bank import fit_masked, gram_of
from setwise.models.chains.network import C_LABELS, best_strength, check_strengths, fit_network
from setwise.models.chains.order import LOOSE, log_likelihoods
from setwise.models.held_out import held_out_parts
from setwise.models.strength import HELD_OUT_SHARE
from setwise.storage import storable

BANK_CELLS = 2**23  # targets times rows, or columns, of a bank of pairs: 64 MB


@storable
class ConditionalTree(SetClassifier):
    """A tree of logistic regressions.

    Parameters
    ----------
    structure : "learned" or sequence of L parents
        The best tree on held-out rows, or the parent of each label by name or number, None or -1
        where it has none.
    C : float or "auto"
        Inverse strength of the penalty on features, in scikit-learn's terms. "auto" takes the one
        that is best on held-out rows, by their log-likelihood.
    C_labels : float
        The same for the label that a label depends on.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted for "set_accuracy"; "auto": if training has one.
    max_iter : int
        Cap on the iterations of the solver.
    random_state : int
        Seeds which rows are held out.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    parents_ : array (L,), the number of each label's parent, -1 where it has none
    weights_ : array (d, L); biases_ : array (L,)
    label_weights_ : array (L,), what its parent adds to the log-odds of a label
    objective_ : array (L,); chosen_ : what was chosen where "auto" was given
    label_names_ : tuple of the labels' names

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0], [2.0], [3.0]], 3, axis=0)
    >>> Y = np.repeat([[1, 1], [0, 0], [1, 1], [0, 0]], 3, axis=0)
    >>> model = ConditionalTree().fit(X, Y)
    >>> sorted(model.parents_.tolist())
    [-1, 0]
    >>> model.predict(np.array([[0.0], [3.0]])).tolist()
    [[1, 1], [0, 0]]
    """

    about: ClassVar[About] = About(
        paper="Batal 2013; Hong 2015, 3",
        joint=True,
        learners="logistic",
        cost="n d L²; n d L with a given tree",
    )

    def __init__(
        self,
        structure: Any = "learned",
        *,
        C: float | str = 1.0,
        C_labels: float = C_LABELS,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.structure = structure
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
        check_strengths(self.C, self.C_labels)
        learned = isinstance(self.structure, str)
        if learned and self.structure != "learned":
            raise DataError(f'structure is "learned" or a list of parents, not {self.structure!r}')
        given = None if learned else given_parents(self.structure, self.label_names_)
        dense = Y.toarray().astype(np.float64)
        L = dense.shape[1]
        C: Any = self.C
        n_rows = len(dense) if sample_weight is None else np.count_nonzero(sample_weight)
        parts = None
        if self.C == "auto" or (given is None and n_rows > 1 and L > 1):
            parts = held_out_parts(Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state)
        options: dict[str, Any] = {"max_iter": self.max_iter, "n_jobs": self.n_jobs}
        if C == "auto" and parts is not None:
            C = tree_strength(X, dense, sample_weight, parts, given, self.C_labels, **options)
        if given is not None:
            parents = given
        elif L > 1 and parts is not None:
            parents = learn_tree(
                X, dense, *parts, C=C, C_labels=self.C_labels, weight=sample_weight, **options
            )
        else:  # nothing to hold out, or no pair of labels
            parents = np.full(L, -1)
        found = fit_network(
            X, dense, edges_of(parents), C=C, C_labels=self.C_labels, weight=sample_weight,
            **options,
        )  # fmt: skip
        if self.verbose:
            print(f"tree of {L} labels: objective {found.objective.sum():.6g}")
        return {
            "parents_": parents,
            "weights_": found.features,
            "biases_": found.biases,
            "label_weights_": found.labels.sum(axis=0, dtype=np.float64),
            "objective_": found.objective,
            "solver_iterations_": found.n_iter,
            "chosen_": {"C": C} if self.C == "auto" else {},
        }

    def _distribution(self, X: Any) -> LabelTree:
        z = linear_scores(X, self.weights_, self.biases_, self.n_jobs).astype(np.float64)
        logits = np.stack([z, z + self.label_weights_], axis=1)
        return LabelTree(logits, self.parents_, self.allow_empty_, self.n_jobs)

    def _iterations(self) -> int:
        return int(self.solver_iterations_)


def tree_strength(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray | None,
    parts: tuple[np.ndarray, np.ndarray],
    given: np.ndarray | None,
    C_labels: float,
    **options: Any,
) -> float:
    """The C that is best on held-out rows for given parents, or for those that are learnt.

    Without parents features are penalised too much: they stand in for labels then. So parents are
    learnt with the C that is best without them, and C is looked for again with these.
    """
    parents = np.full(Y.shape[1], -1) if given is None else given
    C = best_strength(X, Y, weight, parts, edges_of(parents), C_labels, **options)
    if given is not None or Y.shape[1] == 1:
        return C
    parents = learn_tree(X, Y, *parts, C=C, C_labels=C_labels, weight=weight, **options)
    return best_strength(X, Y, weight, parts, edges_of(parents), C_labels, first=C, **options)


def learn_tree(
    X: Any,
    Y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    *,
    C: float,
    C_labels: float,
    weight: np.ndarray | None = None,
    max_iter: int = 200,
    n_jobs: int | None = None,
) -> np.ndarray:
    """The parents (L,) of the tree that gives the rows ``test`` the largest log-likelihood."""
    scores = pair_scores(
        X, Y, train, test, C=C, C_labels=C_labels, weight=weight, max_iter=max_iter, n_jobs=n_jobs
    )
    return maximum_branching(scores, np.diag(scores))


def pair_scores(
    X: Any,
    Y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    *,
    C: float,
    C_labels: float,
    weight: np.ndarray | None = None,
    max_iter: int = 200,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Held-out log-likelihoods (L, L) of label i given label j, at [j, i]; without one if i = j."""
    L, D = Y.shape[1], X.shape[1] + Y.shape[1] + 2
    own = np.ones(len(train)) if weight is None else weight[train]
    judges = np.ones(len(test)) if weight is None else weight[test]
    columns = columns_of(X[train], Y[train], C, C_labels)
    gram = gram_of(columns, own)
    none = np.zeros((L, L), dtype=bool)
    first = fit_masked(
        columns, Y[train], none, C=C, weight=own, max_iter=max_iter, tol=LOOSE, n_jobs=n_jobs,
        certify=False, gram=gram,
    )  # fmt: skip
    scores = np.empty((L, L))
    step = max(1, BANK_CELLS // (L * max(len(train), D)))
    for start in range(0, L, step):
        children = np.arange(start, min(start + step, L))
        child = np.repeat(children, L)
        parent = np.tile(np.arange(L), len(children))
        edges = (np.arange(L)[:, None] == parent) & (parent != child)  # (L, pairs)
        found: MaskedWeights = fit_masked(
            columns, Y[train][:, child], edges, C=C, weight=own, start=first.taken(child),
            max_iter=max_iter, tol=LOOSE, n_jobs=n_jobs, certify=False, gram=gram,
        )  # fmt: skip
        likelihood = judges @ log_likelihoods(found, X[test], Y[test], Y[test][:, child])
        scores[:, children] = likelihood.reshape(len(children), L).T
    return scores


def edges_of(parents: np.ndarray) -> np.ndarray:
    """Which labels are parents, bool (L, L): [j, i] where j is that of i."""
    edges: np.ndarray = np.arange(len(parents))[:, None] == parents
    return edges


def given_parents(structure: Any, names: Any) -> np.ndarray:
    """The numbers of given parents, -1 for none.

    >>> given_parents([None, "a"], ("a", "b")).tolist()
    [-1, 0]
    """
    listed = list(structure)
    if len(listed) != len(names):
        raise DataError(
            f"structure names {len(listed)} parents, but there are {len(names)} labels; "
            "pass one a label, None where it has none"
        )
    place = {name: number for number, name in enumerate(names)}
    by_number = not all(parent is None or parent == -1 or parent in place for parent in listed)
    parents = np.full(len(names), -1)
    for label, parent in enumerate(listed):
        if parent is None or (parent == -1 and parent not in place):
            continue
        is_number = isinstance(parent, int | np.integer) and 0 <= parent < len(names)
        if by_number and not is_number:
            raise LabelMismatch(f"structure names {parent!r}, which is no label; correct it")
        parents[label] = parent if by_number else place[parent]
    parents_first(parents)  # refuses cycles
    return parents
