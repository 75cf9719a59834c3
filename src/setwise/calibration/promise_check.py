"""Whether ``AutoAccept`` keeps its promise, counted over many draws of calibration rows.

A draw breaks the promise where the accuracy above its threshold is below the target in the
population that the rows were drawn from. The population is one whose truth is known, or a pool of
held-out rows that stands for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import binom

from setwise.calibration._accept_inputs import (
    check_inside,
    checked_pairs,
    checked_thresholds,
    numbered_groups,
)
from setwise.calibration._accept_rules import fixed_sequence, plain_threshold
from setwise.calibration._grouped_steps import evenly, steps_by_group
from setwise.calibration.accept_curve import Steps, steps_of
from setwise.calibration.autoaccept import COUNTED, PER
from setwise.data.arguments import check_counts
from setwise.data.randomness import Seed, as_generator
from setwise.metrics.options import check_choice

ROUNDING = 1e-12  # sums of a population's shares


@dataclass(frozen=True)
class Population:
    """Rows to draw from: confidence, the chance to be right and the share of each; (m,) each."""

    confidence: np.ndarray
    chance: np.ndarray
    share: np.ndarray  # of any sum

    def draw(self, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Confidence and correctness of n rows, drawn independently."""
        reached = self._reached
        rows = np.searchsorted(reached, random.random(n) * reached[-1], side="right")
        return self.confidence[rows], (random.random(n) < self.chance[rows]).astype(float)

    def counted(self, n: int, copies: int, random: np.random.Generator) -> Steps:
        """What thresholds accept of n rows, each of them counted ``copies`` times."""
        return steps_of(*(np.repeat(part, copies) for part in self.draw(n, random)))

    def above(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(confidence >= t) and P(correct | confidence >= t), nan where the first is 0."""
        order = np.argsort(-self.confidence, kind="stable")
        share = np.append(0, np.cumsum(self.share[order]))
        right = np.append(0, np.cumsum((self.share * self.chance)[order]))
        count = np.searchsorted(-self.confidence[order], -thresholds, side="right")
        accuracy = np.full(len(thresholds), np.nan)
        np.divide(right[count], share[count], out=accuracy, where=share[count] > 0)
        return share[count] / share[-1], accuracy

    @cached_property
    def _reached(self) -> np.ndarray:
        return np.cumsum(self.share)


@dataclass(frozen=True)
class GroupedPool(Population):
    """Rows with their correctness, drawn by whole groups."""

    number: np.ndarray  # of each row's group

    def counted(self, n: int, copies: int, random: np.random.Generator) -> Steps:
        """What thresholds accept of all rows of n groups, drawn evenly with replacement.

        Rows weigh as in the truth. Each is counted ``copies`` times, as if its copies were other
        groups.
        """
        order, size = self._order, np.bincount(self.number)
        drawn = np.repeat(random.integers(len(size), size=n), copies)
        begin = (np.cumsum(size) - size)[drawn]
        many = size[drawn]
        within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        rows = order[np.repeat(begin, many) + within]
        again = np.repeat(np.arange(len(drawn)), many)  # a group drawn twice is two groups
        return steps_by_group(self.confidence[rows], self.chance[rows], again, self.share[rows])

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.number, kind="stable")


@dataclass(frozen=True)
class PromiseCheck:
    """How often a promise was broken, beside the plain empirical threshold on the same rows.

    ``limit`` is how many breaks a rule that breaks just as often as it may would exceed in one of
    1,000 such checks. Coverages are means of the true ones, 0 where no threshold was found.
    """

    n_draws: int
    n_found: int
    breaks: int
    limit: int
    coverage: float
    plain_breaks: int
    plain_coverage: float

    @property
    def kept(self) -> bool:
        """Whether there were no more breaks than an honest rule may show."""
        return self.breaks <= self.limit


def check_promise(
    population: Population,
    n_rows: int,
    *,
    target_accuracy: float = 0.9,
    confidence_level: float = 0.95,
    thresholds: Any = "ranks",
    copies: int = 1,
    n_draws: int = 1000,
    random_state: Seed = 0,
) -> PromiseCheck:
    """Breaks of the promise over draws of ``n_rows`` rows from a population.

    With ``copies`` each row drawn is counted so often, as if its copies were independent: what
    comes of groups that are not declared.
    """
    check_inside("target_accuracy", target_accuracy)
    check_inside("confidence_level", confidence_level)
    check_counts(n_rows=n_rows, copies=copies, n_draws=n_draws)
    fixed = checked_thresholds(thresholds)
    random = as_generator(random_state)
    chosen, plain = np.empty(n_draws), np.empty(n_draws)
    for number in range(n_draws):
        steps = population.counted(n_rows, copies, random)
        chosen[number] = fixed_sequence(steps, target_accuracy, confidence_level, fixed).chosen
        plain[number] = plain_threshold(steps, target_accuracy)
    coverage, accuracy = population.above(chosen)
    plain_coverage, plain_accuracy = population.above(plain)
    return PromiseCheck(
        n_draws=n_draws,
        n_found=int(np.isfinite(chosen).sum()),
        breaks=int((accuracy < target_accuracy - ROUNDING).sum()),
        limit=int(binom.ppf(0.999, n_draws, 1 - confidence_level)),
        coverage=float(coverage.mean()),
        plain_breaks=int((plain_accuracy < target_accuracy - ROUNDING).sum()),
        plain_coverage=float(plain_coverage.mean()),
    )


def resampled_breaks(
    confidence: Any,
    correct: Any,
    groups: Any = None,
    *,
    target_accuracy: float = 0.9,
    confidence_level: float = 0.95,
    thresholds: Any = "ranks",
    per: str = "group",
    counted: str = "one",
    n_rows: int | None = None,
    n_draws: int = 1000,
    random_state: Seed = 0,
) -> PromiseCheck:
    """Breaks of the promise where calibration rows are drawn with replacement from a pool.

    The pool's accuracy above the threshold is the truth. Groups are drawn evenly and one row of
    each is counted, or with ``counted="all"`` all of them, as ``AutoAccept`` does; so a row counts
    in the truth with one over the size of its group. ``per="row"`` counts all rows of the groups
    drawn, and all rows alike in the truth. ``n_rows`` rows or groups are drawn, by default as many
    as the pool has.
    """
    check_choice("per", per, PER)
    check_choice("counted", counted, COUNTED[1:])
    confidence, correct = checked_pairs(confidence, correct)
    n = len(confidence)
    number = np.arange(n) if groups is None else numbered_groups(groups, n)
    share = np.ones(n) if per == "row" else evenly(number)
    pool = (
        GroupedPool(confidence, correct, share, number)
        if per == "row" or counted == "all"
        else Population(confidence, correct, share)
    )
    return check_promise(
        pool,
        int(number.max()) + 1 if n_rows is None else n_rows,
        target_accuracy=target_accuracy,
        confidence_level=confidence_level,
        thresholds=thresholds,
        n_draws=n_draws,
        random_state=random_state,
    )
