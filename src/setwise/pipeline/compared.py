"""What ``--model auto`` has tried, and which of it is best for a target."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from scipy import sparse

from setwise.pipeline.averaging import averaged
from setwise.pipeline.build import RERANKED_AVERAGE, Choice
from setwise.pipeline.judging import MEASURES, Fold, Judged, clearly_better, worth
from setwise.pipeline.reranking import reranked_average, reranked_labels
from setwise.pipeline.settings import FitSettings

#: What tells a model from one of the same name with another learner.
OF_LEARNERS = {"boosting": " of trees", "elastic": " of few weights"}


@dataclass(frozen=True)
class Trial:
    """How a candidate did, or why it was not tried."""

    model: str
    options: dict[str, Any]
    value: float | None  # of the target's measure
    seconds: float  # of the comparison
    expected: float  # seconds of the last fit on all rows
    note: str = ""


@dataclass(frozen=True)
class Chosen:
    """The winner, all trials, and the reason in a sentence."""

    choice: Choice
    trials: list[dict[str, Any]]
    reason: str


@dataclass(frozen=True)
class Compared:
    """Candidates that have been tried, from which one can be chosen for one target or another."""

    trials: list[tuple[Trial, Judged | None]]
    Y: sparse.csr_array
    folds: list[Fold]
    settings: FitSettings  # for whose target they were tried
    left: float  # seconds of the budget that they left, for each target as if it were the only one

    def chosen(self, target: str) -> Chosen:
        """The best for a target; one that they were not tried for needs no tuning.

        Several models together are taken unless a single one is clearly better, and for set
        accuracy reranked, unless their average is: in folds of training rows of six data sets
        reranking had .006 to .043 more sets right on four, and was within chance on two.
        """
        end = time.perf_counter() + self.left
        tried = [self._turned(trial, judged, target) for trial, judged in self.trials]
        parts = [one for _, one in tried if one is not None]
        single, several = self._of_parts(parts, target, end)
        trials = [trial for trial, _ in tried]
        for one in (*single, *several):
            name, options = one.choice.name, one.choice.options
            trials.append(Trial(name, options, one.value, 0.0, one.expected))
        best = max([*parts, *single], key=lambda one: worth(one.value, target))
        if several:
            together = self._trusted(several, target)
            if not clearly_better(best, together, self.Y, self.folds, target):
                best = together
        return Chosen(
            best.choice,
            [asdict(trial) for trial in trials],
            _reason(best, trials, target, sum(len(fold.judges) for fold in self.folds)),
        )

    def _of_parts(
        self, parts: list[Judged], target: str, end: float
    ) -> tuple[list[Judged], list[Judged]]:
        """What can be made of one candidate, and of several, without another fit to judge it."""
        settings = replace(self.settings, target=target)
        asked = (parts, self.Y, self.folds)
        several = [averaged(*asked, target, end - time.perf_counter())]
        single = [reranked_labels(*asked, settings, end - time.perf_counter())]
        several.append(reranked_average(*asked, settings, end - time.perf_counter()))
        return [one for one in single if one], [one for one in several if one]

    def _trusted(self, several: list[Judged], target: str) -> Judged:
        """The reranker for its own measure, unless the average is clearly better; or the best."""
        best = max(several, key=lambda one: worth(one.value, target))
        names = [one.choice.name for one in several]
        if target != "set_accuracy" or RERANKED_AVERAGE not in names:
            return best
        reranked = several[names.index(RERANKED_AVERAGE)]
        is_clear = clearly_better(best, reranked, self.Y, self.folds, target)
        return best if is_clear else reranked

    def _turned(
        self, trial: Trial, judged: Judged | None, target: str
    ) -> tuple[Trial, Judged | None]:
        """What was tried, judged by another target."""
        if judged is None or target == self.settings.target:
            return trial, judged
        judged = judged.turned(self.Y, self.folds, target)
        return replace(trial, value=judged.value), judged


def named(model: str, options: dict[str, Any]) -> str:
    """A model in words that tell it from others that were tried.

    >>> named("CBM", {"C": 1.0}), named("PowerSet", {"learner": "boosting"})
    ('CBM', 'PowerSet of trees')
    >>> named("PowerSet", {"learner": "elastic"})
    'PowerSet of few weights'
    >>> named("KernelModel", {"inside": {"model": "PowerSet", "options": {}}})
    'KernelModel of PowerSet'
    """
    if "inside" in options:
        return f"{model} of {options['inside']['model']}"
    return model + OF_LEARNERS.get(options.get("learner", ""), "")


def _reason(best: Judged, trials: list[Trial], target: str, n: int) -> str:
    words = MEASURES[target][0].replace("_", " ").replace("f1", "F1")
    own = next(t for t in trials if t.model == best.choice.name and t.value == best.value)
    rivals = [
        f"{named(trial.model, trial.options)} {trial.value:.4f}"
        for trial in trials
        if trial is not own and trial.value is not None
    ]
    against = f" (against {', '.join(rivals)})" if rivals else ""
    left_out = [
        f"{named(trial.model, trial.options)} was left out: {trial.note}"
        for trial in trials
        if trial.note
    ]
    is_best = all(worth(t.value, target) <= worth(best.value, target) for t in trials)
    verb = "has the best" if is_best else "is within chance of the best"
    name = named(best.choice.name, best.choice.options)
    sentence = f"{name} {verb} {words} on {n:,} held-out rows: {best.value:.4f}{against}"
    return "; ".join([sentence, *left_out])
