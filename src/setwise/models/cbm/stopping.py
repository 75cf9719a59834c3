"""When EM ends: by its own bound, or by what rows that it has not seen say of it.

Held-out rows find the number of rounds: EM runs on the others until the rows' score has not risen
for some rounds, and the best number of rounds is then used for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from setwise import metrics
from setwise.decisions import Decision
from setwise.decisions.base import row_batches
from setwise.distributions import Distribution
from setwise.errors import DataError
from setwise.models.cbm.distribution import Member, distribution_of
from setwise.models.cbm.em import Round, Stop

STOPPING = ("bound", "held_out", "target")

#: How good a distribution is for label sets (n, L) with weights (n,): more is better.
Score = Callable[[Distribution, sparse.csr_array, np.ndarray], float]

#: What a decision is made for, as a number of which more is better.
GOODNESS: dict[str, Callable[..., float]] = {
    "set_accuracy": metrics.set_accuracy,
    "f1": metrics.f1,
    "hamming": lambda truth, decided, **options: -metrics.hamming_loss(truth, decided, **options),
}


@dataclass(frozen=True)
class HeldOut:
    """Rows that judge each round: scaled features, label sets and weights."""

    X: Any
    Y: sparse.csr_array
    weight: np.ndarray
    score: Score
    patience: int
    allow_empty: bool
    n_jobs: int | None

    def judge(self, mixture: Member) -> float:
        """The score of a mixture that knows these features."""
        distribution = distribution_of(
            [mixture], self.X, self.Y.shape[1], allow_empty=self.allow_empty, n_jobs=self.n_jobs
        )
        return self.score(distribution, self.Y, self.weight)


def has_settled(history: Sequence[Round], tol: float | None) -> bool:
    """Whether the last round's bound gained no more than ``tol`` of itself; None: never."""
    if tol is None or len(history) < 2:
        return False
    before, now = history[-2].bound, history[-1].bound
    return now - before <= tol * abs(now)


def has_peaked(history: Sequence[Round], patience: int) -> bool:
    """Whether the held-out score has not risen for ``patience`` rounds."""
    curve = held_out_curve(history)
    return len(curve) > patience and best_rounds(curve) <= len(curve) - patience


def held_out_curve(history: Sequence[Round]) -> list[float]:
    """The held-out score after each round."""
    return [done.held_out for done in history if done.held_out is not None]


def best_rounds(curve: Sequence[float]) -> int:
    """The first number of rounds with the best score.

    >>> best_rounds([0.1, 0.4, 0.4, 0.2])
    2
    """
    return int(np.argmax(curve)) + 1


def stop_rule(tol: float | None, held_out: HeldOut | None) -> Stop:
    """By held-out rows where there are any, else by the bound."""
    if held_out is None:
        return partial(has_settled, tol=tol)
    return partial(has_peaked, patience=held_out.patience)


def mean_log_likelihood(
    distribution: Distribution, Y: sparse.csr_array, weight: np.ndarray
) -> float:
    """The mean log-probability of the rows' sets."""
    return float(np.average(distribution.log_prob(Y), weights=weight))


def target_score(decision: Decision) -> Score:
    """The metric that a decision is made for, of what it decides."""
    if decision.target not in GOODNESS or decision.needs_tuning:
        raise DataError(
            f'stopping="target" is for {", ".join(GOODNESS)}, by decisions that need no tuning, '
            f'not for {decision.target!r}; use stopping="held_out"'
        )
    goodness = GOODNESS[decision.target]

    is_f1 = decision.target == "f1"
    options = {"zero_division": getattr(decision, "zero_division", 0.0)} if is_f1 else {}

    def score(distribution: Distribution, Y: sparse.csr_array, weight: np.ndarray) -> float:
        decided = np.zeros((distribution.n_rows, distribution.n_labels), dtype=np.int8)
        for rows in row_batches(*decided.shape):
            decided[rows] = decision.decide(distribution[rows])
        return goodness(Y, decided, sample_weight=weight, **options)

    return score
