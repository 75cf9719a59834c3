"""Cross-fitting: judged candidates for all training rows, each by what has not seen its row.

No row is wasted: each is in the training part of most models and is judged by one that it was kept
from. In trials five folds beat the disjoint parts of the thesis everywhere (rcv1sub1 .573 against
.542 set accuracy, debtags .464 against .455).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from setwise.calibration.candidates import Candidates, stacked
from setwise.calibration.features import CandidateFeatures
from setwise.calibration.first_stage import (
    FirstStage,
    FoldAnswer,
    folds_of,
    marginals_of,
    place_of_labels,
)
from setwise.calibration.labelwise import LabelCalibrator
from setwise.calibration.prior import SetPrior
from setwise.distributions.base import Distribution
from setwise.errors import DataError
from setwise.models.folds import dealt_out, n_units
from setwise.storage import storable

storable(FrozenEstimator)  # so that what is learnt around a frozen model can be saved

Watch = Callable[[Iterable[Any]], Iterable[Any]]  # lets a progress bar follow a loop


@dataclass(frozen=True)
class TrainingRows:
    """Rows with their label sets; groups stay together."""

    X: Any
    Y: sparse.csr_array
    weight: np.ndarray | None
    groups: np.ndarray | None

    def taken(self, rows: np.ndarray) -> TrainingRows:
        """Some of the rows."""
        weight, groups = (
            None if part is None else part[rows] for part in (self.weight, self.groups)
        )
        return TrainingRows(self.X[rows], self.Y[rows], weight, groups)

    @property
    def n(self) -> int:
        """How many there are."""
        return int(self.Y.shape[0])


@dataclass(frozen=True)
class CrossFitted:
    """Models, label curves and counts of sets, each without one fold of the rows; and of all rows.

    Candidates of any number can be made of it without fitting a model again.
    """

    rows: TrainingRows  # those that are judged
    part: np.ndarray  # (n,) the fold of each
    answers: list[FoldAnswer]
    labels: list[LabelCalibrator | None]  # of the folds, and last of all rows
    priors: list[SetPrior]  # likewise
    model: Any  # of all rows, or None
    place: int = 0  # of the model whose labels are calibrated, in an average of models

    def stages(self, template: FirstStage) -> list[FirstStage]:
        """The first stages of the folds."""
        return [
            _stage(template, answer.model, curves, prior, self.place)
            for answer, curves, prior in zip(self.answers, self.labels, self.priors, strict=False)
        ]

    def final(self, template: FirstStage) -> FirstStage:
        """The first stage of all rows."""
        return _stage(template, self.model, self.labels[-1], self.priors[-1], self.place)

    def features(self, template: FirstStage) -> CandidateFeatures:
        """Candidates of all rows with their features, by stages that have not seen the row."""
        parts = [
            stage.features(stage.calibrated(answer.distribution))
            for stage, answer in zip(self.stages(template), self.answers, strict=True)
        ]
        together = stacked([part.candidates for part in parts])
        row = np.concatenate([answer.rows for answer in self.answers])[together.row]
        order = np.argsort(row, kind="stable")
        candidates = Candidates(
            together.sets[order], row[order], together.score[order], self.rows.n
        )
        numbers = {
            name: np.concatenate([part.numbers[name] for part in parts])[order]
            for name in parts[0].numbers
        }
        return CandidateFeatures(candidates, numbers)


def cross_fit(
    estimator: Any,
    rows: TrainingRows,
    *,
    n_folds: int,
    label_calibration: str | None,
    allow_empty: bool,
    random_state: int | None,
    refit: bool = True,
    watch: Watch = iter,
) -> CrossFitted:
    """Fit the model without each fold in turn and, with ``refit``, to all rows."""
    part = fold_numbers(rows, n_folds, random_state)
    answers = []
    for outside, inside in watch(list(folds_of(part))):
        model = fitted(estimator, rows.taken(outside), allow_empty)
        answers.append(FoldAnswer(model, inside, model.predict_dist(rows.X[inside])))
    seen = [*(outside for outside, _ in folds_of(part)), np.arange(rows.n)]
    last = fitted(estimator, rows, allow_empty) if refit else None
    labels, place = _label_calibrators(answers, last, part, rows, label_calibration)
    priors = [SetPrior().fit(rows.Y[some], _part(rows.weight, some)) for some in seen]
    return CrossFitted(rows, part, answers, labels, priors, last, place)


def judge_apart(
    estimator: Any,
    rows: TrainingRows,
    apart: TrainingRows,
    *,
    n_folds: int,
    label_calibration: str | None,
    allow_empty: bool,
    random_state: int | None,
) -> CrossFitted:
    """One model of the training rows, judged on calibration rows that are given apart.

    Label curves are learnt on calibration rows too, and so by folds of these.
    """
    model = fitted(estimator, rows, allow_empty)
    part = fold_numbers(apart, n_folds, random_state)
    said = model.predict_dist(apart.X)
    answers = [FoldAnswer(model, inside, said.rows(inside)) for _, inside in folds_of(part)]
    labels, place = _label_calibrators(answers, None, part, apart, label_calibration)
    prior = SetPrior().fit(rows.Y, rows.weight)
    return CrossFitted(apart, part, answers, labels, [prior] * len(labels), model, place)


def from_answers(
    rows: TrainingRows,
    part: np.ndarray,
    said: list[Distribution],
    priors: list[SetPrior],
    *,
    label_calibration: str | None,
) -> CrossFitted:
    """Of models that were fitted and asked elsewhere; there is none of all rows.

    ``said`` is what they say of the rows of each fold in ``part`` (n,), ``priors`` the counts of
    sets in the rows that they had learnt from, and last those of all rows.
    """
    answers = [
        FoldAnswer(None, inside, of) for (_, inside), of in zip(folds_of(part), said, strict=True)
    ]
    labels, place = _label_calibrators(answers, None, part, rows, label_calibration)
    return CrossFitted(rows, part, answers, labels, priors, None, place)


def fold_numbers(rows: TrainingRows, n_folds: int, random_state: int | None) -> np.ndarray:
    """The fold of each row, (n,)."""
    units = n_units(rows.weight, rows.groups, rows.n)
    if units < 2:
        raise DataError(
            "confidence is learnt on rows that were kept apart, but there is only "
            f"{units} sample or group; pass more"
        )
    return dealt_out(rows.Y, rows.weight, rows.groups, n_folds, random_state)


def fitted(estimator: Any, rows: TrainingRows, allow_empty: bool) -> Any:
    """A copy of the estimator that has learnt from the rows; a frozen one as it is."""
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    model = clone(estimator).set_params(allow_empty=allow_empty)
    return model.fit(rows.X, rows.Y, rows.weight, rows.groups)


def _label_calibrators(
    answers: list[FoldAnswer], last: Any, part: np.ndarray, rows: TrainingRows, kind: str | None
) -> tuple[list[LabelCalibrator | None], int]:
    """Label curves for each fold, fitted without it, and last those of all rows; and their place.

    Of averages, which may leave models out, a model is calibrated that is in all of them, the
    ``last`` one of all rows as well.
    """
    said = [answer.distribution for answer in answers]
    said += [] if last is None else [last.predict_dist(rows.X[:1])]
    place = None if kind is None else place_of_labels(said)
    if kind is None or place is None:
        return [None] * (len(answers) + 1), 0
    marginals, truth = marginals_of(answers, rows.n, place), rows.Y
    parts = [outside for outside, _ in folds_of(part)] + [np.arange(rows.n)]
    curves: list[LabelCalibrator | None] = [
        LabelCalibrator(kind).fit(marginals[some], truth[some], _part(rows.weight, some))
        for some in parts
    ]
    return curves, place


def _stage(
    template: FirstStage, model: Any, labels: LabelCalibrator | None, prior: SetPrior, place: int
) -> FirstStage:
    stage = copy(template)
    stage.model_, stage.labels_, stage.prior_, stage.place_ = model, labels, prior, place
    return stage


def _part(values: Any, rows: np.ndarray) -> Any:
    return None if values is None else values[rows]
