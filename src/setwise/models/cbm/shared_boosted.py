"""Boosted trees that all components share: learner="boosting" with sharing="labels".

    logit b_kl(x) = B_kl + F_l(x, z = e_k)

A label has one ensemble of trees F_l, on the features and on one column for each component (Li
2019, section 3.12.1, equation 3.11, which leaves its training to the future). Trees split on
features until a component differs, so that what holds in all of them is learnt once, from all rows.
The biases B_kl say how likely a label is in a component, as those of linear detectors do: so
components differ before any tree has grown, and trees need not spend splits on it.

An M-step takes a Newton step in each bias, then adds a few trees on the pairs of rows and
components that take part, weighted by responsibility. What would lower

    sum_nk s_nk log b_k(y_n | x_n)  +  smoothing  sum_kl [f_l log p_kl + (1 - f_l) log (1 - p_kl)]

where p_kl is the sigmoid of B_kl and f_l a label's overall frequency, is not done. Trees cost
nothing in it.

The pairs of a round, m = (components a row) n, are a table of m (d + K) numbers while it lasts
(with ``min_responsibility=0``, m is n K), whose bins are found once. Scores are kept of the pairs
that the E-step has asked about, up to ``MOST_KNOWN`` numbers; if they would be more, of those only
that can take part in the next round, and those of the others are worked out again.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit

from setwise.learners.boosting import BoostedBank
from setwise.learners.workers import Workers
from setwise.models.cbm.boosted import MIN_ROWS_IN_LEAF
from setwise.models.cbm.pairs import KnownPairs, PairTable, beside
from setwise.models.cbm.rows import TrainingRows, log_prior
from setwise.models.cbm.shared import SharedLabels
from setwise.storage import storable

MOST_KNOWN = 1 << 25  # numbers
MAX_STEP = 1.0  # of a bias, see ``better_biases``
TINY = 1e-300  # a curvature that can be divided by


@storable
class BoostedShared(SharedLabels):
    """Boosted trees of all labels on (x, z), and biases for each component.

    Parameters
    ----------
    trees : int
        How many are added for each label in a round.
    smoothing : float
        The weight of the prior of biases.
    random_state : int, optional
        LightGBM's seed.

    Attributes: ``biases_`` (K, L), ``bank_`` a ``BoostedBank`` on d + K features.
    """

    in_basis: ClassVar[bool] = False
    _known: KnownPairs | None

    def __init__(
        self, trees: int = 4, smoothing: float = 0.1, random_state: int | None = 0
    ) -> None:
        self.trees, self.smoothing, self.random_state = trees, smoothing, random_state
        self._known = None

    def start(self, training: TrainingRows, log_odds: np.ndarray) -> Self:
        """Biases (K, L) only, until the first M-step."""
        self._moving = self._start_biases(training, log_odds)
        self._table = PairTable(training.features, len(log_odds))
        self.bank_ = BoostedBank(
            min_rows_in_leaf=MIN_ROWS_IN_LEAF, random_state=self.random_state
        ).start_at(np.zeros(self.n_labels), self._table.n_features)
        self._known = None
        self.log_prior_ = self._log_prior(training)
        return self

    @property
    def penalty(self) -> float:
        """What the prior says of the biases."""
        return -self.log_prior_

    def improve(self, training: TrainingRows, shares: np.ndarray, workers: Workers) -> None:
        """Better biases for responsibilities (K, n), and a few more trees unless they do harm."""
        bank, table, known = self.bank_, self._table, self._asked()
        bank.n_jobs = workers.count
        pairs = np.flatnonzero(shares.T)
        rows, components = table.parts(pairs)
        weight = shares[components, rows] * training.weight[rows]
        labels = np.arange(self.n_labels)
        T = training.targets(rows, labels)
        trees = known.ask(pairs, bank.scores)  # what they say, without biases
        self.biases_ = better_biases(
            self.biases_, trees, T, components, weight, training.frequency, self.smoothing,
            self._moving,
        )  # fmt: skip
        self.log_prior_ = self._log_prior(training)
        before = trees + self.biases_[components]
        binned, n_rounds = table.binned(pairs), bank.n_rounds_
        bank.remember(binned, before)
        bank.add_trees(binned, T, weight, self.trees)
        after = bank.scores(binned)
        gain = weight @ (
            training.log_likelihood(rows, labels, after)
            - training.log_likelihood(rows, labels, before)
        )
        elsewhere = ~np.isin(known.pairs, pairs, assume_unique=True)
        others, scores = known.pairs[elsewhere], known.scores[elsewhere]
        if gain >= 0:
            scores += table.scores(others, bank.newest_scores, self.n_labels)
            trees = after - self.biases_[components]
        else:
            bank.truncate(n_rounds)
        bank.let_go()
        self._known = KnownPairs(table, pairs, trees).merged(others, scores)

    def add_log_likelihood(
        self,
        training: TrainingRows,
        shares: np.ndarray,
        log_least: float,
        log_joint: np.ndarray,
        workers: Workers,
    ) -> None:
        """log_joint (n, K) += log-likelihoods, or -inf; see ``SharedLabels``.

        Labels are certain at best: where the gate alone rules a pair out, trees are not asked.
        """
        bank, known, joint = self.bank_, self._asked(), log_joint.reshape(-1)
        bank.n_jobs = workers.count

        def add(pairs: np.ndarray, trees: np.ndarray) -> None:
            rows, components = self._table.parts(pairs)
            Z = trees + self.biases_[components]
            joint[pairs] += training.log_likelihood(rows, np.arange(self.n_labels), Z)

        took_part = np.flatnonzero(shares.T)
        gate = joint.copy()
        scores = known.ask(took_part, bank.scores)
        add(took_part, scores)
        reached = np.full(len(joint), -np.inf)
        reached[took_part] = joint[took_part]
        enough = reached.reshape(log_joint.shape).max(axis=1) + log_least
        promising = (gate.reshape(log_joint.shape) > enough[:, None]).reshape(-1)
        promising[took_part] = False
        others = np.flatnonzero(promising)
        promising[took_part] = True
        joint[~promising] = -np.inf
        now = KnownPairs(self._table, took_part, scores)
        size = max(1, MOST_KNOWN // self.n_labels)
        keep_all = len(took_part) + len(others) <= size
        for start in range(0, len(others), size):
            block = others[start : start + size]
            scores = known.ask(block, bank.scores)
            add(block, scores)
            kept = np.full(len(block), keep_all)
            if not keep_all:
                kept = joint[block] > enough[self._table.parts(block)[0]]
            now = now.merged(block[kept], scores[kept])
        self._known = now

    def fill_logits(self, X: Any, Z: np.ndarray) -> None:
        """Z (n, K, L) = log-odds of each label in each component."""
        n, K = X.shape[0], self.n_components
        for k in range(K):
            Z[:, k] = self.bank_.scores(beside(X, np.full(n, k), K)) + self.biases_[k]

    def turn(self, basis: Any) -> None:
        """Trees know the features themselves."""

    def after_restore(self) -> None:
        """What was known of the pairs is of another state."""
        self._known = None
        self.bank_.let_go()

    def _asked(self) -> KnownPairs:
        """What is known; nothing in the beginning."""
        if self._known is not None:
            return self._known
        return KnownPairs(self._table, np.zeros(0, np.int64), np.zeros((0, self.n_labels)))

    def _log_prior(self, training: TrainingRows) -> float:
        return self.smoothing * log_prior(self.biases_, training.frequency)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_known": None, "_table": None}


def better_biases(
    B: np.ndarray,
    trees: np.ndarray,
    T: np.ndarray,
    components: np.ndarray,
    weight: np.ndarray,
    frequency: np.ndarray,
    smoothing: float,
    moving: np.ndarray,
) -> np.ndarray:
    """B (K, L) after one step in the labels that are ``moving``: none lowers the objective.

    Pairs have components, weights (m,), targets and scores of trees (m, L). Each bias has a concave
    objective of its own, whose curvature h changes by a factor of e^s at most on the way of s. So a
    Newton step s, if no longer than 1, gains at least h (s^2 + s + 1 - e^s), which is above zero.
    """
    m = len(weight)
    S = sparse.csr_array((weight, (components, np.arange(m))), shape=(len(B), m))
    p, p0 = expit(trees + B[components]), expit(B)
    gradient = S @ (T - p) + smoothing * (frequency - p0)
    curvature = S @ (p * (1 - p)) + smoothing * p0 * (1 - p0)
    step = np.clip(gradient / np.maximum(curvature, TINY), -MAX_STEP, MAX_STEP)
    better: np.ndarray = np.where(moving, B + step, B)
    return better
