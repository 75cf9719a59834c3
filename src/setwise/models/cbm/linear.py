"""Linear classifiers inside EM: a few steps from where they are, never to a worse place.

Both minimise, over weights W and free biases b,

    sum_i w_i loss_i(x_i W + b) + |W|^2 / 2 C

``LinearLabels`` are the label classifiers of one component, ``LinearGate`` the softmax over
components. Dense features come in a basis in which they are uncorrelated (``features.py``): there
the diagonal of the curvature says all about it, and no component needs a matrix of its own.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from setwise.learners.bank_dual import solve_by_dual
from setwise.learners.bank_problem import BankProblem
from setwise.learners.design import DenseRows, SparseRows, rows_of
from setwise.learners.lbfgs import minimise
from setwise.learners.linear import linear_scores
from setwise.learners.losses import BankLoss, SoftmaxLoss, padded
from setwise.learners.softmax import LEAST_SHARE, centred
from setwise.learners.whitening import LEAST_SPREAD, Diagonal, WhitenedLoss, typical
from setwise.learners.workers import Workers
from setwise.models.cbm.rows import TrainingRows, log_prior, places, row_pieces
from setwise.storage import storable

CLOSE = 1e-6  # relative to an objective: nearer to the minimum than this is near enough


@storable
class LinearLabels:
    """Logistic regressions of one component's active labels.

    ``weights_`` (D, A) has a row for each of ``columns_``, the features that occur in the
    component's rows; None stands for all. A row without features, of weight ``smoothing``, has all
    labels by their overall frequencies: the prior of biases, the same as that of constants, so that
    a label costs nothing when it becomes active or ceases to be.
    """

    in_basis: ClassVar[bool] = True

    columns_: np.ndarray | None

    def __init__(
        self,
        C: float = 1.0,
        steps: int = 4,
        smoothing: float = 0.1,
        random_state: int | None = 0,
    ) -> None:
        self.C, self.steps = C, steps
        self.smoothing, self.random_state = smoothing, random_state
        self._forget()

    def improve(
        self,
        training: TrainingRows,
        rows: np.ndarray,
        weight: np.ndarray,
        labels: np.ndarray,
        log_odds: np.ndarray,
    ) -> None:
        """A few steps on the rows' labels; classifiers that are new begin at their log-odds."""
        if not len(labels):
            self._forget()
            return
        X, T = with_origin(training.X, rows), training.targets_with_prior(rows, labels)
        weight = np.append(weight, self.smoothing)
        d = X.shape[1]
        columns: np.ndarray | None = None
        if sparse.issparse(X):
            columns = np.flatnonzero(np.bincount(X.indices, minlength=d))
            X = with_columns(X, columns)
        start = self.start(columns, d, labels, log_odds).astype(X.dtype)
        weights = improved(X, T, weight, start, C=self.C, steps=self.steps, seed=self.random_state)
        self.take(training, columns, labels, weights)

    def take(
        self,
        training: TrainingRows,
        columns: np.ndarray | None,
        labels: np.ndarray,
        weights: np.ndarray,
    ) -> None:
        """Go on with these weights (D + 1, A), the biases last."""
        self.columns_, self.labels_ = columns, labels
        self.weights_, self.biases_ = weights[:-1], weights[-1]
        self.log_prior_ = self.smoothing * log_prior(self.biases_, training.frequency[labels])

    def turn(self, basis: Any) -> None:
        """From coordinates in the basis (d, r) to features."""
        if self.columns_ is not None:  # then the basis is a choice of features
            self.columns_ = basis.tocsc().indices[self.columns_]
        elif len(self.labels_):
            self.weights_ = (basis @ self.weights_).astype(self.biases_.dtype)

    def _forget(self) -> None:
        self.columns_ = None
        self.labels_ = np.zeros(0, np.int64)  # (A,)
        self.weights_ = np.zeros((0, 0))  # (D, A)
        self.biases_ = np.zeros(0)  # (A,)
        self.log_prior_ = 0.0

    def logits(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Log-odds of the active labels in some rows of X, (m, A)."""
        W, bias = self.weights_, self.biases_
        if self.columns_ is None:
            Z: np.ndarray = X[rows] @ W
            Z += bias
            return Z
        from setwise.models.cbm._likelihood_kernel import fill_mapped_logits

        Z = np.empty((len(rows), len(bias)), W.dtype)
        column = places(self.columns_, X.shape[1])
        fill_mapped_logits(X.indptr, X.indices, X.data, rows, column, W, bias, Z)
        return Z

    @property
    def penalty(self) -> float:
        """What the objective pays for the weights and biases."""
        return squares(self.weights_) / (2 * self.C) - self.log_prior_

    def start(
        self, columns: np.ndarray | None, d: int, labels: np.ndarray, log_odds: np.ndarray
    ) -> np.ndarray:
        """The weights that there are, for the new labels and features, (D + 1, A)."""
        start = np.zeros(((d if columns is None else len(columns)) + 1, len(labels)))
        start[-1] = log_odds
        _, now, before = np.intersect1d(
            labels, self.labels_, assume_unique=True, return_indices=True
        )
        if len(now):
            start[-1, now] = self.biases_[before]
            if columns is None or self.columns_ is None:
                start[:-1, now] = self.weights_[:, before]
            else:
                place = places(self.columns_, d)[columns]
                known = np.flatnonzero(place >= 0)
                start[np.ix_(known, now)] = self.weights_[np.ix_(place[known], before)]
        return start


@storable
class LinearGate:
    """A softmax regression over the components."""

    in_basis: ClassVar[bool] = True

    def __init__(self, C: float = 1.0, steps: int = 4) -> None:
        self.C, self.steps = C, steps

    def improve(self, training: TrainingRows, T: np.ndarray, workers: Workers) -> None:
        """A few steps on responsibilities T (n, K); the first begin at the components' shares."""
        X, weight = training.X, training.weight
        shares = T.T @ weight / training.total
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros((X.shape[1], T.shape[1]), X.dtype)
            self.biases_ = centred(np.log(np.maximum(shares, LEAST_SHARE))).astype(X.dtype)
        start = np.vstack([self.weights_, self.biases_])
        rows, penalties, dtype = rows_of(X, bias=True), unpenalised_bias(start), X.dtype
        wide = weight.astype(dtype)[:, None]
        loss = SoftmaxLoss(rows, T.astype(dtype), wide, 1 / self.C, penalties, workers)
        whitening = _whitening(rows, weight, penalties, typical(shares * (1 - shares)), self.C)
        V = whitening.inverse(start)
        found = minimise(
            WhitenedLoss(loss, whitening), V.reshape(-1, 1), max_iter=self.steps, tol=CLOSE
        )
        weights = whitening.weights(found.V.reshape(V.shape))
        self.weights_, self.biases_ = weights[:-1], centred(weights[-1])

    def log_proba(self, X: Any) -> np.ndarray:
        """Log weights of the components, (n, K)."""
        log_pi = linear_scores(X, self.weights_, self.biases_).astype(np.float64)
        for rows in row_pieces(len(log_pi)):
            log_pi[rows] = log_softmax(log_pi[rows], axis=1)
        return log_pi

    def keep(self, components: np.ndarray) -> None:
        """Go on with these components only, by what is left of their weights."""
        self.weights_, self.biases_ = self.weights_[:, components], self.biases_[components]

    def turn(self, basis: Any) -> None:
        """From coordinates in the basis (d, r) to features."""
        self.weights_ = (basis @ self.weights_).astype(self.biases_.dtype)

    @property
    def penalty(self) -> float:
        """What the objective pays for the weights."""
        return squares(self.weights_) / (2 * self.C)


def improved(
    X: Any,
    T: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    *,
    C: float,
    steps: int,
    seed: int | None,
) -> np.ndarray:
    """Weights (d + 1, A) of logistic regressions, the biases last, a few steps from ``start``.

    Targets T (m, A or more) are in [0, 1] and share the rows' weights (m,). No objective is above
    that of its start, save by rounding.
    """
    by = _by_dual if sparse.issparse(X) else _by_lbfgs
    return by(X, T, weight, start, C, steps, seed)


def _by_lbfgs(
    X: np.ndarray,
    T: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    C: float,
    steps: int,
    seed: int | None,
) -> np.ndarray:
    rows, penalties, alone = rows_of(X, bias=True), unpenalised_bias(start), Workers(1)
    ridge = np.full(start.shape[1], 1 / C)
    loss = BankLoss(rows, padded(T), weight.astype(T.dtype)[:, None], ridge, penalties, alone)
    spreads = np.maximum(loss.spreads(start), LEAST_SPREAD)
    whitening = _whitening(rows, weight, penalties, typical(spreads), C)
    found = minimise(
        WhitenedLoss(loss, whitening),
        whitening.inverse(start),
        max_iter=steps,
        tol=CLOSE,
        scale=typical(spreads) / spreads,
    )
    return whitening.weights(found.V)


def _by_dual(
    X: sparse.csr_array,
    T: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    C: float,
    steps: int,
    seed: int | None,
) -> np.ndarray:
    n_targets = start.shape[1]
    problem = BankProblem(X, T[:, :n_targets], weight[:, None], np.full(n_targets, C), "free")
    return solve_by_dual(
        problem, start, max_iter=steps, tol=CLOSE, workers=Workers(1), seed=seed
    ).weights


def with_origin(X: Any, rows: np.ndarray) -> Any:
    """Some rows of X, and one more in which all features are zero."""
    if sparse.issparse(X):
        part = X[rows]
        indptr = np.append(part.indptr, part.indptr[-1])
        return sparse.csr_array((part.data, part.indices, indptr), (len(rows) + 1, X.shape[1]))
    taken = np.zeros((len(rows) + 1, X.shape[1]), X.dtype)
    np.take(X, rows, axis=0, out=taken[:-1])
    return taken


def unpenalised_bias(weights: np.ndarray) -> np.ndarray:
    """1 where a weight is penalised, (d + 1, 1): everywhere but at the bias."""
    penalties = np.ones((len(weights), 1), weights.dtype)
    penalties[-1] = 0
    return penalties


def _whitening(
    rows: DenseRows | SparseRows,
    weight: np.ndarray,
    penalties: np.ndarray,
    spread: float,
    C: float,
) -> Diagonal:
    squares = rows.square_sums(weight) * spread
    return Diagonal(squares + penalties[:, 0] / C, rows.dtype)


def with_columns(X: sparse.csr_array, columns: np.ndarray) -> sparse.csr_array:
    """X with these columns only; no other has an entry."""
    indices = places(columns, X.shape[1])[X.indices]
    return sparse.csr_array((X.data, indices, X.indptr), shape=(X.shape[0], len(columns)))


def squares(weights: np.ndarray) -> float:
    """The sum of squares, in double precision."""
    return float(np.einsum("dl,dl->", weights, weights, dtype=np.float64))
