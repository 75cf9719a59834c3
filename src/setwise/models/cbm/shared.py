"""Label detectors that all components share: sharing="labels" (Li 2019, section 3.12.1).

    logit b_kl(x) = x'w_l + B_kl

A label is detected by the same weights in all components, and each component only shifts how likely
it is. So there are few parameters, the M-step costs hardly more than binary relevance, whatever the
number of components, and the E-step and prediction need one product X W for all of them.
``shared_loss.py`` has the objective.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from setwise.learners.bank_inputs import is_constant
from setwise.learners.design import rows_of
from setwise.learners.lbfgs import minimise
from setwise.learners.losses import block_rows, blocks
from setwise.learners.workers import Workers, spans
from setwise.models.cbm.em import EM, LOG_NOTHING, Gate
from setwise.models.cbm.linear import CLOSE
from setwise.models.cbm.mixture import MAX_LOG_ODDS, ConditionalMixture
from setwise.models.cbm.rows import TrainingRows, places
from setwise.models.cbm.shared_loss import ScaledLoss, SharedLoss
from setwise.storage import storable


class SharedLabels(ABC):
    """Classifiers of all labels for all components, which have biases of their own.

    Attribute: ``biases_`` (K, L). Those of a label that no training row has, or each, stay at its
    smoothed frequency.
    """

    biases_: np.ndarray

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.biases_)

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.biases_.shape[1])

    @property
    @abstractmethod
    def penalty(self) -> float:
        """What the objective pays for them."""

    @abstractmethod
    def start(self, training: TrainingRows, log_odds: np.ndarray) -> Self:
        """Log-odds (K, L) only, until the first M-step."""

    @abstractmethod
    def improve(self, training: TrainingRows, shares: np.ndarray, workers: Workers) -> None:
        """Better classifiers for responsibilities (K, n)."""

    @abstractmethod
    def add_log_likelihood(
        self,
        training: TrainingRows,
        shares: np.ndarray,
        log_least: float,
        log_joint: np.ndarray,
        workers: Workers,
    ) -> None:
        """log_joint (n, K) += log-likelihoods of the rows' labels.

        -inf may stand where that comes to less than ``log_least`` below a row's best.
        """

    @abstractmethod
    def fill_logits(self, X: Any, Z: np.ndarray) -> None:
        """Z (n, K, L) = log-odds of each label in each component."""

    @abstractmethod
    def turn(self, basis: Any) -> None:
        """From coordinates in the basis (d, r) to features."""

    def _start_biases(self, training: TrainingRows, log_odds: np.ndarray) -> np.ndarray:
        """Biases (K, L) to begin with; tells which labels vary, bool (L,)."""
        positive: np.ndarray = training.Y.T @ training.weight
        constant = is_constant(positive, np.full(len(positive), training.total))
        frequency = training.frequency
        overall = np.log(frequency) - np.log1p(-frequency)
        self.biases_ = np.where(constant, overall, log_odds)
        varies: np.ndarray = ~constant
        return varies


@storable
class LinearShared(SharedLabels):
    """Logistic regressions of all labels, and biases for each component.

    ``weights_`` (D, L) has a row for each of ``columns_``, the features that occur in training;
    None stands for all. A label that no training row has, or each, keeps weights of zero.
    """

    in_basis: ClassVar[bool] = True

    def __init__(self, C: float = 1.0, steps: int = 4) -> None:
        self.C, self.steps = C, steps

    def start(self, training: TrainingRows, log_odds: np.ndarray) -> Self:
        """Biases (K, L) only, until the first M-step."""
        X, columns = training.X, None
        if sparse.issparse(X):
            columns = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
            place = places(columns, X.shape[1])
            parts = (X.data, place[X.indices], X.indptr)
            X = sparse.csr_array(parts, shape=(X.shape[0], len(columns)))
        self._rows = rows_of(X, bias=False)
        self.columns_: np.ndarray | None = columns
        self._moving = np.flatnonzero(self._start_biases(training, log_odds))
        self.biases_ = self.biases_.astype(X.dtype)
        self.weights_ = np.zeros((X.shape[1], self.n_labels), X.dtype)
        self.penalty_ = self._penalty()
        return self

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_rows": None}  # what is learnt goes out, not what from

    @property
    def penalty(self) -> float:
        """What the objective pays for weights and biases."""
        return self.penalty_

    def improve(self, training: TrainingRows, shares: np.ndarray, workers: Workers) -> None:
        """A few steps on responsibilities (K, n), never to a worse place."""
        moving, d = self._moving, len(self.weights_)
        if not len(moving):
            return
        loss = SharedLoss(
            self._rows,
            training.Y,
            places(moving, self.n_labels),
            _by_row(shares * training.weight, self.weights_.dtype),
            1 / self.C,
            workers,
        )
        V = np.vstack([self.weights_[:, moving], self.biases_[:, moving]])
        scale = (1 / np.sqrt(loss.curvatures(V))).astype(V.dtype)
        found = minimise(ScaledLoss(loss, scale), V / scale, max_iter=self.steps, tol=CLOSE)
        V = scale * found.V
        weights, biases = self.weights_.copy(), self.biases_.copy()  # others may hold the old ones
        weights[:, moving], biases[:, moving] = V[:d], V[d:]
        self.weights_, self.biases_ = weights, biases
        self.penalty_ = self._penalty()

    def add_log_likelihood(
        self,
        training: TrainingRows,
        shares: np.ndarray,
        log_least: float,
        log_joint: np.ndarray,
        workers: Workers,
    ) -> None:
        """log_joint (n, K) += log-likelihoods, or -inf; see ``SharedLabels``."""
        from setwise.models.cbm._shared_kernel import HOPELESS, add_log_likelihood

        pairs, Y, L = _by_row(shares, self.weights_.dtype), training.Y, self.n_labels
        W = np.vstack([self.weights_, self.biases_[:1]])  # a row where a bias would stand

        def stripe(span: tuple[int, int]) -> None:
            memory = np.empty((block_rows(L), L), W.dtype)
            for start, stop in blocks(*span, L):
                joint = log_joint[start:stop]
                np.maximum(joint, HOPELESS, out=joint)
                Z = memory[: stop - start]
                self._rows.fill_logits(start, stop, W, Z)
                add_log_likelihood(
                    Z, start, pairs.indptr, pairs.indices, self.biases_, Y.indptr, Y.indices,
                    log_least, joint,
                )  # fmt: skip
                joint[joint <= HOPELESS / 2] = -np.inf

        n = len(log_joint)
        workers.map(stripe, spans(n, min(n, 4 * workers.count)))

    def fill_logits(self, X: Any, Z: np.ndarray) -> None:
        """Z (n, K, L) = log-odds of each label in each component."""
        shared = self.shared_logits(X)
        np.add(shared[:, None, :], self.biases_, out=Z)

    def shared_logits(self, X: Any) -> np.ndarray:
        """What all components say, (n, L)."""
        if self.columns_ is None:
            Z: np.ndarray = X @ self.weights_
            return Z
        from setwise.models.cbm._likelihood_kernel import fill_mapped_logits

        W, n = self.weights_, X.shape[0]
        Z = np.empty((n, W.shape[1]), W.dtype)
        column = places(self.columns_, X.shape[1])
        nothing = np.zeros(W.shape[1], W.dtype)
        fill_mapped_logits(X.indptr, X.indices, X.data, np.arange(n), column, W, nothing, Z)
        return Z

    def turn(self, basis: Any) -> None:
        """From coordinates in the basis (d, r) to features."""
        if self.columns_ is not None:  # then the basis is a choice of features
            self.columns_ = basis.tocsc().indices[self.columns_]
        else:
            self.weights_ = (basis @ self.weights_).astype(self.biases_.dtype)

    def _penalty(self) -> float:
        apart = self.biases_ - self.biases_.mean(axis=0)
        squares = (np.vdot(part.astype(np.float64), part) for part in (self.weights_, apart))
        return float(sum(squares)) / (2 * self.C)


@dataclass(frozen=True)
class SharedComponent:
    """One component of those that share their classifiers, as EM and readers of a model see it."""

    shared: SharedLabels
    k: int

    @property
    def labels(self) -> np.ndarray:
        """The active labels: all."""
        return np.arange(self.shared.n_labels)

    @property
    def penalty(self) -> float:
        """An equal part of what the objective pays for the classifiers."""
        return self.shared.penalty / self.shared.n_components


@dataclass
class SharedEM(EM):
    """EM in which the M-step of all components is one, and the E-step shares their scores."""

    shared: SharedLabels = field(kw_only=True)

    def learners(self) -> list[Any]:
        """What is improved in each round."""
        return [self.gate, self.shared]

    def _maximise(self) -> Any:
        self.shared.improve(self.training, self.responsibilities, self.workers)
        self.gate.improve(self.training, self.responsibilities.T, self.workers)
        return []

    def _expect(self, known: Any) -> tuple[float, float]:
        log_joint = np.array(self._log_weights(), dtype=np.float64, order="C")
        log_least = np.log(self.least) if self.least > 0 else LOG_NOTHING
        self.shared.add_log_likelihood(
            self.training, self.responsibilities, log_least, log_joint, self.workers
        )
        return self._normalise(np.ascontiguousarray(log_joint.T))


@storable
class SharedMixture:
    """π(z | x) and b(y | x, z) of components that share their classifiers."""

    gate_: Gate
    labels_: SharedLabels

    @classmethod
    def of(cls, gate: Gate, labels: SharedLabels) -> SharedMixture:
        """From fitted parts."""
        mixture = cls()
        mixture.gate_, mixture.labels_ = gate, labels
        return mixture

    @property
    def components_(self) -> list[SharedComponent]:
        """The components."""
        return [SharedComponent(self.labels_, k) for k in range(self.labels_.n_components)]

    def log_weights(self, X: Any) -> np.ndarray:
        """Log π_k(x), (n, K)."""
        return ConditionalMixture.of(self.gate_, []).log_weights(X)

    def fill_logits(self, X: Any, Z: np.ndarray, takes_part: np.ndarray | None = None) -> None:
        """Z (n, K, L) = log-odds of each label in each component, whether it takes part or not."""
        self.labels_.fill_logits(X, Z)
        np.clip(Z, -MAX_LOG_ODDS, MAX_LOG_ODDS, out=Z)


def _by_row(shares: np.ndarray, dtype: Any) -> sparse.csr_array:
    """Shares (K, n) as the entries of each row, (n, K)."""
    pairs = sparse.csr_array(shares.T, dtype=dtype)
    pairs.indices, pairs.indptr = pairs.indices.astype(np.int32), pairs.indptr.astype(np.int64)
    return pairs
