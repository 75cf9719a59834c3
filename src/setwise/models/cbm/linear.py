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
from setwise.learners.sparse_softmax import softmax_of
from setwise.learners.whitening import LEAST_SPREAD, Diagonal, WhitenedLoss, typical
from setwise.learners.workers import Workers
from setwise.models.cbm.rows import Scratch, TrainingRows, log_prior, places, row_pieces
from setwise.storage import storable

MANY_TARGETS = 16  # beside whose arithmetic it is nothing to gather rows for each evaluation
CLOSE = 1e-6  # relative to an objective: nearer to the minimum than this is near enough
NEAR = 1e-3  # the same for labels on sparse rows, where more sweeps do not spare EM a round


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
        X, T = _chosen(training, rows, len(labels)), training.targets_with_prior(rows, labels)
        weight = np.append(weight, self.smoothing)
        d = X.shape[1]
        columns: np.ndarray | None = None
        if sparse.issparse(X):
            columns = np.flatnonzero(np.bincount(X.indices, minlength=d))
            X = with_columns(X, columns)
        start = self.start(columns, d, labels, log_odds).astype(X.dtype)
        weights = improved(
            X, T, weight, start, C=self.C, steps=self.steps, seed=self.random_state,
            tol=NEAR if columns is not None else CLOSE,
        )  # fmt: skip
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
        D = d if columns is None else len(columns)
        start = np.zeros((D + 1, len(labels)), self.biases_.dtype)
        start[-1] = log_odds
        _, now, before = np.intersect1d(
            labels, self.labels_, assume_unique=True, return_indices=True
        )
        if len(now):
            start[-1, now] = self.biases_[before]
            known = self.weights_[:, before]
            if columns is not None and self.columns_ is not None:
                place = places(self.columns_, d)[columns]
                known = known[place]
                known[place < 0] = 0
            start[:-1, now] = known
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
        shares = (T.T @ weight.astype(X.dtype)).astype(np.float64) / training.total
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros((X.shape[1], T.shape[1]), X.dtype)
            self.biases_ = centred(np.log(np.maximum(shares, LEAST_SHARE))).astype(X.dtype)
        start = np.vstack([self.weights_, self.biases_])
        rows, penalties = rows_of(X, bias=True), unpenalised_bias(start)
        whitening = _whitening(rows, weight, penalties, typical(shares * (1 - shares)), self.C)
        V = whitening.inverse(start)
        if sparse.issparse(X):
            scale = whitening.weights(np.ones((len(V), 1), X.dtype))[:, 0]
            problem = softmax_of(
                training.bordered, T, weight, scale, penalties[:, 0] / self.C, workers
            )
            V = problem.improved(V, max_iter=_exact_steps(X, self.steps), tol=CLOSE)
        else:
            T, wide = T.astype(X.dtype, copy=False), weight.astype(X.dtype)[:, None]
            loss = SoftmaxLoss(rows, T, wide, 1 / self.C, penalties, workers)
            whitened = WhitenedLoss(loss, whitening)
            found = minimise(whitened, V.reshape(-1, 1), max_iter=self.steps, tol=CLOSE)
            V = found.V.reshape(V.shape)
        weights = whitening.weights(V)
        self.weights_, self.biases_ = weights[:-1], centred(weights[-1])

    def log_proba(self, X: Any) -> np.ndarray:
        """Log weights of the components, (n, K)."""
        W, bias = self.weights_, self.biases_
        scores = linear_scores(X, W, bias) if sparse.issparse(X) else None
        log_pi = np.empty((X.shape[0], len(bias)))
        for rows in row_pieces(len(log_pi)):
            part = linear_scores(X[rows], W, bias) if scores is None else scores[rows]
            log_pi[rows] = log_softmax(part.astype(np.float64), axis=1)
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


def _exact_steps(X: sparse.csr_array, steps: int) -> int:
    """How many steps of the best length stand for some whose length merely gains.

    With fewer features than rows, as many steps would bring the gate nearer to the responsibilities
    of early rounds than is good: a set accuracy of 0.272 on tmc2007 instead of 0.277 (two seeds).
    """
    n, d = X.shape
    return steps if d >= n else -(-3 * steps // 4)


def improved(
    X: Any,
    T: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    *,
    C: float,
    steps: int,
    seed: int | None,
    tol: float | None = None,
) -> np.ndarray:
    """Weights (d + 1, A) of logistic regressions, the biases last, a few steps from ``start``.

    Targets T (m, A or more) are in [0, 1] and share the rows' weights (m,). No objective is above
    that of its start, save by rounding. ``tol`` is how near to the minimum, relative to it, is near
    enough; ``CLOSE`` by default.
    """
    by = _by_dual if sparse.issparse(X) else _by_lbfgs
    return by(X, T, weight, start, C, steps, seed, CLOSE if tol is None else tol)


def _by_lbfgs(
    X: np.ndarray | ChosenRows,
    T: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    C: float,
    steps: int,
    seed: int | None,
    tol: float,
) -> np.ndarray:
    rows = X if isinstance(X, ChosenRows) else rows_of(X, bias=True)
    penalties, alone = unpenalised_bias(start), Workers(1)
    ridge = np.full(start.shape[1], 1 / C)
    loss = BankLoss(rows, padded(T), weight.astype(T.dtype)[:, None], ridge, penalties, alone)
    spreads = np.maximum(loss.spreads(start), LEAST_SPREAD)
    whitening = _whitening(rows, weight, penalties, typical(spreads), C)
    found = minimise(
        WhitenedLoss(loss, whitening),
        whitening.inverse(start),
        max_iter=steps,
        tol=tol,
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
    tol: float,
) -> np.ndarray:
    n_targets = start.shape[1]
    problem = BankProblem(X, T[:, :n_targets], weight[:, None], np.full(n_targets, C), "free")
    return solve_by_dual(
        problem, start, max_iter=steps, tol=tol, workers=Workers(1), seed=seed
    ).weights


class ChosenRows(DenseRows):
    """Some rows of an array, and one of zeros, gathered a block at a time: there is no copy."""

    def __init__(self, X: np.ndarray, rows: np.ndarray, scratch: Scratch) -> None:
        super().__init__(X, bias=True)
        self.shape, self.size = (len(rows) + 1, X.shape[1]), (len(rows) + 1) * X.shape[1]
        self._rows, self._scratch, self._span = rows, scratch, (0, 0)
        self._block = X[:0]

    def fill_logits(self, start: int, stop: int, W: np.ndarray, Z: np.ndarray) -> None:
        """Z (rows, L) = X W + biases, for some rows."""
        np.matmul(self._gathered(start, stop), W[:-1], out=Z)
        Z += W[-1]

    def add_gradient(self, start: int, stop: int, R: np.ndarray, G: np.ndarray) -> None:
        """Add (X, 1)' R to G (d + 1, L), for some rows."""
        G[:-1] += self._gathered(start, stop).T @ R
        G[-1] += R.sum(axis=0)

    def square_sums(self, weight: np.ndarray) -> np.ndarray:
        """Weighted sums of the squares of all features and of the ones, (d + 1,)."""
        sums = np.zeros(self.shape[1])
        for rows in row_pieces(self.shape[0]):
            block = self._gathered(rows.start, rows.stop)
            sums += np.einsum("nd,nd,n->d", block, block, weight[rows].astype(self.dtype))
        return np.append(sums, weight.sum())

    def _gathered(self, start: int, stop: int) -> np.ndarray:
        if self._span != (start, stop):  # the gradient asks for the block of the logits before it
            rows = self._rows[start:stop]
            block = self._scratch.array("rows", (stop - start, self.shape[1]), self.dtype)
            np.take(self.X, rows, axis=0, out=block[: len(rows)], mode="clip")
            block[len(rows) :] = 0
            self._span, self._block = (start, stop), block
        return self._block


def _chosen(training: TrainingRows, rows: np.ndarray, n_targets: int) -> Any:
    """Some rows and one of zeros, as it suits so many targets; dense ones in scratch arrays."""
    if sparse.issparse(training.X) or n_targets < MANY_TARGETS:
        return with_origin(training.X, rows, training.scratch)
    return ChosenRows(training.X, rows, training.scratch)


def with_origin(X: Any, rows: np.ndarray, scratch: Scratch | None = None) -> Any:
    """Some rows of X, and one more in which all features are zero.

    Dense ones are in a scratch array if there is one.
    """
    if sparse.issparse(X):
        part = X[rows]
        indptr = np.append(part.indptr, part.indptr[-1])
        return sparse.csr_array((part.data, part.indices, indptr), (len(rows) + 1, X.shape[1]))
    taken = (scratch or Scratch()).array("rows", (len(rows) + 1, X.shape[1]), X.dtype)
    np.take(X, rows, axis=0, out=taken[:-1], mode="clip")  # "raise" would go by way of a copy
    taken[-1] = 0
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
