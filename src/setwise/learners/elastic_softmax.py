"""Softmax regression on soft targets under an elastic net (thesis, eq. 2.49 and Algorithm 2.3).

Seen from class k alone, with the scores s_j of the other classes fixed, the loss is that of a
binary logistic regression with target t_k and score s_k - log sum_{j != k} exp(s_j). So one class
after another takes a step of the binary solver, and the objective falls at each.

A class without mass has no minimum (its bias would go to minus infinity): it is left out of the
softmax and gets a small fixed probability, as a constant target does in a bank.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import log_softmax, logsumexp

from setwise.learners.bank_inputs import (
    check_distributions,
    check_rows,
    check_weights,
    share_of_absent,
)
from setwise.learners.elastic_balance import balanced
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
    warn_not_converged,
)
from setwise.storage import storable

# Newton steps of a class at each visit: more would fit it to classes that are yet to move.
STEPS_PER_VISIT = 1


@storable
class ElasticNetSoftmax:
    """Multi-class logistic regression on distributions, most of whose weights are exactly zero.

    Parameters are those of ``ElasticNetBank``, save ``n_jobs``: classes move in turn, as each step
    needs the scores of the others. ``max_iter`` counts rounds over the classes.

    Attributes
    ----------
    weights_ : CSR array (d, K); biases_ : (K,), of mean zero over the classes with mass;
    floor_ : (K,) the probability of a class without mass, 0 for the others; n_iter_ : int.

    Examples
    --------
    >>> gate = ElasticNetSoftmax(penalty=0.1).fit([[0.0], [1.0], [2.0]], np.eye(3))
    >>> np.exp(gate.log_proba([[0.0]])).round(2).tolist()
    [[0.68, 0.28, 0.04]]
    """

    weights_: Any
    biases_: np.ndarray

    def __init__(
        self,
        penalty: float | None = None,
        *,
        C: float = 1.0,
        l1_ratio: float = 0.5,
        tol: float = 1e-4,
        max_iter: int = 200,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from X (n, d), distributions T (n, K) and weights (n,)."""
        check_settings(self.penalty, self.C, self.l1_ratio, self.max_iter)
        warm = self.warm_start and hasattr(self, "weights_")
        X = check_rows(X, self.weights_.shape[0] if warm else None)
        T = check_distributions(T, X.shape[0], len(self.biases_) if warm else None)
        weight = check_weights(sample_weight, X.shape[0], 1)[:, 0]
        violation = self.take_steps(X, T, weight)
        if self.n_iter_ >= self.max_iter and violation > self.tol:
            warn_not_converged(
                np.array([violation]), self._solver(weight), "the elastic-net softmax"
            )
        return self

    def take_steps(self, X: Any, T: np.ndarray, weight: np.ndarray) -> float:
        """``fit`` on checked input, without a warning: the worst violation that is left."""
        warm = self.warm_start and hasattr(self, "weights_")
        mass = (weight[:, None] * T).sum(axis=0)  # (K,)
        starts = as_solutions(self.weights_, self.biases_) if warm else start_at_shares(mass)
        self.floor_ = share_of_absent(mass)
        present = np.flatnonzero(mass > 0)
        solutions = [Solution(np.empty(0, np.int64), np.empty(0), 0.0)] * len(mass)
        found, self.n_iter_, violation = rounds(
            by_columns(X),
            T[:, present],
            weight / weight.sum(),
            self._solver(weight),
            [starts[k] for k in present],
        )
        for k, solution in zip(present, found, strict=True):
            solutions[k] = solution
        self.weights_ = as_matrix(solutions, X.shape[1])
        self.biases_ = centred(np.array([s.bias for s in solutions]), present)
        return violation

    def _solver(self, weight: np.ndarray) -> Settings:
        penalty = self.penalty or 1 / (self.C * weight.sum())
        return Settings(penalty, self.l1_ratio, self.tol, self.max_iter)

    def log_proba(self, X: Any) -> np.ndarray:
        """Log-probability of each class, (n, K)."""
        X = check_rows(X, self.weights_.shape[0])
        present = self.floor_ == 0
        scores = linear_scores(X, self.weights_, self.biases_)
        log_p = np.empty_like(scores)
        log_p[:, present] = log_softmax(scores[:, present], axis=1) + np.log1p(-self.floor_.sum())
        log_p[:, ~present] = np.log(self.floor_[~present])
        return log_p


def rounds(
    columns: Columns,
    T: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    solutions: list[Solution],
) -> tuple[list[Solution], int, float]:
    """Solutions after rounds over the classes, the rounds taken, and the last worst violation."""
    n_features = len(columns[2]) - 1
    slopes = [largest_slope(columns, t, weight) for t in T.T]
    scale, violation = max(slopes, default=0.0) or 1.0, 0.0
    for n_rounds in range(settings.max_iter):
        bias = np.array([s.bias for s in solutions])
        weights = balanced(as_matrix(solutions, n_features), settings.l1_ratio)
        solutions = as_solutions(weights, bias)
        scores = all_scores(columns, solutions, len(T))  # (n, K), by columns
        log_total, violation, moved = logsumexp(scores, axis=1), 0.0, False
        for k in range(T.shape[1]):
            rest = log_without(scores[:, k], log_total)
            problem = (np.ascontiguousarray(T[:, k]), weight, -rest)
            solutions[k], binary_scores, worst = visit(
                columns, problem, settings, solutions[k], settings.tol * scale
            )
            scores[:, k] = binary_scores + rest
            log_total = np.logaddexp(rest, scores[:, k])
            violation, moved = max(violation, worst / scale), moved or solutions[k].steps > 0
        # Nothing has moved in this round: all is optimal, or rounding is all that is left.
        if violation <= settings.tol or not moved:
            return solutions, n_rounds, violation
    return solutions, settings.max_iter, violation


def visit(
    columns: Columns,
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
    settings: Settings,
    start: Solution,
    tolerance: float,
) -> tuple[Solution, np.ndarray, float]:
    """One class moved: its solution, its binary scores (n,), and the violation it came with."""
    from setwise.learners._elastic_kernel import minimise, optimality

    weights, bias = start.dense(len(columns[2]) - 1), np.array([start.bias])
    scores = np.empty(len(problem[0]))
    worst = optimality(columns, problem, settings.parts, weights, bias, scores)
    steps = 0
    if worst > tolerance:
        _, steps = minimise(
            columns,
            problem,
            settings.parts,
            settings.screen,
            tolerance,
            STEPS_PER_VISIT,
            weights,
            bias,
            scores,
        )
    features = np.flatnonzero(weights)
    solution = Solution(features, weights[features], float(bias[0]), steps=steps)
    return solution, scores, worst


def log_without(score: np.ndarray, log_total: np.ndarray) -> np.ndarray:
    """log(exp(log_total) - exp(score)); a class that has all the mass leaves a rounding error."""
    share = np.minimum(score - log_total, -1e-16)
    rest: np.ndarray = log_total + np.log(-np.expm1(share))
    return rest


def all_scores(columns: Columns, solutions: list[Solution], n_rows: int) -> np.ndarray:
    """Scores (n, K) of all classes, stored by columns."""
    from setwise.learners._columns_kernel import fill_scores

    scores, zero = np.empty((n_rows, len(solutions)), order="F"), np.zeros(n_rows)
    for k, solution in enumerate(solutions):
        dense = solution.dense(len(columns[2]) - 1)
        fill_scores(columns, dense, solution.bias, zero, scores[:, k])
    return scores


def start_at_shares(mass: np.ndarray) -> list[Solution]:
    """Zero weights, and biases that give each class its share."""
    log_mass = np.log(np.maximum(mass, np.finfo(float).tiny))
    return [Solution(np.empty(0, np.int64), np.empty(0), float(b)) for b in log_mass]


def centred(bias: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Biases (K,) shifted to mean zero over the classes present: the softmax does not see it."""
    shifted = np.zeros_like(bias)
    shifted[present] = bias[present] - bias[present].mean()
    return shifted
