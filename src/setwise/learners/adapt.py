"""Any scikit-learn classifier with ``predict_proba`` as a bank or as a gate.

Classifiers learn from hard labels. A soft target becomes weighted copies of its row, one for each
class with a share of it: a row of weight w with target t is a positive one of weight w t and a
negative one of weight w (1 - t). Shares up to ``threshold`` are dropped, and the others of the row
scaled up to its full weight, so that nearly hard targets cost no extra rows.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from setwise.errors import DataError
from setwise.learners.bank_inputs import (
    check_distributions,
    check_rows,
    check_targets,
    check_weights,
    column,
    is_constant,
    share_of_absent,
    smoothed_log_odds,
)
from setwise.learners.in_threads import thread_count
from setwise.storage import storable

# Forests and nearest neighbours say 0 and 1; probabilities are kept this far away from both.
EPSILON = 1e-6


def hard_rows(T: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, classes and shares of the weighted copies that stand for distributions T (n, K).

    >>> rows, classes, shares = hard_rows(np.array([[1.0, 0.0], [0.4, 0.6]]), 0.1)
    >>> rows.tolist(), classes.tolist(), shares.tolist()
    ([0, 1, 1], [0, 0, 1], [1.0, 0.4, 0.6])
    """
    most = T.max(axis=1, keepdims=True) * (1 - 1e-12)
    kept = np.minimum(threshold, most) < T  # a row's largest share stays in any case
    shares = np.where(kept, T, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    rows, classes = np.nonzero(kept)
    return rows, classes, shares[rows, classes]


def fit_classifier(
    estimator: Any, X: Any, T: np.ndarray, weight: np.ndarray, threshold: float
) -> Any:
    """The estimator fitted to distributions T (n, K) with weights (n,)."""
    rows, classes, shares = hard_rows(T, threshold)
    copies = shares * weight[rows]
    rows, classes, copies = (part[copies > 0] for part in (rows, classes, copies))
    keyword = weight_keyword(estimator)
    all_one = bool((copies == 1).all())
    if keyword is None and not all_one:
        raise DataError(
            f"{type(estimator).__name__}.fit takes no sample_weight, which weights and soft "
            "targets need; use another classifier, or hard targets without weights"
        )
    same_rows = len(rows) == X.shape[0] and bool((rows == np.arange(len(rows))).all())
    chosen = X if same_rows else X[rows]
    weights = {} if keyword is None or all_one else {keyword: copies}
    return estimator.fit(chosen, classes, **weights)


def weight_keyword(estimator: Any) -> str | None:
    """How ``fit`` takes weights: in a pipeline, by the name of its last step."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__sample_weight" if has_fit_parameter(last, "sample_weight") else None
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def class_probabilities(estimator: Any, X: Any, n_classes: int) -> np.ndarray:
    """(n, K) with zeros for the classes that the estimator never saw."""
    probabilities = np.zeros((X.shape[0], n_classes))
    probabilities[:, estimator.classes_] = estimator.predict_proba(X)
    return probabilities


@storable
class AdaptedBank:
    """One clone of a scikit-learn classifier for each target.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Its ``fit`` must take ``sample_weight`` if targets are soft or rows are weighted.
    threshold : float
        Shares of a soft target up to this one are dropped.
    warm_start : bool
        Refit the clones there are, which continues where the classifier itself has a warm start.
    n_jobs : int, optional
        As in joblib.
    prefer : "processes" or "threads"
        For joblib. Threads suit classifiers that release the GIL.

    Attributes
    ----------
    estimators_ : list of L fitted clones, None where a target is constant;
    constants_ : (L,) the smoothed log-odds of the constant targets.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> T = [[0, 1], [0, 1], [1, 1]]
    >>> bank = AdaptedBank(LogisticRegression()).fit([[0.0], [1.0], [2.0]], T)
    >>> bank.logits([[2.0]]).round(2).tolist()
    [[-0.05, 1.95]]
    """

    estimators_: list[Any]

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: float = 1e-3,
        warm_start: bool = False,
        n_jobs: int | None = None,
        prefer: str = "threads",
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.prefer = prefer

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from X (n, d), targets T (n, L) in [0, 1] and weights (n,) or (n, L)."""
        check_estimator_and_threshold(self.estimator, self.threshold)
        thread_count(self.n_jobs)  # refuses 0
        X = check_rows(X)
        warm = self.estimators_ if self.warm_start and hasattr(self, "estimators_") else None
        T = check_targets(T, X.shape[0], None if warm is None else len(warm))
        weight = check_weights(sample_weight, X.shape[0], T.shape[1])
        old = [None] * T.shape[1] if warm is None else warm

        def problem(number: int) -> tuple[Any, ...]:
            estimator = clone(self.estimator) if old[number] is None else old[number]
            return estimator, X, column(T, number), column(weight, number), self.threshold

        work = Parallel(self.n_jobs, prefer=self.prefer)
        targets = range(T.shape[1])
        self.estimators_ = work(delayed(_fit_target)(*problem(number)) for number in targets)
        positive = [(column(T, number) * column(weight, number)).sum() for number in targets]
        self.constants_ = smoothed_log_odds(np.array(positive), weight.sum(axis=0))
        self.n_features_ = int(X.shape[1])
        return self

    def logits(self, X: Any) -> np.ndarray:
        """Log-odds of each target, (n, L); probabilities are first clipped by ``EPSILON``."""
        X = check_rows(X, self.n_features_)
        logits = np.tile(self.constants_, (X.shape[0], 1))
        for number, estimator in enumerate(self.estimators_):
            if estimator is not None and X.shape[0]:
                p = class_probabilities(estimator, X, 2)[:, 1].clip(EPSILON, 1 - EPSILON)
                logits[:, number] = np.log(p) - np.log1p(-p)
        return logits


def _fit_target(
    estimator: Any, X: Any, target: np.ndarray, weight: np.ndarray, threshold: float
) -> Any:
    """The estimator fitted to one target, or None where only one class is left of it."""
    used = weight > 0
    some = hard_rows(np.column_stack([1 - target, target])[used], threshold)[1]
    if is_constant((target * weight).sum(), weight.sum()) or len(np.unique(some)) < 2:
        return None
    return fit_classifier(estimator, X, np.column_stack([1 - target, target]), weight, threshold)


@storable
class AdaptedGate:
    """A scikit-learn classifier on distributions T (n, K); parameters as in ``AdaptedBank``.

    Classes that the classifier never saw get half a row's share of the probability.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> gate = AdaptedGate(LogisticRegression()).fit([[0.0], [1.0]], [[0.9, 0.1], [0.2, 0.8]])
    >>> np.exp(gate.log_proba([[1.0]])).round(2).tolist()
    [[0.51, 0.49]]
    """

    mass_: np.ndarray

    def __init__(
        self, estimator: Any, *, threshold: float = 1e-3, warm_start: bool = False
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.warm_start = warm_start

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from X (n, d), distributions T (n, K) and weights (n,)."""
        check_estimator_and_threshold(self.estimator, self.threshold)
        X = check_rows(X)
        warm = self.warm_start and hasattr(self, "mass_")
        T = check_distributions(T, X.shape[0], len(self.mass_) if warm else None)
        weight = check_weights(sample_weight, X.shape[0], 1)[:, 0]
        rows, classes, shares = hard_rows(T, self.threshold)
        mass = np.bincount(classes, shares * weight[rows], minlength=T.shape[1])
        self.mass_ = mass / mass.sum()
        self.floor_ = share_of_absent(mass)
        self.n_features_ = int(X.shape[1])
        kept = getattr(self, "estimator_", None) if self.warm_start else None
        estimator = clone(self.estimator) if kept is None else kept
        several = (mass > 0).sum() > 1
        args = (X, T, weight, self.threshold)
        self.estimator_ = fit_classifier(estimator, *args) if several else None
        return self

    def log_proba(self, X: Any) -> np.ndarray:
        """Log-probability of each class, (n, K); none falls below about ``EPSILON``."""
        X = check_rows(X, self.n_features_)
        K = len(self.floor_)
        if self.estimator_ is None:
            p = np.tile(self.mass_, (X.shape[0], 1))
        else:
            p = class_probabilities(self.estimator_, X, K)
        present = self.floor_ == 0
        p[:, present] = p[:, present].clip(EPSILON)
        p[:, present] *= (1 - self.floor_.sum()) / p[:, present].sum(axis=1, keepdims=True)
        p[:, ~present] = self.floor_[~present]
        log_p: np.ndarray = np.log(p)
        return log_p


def check_estimator_and_threshold(estimator: Any, threshold: float) -> None:
    """Refuse what cannot give probabilities, or a threshold that could drop a whole row."""
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict_proba"):
        raise DataError(
            f"{type(estimator).__name__} has no predict_proba; wrap it in scikit-learn's "
            "CalibratedClassifierCV, or choose a classifier that gives probabilities"
        )
    if not 0 <= threshold < 0.5:
        raise DataError(f"threshold must lie in [0, 0.5), not at {threshold!r}; correct it")
