"""How often ``AutoAccept`` breaks its promise: ``python benchmarks/autoaccept.py``.

Calibration rows are drawn 1,000 times from populations whose truth is known. A draw breaks the
promise where the true accuracy above its threshold is below 0.9; 5% of the draws may, and a rule
that does so exactly would show more than 73 breaks once in 1,000 runs. Beside it the plain
empirical threshold: the lowest whose calibration rows reach the target. The last lines are not
promised: they show what comes of groups that are not declared. Takes about a minute.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

from setwise.calibration.autoaccept import AutoAccept
from setwise.calibration.promise_check import (
    Population,
    PromiseCheck,
    check_promise,
    resampled_breaks,
)

TARGET, N_DRAWS, GROUP_SIZE = 0.9, 1000, 10
GRID = np.arange(95, 4, -5) / 100  # fixed thresholds, for comparison with ranks


def populations() -> dict[str, Population]:
    """Confidences c and the chance to be right; evenly shared among 20,000 values."""
    u = (np.arange(20_000) + 0.5) / 20_000
    sure = u**0.25  # most are sure, as where sets are easy
    chances = {
        "calibrated": (sure, sure),
        "calibrated, few are sure": (u, u),
        "over-confident": (sure, sure**2),
        "just below target, all": (u, np.full_like(u, TARGET - 0.001)),
        "just below target, near it": (u, np.where(u > 0.8, 0.97, TARGET - 0.02)),
        "a fall below the target": (u, np.where(u > 0.4, 0.915, 0.3)),
        "a plateau just below target": (np.where(u > 0.9, 1.0, 0.5), np.where(u > 0.9, 0.98, 0.89)),
        "plateaus, 5": (np.ceil(sure * 5) / 5, sure),
        "plateaus, 10": (np.ceil(sure * 10) / 10, sure),
        "plateaus, 300": (np.ceil(sure * 300) / 300, sure),
    }
    share = np.ones(len(u))
    return {name: Population(*pair, share) for name, pair in chances.items()}


def print_check(name: str, n: int, check: PromiseCheck, *, promised: bool = True) -> bool:
    """One line; whether the promise was kept, or was none."""
    print(
        f"{name:38}{n:6}{check.n_found:8}{check.breaks:8}{check.coverage:10.1%}"
        f"{check.plain_breaks:10}{check.plain_coverage:10.1%}"
        f"{'' if check.kept else '  broken' if promised else '  broken, as expected'}"
    )
    return check.kept or not promised


def declared_groups(population: Population, n_groups: int) -> int:
    """Breaks of ``AutoAccept`` itself where rows come as groups of copies and it is told so."""
    random, groups = np.random.default_rng(0), np.repeat(np.arange(n_groups), GROUP_SIZE)
    chosen = []
    for _ in range(N_DRAWS):
        rows = (np.repeat(part, GROUP_SIZE) for part in population.draw(n_groups, random))
        chosen.append(AutoAccept(TARGET).fit(*rows, groups=groups).threshold_)
    return int((population.above(np.array(chosen))[1] < TARGET).sum())


def unequal_groups(population: Population, n_groups: int) -> tuple[np.ndarray, ...]:
    """A pool of groups of one to many rows, equally confident and mostly right together."""
    random = np.random.default_rng(0)
    confidence, together = population.draw(n_groups, random)
    number = np.repeat(np.arange(n_groups), random.geometric(1 / 3, size=n_groups))
    chance = np.interp(confidence, np.sort(population.confidence), np.sort(population.chance))
    alone = random.random(len(number)) < chance[number]
    correct = np.where(random.random(len(number)) < 0.8, together[number], alone)
    return confidence[number], correct.astype(float), number


def worse_large_groups(every: int = 20, rows: int = 40) -> tuple[np.ndarray, ...]:
    """Some groups have many rows, which are right together but for one group in five.

    Most rows are theirs, so that no threshold reaches the target, though most groups do.
    """
    place = np.arange(1000)
    is_large = place % every == 0
    right = np.where(is_large, place % (5 * every) != 0, place % 50 != 1)
    number = np.repeat(place, np.where(is_large, rows, 1))
    confidence = np.random.default_rng(0).random(len(place))
    return confidence[number], right[number].astype(float), number


def main() -> bool:
    start, kept = perf_counter(), True
    everything = populations()
    print(f"{'':38}{'':6}{'':8}{'promise':>8}{'':10}{'plain':>10}")
    print(f"{'population':38}{'rows':>6}{'found':>8}" + f"{'breaks':>8}{'coverage':>10}" * 2)
    for name, population in everything.items():
        for n in (40, 200, 1000):
            kept &= print_check(name, n, check_promise(population, n, n_draws=N_DRAWS))
    for name in ("calibrated", "over-confident"):
        check = check_promise(everything[name], 1000, thresholds=GRID, n_draws=N_DRAWS)
        kept &= print_check(f"{name}, fixed thresholds", 1000, check)
    pool = everything["calibrated"].draw(3000, np.random.default_rng(0))
    kept &= print_check("a pool of 3,000, resampled", 1000, resampled_breaks(*pool, n_rows=1000))
    for name in ("calibrated", "over-confident"):
        grouped = unequal_groups(everything[name], 3000)
        for n in (200, 1000):
            check = resampled_breaks(*grouped, n_rows=n, per="row", n_draws=N_DRAWS)
            kept &= print_check(f"{name}, per row of groups", n, check)
            for counted in ("one", "all"):
                check = resampled_breaks(*grouped, n_rows=n, counted=counted, n_draws=N_DRAWS)
                kept &= print_check(f"{name}, per group, {counted} counted", n, check)
    grouped = worse_large_groups()
    for n in (100, 400):
        check = resampled_breaks(*grouped, n_rows=n, per="row", n_draws=N_DRAWS)
        kept &= print_check("large groups are worse, per row", n, check)
        check = resampled_breaks(*grouped, n_rows=n, counted="all", n_draws=N_DRAWS)
        kept &= print_check("large groups are worse, per group", n, check)
    huge = worse_large_groups(every=50, rows=100)
    for n in (100, 400):  # few or none of them are drawn: the approximate promise cannot know
        check = resampled_breaks(*huge, n_rows=n, per="row", n_draws=N_DRAWS)
        print_check("rare huge groups are worse, per row", n, check, promised=False)
    for name in ("calibrated", "just below target, all"):
        breaks = declared_groups(everything[name], 200)
        kept &= breaks <= 73
        print(f"{name + ', groups declared':52}{breaks:8}  (200 groups of {GROUP_SIZE})")
        check = check_promise(everything[name], 200, copies=GROUP_SIZE, n_draws=N_DRAWS)
        print_check(f"{name}, not declared", 200 * GROUP_SIZE, check, promised=False)
    print(f"{perf_counter() - start:.0f} s; {'every promise kept' if kept else 'BROKEN'}")
    return kept


if __name__ == "__main__":
    sys.exit(not main())
