"""What ``--model auto`` has tried, and which of it is best for a target."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from scipy import sparse

from setwise.pipeline.averaging import averaged
from setwise.pipeline.build import AVERAGE, RERANKED, RERANKED_FOR, Choice
from setwise.pipeline.judging import MEASURES, Fold, Judged, clearly_better, worth


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
    target: str  # for which they were tried
    left: float  # seconds for the last fit

    def chosen(self, target: str) -> Chosen:
        """The best for a target; one that they were not tried for needs no tuning.

        A reranker that was tried for another target is judged by what its candidates, with their
        confidence, say of this one; fitted for it, it does a little better.
        """
        tried = [
            self._turned(trial, judged, target)
            for trial, judged in self.trials
            if trial.model != RERANKED or target in RERANKED_FOR
        ]
        trials = [trial for trial, _ in tried]
        judged = [one for _, one in tried if one is not None]
        best = max(judged, key=lambda one: worth(one.value, target))
        parts = [one for one in judged if one.choice.name != RERANKED]
        together = averaged(parts, self.Y, self.folds, target, self.left)
        if together is not None:
            value, expected = together.value, together.expected
            trials.append(Trial(AVERAGE, together.choice.options, value, 0.0, expected))
            if not clearly_better(best, together, self.Y, self.folds, target):
                best = together
        return Chosen(
            best.choice,
            [asdict(trial) for trial in trials],
            _reason(best, trials, target, sum(len(fold.judges) for fold in self.folds)),
        )

    def _turned(
        self, trial: Trial, judged: Judged | None, target: str
    ) -> tuple[Trial, Judged | None]:
        """What was tried, judged by another target."""
        if judged is None or target == self.target:
            return trial, judged
        judged = judged.turned(self.Y, self.folds, target)
        return replace(trial, value=judged.value), judged


def _reason(best: Judged, trials: list[Trial], target: str, n: int) -> str:
    words = MEASURES[target][0].replace("_", " ").replace("f1", "F1")
    own = next(t for t in trials if t.model == best.choice.name and t.value == best.value)
    rivals = [
        f"{trial.model} {trial.value:.4f}"
        for trial in trials
        if trial is not own and trial.value is not None
    ]
    against = f" (against {', '.join(rivals)})" if rivals else ""
    left_out = [f"{trial.model} was left out: {trial.note}" for trial in trials if trial.note]
    is_best = all(worth(t.value, target) <= worth(best.value, target) for t in trials)
    verb = "has the best" if is_best else "is within chance of the best"
    sentence = (
        f"{best.choice.name} {verb} {words} on {n:,} held-out rows: {best.value:.4f}{against}"
    )
    return "; ".join([sentence, *left_out])
