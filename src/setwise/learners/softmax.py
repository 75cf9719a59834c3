"""Softmax regression on soft targets with an L2 penalty: what gates are made of.

It minimises, in scikit-learn's terms,

    C sum_i w_i [log sum_k exp(z_ik) - sum_k t_ik z_ik] + |W|^2 / 2,        z = X W + b

over weights W (d, K) of all classes alike and free biases b, for targets t_i (K,) that sum to one.
Up to the targets' entropy this is C sum_i w_i KL(t_i || softmax(z_i)) + |W|^2 / 2. Adding a
constant to all biases changes nothing: they are reported with sum zero.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count
from setwise.learners.bank_inputs import (
    check_classes,
    check_rows,
    check_weights,
    class_shares,
    trusted_weights,
)
from setwise.learners.bank_lbfgs import ROUNDING
from setwise.learners.bank_problem import check_strength, in_precision, without_idle_rows
from setwise.learners.lbfgs import minimise
from setwise.learners.linear import linear_scores
from setwise.learners.losses import SoftmaxLoss
from setwise.learners.solution import Solution, warn_if_short
from setwise.learners.tiled import rows_for
from setwise.learners.whitening import Curvature, typical, whitened
from setwise.learners.workers import Workers
from setwise.storage import storable

LEAST_SHARE = 1e-6  # of all weight, that a class without any is taken to have
FACTOR_ENTRIES = 16  # of the curvature for each of X, beyond which its diagonal has to do


@storable
class SoftmaxRegression:
    """One softmax over K classes, from distributions over them.

    Parameters
    ----------
    C : float
        Inverse strength of the penalty, as in scikit-learn.
    fit_bias : bool
        Whether there are biases; they are free.
    max_iter, tol : int, float
        L-BFGS steps at most, and how far the objective may be above its minimum, relative to it (an
        estimate), but no less than ten units in the last place. Steps that run out are told by a
        ``NotConverged`` warning, unless ``tol`` is 0.
    dtype : float32, float64 or None
        What to compute in; None means X's own precision.
    warm_start : bool
        Whether ``fit`` starts from the weights it has; the objective then never ends above its
        start.
    n_jobs : int, optional
        Threads; all cores by default. Results do not depend on it.
    verbose : int
        1 prints a line per fit.

    Attributes
    ----------
    weights_ : array (d, K); biases_ : array (K,); objective_ : float; converged_ : bool;
    n_iter_ : int.

    Notes
    -----
    The bias of a class without any weight has no finite minimum. It starts at the logarithm of a
    millionth of the total and moves only as far as the solver's tolerance asks: always finite.

    Examples
    --------
    >>> gate = SoftmaxRegression().fit([[0.0], [1.0], [2.0]], [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    >>> np.exp(gate.log_proba([[2.0]])).round(2).tolist()
    [[0.31, 0.69]]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_bias: bool = True,
        max_iter: int = 200,
        tol: float = 1e-7,
        dtype: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fit_bias = fit_bias
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, T: Any, sample_weight: Any = None, *, check_input: bool = True) -> Self:
        """Learn from X (n, d), dense or CSR, distributions T (n, K) and row weights (n,).

        A sparse T of one class a row stays sparse, and there may be thousands of classes: for so
        many rows at a time that they have 16 million logits, memory grows with n K; then no more.

        ``check_input=False`` is for callers that fit again and again on rows they have checked: X
        is then a C-contiguous float array or what ``bank_inputs.check_rows`` returned, T a float
        array (n, K) and weights None or a float array, all of values that would pass.
        """
        check_count("max_iter", self.max_iter, at_least=1)
        warm = self.warm_start and hasattr(self, "weights_")
        if check_input:
            X = check_rows(X, self.weights_.shape[0] if warm else None)
            n_classes = T.shape[1] if sparse.issparse(T) else None
            T = check_classes(T, X.shape[0], len(self.biases_) if warm else None)
            weight = check_weights(sample_weight, X.shape[0], 1)
        else:
            weight, n_classes = trusted_weights(sample_weight, X.shape[0]), None
        X, T, weight = without_idle_rows(X, T, weight)
        X = in_precision(X, self.dtype, check_size=check_input)
        n_classes = n_classes or T.shape[1]
        start = self._warm_start() if warm else self._cold_start(X, T, weight, n_classes)
        used = used_features(X)
        with Workers(self.n_jobs) as workers:
            found = self._solved(taken_features(X, used), T, weight, start[used], workers)
        weights = np.zeros((X.shape[1] + 1, n_classes), found.weights.dtype)
        weights[used] = found.weights
        self.weights_: np.ndarray = weights[:-1]
        self.biases_: np.ndarray = centred(weights[-1])
        self.objective_, self.converged_ = float(found.values[0]), bool(found.converged[0])
        self.n_iter_ = found.n_iter
        if self.verbose:
            print(f"softmax: {self.n_iter_} iterations, objective {self.objective_:.6g}")
        warn_if_short(found.converged, n_iter=self.n_iter_, tol=self.tol, what="softmax")
        return self

    def log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities, (n, K), in the precision of the weights."""
        X = check_rows(X, self.weights_.shape[0])
        scores = linear_scores(X, self.weights_, self.biases_, self.n_jobs)
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def _warm_start(self) -> np.ndarray:
        biases = self.biases_ if self.fit_bias else np.zeros_like(self.biases_)
        return np.vstack([self.weights_, biases])

    def _cold_start(self, X: Any, T: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
        start = np.zeros((X.shape[1] + 1, n_classes), X.dtype)
        if self.fit_bias:
            shares = class_shares(T, weight, n_classes)
            start[-1] = centred(np.log(np.maximum(shares, LEAST_SHARE)))
        return start

    def _solved(
        self, X: Any, T: np.ndarray, weight: np.ndarray, start: np.ndarray, workers: Workers
    ) -> Solution:
        dtype, n_classes = X.dtype, start.shape[1]
        rows = rows_for(X, n_classes, bias=self.fit_bias)
        ridge = 1 / float(check_strength(self.C, 1)[0])
        penalties = np.ones((X.shape[1] + 1, 1), dtype)
        penalties[-1] = not self.fit_bias
        targets = T.astype(dtype, copy=False) if T.ndim == 2 else T
        loss = SoftmaxLoss(rows, targets, weight.astype(dtype), ridge, penalties, workers)
        shares = class_shares(T, weight, n_classes)
        squares = penalties[:, 0].astype(np.float64) * ridge
        # Each evaluation multiplies by the factor of the whole curvature, twice.
        worth = X.shape[1] ** 2 <= FACTOR_ENTRIES * rows.size
        curvature = Curvature(rows, weight[:, 0], squares, n_targets=n_classes if worth else 0)
        whitening = curvature.whitening(typical(shares * (1 - shares)))
        # What all classes share changes no probability: without it the penalty is least.
        V = whitening.inverse(centred(start).astype(dtype))
        problem = whitened(loss, whitening)
        # Beyond rounding no objective can be told from the next.
        tol = max(self.tol, ROUNDING * float(np.finfo(dtype).eps)) if self.tol else 0.0
        found = minimise(problem, V.reshape(-1, 1), max_iter=self.max_iter, tol=tol)
        weights = whitening.weights(found.V.reshape(V.shape))
        return Solution(weights, found.values / ridge, found.converged, found.n_iter)


def centred(scores: np.ndarray) -> np.ndarray:
    """Scores less their mean over the classes."""
    less: np.ndarray = scores - scores.mean(axis=-1, keepdims=True)
    return less


def used_features(X: Any) -> np.ndarray:
    """The features that some row has, and the bias after them: others get no weight anyway."""
    d = X.shape[1]
    if not sparse.issparse(X):
        return np.arange(d + 1)
    return np.append(np.flatnonzero(np.bincount(X.indices, minlength=d)), d)


def taken_features(X: Any, used: np.ndarray) -> Any:
    """X with some of its columns, of which the last is the bias, which X has not."""
    if len(used) == X.shape[1] + 1:
        return X
    place = np.zeros(X.shape[1], X.indices.dtype)
    place[used[:-1]] = np.arange(len(used) - 1)
    return sparse.csr_array((X.data, place[X.indices], X.indptr), (X.shape[0], len(used) - 1))
