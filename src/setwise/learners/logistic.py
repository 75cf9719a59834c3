"""A bank of L2-penalised logistic regressions on one X, solved together.

Target l minimises, in scikit-learn's terms,

    C_l sum_i w_il [softplus(z_il) - t_il z_il] + |W_l|^2 / 2,        z = X W + b

over its weights W_l and its bias b_l, which is free unless ``penalise_bias``. Targets t are in
[0, 1]; one of 0.3 is the same as a negative row of weight 0.7 and a positive one of weight 0.3.

Dense rows go to L-BFGS, all targets side by side in matrix products, preconditioned by Böhning's
bound (``lbfgs``, ``whitening``); sparse rows to dual coordinate descent (``dual``).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from setwise.data.arguments import check_count
from setwise.learners.bank_inputs import (
    check_rows,
    check_targets,
    check_weights,
    is_constant,
    smoothed_log_odds,
    trusted_weights,
)
from setwise.learners.bank_problem import (
    BankProblem,
    check_strength,
    in_precision,
    without_idle_rows,
)
from setwise.learners.bank_solvers import check_solver, solve
from setwise.learners.linear import linear_scores
from setwise.learners.solution import Solution, warn_if_short
from setwise.learners.workers import Workers
from setwise.storage import storable


@storable
class LogisticBank:
    """L logistic regressions that share their rows.

    Parameters
    ----------
    C : float or array (L,)
        Inverse strength of the penalty, as in scikit-learn.
    fit_bias, penalise_bias : bool
        Whether there are biases, and whether they are penalised as weights of a feature that is
        always 1 (liblinear's convention).
    max_iter : int
        L-BFGS steps, or sweeps of the dual solver; reached short of ``tol``, a ``NotConverged``
        warning follows.
    tol : float
        How far an objective may be above its minimum, relative to it, certified by the duality gap
        and no less than rounding allows: in float32 about 1e-5 in the dual solver (more where C is
        large), 1e-6 in L-BFGS, which takes to float64 the targets that float32 cannot bring so far
        (at the price of a copy of X). 0 asks for ``max_iter`` steps without a warning.
    solver : {"auto", "lbfgs", "dual"}
        "auto" takes "lbfgs" for dense X and "dual" for sparse, where it leaves to "lbfgs" what has
        not converged after 40 sweeps.
    dtype : float32, float64 or None
        What to compute in; None means X's own precision. Another one than X's costs one copy of X.
    warm_start : bool
        Whether ``fit`` starts from the weights it has. No objective is above its start then, save
        those of constant targets.
    n_jobs : int, optional
        Threads; all cores by default. Results do not depend on it.
    random_state : int
        Seeds the order in which the dual solver visits rows.
    verbose : int
        1 prints a line per fit.

    Attributes
    ----------
    weights_ : array (d, L); biases_ : array (L,); objective_ : array (L,), at the end;
    converged_ : bool array (L,), whether the gap is certified to be within ``tol``; n_iter_ : int,
    of the slowest target.

    Notes
    -----
    A target that is 0 in all rows with weight, or 1 in all, has no finite minimum under a free
    bias. Its weights are zero and its bias the log-odds of (positive + 1/2) / (total + 1), sums of
    weights, so that a few rows never make it sure.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> bank = LogisticBank().fit(X, [[0, 1], [0, 1], [1, 0], [1, 1]])
    >>> bank.weights_.round(2).tolist()
    [[0.96, -0.26]]
    """

    def __init__(
        self,
        C: Any = 1.0,
        *,
        fit_bias: bool = True,
        penalise_bias: bool = False,
        max_iter: int = 200,
        tol: float = 1e-7,
        solver: str = "auto",
        dtype: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fit_bias = fit_bias
        self.penalise_bias = penalise_bias
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.dtype = dtype
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, T: Any, sample_weight: Any = None, *, check_input: bool = True) -> Self:
        """Learn from X (n, d), dense or CSR, and targets T (n, L) in [0, 1].

        Weights are (n,) or, for each target its own, (n, L). Rows that weigh nothing are left out.
        ``check_input=False`` is for callers that fit again and again on rows they have checked: X
        is then a C-contiguous float array or what ``bank_inputs.check_rows`` returned, T a float
        array (n, L) and weights None or a float array, all of values that would pass.
        """
        check_count("max_iter", self.max_iter, at_least=1)
        warm = self.warm_start and hasattr(self, "weights_")
        if check_input:
            X = check_rows(X, self.weights_.shape[0] if warm else None)
            T = check_targets(T, X.shape[0], len(self.biases_) if warm else None)
            weight = check_weights(sample_weight, X.shape[0], T.shape[1])
        else:
            weight = trusted_weights(sample_weight, X.shape[0])
        check_solver(self.solver, X)
        X, T, weight = without_idle_rows(X, T, weight)
        bias = ("penalised" if self.penalise_bias else "free") if self.fit_bias else "none"
        C = check_strength(self.C, T.shape[1])
        X = in_precision(X, self.dtype, check_size=check_input)
        problem = BankProblem(X, T, weight, C, bias)
        self._store(problem, self._solved(problem, self._start() if warm else None))
        warn_if_short(self.converged_, n_iter=self.n_iter_, tol=self.tol, what="targets")
        return self

    def logits(self, X: Any) -> np.ndarray:
        """Log-odds of each target, (n, L), in the precision of the weights."""
        X = check_rows(X, self.weights_.shape[0])
        return linear_scores(X, self.weights_, self.biases_, self.n_jobs)

    def _start(self) -> np.ndarray:
        biases = self.biases_ if self.fit_bias else np.zeros_like(self.biases_)
        return np.vstack([self.weights_, biases])

    def _solved(self, problem: BankProblem, start: np.ndarray | None) -> Solution:
        """The solution of all targets: by rule where constant, else by the solver."""
        total, positive = problem.totals
        constant = is_constant(positive, total) & (problem.bias == "free")
        weights = np.zeros((problem.X.shape[1] + 1, problem.n_targets), problem.X.dtype)
        odds = smoothed_log_odds(positive, total)
        weights[-1] = odds
        loss = total * np.logaddexp(0, odds) - positive * odds
        everything = Solution(weights, problem.C * loss, constant.copy(), 0)
        moving = np.flatnonzero(~constant)
        if not len(moving):
            return everything
        with Workers(self.n_jobs) as workers:
            part = solve(
                problem.taken(moving),
                None if start is None else start[:, moving],
                solver=self.solver,
                max_iter=self.max_iter,
                tol=self.tol,
                workers=workers,
                seed=self.random_state,
            )
        return everything.replaced(moving, part)

    def _store(self, problem: BankProblem, solution: Solution) -> None:
        self.weights_, self.biases_ = solution.weights[:-1], solution.weights[-1]
        self.objective_, self.converged_ = solution.values, solution.converged
        self.n_iter_ = solution.n_iter
        if self.verbose:
            print(
                f"logistic bank: {problem.n_targets} targets on {problem.X.shape[0]} rows, "
                f"{self.n_iter_} iterations, objective {self.objective_.sum():.6g}"
            )
