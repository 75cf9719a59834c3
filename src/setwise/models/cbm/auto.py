"""Settings that say "auto", chosen on held-out rows, for little more than a fit.

C comes first, at a middling K, and with parameters shared or not if that is open: a few rounds of
EM at a middling C, then upwards as long as held-out rows like it, or downwards, each C going on
where its neighbour was, for fewer rounds. Then K, the same way but each from its own start, as
components cannot be handed over. Together that is about as many rounds as one or two fits need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from setwise.learners.workers import Workers
from setwise.models.cbm.em import EM
from setwise.models.cbm.fit import Settings, as_mixture, basis_for, start, turned_rows
from setwise.models.cbm.rows import TrainingRows
from setwise.models.cbm.search import judges
from setwise.models.cbm.stopping import HeldOut, Score
from setwise.models.climb import climb
from setwise.models.held_out import held_out_parts

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
MIDDLE_C = 10.0
SHARING = (None, "labels")
COUNTS = (1, 2, 3, 5, 10, 20, 40, 80, 160)
MIDDLE_K = 20
FIRST_ROUNDS = 5  # from a new start
MORE_ROUNDS = 2  # at a neighbour's strength


class Trial(NamedTuple):
    """A setting, and what held-out rows say of it."""

    sharing: str | None
    n_components: int
    C: float
    score: float


class Choice(NamedTuple):
    """The best setting, and all that were tried."""

    settings: Settings
    trials: list[Trial]


@dataclass
class Chooser:
    """Rows to learn from, and rows that judge."""

    training: TrainingRows
    basis: np.ndarray | None
    held_out: HeldOut
    settings: Settings
    workers: Workers
    trials: list[Trial]

    def begin(self, K: int, C: float) -> tuple[EM, float]:
        """EM from its start, and its score."""
        em = start(self.training, replace(self.settings, n_components=K, C=C), self.workers)
        return em, self._judged(em, K, C, FIRST_ROUNDS)

    def go_on(self, em: EM, K: int, C: float) -> float:
        """The score at another strength, from where EM is."""
        em.set_strength(C)
        return self._judged(em, K, C, MORE_ROUNDS)

    def _judged(self, em: EM, K: int, C: float, rounds: int) -> float:
        score = -np.inf
        for _ in range(rounds):
            em.round()
            score = max(score, self.held_out.judge(as_mixture(em, self.basis)))
        self.trials.append(Trial(self.settings.sharing, K, C, score))
        return score


def choose(
    X: Any,
    Y: sparse.csr_array,
    weight: np.ndarray,
    groups: np.ndarray | None,
    settings: Settings,
    *,
    score: Score,
    share: float,
    allow_empty: bool,
) -> Choice:
    """The settings with what was "auto" replaced; X is scaled."""
    train, test = held_out_parts(Y, weight, groups, share, settings.random_state)
    held_out = judges(X, Y, weight, test, score, 1, allow_empty, settings.n_jobs)
    part = X[train]
    basis = basis_for(part, weight[train], settings)
    with Workers(settings.n_jobs) as workers:
        training = turned_rows(part, Y[train], weight[train], basis, settings)
        chooser = Chooser(training, basis, held_out, settings, workers, [])
        if "auto" in (settings.sharing, settings.C):
            sharing, C = _penalties(chooser)
            chooser.settings = replace(settings, sharing=sharing, C=C)
        if settings.n_components == "auto":
            chooser.settings = replace(chooser.settings, n_components=_count(chooser))
    return Choice(chooser.settings, chooser.trials)


def _penalties(chooser: Chooser) -> tuple[str | None, float]:
    """The best sharing and C, at the K that is given, or a middling one."""
    settings, found = chooser.settings, []
    for sharing in SHARING if settings.sharing == "auto" else (settings.sharing,):
        chooser.settings = replace(settings, sharing=sharing)
        C, score = _strength(chooser)
        found.append((score, sharing, C))
    _, sharing, C = max(found, key=lambda trial: trial[0])
    return sharing, C


def _strength(chooser: Chooser) -> tuple[float, float]:
    """The C that is given, or the best one, with its score."""
    settings = chooser.settings
    K = MIDDLE_K if settings.n_components == "auto" else settings.n_components
    C = MIDDLE_C if settings.C == "auto" else settings.C
    em, score = chooser.begin(K, C)
    if settings.C != "auto":
        return C, score
    state = em.state()

    def at(C: float) -> float:
        return chooser.go_on(em, K, C)

    middle = STRENGTHS.index(MIDDLE_C)
    best, highest = climb(STRENGTHS[middle:], score, at)
    if best == MIDDLE_C:
        em.restore(state)
        best, highest = climb(STRENGTHS[middle::-1], highest, at)
    return best, highest


def _count(chooser: Chooser) -> int:
    """The best K with the other settings as they are."""
    C = chooser.settings.C
    largest = max(2, len(chooser.training.weight) // 5)
    counts = [K for K in COUNTS if largest >= K]
    middle = max(place for place, K in enumerate(counts) if K <= MIDDLE_K)

    def at(K: float) -> float:
        return chooser.begin(int(K), C)[1]

    first = at(counts[middle])
    best, highest = climb(counts[middle:], first, at)
    if best == counts[middle]:
        best, _ = climb(counts[middle::-1], highest, at)
    return int(best)
