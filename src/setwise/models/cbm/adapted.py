"""Any scikit-learn classifier inside EM: fitted anew in each round, and kept where it helps.

Nobody knows what such a classifier minimises, so that what it has learnt is compared with what it
replaces: label by label, whichever gives the weighted rows the higher log-likelihood stays. The
same for the gate.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from setwise.learners.adapt import AdaptedBank, AdaptedGate
from setwise.learners.workers import Workers
from setwise.models.cbm.rows import TrainingRows, places
from setwise.storage import storable


@storable
class ClassifierLabels:
    """A clone of a classifier for each of one component's active labels.

    Attributes: ``labels_`` (A,), and ``bank_``, an ``AdaptedBank`` of them, None without any.
    """

    in_basis: ClassVar[bool] = False
    labels_: np.ndarray
    bank_: AdaptedBank | None

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier
        self._forget()

    def improve(
        self,
        training: TrainingRows,
        rows: np.ndarray,
        weight: np.ndarray,
        labels: np.ndarray,
        log_odds: np.ndarray,
    ) -> None:
        """Classifiers fitted to the rows' labels, where they are better than what there was."""
        if not len(labels):
            self._forget()
            return
        X, T = training.features[rows], training.targets(rows, labels).astype(np.float64)
        bank = AdaptedBank(self.classifier, n_jobs=1).fit(X, T, weight)
        old, before = self._before(X, places(self.labels_, training.n_labels)[labels], log_odds)
        gain = weight @ (log_probabilities(bank.logits(X), T) - log_probabilities(before, T))
        for place in np.flatnonzero(~(gain >= 0)):
            bank.estimators_[place] = old[place]
            if old[place] is None:
                bank.constants_[place] = before[0, place]
        self.labels_, self.bank_ = labels, bank

    def logits(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Log-odds of the active labels in some rows of X, (m, A)."""
        if self.bank_ is None:
            return np.zeros((len(rows), 0))
        return self.bank_.logits(X[rows])

    @property
    def penalty(self) -> float:
        """Nothing: what a classifier pays is its own affair."""
        return 0.0

    def turn(self, basis: np.ndarray) -> None:
        """Classifiers know the features themselves."""

    def _before(
        self, X: Any, sources: np.ndarray, log_odds: np.ndarray
    ) -> tuple[list[Any], np.ndarray]:
        """Classifiers that there were for labels at these places, and what they say, (m, A)."""
        logits = np.tile(log_odds, (X.shape[0], 1))
        if self.bank_ is None:
            return [None] * len(sources), logits
        known = sources >= 0
        logits[:, known] = self.bank_.logits(X)[:, sources[known]]
        estimators = self.bank_.estimators_
        return [None if source < 0 else estimators[source] for source in sources], logits

    def _forget(self) -> None:
        self.labels_ = np.zeros(0, np.int64)  # (A,)
        self.bank_ = None


@storable
class ClassifierGate:
    """A classifier of the components; ``gate_`` is an ``AdaptedGate``."""

    in_basis: ClassVar[bool] = False
    gate_: AdaptedGate

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def improve(self, training: TrainingRows, T: np.ndarray, workers: Workers) -> None:
        """A gate fitted to responsibilities T (n, K), if it is better than the one there was."""
        X, weight = training.features, training.weight
        gate = AdaptedGate(self.classifier).fit(X, T, weight)

        def log_likelihood(gate: AdaptedGate) -> float:
            return float(weight @ (T * gate.log_proba(X)).sum(axis=1))

        if not hasattr(self, "gate_") or log_likelihood(gate) >= log_likelihood(self.gate_):
            self.gate_ = gate

    def log_proba(self, X: Any) -> np.ndarray:
        """Log weights of the components, (n, K)."""
        return self.gate_.log_proba(X)

    @property
    def penalty(self) -> float:
        """Nothing: what a classifier pays is its own affair."""
        return 0.0

    def turn(self, basis: np.ndarray) -> None:
        """Classifiers know the features themselves."""


def log_probabilities(log_odds: np.ndarray, T: np.ndarray) -> np.ndarray:
    """What log-odds (m, A) say of targets, (m, A)."""
    said: np.ndarray = T * log_odds - np.logaddexp(0, log_odds)
    return said
