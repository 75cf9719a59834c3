"""Rerankers as ``--model auto`` judges them: from what the models inside them said already.

A calibrator that sees what each model says of a set is learnt on the judging rows, by folds of
them, and chooses among the sets that the models find likeliest and those that training has. No
model is fitted for it. The one that is fitted in the end has more rows to learn from, and is a
little better than it looks here.

Models that are reranked together weigh alike: whom to believe is what the calibrator learns, and
one whose sets are unlikely as a whole, as those of binary relevance, may know its labels best.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from setwise.calibration import Reranker
from setwise.calibration.cross_fit import CrossFitted, TrainingRows, fold_numbers, from_answers
from setwise.calibration.prior import SetPrior
from setwise.distributions.base import Distribution
from setwise.distributions.experts import OpinionPool
from setwise.models.folds import n_units
from setwise.models.model_average import LISTED
from setwise.pipeline.averaging import in_time, members_of
from setwise.pipeline.build import (
    RERANKED,
    RERANKED_AVERAGE,
    RERANKED_FOR,
    Choice,
    reranker_options,
)
from setwise.pipeline.judging import Fold, Judged, groups_of, value_of
from setwise.pipeline.settings import FitSettings

TRAINING_SETS = 10  # candidates that training has, beside the likeliest
OWN_OPTIONS = ("n_candidates", "n_training_sets")
SHORT_SETS = 1.5  # labels a row, up to which few candidates are enough


def reranked_labels(
    parts: list[Judged], Y: sparse.csr_array, folds: list[Fold], settings: FitSettings, left: float
) -> Judged | None:
    """BR-rerank as a candidate, where binary relevance is the first of those tried.

    ``left`` are the seconds for the last fit; None where that would take longer.
    """
    first = parts[0]
    if first.choice.name != "BinaryRelevance":
        return None
    # Where most rows have one label, the right set is nearly always among the first five.
    n_candidates = 5 if Y.nnz < SHORT_SETS * Y.shape[0] else 10
    options = {**first.choice.options, "n_candidates": n_candidates}
    found = _judged(Choice(RERANKED, options), parts[:1], Y, folds, settings)
    return found if found and found.expected <= left else None


def reranked_average(
    parts: list[Judged], Y: sparse.csr_array, folds: list[Fold], settings: FitSettings, left: float
) -> Judged | None:
    """All candidates, reranked, as a candidate; None where there are not several.

    ``left`` are the seconds for the last fit, in which the quickest candidates come first. What
    reranking takes beside their fits is known once they have been reranked: then there may be time
    for fewer of them.
    """
    parts = in_time(parts, left)
    while len(parts) > 1:
        members = members_of(parts, np.full(len(parts), 1 / len(parts)))
        choice = Choice(RERANKED_AVERAGE, {"members": members, "n_training_sets": TRAINING_SETS})
        found = _judged(choice, parts, Y, folds, settings)
        if found is None or found.expected <= left:
            return found
        beside = found.expected - sum(part.expected for part in parts)
        parts = in_time(parts, left - beside)
    return None


def _judged(
    choice: Choice,
    parts: list[Judged],
    Y: sparse.csr_array,
    folds: list[Fold],
    settings: FitSettings,
) -> Judged | None:
    """What is chosen among the sets of all parts; None where that cannot be learnt.

    Listing sets and learning from them is expected to take the seconds it takes here, for all rows.
    """
    judges = sum(len(fold.judges) for fold in folds)
    if settings.target not in RERANKED_FOR or n_units(None, groups_of(folds), judges) < 2:
        return None
    begin = time.perf_counter()
    own = {name: choice.options[name] for name in OWN_OPTIONS if name in choice.options}
    reranker = Reranker(
        target=settings.target,
        random_state=settings.seed,
        n_jobs=settings.jobs,
        **reranker_options(settings),
        **own,
    )
    crossed = _crossed(parts, Y, folds, reranker)
    predicted = reranker.chosen_out_of_fold(crossed).astype(np.int8)
    value = value_of(predicted, Y, folds, settings.target)
    seconds = (time.perf_counter() - begin) * Y.shape[0] / judges
    expected = sum(part.expected for part in parts) + seconds
    return Judged(choice, value, predicted, np.empty(0), [], expected)


def _crossed(
    parts: list[Judged], Y: sparse.csr_array, folds: list[Fold], reranker: Reranker
) -> CrossFitted:
    """What the models say of the judging rows, in folds from which a calibrator can learn.

    Where one part of the rows judges, it is dealt out into folds of its own.
    """
    judges = np.concatenate([fold.judges for fold in folds])
    rows = TrainingRows(None, Y[judges], None, groups_of(folds))
    pools = [_pooled([part.answers[place] for part in parts]) for place in range(len(folds))]
    priors = [SetPrior().fit(Y[fold.train], None) for fold in folds]
    if len(folds) > 1:
        part = np.repeat(np.arange(len(folds)), [len(fold.judges) for fold in folds])
        priors.append(SetPrior().fit(Y, None))
    else:
        part = fold_numbers(rows, reranker.n_folds, reranker.random_state)
        inside = [np.flatnonzero(part == number) for number in range(part.max() + 1)]
        pools = [pools[0].rows(some) for some in inside]
        priors = priors * (len(pools) + 1)
    return from_answers(rows, part, pools, priors, label_calibration=reranker.label_calibration)


def _pooled(answers: list[Any]) -> Distribution:
    """What models say of the same rows, averaged; of a single one as it is."""
    if len(answers) == 1:
        alone: Distribution = answers[0]
        return alone
    log_pi = np.full((answers[0].n_rows, len(answers)), -np.log(len(answers)))
    return OpinionPool(
        log_pi,
        answers,
        most_listed=LISTED,
        warn=False,
        n_models=len(answers),
        places=tuple(range(len(answers))),
    )
