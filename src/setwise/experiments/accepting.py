"""How much can be accepted unread: ``AutoAccept`` on the confidence of rerankers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom

from setwise.calibration.autoaccept import AutoAccept
from setwise.calibration.promise_check import resampled_breaks
from setwise.calibration.rerank import BRRerank, Reranker
from setwise.data.labels import rows_equal
from setwise.experiments.calibration_data import SplitData, chosen_C, shown_name, split_data
from setwise.experiments.study import Measured, ResultTable, Study, figure
from setwise.models import BinaryRelevance, LPkNN, ModelAverage

TARGETS = (0.8, 0.9, 0.95)
LEVEL = 0.95
N_DRAWS = 1000
QUALITY = ("set accuracy", "relative squared error")
FIGURES = ("threshold", "accepted", "of them right")
PLAIN, LISTED, NEIGHBOURS = MODELS = (
    "BR-rerank",
    "BR-rerank, training sets",
    "BR and neighbours, reranked",
)
#: What is promised, and which rows of a group are counted for it.
RULES = (("group", "one"), ("group", "all"), ("row", "all"))


def tabulate(measured: Measured) -> list[ResultTable]:
    """Thresholds from out-of-fold confidences, what they accept of the test rows, and how right."""
    table = ResultTable(
        f"Accepted unread by confidence, promised with confidence {LEVEL:g}",
        (
            *("data", "model", "per", "counted", "target"),
            *("threshold", "accepted", "of them right"),
            *("breaks", "draws", "at most", "accepted in draws", "breaks of plain threshold"),
        ),
        notes=(
            "The threshold comes from out-of-fold confidences of training rows, whose promise is "
            "approximate: the model is fitted again to all of them. Where there are "
            "groups, the promise is for one row of a new group, of which one row or all are "
            "counted, or for all rows of new groups. "
            "Breaks: calibration rows are drawn with replacement, by group, from the test rows, "
            "whose own accuracy above the threshold is the truth."
        ),
    )
    for name, runs in measured.items():
        rows: dict[Any, list[dict[str, Any]]] = {}
        for row in (row for run in runs for row in run):
            key = (row["model"], row["per"], row["counted"], row["target"])
            rows.setdefault(key, []).append(row)
        for key, some in rows.items():
            told = [_told([one[kind] for one in some]) for kind in FIGURES]
            draws = sum(one["draws"] for one in some)
            table.rows.append(
                [
                    shown_name(name),
                    *key,
                    *told,
                    sum(one["breaks"] for one in some),
                    draws,
                    _limit(draws),
                    str(figure([one["accepted in draws"] for one in some])),
                    sum(one["breaks of plain threshold"] for one in some),
                ]
            )
    return [table, _predictions(measured)]


def _predictions(measured: Measured) -> ResultTable:
    """How right predictions are that are accepted or not, and what their confidence is worth."""
    table = ResultTable(
        "What is accepted, or read: the predictions themselves",
        ("data", "model", *QUALITY),
        notes="Squared error of the confidence is relative to that of a constant one.",
    )
    for name, runs in measured.items():
        firsts: dict[str, list[dict[str, Any]]] = {}
        for run in runs:  # of one model and seed, whose rows agree on these
            firsts.setdefault(run[0]["model"], []).append(run[0])
        for model, some in firsts.items():
            told = [str(figure([one[kind] for one in some])) for kind in QUALITY]
            table.rows.append([shown_name(name), model, *told])
    return table


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


def measure(name: str, seed: int, model: str) -> list[dict[str, Any]]:
    """The rows of one model on one data set."""
    return accepted(split_data(name, seed), model, seed)


def measure_anew(name: str, seed: int, model: str) -> list[dict[str, Any]]:
    """The same on a split of one's own."""
    return accepted(split_data(name, seed, anew=True), model, seed)


def accepted(data: SplitData, name: str, seed: int) -> list[dict[str, Any]]:
    """One row for each rule and target accuracy."""
    rows = data.train
    model = _model(name, data, seed).fit(rows.X, rows.Y, groups=rows.groups)
    sets, confidence = model.predict_with_confidence(data.X_test)
    correct = rows_equal(sets, data.Y_test).astype(float)
    share = float(correct.mean())
    quality = (share, float(np.mean((confidence - correct) ** 2)) / (share * (1 - share)))
    return [
        dict(zip(QUALITY, quality, strict=True))
        | {"model": name, "per": per, "counted": counted, "target": target}
        | _threshold(model, data, confidence, correct, target, per, counted)
        for per, counted in (RULES[-1:] if rows.groups is None else RULES)
        for target in TARGETS
    ]


def _model(name: str, data: SplitData, seed: int) -> Reranker:
    if name != NEIGHBOURS:
        return BRRerank(n_training_sets=10 if name == LISTED else 0, random_state=seed)
    linear = BinaryRelevance(C=chosen_C(data), max_iter=1000, random_state=seed)
    return Reranker(ModelAverage([linear, LPkNN()], weights="equal"), random_state=seed)


def _threshold(
    model: Reranker,
    data: SplitData,
    confidence: np.ndarray,
    correct: np.ndarray,
    target: float,
    per: str,
    counted: str,
) -> dict[str, Any]:
    """What a threshold accepts of the test rows, and how often thresholds like it break."""
    rule = AutoAccept(target, LEVEL, per=per, counted=counted).fit(
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
        counted=counted,
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
    parts=MODELS,
    settings={"targets": TARGETS, "level": LEVEL, "draws": N_DRAWS, "rules": RULES},
    quick={"datasets": ("medical",)},
)
ACCEPTING_ANEW = Study(
    "auto-accept-anew",
    "The same on splits by which no rule was made",
    ("debtags",),
    measure_anew,
    tabulate,
    seeds=(101, 102),
    parts=(PLAIN, NEIGHBOURS),
    settings={"targets": TARGETS, "level": LEVEL, "draws": N_DRAWS, "rules": RULES},
    quick={"datasets": ("medical",)},
)
