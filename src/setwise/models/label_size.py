"""LSF: what the F1 decision needs, P(y_l = 1, |y| = s | x), estimated directly.

Li 2019, section 3.7.2, after Dembczyński et al. 2011 and Waegeman et al. 2014, in two ways:

    binary        one binary classifier for each pair of a label and a size
    multinomial   P(y_l = 1 | x) P(|y| = s | x, y_l = 1): a binary classifier a label, and a softmax
                  over sizes a label, learnt from the rows that have it

No joint distribution stands behind these numbers: there is no probability of a set.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit

from setwise.decisions import Decision
from setwise.distributions import Distribution
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.distributions.size_estimates import SizeEstimates
from setwise.learners import make_bank, make_gate
from setwise.learners.workers import Workers
from setwise.metrics.options import check_choice, check_positive
from setwise.models.about import ANY_LEARNER, About
from setwise.models.base import SetClassifier
from setwise.storage import storable

WAYS = ("binary", "multinomial")


def pair_targets(Y: sparse.csr_array, T: int) -> tuple[np.ndarray, sparse.csc_array]:
    """The pairs of label and size that some row has, as l T + s - 1, and who has them, (n, m)."""
    size = np.minimum(np.diff(Y.indptr), T)
    row, label = Y.nonzero()
    pair = label.astype(np.int64) * T + size[row] - 1
    pairs, column = np.unique(pair, return_inverse=True)
    shape = (Y.shape[0], len(pairs))
    return pairs, sparse.csc_array((np.ones(len(pair)), (row, column)), shape)


@storable
class LabelSizeF1(SetClassifier):
    """The best set for F1 from direct estimates of label and size together.

    Parameters
    ----------
    way : {"binary", "multinomial"}
        A classifier for each pair of a label and a size, or one a label with a softmax over sizes.
    max_size : int, optional
        T; larger sets count as of this size. The largest of training by default.
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns them; with "multinomial" it must be good for both, by name or scikit-learn's.
    C : float
        Inverse strength of the penalty, in scikit-learn's terms; for "logistic" and "elastic".
    target : str or Decision
        "f1", or another that asks for marginals only, such as "hamming" and "macro_f1"; there is
        no likeliest set for "set_accuracy".
    allow_empty : bool or "auto"
        Whether the empty set is possible; "auto": if training has one.
    max_iter : int
        Cap on the iterations of "logistic" and "elastic", or trees a target of "boosting".
    random_state : int
        Seeds what chance decides.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    pairs_ : array (m,), the pairs l T + s - 1 that training has; of "binary"
    labels_bank_ : the fitted learner of pairs, or of labels
    size_gates_ : list of a fitted learner a label, None where all its rows are of one size; of
        "multinomial"
    size_sets_ : list of arrays, the sizes that rows of each label have
    empty_bank_ : the fitted learner of empty sets, None where training has none
    max_size_ : T
    label_names_ : tuple of the labels' names

    Notes
    -----
    There is no joint probability: ``log_prob``, ``mode`` and ``sample`` of its distribution say so.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LabelSizeF1(C=10).fit(X, [{"a"}, {"a"}, {"b", "c"}, {"b", "c"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('b', 'c')]
    """

    about: ClassVar[About] = About(
        paper="Dembczyński 2011; Li 2019, 3.7.2",
        joint=False,
        learners=ANY_LEARNER,
        cost="n d L T, T sizes",
        why_not="labels with sizes only, for F1",
    )

    def __init__(
        self,
        way: str = "binary",
        *,
        max_size: int | None = None,
        learner: Any = "logistic",
        C: float = 1.0,
        target: str | Decision = "f1",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.way = way
        self.max_size = max_size
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
        check_choice("way", self.way, WAYS)
        if self.max_size is not None:
            check_positive("max_size", self.max_size)
        if sample_weight is not None:  # a row that weighs nothing has no size either
            X, Y, sample_weight = (part[sample_weight > 0] for part in (X, Y, sample_weight))
        sizes = np.diff(Y.indptr)
        T = max(1, min(self.max_size or Y.shape[1], int(sizes.max())))
        is_empty = (sizes == 0).astype(np.float64)[:, None]
        empty = None
        if is_empty.any():
            empty = self._bank().fit(X, is_empty, sample_weight=sample_weight)
        learn = self._pairs if self.way == "binary" else self._then_sizes
        return {
            "max_size_": T,
            "empty_bank_": empty,
            **learn(X, Y, T, sample_weight),
        }

    def _pairs(self, X: Any, Y: sparse.csr_array, T: int, weight: Any) -> dict[str, Any]:
        pairs, targets = pair_targets(Y, T)
        if not len(pairs) and not self.allow_empty:  # each label is rare then, and stands alone
            pairs, targets = np.arange(Y.shape[1]) * T, sparse.csc_array(Y)
        bank = self._bank().fit(X, targets, sample_weight=weight) if len(pairs) else None
        return {"pairs_": pairs, "labels_bank_": bank, "size_gates_": None, "size_sets_": None}

    def _then_sizes(self, X: Any, Y: sparse.csr_array, T: int, weight: Any) -> dict[str, Any]:
        sizes, columns = np.minimum(np.diff(Y.indptr), T), sparse.csc_array(Y)

        def of_label(label: int) -> tuple[Any, np.ndarray]:
            rows = np.sort(columns.indices[columns.indptr[label] : columns.indptr[label + 1]])
            present, column = np.unique(sizes[rows], return_inverse=True)
            if len(present) < 2:
                return None, present
            one = sparse.csr_array(
                (np.ones(len(rows)), column, np.arange(len(rows) + 1)), (len(rows), len(present))
            )
            own = None if weight is None else weight[rows]
            return self._gate().fit(X[rows], one, sample_weight=own), present

        with Workers(self.n_jobs) as workers:
            found = workers.map(of_label, range(Y.shape[1]))
        return {
            "pairs_": None,
            "labels_bank_": self._bank().fit(X, Y, sample_weight=weight),
            "size_gates_": [gate for gate, _ in found],
            "size_sets_": [present for _, present in found],
        }

    def _distribution(self, X: Any) -> Distribution:
        n, L = X.shape[0], len(self.label_names_)
        size = max(1, BATCH_CELLS // (L * self.max_size_))
        if n <= size:
            return self._estimates(X)
        return Batched(
            lambda rows: self._estimates(X[rows]), np.arange(n), L, size, self.allow_empty_
        )

    def _estimates(self, X: Any) -> SizeEstimates:
        n, L, T = X.shape[0], len(self.label_names_), self.max_size_
        estimates = np.zeros((n, L, T))
        if self.way == "multinomial":
            p = expit(np.asarray(self.labels_bank_.logits(X), dtype=np.float64))
            for label, (gate, present) in enumerate(
                zip(self.size_gates_, self.size_sets_, strict=True)
            ):
                # A label that training never has is taken to stand alone.
                columns = present - 1 if len(present) else np.array([0])
                share = 1.0 if gate is None else np.exp(np.asarray(gate.log_proba(X), np.float64))
                estimates[:, label, columns] = p[:, [label]] * share
        elif len(self.pairs_):
            p = expit(np.asarray(self.labels_bank_.logits(X), dtype=np.float64))
            estimates.reshape(n, L * T)[:, self.pairs_] = p
        empty = np.zeros(n)
        if self.empty_bank_ is not None:
            empty = expit(np.asarray(self.empty_bank_.logits(X), dtype=np.float64))[:, 0]
        return SizeEstimates(estimates, empty, allow_empty=self.allow_empty_)

    def _bank(self) -> Any:
        return make_bank(
            self.learner,
            C=self.C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _gate(self) -> Any:
        return make_gate(
            self.learner,
            C=self.C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=1,
        )

    def _iterations(self) -> int:
        return int(getattr(self.labels_bank_, "n_iter_", 1))
