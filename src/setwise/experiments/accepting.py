"""How much can be accepted unread: ``AutoAccept`` on the confidence of BR-rerank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setwise.calibration.autoaccept import AutoAccept
from setwise.calibration.promise_check import resampled_breaks
from setwise.calibration.rerank import BRRerank
from setwise.data.labels import rows_equal
from setwise.experiments.calibration_data import shown_name, split_data
from setwise.experiments.study import Progress, ResultTable, Study

TARGETS = (0.8, 0.9, 0.95)
LEVEL = 0.95
N_DRAWS = 1000


def run(datasets: Sequence[str], progress: Progress) -> list[ResultTable]:
    """Thresholds from out-of-fold confidences, what they accept of the test rows, and how right."""
    table = ResultTable(
        f"Accepted unread by BR-rerank's confidence, promised with confidence {LEVEL:g}",
        (
            *("data", "training sets", "target", "threshold", "accepted", "of them right"),
            *("breaks", "draws", "at most", "accepted in draws", "breaks of plain threshold"),
        ),
        notes=(
            "The threshold comes from out-of-fold confidences of training rows, by group where "
            "there are groups. Breaks: calibration rows are drawn with replacement, by group, from "
            "the test rows, whose own accuracy above the threshold is the truth."
        ),
    )
    for name in datasets:
        for n_training_sets in (0, 10):
            progress(f"{name}, {n_training_sets} training sets")
            table.rows += accepted(name, n_training_sets)
    return [table]


def accepted(name: str, n_training_sets: int) -> list[list[object]]:
    """One row for each target accuracy."""
    data = split_data(name, seed=0)
    rows = data.train
    model = BRRerank(n_training_sets=n_training_sets)
    model.fit(rows.X, rows.Y, groups=rows.groups)
    sets, confidence = model.predict_with_confidence(data.X_test)
    correct = rows_equal(sets, data.Y_test).astype(float)
    results: list[list[object]] = []
    for target in TARGETS:
        rule = AutoAccept(target, LEVEL).fit(
            model.out_of_fold_confidence_,
            model.out_of_fold_correct_,
            rows.groups,
            out_of_fold=True,
        )
        taken = rule.accept(confidence)
        check = resampled_breaks(
            confidence,
            correct,
            data.groups_test,
            target_accuracy=target,
            confidence_level=LEVEL,
            n_draws=N_DRAWS,
        )
        results.append(
            [
                shown_name(name),
                n_training_sets,
                target,
                f"{rule.threshold_:.3f}",
                f"{taken.mean():.3f}",
                f"{np.mean(correct[taken]) if taken.any() else np.nan:.3f}",
                check.breaks,
                check.n_draws,
                check.limit,
                f"{check.coverage:.3f}",
                check.plain_breaks,
            ]
        )
    return results


ACCEPTING = Study(
    "auto-accept",
    "How much can be accepted unread",
    ("debtags", "rcv1sub1", "tmc2007"),
    run,
)
