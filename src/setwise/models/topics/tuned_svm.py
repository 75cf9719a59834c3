"""One-vs-all linear SVMs, plain or with a weight of positives tuned for each label.

Rubin et al. 2012, section 5.1, after Lewis et al. 2004: documents are normalised vectors of word
counts, the loss is the squared hinge, and C = 1. Tuned SVMs choose the weight of positive rows
among

    1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, negatives / positives

as the most accurate on a tenth of the positives and a tenth of the negatives, ties to the one
closest to 1; a single positive row is on both sides. The final SVM is learnt from all rows.
Margins become probabilities by Platt's sigmoids, fitted to margins of rows left out in turn.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.randomness import as_generator
from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.learners.in_threads import in_threads
from setwise.learners.platt import fit_sigmoids, smoothed_targets
from setwise.metrics.options import check_choice
from setwise.models.about import LABELS_APART, About
from setwise.models.base import SetClassifier
from setwise.storage import storable

WEIGHTS = (1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0)
NORMS = ("l2", "l1")
HELD_OUT = 0.1
FOLDS = 3
MAX_LOG_ODDS = 30.0


@storable
class TunedSVM(SetClassifier):
    """One linear SVM a label.

    Parameters
    ----------
    tune : bool
        Whether to choose the weight of positive rows for each label; False is the plain SVM.
    C : float
        Inverse strength of the penalty.
    normalize : {"l2", "l1"} or None
        Scale rows to length one, or to sum one as the paper does.
    fit_intercept : bool
        Add a constant feature, penalised as all others.
    tol, max_iter
        When a solver stops: at that difference of projected derivatives, or after so many passes.
    target, allow_empty, random_state, n_jobs
        As for all models.

    Attributes
    ----------
    coef_ : (L, d), intercept_ : (L,)
    weights_ : (L,), of positive rows
    slope_, offset_ : (L,), of the sigmoids

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [3.0, 1.0], [0.0, 2.0], [1.0, 3.0]])
    >>> model = TunedSVM().fit(X, [{"x"}, {"x"}, {"y"}, {"y"}])
    >>> model.predict_sets(np.array([[1.0, 0.0]]))
    [('x',)]
    >>> model.margins(np.array([[1.0, 0.0]])).round(1)
    array([[ 0.9, -0.9]])
    """

    about: ClassVar[About] = About(
        paper="Lewis 2004; Rubin 2012, 5.1",
        joint=False,
        learners="linear SVM",
        cost="n d L, for each of 11 weights",
        why_not=LABELS_APART,
    )

    def __init__(
        self,
        *,
        tune: bool = True,
        C: float = 1.0,
        normalize: str | None = "l2",
        fit_intercept: bool = True,
        tol: float = 0.01,
        max_iter: int = 1000,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.tune = tune
        self.C = C
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def margins(self, X: Any) -> np.ndarray:
        """Margins, (n, L): over zero where the SVM says that a row has the label."""
        return self._margins(self._features(X))

    def rank_scores(self, X: Any) -> np.ndarray:
        """Scores to rank by, (n, L): the margins."""
        return self.margins(X)

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        rows = _Rows(self._scaled(X), float(self.fit_intercept))
        n, L = Y.shape
        seed = int(as_generator(self.random_state).integers(2**62))
        cost = self.C * (np.ones(n) if sample_weight is None else sample_weight)
        columns = sparse.csc_array(Y)
        folds = np.random.default_rng(seed).permutation(n) % FOLDS

        def label(c: int) -> tuple[float, np.ndarray, np.ndarray]:
            positive = np.zeros(n, dtype=bool)
            positive[columns.indices[columns.indptr[c] : columns.indptr[c + 1]]] = True
            times = self._times(rows, positive, cost, seed) if self.tune else 1.0
            margins = np.zeros(n)
            for fold in range(FOLDS):
                left_out = np.flatnonzero(folds == fold)
                others = np.flatnonzero(folds != fold)
                w = rows.solve(others, positive, cost, times, self.tol, self.max_iter, seed)
                margins[left_out] = rows.margins(left_out, w)
            return (
                times,
                rows.solve(np.arange(n), positive, cost, times, self.tol, self.max_iter, seed),
                margins,
            )

        labels = in_threads(label, L, self.n_jobs)
        slope, offset = _sigmoids(np.stack([m for *_, m in labels], axis=1), Y, cost)
        W = np.stack([w for _, w, _ in labels])
        return {
            "coef_": W[:, :-1].astype(np.float32),
            "intercept_": W[:, -1] * float(self.fit_intercept),
            "weights_": np.array([times for times, *_ in labels]),
            "slope_": slope,
            "offset_": offset,
        }

    def _distribution(self, X: Any) -> Product:
        logits = self._margins(X) * self.slope_ + self.offset_
        return Product(
            logits.clip(-MAX_LOG_ODDS, MAX_LOG_ODDS), self.allow_empty_, n_jobs=self.n_jobs
        )

    def _margins(self, X: Any) -> np.ndarray:
        margins: np.ndarray = np.asarray(self._scaled(X) @ self.coef_.T) + self.intercept_
        return margins

    def _scaled(self, X: Any) -> sparse.csr_array:
        rows = sparse.csr_array(X, dtype=np.float64)
        if self.normalize is None:
            return rows
        check_choice("normalize", self.normalize, NORMS)
        sizes = abs(rows) if self.normalize == "l1" else rows.multiply(rows)
        lengths = np.asarray(sizes.sum(axis=1)).ravel()
        lengths = lengths if self.normalize == "l1" else np.sqrt(lengths)
        lengths[lengths == 0] = 1
        return sparse.csr_array(
            (rows.data / np.repeat(lengths, np.diff(rows.indptr)), rows.indices, rows.indptr),
            shape=rows.shape,
        )

    def _times(self, rows: _Rows, positive: np.ndarray, cost: np.ndarray, seed: int) -> float:
        """The weight of positive rows that suits a label."""
        present = cost > 0
        n_positive, n_negative = (positive & present).sum(), (~positive & present).sum()
        if n_positive == 0 or n_negative == 0:
            return 1.0
        own = float(n_negative / n_positive)
        choices = np.array(sorted({*WEIGHTS, own}))
        train, test = held_out_of_label(positive, present, np.random.default_rng(seed))
        return float(
            choices[
                rows.choose(train, test, positive, cost, choices, self.tol, self.max_iter, seed)
            ]
        )


class _Rows:
    """Rows laid out for the solver."""

    def __init__(self, X: sparse.csr_array, bias: float):
        self.n_features, self.bias = X.shape[1], bias
        self.ptr, self.columns = X.indptr.astype(np.int64), X.indices.astype(np.int32)
        self.values = X.data
        self.norms = np.asarray(X.multiply(X).sum(axis=1)).ravel() + bias**2

    @property
    def _layout(self) -> tuple[Any, ...]:
        return self.ptr, self.columns, self.values, self.norms, self.bias

    def solve(
        self,
        rows: np.ndarray,
        positive: np.ndarray,
        cost: np.ndarray,
        times: float,
        tolerance: float,
        max_iter: int,
        seed: int,
    ) -> np.ndarray:
        """The weights (d + 1,) of an SVM learnt from some rows."""
        from setwise.models.topics._svm_kernel import descend

        a, w = np.zeros(len(cost)), np.zeros(self.n_features + 1)
        descend(
            *(*self._layout, rows, positive, cost, times, a, w),
            *(float(tolerance), int(max_iter), seed),
        )
        return w

    def choose(
        self,
        train: np.ndarray,
        test: np.ndarray,
        positive: np.ndarray,
        cost: np.ndarray,
        choices: np.ndarray,
        tolerance: float,
        max_iter: int,
        seed: int,
    ) -> int:
        """The number of the best choice."""
        from setwise.models.topics._svm_kernel import choose_times

        return int(
            choose_times(
                *(*self._layout, train, test, positive, cost, choices, np.abs(choices - 1)),
                *(self.n_features, float(tolerance), int(max_iter), seed),
            )
        )

    def margins(self, rows: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The products w' x of some rows."""
        X = sparse.csr_array(
            (self.values, self.columns, self.ptr), shape=(len(self.norms), self.n_features)
        )
        margins: np.ndarray = X[rows] @ w[:-1] + self.bias * w[-1]
        return margins


def held_out_of_label(
    positive: np.ndarray, present: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from, and a tenth of each kind (at least one) to judge by.

    A single row of a kind is on both sides.

    >>> train, test = held_out_of_label(np.arange(20) < 10, np.ones(20, bool),
    ...                                 np.random.default_rng(0))
    >>> len(train), sorted(test < 10)
    (18, [np.False_, np.True_])
    """
    train, test = [], []
    for kind in (positive & present, ~positive & present):
        rows = random.permutation(np.flatnonzero(kind))
        n_test = max(1, round(HELD_OUT * len(rows)))
        test.append(rows[:n_test])
        train.append(rows if len(rows) == 1 else rows[n_test:])
    return np.concatenate(train), np.concatenate(test)


def _sigmoids(
    margins: np.ndarray, Y: sparse.csr_array, cost: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and offsets (L,) from margins to log-odds; a slope under zero is taken as none."""
    T = Y.toarray().astype(np.float64)
    weight = np.broadcast_to(cost[:, None], T.shape)
    targets = smoothed_targets(T, weight)
    slope, offset, _ = fit_sigmoids(margins, targets, weight / weight.sum(axis=0))
    mean = (weight * targets).sum(axis=0) / weight.sum(axis=0)
    flat = slope <= 0
    return np.where(flat, 0.0, slope), np.where(flat, np.log(mean / (1 - mean)), offset)
