"""Boosted trees inside EM: each round adds a few, and takes them back if they do harm.

Generalised EM (Li 2019, section 3.4.2): trees that have grown stay as they are, and new ones
correct what all of them say now, on the responsibilities of this round. No line search makes sure
that the likelihood rises, so a round's trees are kept only if it does not fall.

A component has trees for its active labels. A label that becomes active begins with the log-odds it
had as a constant; one that ceases to be loses its trees. Scores are kept of the rows that EM has
asked about in the last round, (m, A) for a component, so that a round costs its own trees only.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from setwise.learners.boosting import BoostedBank, BoostedSoftmax
from setwise.learners.workers import Workers
from setwise.models.cbm.rows import TrainingRows, log_prior, places
from setwise.storage import storable

MIN_ROWS_IN_LEAF = 5  # components are small


class KnownScores:
    """Scores (m, A) of some rows of one X, in rising order, and which of them were asked for."""

    def __init__(self, X: Any, rows: np.ndarray, scores: np.ndarray) -> None:
        self.X, self.rows, self.scores = X, rows, scores
        self.asked = np.zeros(len(rows), dtype=bool)

    def ask(self, rows: np.ndarray, bank: BoostedBank) -> np.ndarray:
        """Scores of any rows; those not known yet are worked out by the bank."""
        wanted = np.setdiff1d(rows, self.rows)
        if len(wanted):
            self.scores = np.vstack([self.scores, bank.scores(self.X[wanted])])
            self.rows = np.append(self.rows, wanted)
            self.asked = np.append(self.asked, np.zeros(len(wanted), dtype=bool))
            order = np.argsort(self.rows)
            self.rows, self.scores = self.rows[order], self.scores[order]
            self.asked = self.asked[order]
        place = np.searchsorted(self.rows, rows)
        self.asked[place] = True
        return self.scores[place]


@storable
class BoostedLabels:
    """Boosted trees for the labels of one component.

    Parameters
    ----------
    trees : int
        How many are added for each label in a round.
    smoothing : float
        The weight of the prior of constants.
    random_state : int, optional
        LightGBM's seed.

    Attributes: ``labels_`` (A,), ``bank_`` a ``BoostedBank`` of them, or None where there are none.
    """

    in_basis: ClassVar[bool] = False
    labels_: np.ndarray
    bank_: BoostedBank | None
    _known: KnownScores | None

    def __init__(
        self, trees: int = 4, smoothing: float = 0.1, random_state: int | None = 0
    ) -> None:
        self.trees, self.smoothing, self.random_state = trees, smoothing, random_state
        self._clear()

    def improve(
        self,
        training: TrainingRows,
        rows: np.ndarray,
        weight: np.ndarray,
        labels: np.ndarray,
        log_odds: np.ndarray,
    ) -> None:
        """A few more trees, unless the weighted log-likelihood of the rows falls by them."""
        if not len(labels):
            self._clear()
            return
        bank = self._retarget(training, labels, log_odds)
        known, self._known = self._known, None
        X = training.features
        if known is None or known.X is not X:
            known = KnownScores(X, rows, bank.scores(X[rows]))
        seen = np.union1d(rows, known.rows[known.asked])
        scores = known.ask(seen, bank)
        place = np.searchsorted(seen, rows)
        own = scores[place]
        binned = training.binned().subset(rows)
        n_rounds = bank.n_rounds_
        bank.remember(binned, own)
        bank.add_trees(binned, training.targets(rows, labels), weight, self.trees)
        better = bank.scores(binned)
        gain = weight @ (
            training.log_likelihood(rows, labels, better)
            - training.log_likelihood(rows, labels, own)
        )
        if gain >= 0:
            others = np.delete(np.arange(len(seen)), place)
            scores[others] += bank.newest_scores(X[seen[others]])
            scores[place] = better
        else:
            bank.truncate(n_rounds)
        bank.let_go()
        self._known = KnownScores(X, seen, scores)
        self.log_prior_ = self.smoothing * log_prior(bank.base_, training.frequency[labels])

    def logits(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Log-odds of the active labels in some rows of X, (m, A)."""
        if self.bank_ is None:
            return np.zeros((len(rows), 0))
        if self._known is not None and self._known.X is X:
            return self._known.ask(rows, self.bank_)
        return self.bank_.scores(X[rows])

    @property
    def penalty(self) -> float:
        """What the prior of constants says of where the labels began; trees cost nothing."""
        return -self.log_prior_

    def turn(self, basis: np.ndarray) -> None:
        """Trees know the features themselves."""

    def after_restore(self) -> None:
        """What was known of the rows is of another state."""
        self._known = None
        if self.bank_ is not None:
            self.bank_.let_go()

    def _clear(self) -> None:
        self.labels_ = np.zeros(0, np.int64)  # (A,)
        self.bank_ = None
        self.log_prior_ = 0.0
        self._known = None

    def _retarget(
        self, training: TrainingRows, labels: np.ndarray, log_odds: np.ndarray
    ) -> BoostedBank:
        """The bank for these labels, with the trees that they have."""
        if self.bank_ is None:
            self.bank_ = BoostedBank(
                min_rows_in_leaf=MIN_ROWS_IN_LEAF, random_state=self.random_state, n_jobs=1
            ).start_at(log_odds, training.features.shape[1])
        elif not np.array_equal(labels, self.labels_):
            sources = places(self.labels_, training.n_labels)[labels]
            self.bank_.retarget(sources.tolist(), log_odds)
            if self._known is not None:
                old = self._known.scores[:, sources]
                self._known.scores = np.where(sources < 0, log_odds, old)
        self.labels_ = labels
        return self.bank_

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_known": None}


@storable
class BoostedGate:
    """A boosted softmax over the components; a round adds ``trees`` for each of them.

    Attribute: ``softmax_``, a ``BoostedSoftmax``.
    """

    in_basis: ClassVar[bool] = False

    def __init__(self, trees: int = 4, random_state: int | None = 0) -> None:
        self.trees, self.random_state = trees, random_state
        self._binned: Any = None

    def improve(self, training: TrainingRows, T: np.ndarray, workers: Workers) -> None:
        """A few more trees on responsibilities T (n, K), unless their log-likelihood falls."""
        binned, weight = training.binned(), training.weight
        if not hasattr(self, "softmax_"):
            self.softmax_ = BoostedSoftmax(random_state=self.random_state)
        softmax = self.softmax_
        softmax.n_jobs, self._binned = workers.count, binned
        if not hasattr(softmax, "base_"):
            softmax.add_trees(binned, T, weight, self.trees)
            return
        before, n_rounds = _log_likelihood(softmax, binned, T, weight), softmax.n_rounds_
        softmax.add_trees(binned, T, weight, self.trees)
        if _log_likelihood(softmax, binned, T, weight) < before:
            softmax.truncate(n_rounds)

    def log_proba(self, X: Any) -> np.ndarray:
        """Log weights of the components, (n, K)."""
        known = self._binned is not None and X is self._binned.source
        return self.softmax_.log_proba(self._binned if known else X)

    @property
    def penalty(self) -> float:
        """Trees cost nothing."""
        return 0.0

    def turn(self, basis: np.ndarray) -> None:
        """Trees know the features themselves."""

    def after_restore(self) -> None:
        """What was known of the rows is of another state."""
        self.softmax_.let_go()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_binned": None}


def _log_likelihood(softmax: BoostedSoftmax, rows: Any, T: np.ndarray, weight: np.ndarray) -> float:
    return float(weight @ (T * softmax.log_proba(rows)).sum(axis=1))
