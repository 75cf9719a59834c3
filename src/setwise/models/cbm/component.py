"""One component of a conditional Bernoulli mixture: classifiers of its active labels, constants.

Section 3.5 of Li 2019: a label that nearly all or nearly none of a component's rows have needs no
classifier there. It gets a constant probability, smoothed towards the label's overall frequency,
which is the best one under a Beta prior.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np

from setwise.models.cbm.rows import TrainingRows, log_prior
from setwise.storage import storable


class Labels(Protocol):
    """Classifiers of some labels, improved a little in each round of EM."""

    in_basis: ClassVar[bool]  # whether it learns in the coordinates of a basis
    labels_: np.ndarray

    def improve(
        self,
        training: TrainingRows,
        rows: np.ndarray,
        weight: np.ndarray,
        labels: np.ndarray,
        log_odds: np.ndarray,
    ) -> None:
        """Better classifiers of ``labels`` (A,) on the rows; new ones begin at log-odds (A,)."""

    def logits(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Log-odds of the labels in some rows, (m, A)."""

    @property
    def penalty(self) -> float:
        """What the objective pays for them."""

    def turn(self, basis: np.ndarray) -> None:
        """From coordinates in the basis (d, r) to features."""


@storable
class Component:
    """What one component says of all labels.

    ``classifiers_`` are those of the active labels; ``constants_`` (L,) the log-odds of the others
    (those of active labels are kept, and not used); ``log_prior_`` what the Beta prior says of the
    constants.
    """

    def __init__(self, smoothing: float = 0.1, margin: float = 1e-5) -> None:
        self.smoothing, self.margin = smoothing, margin

    def start(self, classifiers: Labels, log_odds: np.ndarray) -> Self:
        """Constants only, until the first M-step."""
        self.classifiers_, self.constants_, self.log_prior_ = classifiers, log_odds, 0.0
        return self

    @property
    def labels(self) -> np.ndarray:
        """The active labels, (A,)."""
        return self.classifiers_.labels_

    @property
    def is_constant(self) -> np.ndarray:
        """The labels without a classifier, bool (L,)."""
        mask = np.ones(len(self.constants_), dtype=bool)
        mask[self.labels] = False
        return mask

    def maximise(self, training: TrainingRows, rows: np.ndarray, weight: np.ndarray) -> None:
        """The M-step on the component's rows, weighted by responsibility (m,)."""
        total, positive = weight.sum(), training.positive(rows, weight)
        share = positive / total
        labels = np.flatnonzero((share > self.margin) & (share < 1 - self.margin))
        self.classifiers_.improve(training, rows, weight, labels, self.constants_[labels])
        smoothed = positive + self.smoothing * training.frequency
        rates = smoothed / (total + self.smoothing)
        self.constants_ = np.log(rates) - np.log1p(-rates)
        constant = self.is_constant
        prior = log_prior(self.constants_[constant], training.frequency[constant])
        self.log_prior_ = self.smoothing * prior

    def log_likelihood(self, training: TrainingRows, rows: np.ndarray) -> np.ndarray:
        """What the classifiers say of the rows' active labels, (m,)."""
        if not len(self.labels):
            return np.zeros(len(rows))
        Z = self.classifiers_.logits(training.seen_by(self.classifiers_), rows)
        return training.log_likelihood(rows, self.labels, Z)

    def fill_logits(self, X: Any, Z: np.ndarray) -> None:
        """Z (n, L) = log-odds of all labels."""
        Z[:] = self.constants_
        if len(self.labels):
            Z[:, self.labels] = self.classifiers_.logits(X, np.arange(X.shape[0]))

    @property
    def penalty(self) -> float:
        """What the objective pays for the component."""
        return self.classifiers_.penalty - self.log_prior_
