"""Whether linear models do better with most of their weights at zero: an elastic net for squares.

It suits data in which few features tell each label, as words in short reports do. Elsewhere it may
only cost seconds, so that held-out rows are asked first, by the quickest of the models.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from setwise.calibration.cross_fit import TrainingRows
from setwise.errors import NotConverged
from setwise.models.strength import STRENGTHS, best_C
from setwise.pipeline.build import Choice, bare_model
from setwise.pipeline.judging import CLEAR, Fold, Judged, groups_of
from setwise.pipeline.settings import FitSettings

#: Rows up to which it is looked at: with more, all members of few weights take minutes.
MOST_ROWS = 2000
NAME = "BinaryRelevance"  # the quickest, which stands for all linear models


def strength_of_few_weights(
    rows: TrainingRows, folds: list[Fold], usual: Judged, settings: FitSettings, seconds: float
) -> float | None:
    """The C of an elastic net, if binary relevance is clearly likelier under it; else None.

    ``usual`` is what binary relevance says of the judging rows under squares, near whose strength
    that of the elastic net is looked for, in about so many ``seconds``.
    """
    if rows.n > MOST_ROWS or usual.choice.name != NAME or seconds <= 0:
        return None
    first = rows.taken(folds[0].train)
    start = min(STRENGTHS, key=lambda C: abs(np.log(C / usual.choice.options["C"])))
    model = bare_model(Choice(NAME, {"learner": "elastic"}), settings)
    with warnings.catch_warnings():  # the last fit warns of what matters
        warnings.simplefilter("ignore", NotConverged)
        C = best_C(
            model, first.X, first.Y,
            groups=first.groups, start=start, seconds=seconds,
        )  # fmt: skip
        said = _log_prob(model.set_params(C=C), rows, folds)
    return C if is_clearly_more(said, usual.log_prob, groups_of(folds)) else None


def is_clearly_more(one: np.ndarray, other: np.ndarray, groups: np.ndarray | None) -> bool:
    """Whether rows, or groups of near-copies, have clearly more of the first, by and large.

    >>> one, other = np.array([2.0, 2.1, 1.9, 2.0]), np.ones(4)
    >>> is_clearly_more(one, other, None), is_clearly_more(one, other, np.array([7, 7, 7, 7]))
    (True, False)
    """
    possible = np.isfinite(one) & np.isfinite(other)  # others are as impossible under both
    gain = one[possible] - other[possible]
    if groups is not None:
        gain = np.bincount(np.unique(groups[possible], return_inverse=True)[1], gain)
    if len(gain) < 2:
        return False
    return bool(gain.sum() > CLEAR * np.sqrt(len(gain)) * gain.std(ddof=1))


def _log_prob(model: Any, rows: TrainingRows, folds: list[Fold]) -> np.ndarray:
    """What the folds' models say of their judging rows' own sets, one fold after another."""
    said = []
    for fold in folds:
        some, judges = rows.taken(fold.train), rows.taken(fold.judges)
        model.fit(some.X, some.Y, groups=some.groups)
        said.append(model.predict_dist(judges.X).log_prob(judges.Y))
    return np.concatenate(said)
