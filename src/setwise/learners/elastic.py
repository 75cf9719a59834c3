"""A bank of logistic regressions under an elastic net: exact zeros, sparse weights.

Each target l has its own minimum of eq. 2.49 (``elastic_solver`` has the formula), found by
proximal Newton steps whose inner problems are solved by coordinate descent (Algorithms 2.2 and
2.3; Friedman, Hastie and Tibshirani 2010) on a working set of features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from setwise.learners.bank_inputs import (
    check_rows,
    check_targets,
    check_weights,
    column,
    is_constant,
    smoothed_log_odds,
)
from setwise.learners.elastic_solver import (
    Columns,
    Settings,
    Solution,
    as_matrix,
    as_solutions,
    by_columns,
    check_settings,
    largest_slope,
    linear_scores,
    solve,
    warn_not_converged,
)
from setwise.learners.in_threads import in_threads
from setwise.storage import storable


@storable
class ElasticNetBank:
    """L logistic regressions on one X, most of whose weights are exactly zero.

    Parameters
    ----------
    penalty : float, optional
        The factor of the penalty, on the *averaged* loss (the thesis' lambda). Without it the
        strength is given by ``C``.
    C : float
        The strength in scikit-learn's terms, on the *summed* loss: the penalty of a target is
        1 / (C * sum of its weights), and the optimum that of ``LogisticRegression(C=C,
        solver="saga", l1_ratio=l1_ratio)``.
    l1_ratio : float
        1 is the lasso, 0 ridge regression (alpha in the thesis).
    tol : float
        No optimality condition is violated by more than ``tol`` times the largest slope at zero
        weights.
    max_iter : int
        Newton steps per target before it gives up with a ``NotConverged`` warning.
    warm_start : bool
        Whether ``fit`` starts from the weights it has. The objective then rises for no target
        (save constant ones, which have no minimum: their weights are zero and their bias smoothed).
    n_jobs : int, optional
        Threads over targets; all cores by default. The result does not depend on it.

    Attributes
    ----------
    weights_ : CSR array (d, L); biases_ : (L,); n_steps_ : (L,) Newton steps taken.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> bank = ElasticNetBank(penalty=0.3).fit(X, [[0], [0], [1], [1]])
    >>> bank.weights_.toarray().round(2).ravel().tolist()
    [0.81, 0.0]
    """

    def __init__(
        self,
        penalty: float | None = None,
        *,
        C: float = 1.0,
        l1_ratio: float = 0.5,
        tol: float = 1e-4,
        max_iter: int = 200,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from X (n, d), targets T (n, L) in [0, 1] and weights (n,) or (n, L)."""
        check_settings(self.penalty, self.C, self.l1_ratio, self.max_iter)
        warm = self.warm_start and hasattr(self, "weights_")
        X = check_rows(X, self.weights_.shape[0] if warm else None)
        T = check_targets(T, X.shape[0], len(self.biases_) if warm else None)
        weight = check_weights(sample_weight, X.shape[0], T.shape[1])
        starts = as_solutions(self.weights_, self.biases_) if warm else None
        return self._fit_columns(by_columns(X), T, weight, starts)

    def fit_in_turn(self, X: Any, T: Any, sample_weight: Any = None, *, scale: float = 1.0) -> Self:
        """Learn each target from X and, ``scale`` times, the targets before it, as in a chain.

        ``weights_`` are then (d + L, L). All targets read the same columns, each as many as it may.
        """
        check_settings(self.penalty, self.C, self.l1_ratio, self.max_iter)
        X = check_rows(X)
        T = check_targets(T, X.shape[0])
        weight = check_weights(sample_weight, X.shape[0], T.shape[1])
        before = (scale * (T.toarray() if sparse.issparse(T) else T)).astype(X.dtype)
        joined: Any = (
            sparse.hstack([X, sparse.csr_array(before)], format="csr")
            if sparse.issparse(X)
            else np.hstack([X, before])
        )
        return self._fit_columns(by_columns(joined), T, weight, None, seen=X.shape[1])

    def _fit_columns(
        self,
        columns: Columns,
        T: Any,
        weight: np.ndarray,
        starts: Sequence[Solution] | None,
        screen: float = np.inf,
        seen: int | None = None,
    ) -> Self:
        """``fit`` on checked input; a path calls it again and again on the same columns.

        The first target reads the first ``seen`` columns, each other one a column more; all read
        all unless told.
        """
        settings = Settings(self.penalty or 0.0, self.l1_ratio, self.tol, self.max_iter, screen)
        entries, rows, ends = columns

        def fit_target(number: int) -> Solution:
            own = columns if seen is None else (entries, rows, ends[: seen + number + 1])
            target, w = column(T, number), column(weight, number)
            strength = self.penalty or 1.0 / (self.C * w.sum())
            start = starts[number] if starts is not None else None
            return fit_one(own, target, w, replace(settings, penalty=strength), start)

        solutions = in_threads(fit_target, T.shape[1], self.n_jobs)
        self.weights_ = as_matrix(solutions, len(columns[2]) - 1)
        self.biases_ = np.array([s.bias for s in solutions])
        self.n_steps_ = np.array([s.steps for s in solutions])
        late = [s.violation for s in solutions if stopped_short(s, settings)]
        what = f"the elastic net of {len(late)} of {len(solutions)} targets"
        warn_not_converged(np.array(late), settings, what)
        return self

    def logits(self, X: Any) -> np.ndarray:
        """Log-odds of each target, (n, L)."""
        X = check_rows(X, self.weights_.shape[0])
        return linear_scores(X, self.weights_, self.biases_)


def fit_one(
    columns: Columns,
    target: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    start: Solution | None = None,
) -> Solution:
    """The solution for one target (n,) with weights (n,) of any sum."""
    total, positive = weight.sum(), (weight * target).sum()
    empty = np.empty(0, np.int64)
    if is_constant(positive, total):
        return Solution(empty, np.empty(0), float(smoothed_log_odds(positive, total)))
    if start is None:
        start = Solution(empty, np.empty(0), float(np.log(positive / (total - positive))))
    return solve(columns, target, weight / total, settings, start)


def stopped_short(solution: Solution, settings: Settings) -> bool:
    """Whether the cap ended it; a solver that rounding stopped has done what can be done."""
    return solution.steps >= settings.max_iter and solution.violation > settings.tol


def largest_penalty(
    X: Any, T: Any, sample_weight: Any = None, *, l1_ratio: float = 0.5
) -> np.ndarray:
    """The smallest penalty (L,) under which all weights of a target are zero: where paths begin."""
    X = check_rows(X)
    T = check_targets(T, X.shape[0])
    weight = check_weights(sample_weight, X.shape[0], T.shape[1])
    columns = by_columns(X)

    def of_target(number: int) -> float:
        w = column(weight, number)
        return largest_slope(columns, column(T, number), w / w.sum())

    return np.array([of_target(number) for number in range(T.shape[1])]) / max(l1_ratio, 1e-3)


def elastic_path(
    X: Any, T: Any, penalties: Sequence[float], sample_weight: Any = None, **parameters: Any
) -> list[ElasticNetBank]:
    """A bank for each penalty, in the order given; each is fitted from its larger neighbour.

    Features are screened by the sequential strong rule (Tibshirani et al. 2012): those with a slope
    of at least ``l1_ratio * (2 * penalty - larger penalty)`` are worked on from the start, and the
    optimality conditions of the others are checked at the end. ``parameters`` go to the banks.
    """
    X = check_rows(X)
    T = check_targets(T, X.shape[0])
    weight = check_weights(sample_weight, X.shape[0], T.shape[1])
    columns = by_columns(X)
    banks: dict[float, ElasticNetBank] = {}
    starts, previous = None, np.inf
    for penalty in sorted(set(penalties), reverse=True):
        bank = ElasticNetBank(penalty, **parameters)
        check_settings(penalty, bank.C, bank.l1_ratio, bank.max_iter)
        strong = bank.l1_ratio * max(2 * penalty - previous, 0.0) if starts else np.inf
        bank._fit_columns(columns, T, weight, starts, strong)
        starts, previous = as_solutions(bank.weights_, bank.biases_), penalty
        banks[penalty] = bank
    return [banks[penalty] for penalty in penalties]
