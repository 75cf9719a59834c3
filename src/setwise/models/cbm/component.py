"""One component of a conditional Bernoulli mixture: classifiers of its active labels, constants.

Section 3.5 of Li 2019: a label that nearly all or nearly none of a component's rows have needs no
classifier there. It gets a constant probability, smoothed towards the label's overall frequency,
which is the best one under a Beta prior.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from scipy import sparse

from setwise.models.cbm.rows import TrainingRows, log_prior, row_pieces
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


class Task(NamedTuple):
    """A component's part of an M-step."""

    component: Component
    rows: np.ndarray  # (m,)
    weight: np.ndarray  # (m,) responsibilities times weights
    positive: np.ndarray  # (L,) how much of it has each label
    labels: np.ndarray  # (A,) those that are active now
    log_odds: np.ndarray  # (A,) where new classifiers begin

    def improve(self, training: TrainingRows) -> None:
        """Better classifiers of the active labels."""
        classifiers = self.component.classifiers_
        classifiers.improve(training, self.rows, self.weight, self.labels, self.log_odds)


@storable
class Component:
    """What one component says of all labels.

    ``classifiers_`` are those of the active labels; ``constants_`` (L,) the log-odds of the others
    (those of active labels are kept, and not used); ``log_prior_`` what the Beta prior says of the
    constants.
    """

    def __init__(self, smoothing: float = 0.1, margin: float = 1e-5) -> None:
        self.smoothing, self.margin = smoothing, margin

    def start(self, classifiers: Labels, log_odds: np.ndarray, frequency: np.ndarray) -> Self:
        """Constants only, until the first M-step."""
        self.classifiers_, self.constants_ = classifiers, log_odds
        self.log_prior_ = self.smoothing * log_prior(log_odds, frequency)
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

    def task(self, training: TrainingRows, rows: np.ndarray, weight: np.ndarray) -> Task:
        """What the M-step has to do, for rows weighted by responsibility (m,)."""
        positive = training.positive(rows, weight)
        share = positive / weight.sum()
        labels = np.flatnonzero((share > self.margin) & (share < 1 - self.margin))
        return Task(self, rows, weight, positive, labels, self.constants_[labels])

    def settle(self, training: TrainingRows, task: Task) -> None:
        """New constants, for the labels that have no classifier now."""
        # From both sides: a rate would round to one where nearly all rows have the label.
        f, absent = training.frequency, np.maximum(task.weight.sum() - task.positive, 0)
        present = np.log(task.positive + self.smoothing * f)
        self.constants_ = present - np.log(absent + self.smoothing * (1 - f))
        constant = self.is_constant
        prior = log_prior(self.constants_[constant], training.frequency[constant])
        self.log_prior_ = self.smoothing * prior

    def log_likelihood(self, training: TrainingRows, rows: np.ndarray) -> np.ndarray:
        """What the classifiers say of the rows' active labels, (m,)."""
        if not len(self.labels):
            return np.zeros(len(rows))
        X, found = training.seen_by(self.classifiers_), np.empty(len(rows))
        # Only linear classifiers copy the rows they look at, and only dense ones; others had better
        # see all at once.
        copies = self.classifiers_.in_basis and not sparse.issparse(X)
        pieces = row_pieces(len(rows)) if copies else [slice(None)]
        for piece in pieces:
            Z = self.classifiers_.logits(X, rows[piece])
            found[piece] = training.log_likelihood(rows[piece], self.labels, Z)
        return found

    def fill_logits(self, X: Any, Z: np.ndarray) -> None:
        """Z (n, L) = log-odds of all labels."""
        Z[:] = self.constants_
        if len(self.labels):
            Z[:, self.labels] = self.classifiers_.logits(X, np.arange(X.shape[0]))

    @property
    def penalty(self) -> float:
        """What the objective pays for the component."""
        return self.classifiers_.penalty - self.log_prior_
