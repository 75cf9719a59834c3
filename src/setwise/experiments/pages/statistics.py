"""What is chance and what is not: paired tests, ranks, critical differences.

Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 2006: Friedman's test
says whether models differ over data sets, Nemenyi's critical difference which of them do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from setwise.experiments.protocol import shared_error
from setwise.pipeline.bootstrap import bootstrap_weights

LEVEL = 0.05
NOTHING = 1e-12  # an error that rounding makes of none, as of a single group


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of models over data sets, 1 for the best."""

    models: list[str]
    mean: list[float]
    n_datasets: int
    p_value: float
    critical_difference: float


def ranks(models: Sequence[str], values: np.ndarray, less_is_better: bool) -> Ranks | None:
    """Ranks of complete rows of values (data sets, models); None where there is too little.

    >>> found = ranks(["a", "b", "c"], np.array([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2]]), False)
    >>> found.mean
    [1.0, 2.0, 3.0]
    """
    n, k = values.shape
    if n < 2 or k < 3:
        return None
    placed = stats.rankdata(values if less_is_better else -values, axis=1)
    mean = placed.mean(axis=0)
    same = bool((placed == placed[:, :1]).all())
    p_value = 1.0 if same else float(stats.friedmanchisquare(*placed.T).pvalue)
    return Ranks(list(models), mean.tolist(), n, p_value, critical_difference(k, n))


def critical_difference(n_models: int, n_datasets: int, level: float = LEVEL) -> float:
    """Nemenyi's: mean ranks that are further apart differ by more than chance.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - level, n_models, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_models * (n_models + 1) / (6 * n_datasets)))


def runs_differ(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Whether runs over the same folds or seeds differ by a paired t-test."""
    gaps = np.asarray(ours) - np.asarray(theirs)
    if len(gaps) < 2 or np.allclose(gaps, gaps[0]):
        return bool(len(gaps) > 1 and gaps[0] != 0)
    return bool(stats.ttest_1samp(gaps, 0).pvalue < LEVEL)


def standard_error(values: np.ndarray, groups: np.ndarray | None = None) -> float:
    """Of the mean of rows; rows of one group err together, and only groups are independent.

    >>> values = np.array([0.0, 0.0, 1.0, 1.0])
    >>> standard_error(values), round(standard_error(values, np.array([0, 0, 1, 1])), 3)
    (0.25, 0.354)
    """
    gaps = values - values.mean()
    sums = gaps if groups is None else np.bincount(groups, gaps)
    return float(np.sqrt(np.sum(sums**2)) / len(gaps))


def rows_differ(
    ours: np.ndarray,
    theirs: np.ndarray,
    groups: np.ndarray | None = None,
    inflation: float = 1.0,
) -> bool:
    """Whether the same test rows are told differently: the mean gap over its standard error.

    ``inflation`` makes the error larger, where some rows are there twice.
    """
    gaps = ours - theirs
    error = inflation * standard_error(gaps, groups)
    return (
        bool(abs(gaps.mean()) > stats.norm.ppf(1 - LEVEL / 2) * error) if error > NOTHING else False
    )


def paired_bootstrap(
    ours: np.ndarray,
    theirs: np.ndarray,
    groups: np.ndarray | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[float, float, float]:
    """The mean gap of two models on the same rows, and the middle 95% of it over drawn rows.

    Rows of one group are drawn together.

    >>> gap, low, high = paired_bootstrap(np.ones(50), np.zeros(50))
    >>> gap, low, high
    (1.0, 1.0, 1.0)
    """
    gaps = ours - theirs
    means = [
        np.average(gaps, weights=weight)
        for weight in bootstrap_weights(len(gaps), draws, seed, groups)
    ]
    low, high = np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2])
    return float(gaps.mean()), float(low), float(high)


def noise_of(deviation: float, n_runs: int, row_error: float | None) -> float:
    """The standard error of a mean over runs.

    Folds test each row once, so that their deviation holds all chance; runs with other seeds on
    one test part say nothing about the chance in its rows, which ``row_error`` adds.
    """
    runs = deviation / np.sqrt(max(n_runs, 1))
    return float(np.hypot(runs, row_error or 0.0))


def noise_of_parts(deviation: float, n_runs: int, row_error: float | None) -> float:
    """The standard error of a mean over runs that each have a random test part.

    Both the deviation of runs and the error in the rows of one part hold the chance of rows; of a
    few runs the deviation may be small by luck. Parts that share rows tell less than others.

    >>> round(noise_of_parts(0.0, 1, 0.01), 4), round(noise_of_parts(0.0, 2, 0.01), 4)
    (0.01, 0.0079)
    """
    one = max(deviation, row_error or 0.0)
    return float(one / np.sqrt(max(n_runs, 1)) * shared_error(max(n_runs, 1)))
