"""``--model auto``: sensible models compared on held-out rows, within a time budget.

Each candidate learns from the same rows, at most ``MOST_ROWS`` of them, and is judged by the
measure of the target on the same others; where rows are few, by folds. A small trial first tells
what it would cost: one that does not fit into the budget, in comparison or in the last fit on all
rows, is left out and said so: what those before it need for their last fits is reserved. What they
say of the judging rows also tells how to average them, and what choosing among their likeliest sets
would do; several are taken together unless one of them alone is clearly better.

By folds, what a candidate chooses by itself is chosen once, on the training rows of the first;
these judge later, so that such candidates look a little better than they are. Choosing it for each
fold would take several times as long.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from setwise.calibration.cross_fit import TrainingRows
from setwise.data.split import IterativeKFold, holdout
from setwise.errors import DataError, NotConverged
from setwise.learners.bank_problem import in_single_precision
from setwise.models import BinaryRelevance
from setwise.models.kernel_features import n_landmarks_of
from setwise.models.strength import best_C
from setwise.pipeline.build import KERNEL, Choice, bare_model, folds_of
from setwise.pipeline.candidates import NEIGHBOURS, Candidate, candidates_for
from setwise.pipeline.compared import Chosen, Compared, Trial, named
from setwise.pipeline.judging import Fold, Judged
from setwise.pipeline.penalties import strength_of_few_weights
from setwise.pipeline.settings import FitSettings

MOST_ROWS = 8000  # that candidates learn from
JUDGES = 0.25  # the share of these that judge
ENOUGH_JUDGES = 500  # rows; where there are fewer, all rows judge in turn
SMALL = 8  # a trial has so much less rows
LEAST_GROWTH = 0.1  # of the seconds of a trial, with twice as many rows
NEAR = 0.2  # the share of the seconds left that looking for a penalty may take
TRIES = 3  # fits that looking for a penalty is worth: there are more of them, but rough ones

Say = Callable[[str], None]


def choose(
    X: Any,
    Y: sparse.csr_array,
    groups: Any,
    settings: FitSettings,
    say: Say = lambda _: None,
) -> Chosen:
    """The candidate that is best on held-out rows, or their average."""
    return compare(X, Y, groups, settings, say).chosen(settings.target)


def compare(
    X: Any,
    Y: sparse.csr_array,
    groups: Any,
    settings: FitSettings,
    say: Say = lambda _: None,
) -> Compared:
    """All candidates, fitted and judged."""
    folds = judging_folds(Y, groups, settings.seed)
    rows = TrainingRows(in_single_precision(X), Y, None, groups)  # it tells as much, in less time
    comparison = _Comparison(rows, folds, settings, time.perf_counter())
    say("choosing a penalty for binary relevance")
    C = _best_C(rows.taken(folds[0].train), settings)
    trials: list[tuple[Trial, Judged | None]] = []

    def try_each(candidates: list[Candidate]) -> None:
        for candidate in candidates:
            name = named(candidate.choice.name, candidate.choice.options)
            say(f"trying {name} on {len(folds[0].train):,} rows")
            trials.append(comparison.tried(candidate, _reserved(trials), is_first=not trials))

    try_each(candidates_for(X, Y, C, keep_rows=settings.keep_rows)[:1])
    few = comparison.strength_of_few_weights(trials[0][1])
    try_each(candidates_for(X, Y, C, keep_rows=settings.keep_rows, few_weights=few)[1:])
    return Compared(trials, Y, folds, settings, comparison.left)


def _reserved(trials: list[tuple[Trial, Judged | None]]) -> float:
    """Seconds that the last fits of all that may become members of an average will take."""
    return sum(judged.expected for _, judged in trials if judged)


def judging_folds(Y: sparse.csr_array, groups: Any, seed: int) -> list[Fold]:
    """One split where there are enough rows to judge by, else folds in which all rows judge."""
    rows = _some_rows(Y.shape[0], seed)
    part = None if groups is None else groups[rows]
    if len(rows) * JUDGES >= ENOUGH_JUDGES:
        train, judges = holdout(Y[rows], test_size=JUDGES, groups=part, random_state=seed)
        return [_fold(rows[train], rows[judges], groups)]
    n_units = len(rows) if part is None else len(np.unique(part))
    if n_units < 2:
        raise DataError(
            "auto compares models on rows that were kept apart, but there is only "
            f"{n_units} sample (row or group); give more of them, or take one model (--model)"
        )
    parts = IterativeKFold(min(round(1 / JUDGES), n_units), random_state=seed)
    return [_fold(train, judges, groups) for train, judges in parts.split(None, Y, groups)]


def _fold(train: np.ndarray, judges: np.ndarray, groups: Any) -> Fold:
    return Fold(train, judges, None if groups is None else groups[judges])


@dataclass(frozen=True)
class _Comparison:
    """What all candidates are tried on, and by when it is to be over."""

    rows: TrainingRows
    folds: list[Fold]
    settings: FitSettings
    begin: float

    @property
    def left(self) -> float:
        """Seconds of the budget that are left, last fit and all."""
        return self.begin + self.settings.budget - time.perf_counter()

    def strength_of_few_weights(self, first: Judged | None) -> float | None:
        """The strength of elastic nets, where they are worth trying."""
        if first is None:
            return None
        seconds = NEAR * (self.left - first.expected)
        return strength_of_few_weights(self.rows, self.folds, first, self.settings, seconds)

    def tried(
        self, candidate: Candidate, reserved: float, *, is_first: bool
    ) -> tuple[Trial, Judged | None]:
        """The trial, and what the candidate says of the judging rows; the first is always tried.

        ``reserved`` are seconds that are not for it, but for the last fits of those before it.
        """
        choice, start = candidate.choice, candidate.start
        if start is not None:
            choice = Choice(choice.name, choice.options | {"C": start})
        with warnings.catch_warnings():  # the last fit warns of what matters
            warnings.simplefilter("ignore", NotConverged)
            left = self.left - reserved
            if not is_first and left <= 0:
                note = "no time was left to try it"
                return Trial(choice.name, choice.options, None, 0.0, 0.0, note), None
            cost = self._cost(choice, start)
            if not is_first and cost.total > left:
                cost = self._cost(choice, start, earlier=cost)
            if not is_first and cost.total > left:
                note = f"would take about {cost.total:.0f} s, and {left:.0f} s were left"
                return Trial(choice.name, choice.options, None, cost.trial, cost.last, note), None
            begin = time.perf_counter()
            if start is not None:
                C = self._near(choice, start, NEAR * left)
                choice = Choice(choice.name, choice.options | {"C": C})
            chosen_in = time.perf_counter() - begin
            return self._judged(choice, replace(cost, trial=chosen_in), left - chosen_in, is_first)

    def _near(self, choice: Choice, start: float, seconds: float) -> float:
        """The penalty near to one that held-out rows like best, on what the first fold teaches."""
        rows = self.rows.taken(self.folds[0].train)
        model = bare_model(choice, self.settings)
        return best_C(model, rows.X, rows.Y, groups=rows.groups, start=start, seconds=seconds)

    def _judged(
        self, choice: Choice, cost: _Cost, left: float, is_first: bool
    ) -> tuple[Trial, Judged | None]:
        models, seconds = [], []
        for fold in self.folds:
            model, took = self._fitted(choice, fold.train)
            models.append(model)
            seconds.append(took)
            choice = _settled(choice, model)
        answers = Judged.by(
            choice, models, self.rows.X, self.rows.Y, self.folds, self.settings.target
        )
        last = self._last_fit(choice, seconds[0] * cost.plain_share)
        answers = replace(answers, expected=last)
        trial = Trial(choice.name, choice.options, answers.value, cost.trial + sum(seconds), last)
        if not is_first and last > left - sum(seconds):
            note = f"too slow for the last fit, which would take about {last:.0f} s"
            return replace(trial, value=None, note=note), None
        return trial, answers

    def _fitted(self, choice: Choice, rows: np.ndarray) -> tuple[Any, float]:
        begin = time.perf_counter()
        some = self.rows.taken(rows)
        model = bare_model(choice, self.settings).fit(some.X, some.Y, groups=some.groups)
        return model, time.perf_counter() - begin

    def _cost(self, choice: Choice, start: float | None, earlier: _Cost | None = None) -> _Cost:
        """Seconds of comparison and last fit, from those on a few rows.

        They are taken to grow as the number of rows does; after an ``earlier`` and too dear one, on
        twice as many rows, by as much as they have grown. That first one may have had to compile,
        and some costs hardly grow at all: so they grow, but at least a little.
        """
        train = self.folds[0].train
        few = train[:: SMALL if earlier is None else SMALL // 2]
        model, first = self._fitted(choice, few)
        settled = _settled(choice, model)
        plain = first if settled == choice else self._fitted(settled, few)[1]
        ratio = len(train) / len(few)
        if earlier is not None:
            growth = np.clip(1 - earlier.trial / first, LEAST_GROWTH, 0.5)  # with twice the rows
            ratio = 1 + 2 * growth * (ratio - 1)
        if choice.name == KERNEL:  # more rows have more landmarks, too, up to a number
            most = model.n_landmarks
            ratio *= n_landmarks_of(len(train), most) / n_landmarks_of(len(few), most)
        ratio = _growth(choice, ratio)
        tries = 0 if start is None else TRIES
        compared = ratio * (first + (tries + len(self.folds) - 1) * plain)
        last = self._last_fit(choice, ratio * plain)
        return _Cost(first, compared, last, min(plain / first, 1.0))

    def _last_fit(self, choice: Choice, seconds: float) -> float:
        """Seconds on all rows: a calibrator, or a reranker, fits each fold's model too."""
        ratio = _growth(choice, self.rows.n / len(self.folds[0].train))
        return seconds * ratio * (folds_of(self.settings) + 1)


@dataclass(frozen=True)
class _Cost:
    """Seconds of a small trial, and what is expected of the comparison and of the last fit.

    ``plain_share`` of a fit remain once the model has chosen its own settings.
    """

    trial: float
    compared: float
    last: float
    plain_share: float

    @property
    def total(self) -> float:
        """Comparison and last fit."""
        return self.compared + self.last


def _growth(choice: Choice, ratio: float) -> float:
    """By how much cost grows with so many times the rows; neighbours compare each with all."""
    return ratio**2 if choice.name == NEIGHBOURS else ratio


def _settled(choice: Choice, model: Any) -> Choice:
    """The choice with what its model has chosen itself, which later fits need not choose again."""
    if "inside" in choice.options:
        inside = choice.options["inside"]
        settled = _settled(Choice(inside["model"], inside["options"]), model.model_)
        options = {"inside": {"model": settled.name, "options": settled.options}}
        return Choice(choice.name, choice.options | options)
    known = model.get_params(deep=False)
    found = getattr(model, "chosen_", {})
    chosen = {name: value for name, value in found.items() if name in known}
    return Choice(choice.name, choice.options | chosen)


def _best_C(rows: TrainingRows, settings: FitSettings) -> float:
    """The penalty that held-out rows like best, found once for all that build on it."""
    model = BinaryRelevance(C="auto", random_state=settings.seed, n_jobs=settings.jobs)
    return float(model.with_chosen_C(rows.X, rows.Y, groups=rows.groups).C)


def _some_rows(n: int, seed: int) -> np.ndarray:
    """Row numbers, as many as candidates are given in all, in rising order."""
    most = int(MOST_ROWS / (1 - JUDGES))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])
