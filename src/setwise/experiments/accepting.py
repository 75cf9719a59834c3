"""How much can be accepted unread: ``AutoAccept`` on the confidence of BR-rerank."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom

from setwise.calibration.autoaccept import PER, AutoAccept
from setwise.calibration.promise_check import resampled_breaks
from setwise.calibration.rerank import BRRerank
from setwise.data.labels import rows_equal
from setwise.experiments.calibration_data import SplitData, shown_name, split_data
from setwise.experiments.study import Measured, ResultTable, Study, figure

TARGETS = (0.8, 0.9, 0.95)
LEVEL = 0.95
N_DRAWS = 1000
FIGURES = ("threshold", "accepted", "of them right")


def tabulate(measured: Measured) -> list[ResultTable]:
    """Thresholds from out-of-fold confidences, what they accept of the test rows, and how right."""
    table = ResultTable(
        f"Accepted unread by BR-rerank's confidence, promised with confidence {LEVEL:g}",
        (
            *("data", "training sets", "per", "target"),
            *("threshold", "accepted", "of them right"),
            *("breaks", "draws", "at most", "accepted in draws", "breaks of plain threshold"),
        ),
        notes=(
            "The threshold comes from out-of-fold confidences of training rows, whose promise is "
            "approximate: the model is fitted again to all of them. Where there are "
            "groups, the promise is for one row of a new group, or for all rows of new groups. "
            "Breaks: calibration rows are drawn with replacement, by group, from the test rows, "
            "whose own accuracy above the threshold is the truth."
        ),
    )
    for name, runs in measured.items():
        for place, first in enumerate(runs[0]):
            some = [run[place] for run in runs]
            told = [_told([one[key] for one in some]) for key in FIGURES]
            table.rows.append(
                [
                    shown_name(name),
                    first["training sets"],
                    first["per"],
                    first["target"],
                    *told,
                    sum(one["breaks"] for one in some),
                    sum(one["draws"] for one in some),
                    _limit(sum(one["draws"] for one in some)),
                    str(figure([one["accepted in draws"] for one in some])),
                    sum(one["breaks of plain threshold"] for one in some),
                ]
            )
    return [table]


def _limit(draws: int) -> int:
    """What breaks of an honest rule exceed in one of a thousand such tables."""
    return int(binom.ppf(0.999, draws, 1 - LEVEL))


def _told(values: list[float]) -> str:
    """The mean over seeds that found a threshold, and how many did not.

    >>> _told([0.5, float("inf")])
    '0.5000, none in 1 of 2'
    """
    found = [value for value in values if np.isfinite(value)]
    if len(found) == len(values):
        return str(figure(found))
    missing = f"none in {len(values) - len(found)} of {len(values)}"
    return f"{figure(found)}, {missing}" if found else missing


def measure(name: str, seed: int) -> list[dict[str, Any]]:
    """The rows of one data set: without and with training sets among the candidates."""
    data = split_data(name, seed)
    return [row for n_training_sets in (0, 10) for row in accepted(data, n_training_sets, seed)]


def measure_anew(name: str, seed: int) -> list[dict[str, Any]]:
    """The same on a split of one's own."""
    return accepted(split_data(name, seed, anew=True), 0, seed)


def accepted(data: SplitData, n_training_sets: int, seed: int) -> list[dict[str, Any]]:
    """One row for each target accuracy."""
    rows = data.train
    model = BRRerank(n_training_sets=n_training_sets, random_state=seed)
    model.fit(rows.X, rows.Y, groups=rows.groups)
    sets, confidence = model.predict_with_confidence(data.X_test)
    correct = rows_equal(sets, data.Y_test).astype(float)
    return [
        {"training sets": n_training_sets, "per": per, "target": target}
        | _threshold(model, data, confidence, correct, target, per)
        for per in (("row",) if rows.groups is None else PER)
        for target in TARGETS
    ]


def _threshold(
    model: BRRerank,
    data: SplitData,
    confidence: np.ndarray,
    correct: np.ndarray,
    target: float,
    per: str,
) -> dict[str, Any]:
    """What a threshold accepts of the test rows, and how often thresholds like it break."""
    rule = AutoAccept(target, LEVEL, per=per).fit(
        model.out_of_fold_confidence_,
        model.out_of_fold_correct_,
        data.train.groups,
        out_of_fold=True,
    )
    taken = rule.accept(confidence)
    check = resampled_breaks(
        confidence,
        correct,
        data.groups_test,
        target_accuracy=target,
        confidence_level=LEVEL,
        per=per,
        n_draws=N_DRAWS,
    )
    return {
        "threshold": float(rule.threshold_),
        "accepted": float(taken.mean()),
        "of them right": float(np.mean(correct[taken])) if taken.any() else np.nan,
        "breaks": int(check.breaks),
        "draws": int(check.n_draws),
        "at most": int(check.limit),
        "accepted in draws": float(check.coverage),
        "breaks of plain threshold": int(check.plain_breaks),
    }


ACCEPTING = Study(
    "auto-accept",
    "How much can be accepted unread",
    ("debtags", "rcv1sub1", "tmc2007"),
    measure,
    tabulate,
    seeds=(0, 1),
    settings={"targets": TARGETS, "level": LEVEL, "draws": N_DRAWS, "per": PER},
    quick={"datasets": ("medical",)},
)
ACCEPTING_ANEW = Study(
    "auto-accept-anew",
    "The same on splits by which no rule was made",
    ("debtags",),
    measure_anew,
    tabulate,
    seeds=(101, 102),
    settings={"targets": TARGETS, "level": LEVEL, "draws": N_DRAWS, "per": PER},
    quick={"datasets": ("medical",)},
)
