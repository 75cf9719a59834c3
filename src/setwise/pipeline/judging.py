"""How models do on rows that they have not seen, by the measure of a target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from setwise.decisions import decision_for
from setwise.distributions.base import Distribution
from setwise.metrics import set_measures
from setwise.pipeline.bootstrap import bootstrap_weights
from setwise.pipeline.build import Choice

#: What is measured for a target, and whether more of it is better.
MEASURES = {
    "set_accuracy": ("set_accuracy", True),
    "f1": ("instance_f1", True),
    "f1_calibrated": ("instance_f1", True),
    "f1_threshold": ("instance_f1", True),
    "hamming": ("hamming_loss", False),
    "micro_f1": ("micro_f1", True),
    "jaccard": ("instance_jaccard", True),
    "macro_f1": ("label_f1", True),
}
RESAMPLES = 200  # of the judging rows, to tell a difference from chance
#: Standard errors of a difference. One would not do: of ten candidates some look so good by luck.
CLEAR = 2.0


@dataclass(frozen=True)
class Fold:
    """Row numbers to learn from, and to judge by, with the groups of these."""

    train: np.ndarray
    judges: np.ndarray
    groups: np.ndarray | None = None


def groups_of(folds: list[Fold]) -> np.ndarray | None:
    """The groups of the judging rows, all folds one after another."""
    parts = [fold.groups for fold in folds if fold.groups is not None]
    return np.concatenate(parts) if parts else None


@dataclass(frozen=True)
class Judged:
    """A candidate with what it says of the judging rows, all folds one after another."""

    choice: Choice
    value: float  # of the target's measure
    predicted: sparse.csr_array
    log_prob: np.ndarray  # of the rows' own sets
    answers: list[Distribution]  # of each fold
    expected: float = 0.0  # seconds of the last fit

    @classmethod
    def by(
        cls,
        choice: Choice,
        models: list[Any],
        X: Any,
        Y: sparse.csr_array,
        folds: list[Fold],
        target: str,
    ) -> Judged:
        """What the models of the folds say."""
        pairs = list(zip(models, folds, strict=True))
        predicted = _stacked([model.predict(X[fold.judges]) for model, fold in pairs])
        answers = [model.predict_dist(X[fold.judges]) for model, fold in pairs]
        log_prob = np.concatenate(
            [answer.log_prob(Y[fold.judges]) for answer, fold in zip(answers, folds, strict=True)]
        )
        return cls(choice, value_of(predicted, Y, folds, target), predicted, log_prob, answers)

    def turned(self, Y: sparse.csr_array, folds: list[Fold], target: str) -> Judged:
        """The same answers, decided for another target."""
        decision = decision_for(target)
        predicted = _stacked([decision.decide(answer) for answer in self.answers])
        return replace(self, predicted=predicted, value=value_of(predicted, Y, folds, target))


def value_of(
    predicted: sparse.csr_array, Y: sparse.csr_array, folds: list[Fold], target: str
) -> float:
    """The target's measure of what is predicted for the judging rows."""
    truth = Y[np.concatenate([fold.judges for fold in folds])]
    return float(set_measures(truth, predicted)[MEASURES[target][0]])


def worth(value: float | None, target: str) -> float:
    """The value turned so that more is better; what was not measured is worth nothing."""
    if value is None:
        return -np.inf
    return value if MEASURES[target][1] else -value


def clearly_better(
    one: Judged, other: Judged, Y: sparse.csr_array, folds: list[Fold], target: str
) -> bool:
    """Whether one beats the other by more than two standard errors of the difference."""
    gain = worth(one.value, target) - worth(other.value, target)
    if gain <= 0:
        return False
    truth = Y[np.concatenate([fold.judges for fold in folds])]
    measure = MEASURES[target][0]
    gains = []
    for weight in bootstrap_weights(truth.shape[0], RESAMPLES, groups=groups_of(folds)):
        first, second = (
            worth(set_measures(truth, judged.predicted, sample_weight=weight)[measure], target)
            for judged in (one, other)
        )
        gains.append(first - second)
    return bool(gain > CLEAR * np.std(gains))


def _stacked(parts: list[Any]) -> sparse.csr_array:
    return sparse.csr_array(
        sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    ).astype(np.int8)
