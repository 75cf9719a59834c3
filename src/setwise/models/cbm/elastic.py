"""Linear classifiers inside EM under an elastic net: a few Newton steps, and exact zeros.

Both minimise, over weights W and free biases b,

    sum_i w_i loss_i(x_i W + b) + (l1_ratio |W|_1 + (1 - l1_ratio) / 2 |W|_2^2) / C

by proximal Newton steps from where they are (``setwise.learners.elastic_solver``), never to a worse
place. They learn from the features themselves: in another basis, zeros would mean nothing.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.learners.elastic import fit_one
from setwise.learners.elastic_softmax import ElasticNetSoftmax
from setwise.learners.elastic_solver import (
    Settings,
    Solution,
    as_matrix,
    as_solutions,
    by_columns,
    linear_scores,
)
from setwise.learners.workers import Workers
from setwise.models.cbm.linear import with_origin
from setwise.models.cbm.rows import TrainingRows, log_prior, places
from setwise.storage import storable

TOLERANCE = 1e-4  # relative: conditions of optimality that are met so well are met


@storable
class ElasticLabels:
    """Elastic-net regressions of one component's active labels.

    ``weights_`` is a CSR array (d, A). The prior of biases is that of ``LinearLabels``: a row
    without features, of weight ``smoothing``, has all labels by their overall frequencies.
    """

    in_basis: ClassVar[bool] = False
    columns_ = None  # weights are of all features

    def __init__(
        self, C: float = 1.0, l1_ratio: float = 0.5, steps: int = 4, smoothing: float = 0.1
    ) -> None:
        self.C, self.l1_ratio, self.steps, self.smoothing = C, l1_ratio, steps, smoothing
        self._forget(0)

    def improve(
        self,
        training: TrainingRows,
        rows: np.ndarray,
        weight: np.ndarray,
        labels: np.ndarray,
        log_odds: np.ndarray,
    ) -> None:
        """A few steps on the rows' labels; classifiers that are new begin at their log-odds."""
        d = training.features.shape[1]
        if not len(labels):
            self._forget(d)
            return
        frequency = training.frequency[labels]
        columns = by_columns(with_origin(training.features, rows))
        T = np.vstack([training.targets(rows, labels), frequency]).astype(np.float64)
        weight = np.append(weight, self.smoothing)
        strength = 1 / (self.C * weight.sum())
        settings = Settings(strength, self.l1_ratio, TOLERANCE, self.steps)
        solutions = [
            fit_one(columns, np.ascontiguousarray(target), weight, settings, start)
            for target, start in zip(T.T, self._starts(training, labels, log_odds), strict=True)
        ]
        self.labels_, self.weights_ = labels, as_matrix(solutions, d)
        self.biases_ = np.array([solution.bias for solution in solutions])
        self.log_prior_ = self.smoothing * log_prior(self.biases_, frequency)

    def logits(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Log-odds of the active labels in some rows of X, (m, A)."""
        return linear_scores(X[rows], self.weights_, self.biases_)

    @property
    def penalty(self) -> float:
        """What the objective pays for the weights and biases."""
        return elastic_penalty(self.weights_, self.l1_ratio) / self.C - self.log_prior_

    def turn(self, basis: np.ndarray) -> None:
        """Weights are those of the features already."""

    def _forget(self, n_features: int) -> None:
        self.labels_ = np.zeros(0, np.int64)  # (A,)
        self.weights_ = sparse.csr_array((n_features, 0))  # (d, A)
        self.biases_ = np.zeros(0)  # (A,)
        self.log_prior_ = 0.0

    def _starts(
        self, training: TrainingRows, labels: np.ndarray, log_odds: np.ndarray
    ) -> list[Solution]:
        """What is known of each label."""
        old = as_solutions(self.weights_, self.biases_)
        place = places(self.labels_, training.n_labels)[labels]
        nothing = np.empty(0, np.int64), np.empty(0)
        return [
            Solution(*nothing, float(bias)) if number < 0 else old[number]
            for number, bias in zip(place, log_odds, strict=True)
        ]


@storable
class ElasticGate:
    """A softmax over the components under an elastic net: ``softmax_``, and its weights."""

    in_basis: ClassVar[bool] = False

    def __init__(self, C: float = 1.0, l1_ratio: float = 0.5, steps: int = 4) -> None:
        self.C, self.l1_ratio, self.steps = C, l1_ratio, steps

    def improve(self, training: TrainingRows, T: np.ndarray, workers: Workers) -> None:
        """A few rounds over the components, on responsibilities T (n, K)."""
        if not hasattr(self, "softmax_"):
            self.softmax_ = ElasticNetSoftmax(
                l1_ratio=self.l1_ratio, tol=TOLERANCE, max_iter=self.steps, warm_start=True
            )
        self.softmax_.C = self.C
        self.softmax_.take_steps(training.features, np.asarray(T), training.weight)

    def log_proba(self, X: Any) -> np.ndarray:
        """Log weights of the components, (n, K)."""
        return self.softmax_.log_proba(X)

    @property
    def weights_(self) -> sparse.csr_array:
        """The weights of the features, (d, K)."""
        return self.softmax_.weights_

    @property
    def penalty(self) -> float:
        """What the objective pays for the weights."""
        return elastic_penalty(self.softmax_.weights_, self.l1_ratio) / self.C

    def turn(self, basis: np.ndarray) -> None:
        """Weights are those of the features already."""


def elastic_penalty(weights: Any, l1_ratio: float) -> float:
    """l1_ratio |W|_1 + (1 - l1_ratio) / 2 |W|_2^2 of sparse weights."""
    values = weights.data
    return float(l1_ratio * np.abs(values).sum() + (1 - l1_ratio) / 2 * (values @ values))
