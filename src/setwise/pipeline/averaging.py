"""The average of the models that ``--model auto`` compares, from what they said already.

Its weights are found on the judging rows; how good it is, by halves of them: each half is predicted
with the weights that the other gives, so that no row judges weights that it has set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.decisions import decision_for
from setwise.distributions.experts import Experts
from setwise.models.model_average import LEAST_WEIGHT, LISTED, likeliest_weights
from setwise.pipeline.build import AVERAGE, Choice
from setwise.pipeline.judging import Fold, Judged, groups_of, value_of


def averaged(
    parts: list[Judged], Y: sparse.csr_array, folds: list[Fold], target: str, left: float
) -> Judged | None:
    """The average of candidates as a candidate; None where there is nothing to average.

    ``left`` are the seconds for the last fit, in which the quickest candidates come first.
    """
    parts = in_time(parts, left)
    if len(parts) < 2 or decision_for(target).needs_tuning:
        return None
    log_prob = np.stack([part.log_prob for part in parts], axis=1)
    weights = without_small(likeliest_weights(log_prob))
    if np.count_nonzero(weights) < 2:
        return None
    predicted = _by_halves(parts, log_prob, folds, target)
    return Judged(
        Choice(AVERAGE, {"members": members_of(parts, weights)}),
        value_of(predicted, Y, folds, target),
        predicted,
        np.empty(0),
        [],
        sum(part.expected for part, weight in zip(parts, weights, strict=True) if weight),
    )


def members_of(parts: list[Judged], weights: np.ndarray) -> list[dict[str, Any]]:
    """The candidates that have a weight, as options of an average."""
    return [
        {"model": part.choice.name, "options": part.choice.options, "weight": float(weight)}
        for part, weight in zip(parts, weights, strict=True)
        if weight
    ]


def _by_halves(
    parts: list[Judged], log_prob: np.ndarray, folds: list[Fold], target: str
) -> sparse.csr_array:
    """What the average predicts for each half of the rows with the weights of the other."""
    half = _halves(len(log_prob), groups_of(folds))
    weights = [without_small(likeliest_weights(log_prob[half != number])) for number in (0, 1)]
    found, begin = [], 0
    for place, fold in enumerate(folds):
        answers = [part.answers[place] for part in parts]
        own = half[begin : begin + len(fold.judges)]
        sets = np.zeros((len(own), answers[0].n_labels), dtype=np.int8)
        for number in (0, 1):
            rows = np.flatnonzero(own == number)
            if len(rows):
                sets[rows] = _decided(answers, weights[number], rows, target)
        found.append(sets)
        begin += len(own)
    return sparse.csr_array(np.concatenate(found))


def _halves(n: int, groups: np.ndarray | None) -> np.ndarray:
    """0 or 1 for each of n rows, the same for rows of one group."""
    number = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    half: np.ndarray = number % 2
    return half


def _decided(answers: list[Any], weights: np.ndarray, rows: np.ndarray, target: str) -> np.ndarray:
    kept = np.flatnonzero(weights)
    log_pi = np.tile(np.log(weights[kept]), (len(rows), 1))
    some = [answers[m].rows(rows) for m in kept]
    return decision_for(target).decide(Experts(log_pi, some, most_listed=LISTED, warn=False))


def without_small(weights: np.ndarray) -> np.ndarray:
    """Weights, those that are left out at zero; they add up to one."""
    weights = np.where(weights >= LEAST_WEIGHT, weights, 0)
    kept: np.ndarray = weights / weights.sum()
    return kept


def in_time(parts: list[Judged], left: float) -> list[Judged]:
    """Those whose last fits together fit into the seconds that are left, the quickest first."""
    order = sorted(range(len(parts)), key=lambda number: parts[number].expected)
    total, kept = 0.0, []
    for number in order:
        total += parts[number].expected
        if total <= left:
            kept.append(number)
    return [parts[number] for number in sorted(kept)]
