"""Figures 4.7 to 4.9 of Li 2019: calibrators that know how often annotators err.

Half of the training rows teach binary relevance; the other half, whose annotations are corrupted,
the calibrators. Confidence is judged on clean test rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from setwise.calibration.noisy_labels import annotators, corrupted
from setwise.calibration.set_calibrator import SetCalibrator
from setwise.data import holdout
from setwise.data.labels import binary_csr, rows_equal
from setwise.experiments.calibration_data import SplitData, seeds_for, shown_name, split_data
from setwise.experiments.study import Measured, ResultTable, Study, figure
from setwise.metrics import brier_decomposition
from setwise.models import BinaryRelevance

#: name -> the error rates of the annotators, each of whom has an equal part of the rows
NOISES = {"0.2": (0.2,), "0.5": (0.5,), "0.1, 0.3, 0.5": (0.1, 0.3, 0.5)}
DRAWS = 20  # of corrupted annotations, to count those that happen to be what was predicted
CALIBRATORS = {
    "taught on clean rows": ("squared", False),
    "plain": ("squared", False),
    "robust, squared error": ("squared", True),
    "robust, surrogate of KL": ("kl", True),
    "robust, likelihood": ("likelihood", True),
}


def tabulate(measured: Measured) -> list[ResultTable]:
    """Mean confidence against clean accuracy, and squared error, for each noise and calibrator."""
    table = ResultTable(
        "Calibration on noisy annotations (Li 2019, Figures 4.7 to 4.9)",
        (
            *("data", "noise rates", "calibrator", "confidence - accuracy", "expected if plain"),
            *("squared error", "relative to clean", "alignment error"),
        ),
        notes=(
            "A corrupted annotation has a label added, moved or removed. That can make a wrong "
            "prediction look right: robust calibrators are told how often (beta), as they are told "
            "the noise rate (alpha). The plain calibrator is expected to be low by the mean rate "
            "times the accuracy."
        ),
    )
    for name, runs in measured.items():
        for noise in runs[0]:
            for kind in runs[0][noise]:
                values = {
                    key: [run[noise][kind][key] for run in runs] for key in runs[0][noise][kind]
                }
                shown = [str(figure(value)) for value in values.values()]
                table.rows.append([shown_name(name), noise, kind, *shown])
    return [table]


def measure(name: str, seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """Every noise and calibrator on one data set and seed."""
    data = split_data(name, seed)
    return {noise: noisy_once(data, rates, seed) for noise, rates in NOISES.items()}


def noisy_once(data: SplitData, rates: Sequence[float], seed: int) -> dict[str, dict[str, float]]:
    """Every calibrator on one data set, noise and seed, judged on clean test rows."""
    rows = data.train
    teach, calibrate = holdout(rows.Y, test_size=0.5, groups=rows.groups, random_state=seed)
    clean = rows.Y[calibrate]
    _, alpha = annotators(len(calibrate), rates, random_state=seed)
    noisy = corrupted(clean, alpha, random_state=seed)
    model = BinaryRelevance(C="auto", max_iter=1000, random_state=seed)
    model = model.with_chosen_C(rows.X[teach], rows.Y[teach])
    results: dict[str, dict[str, float]] = {}
    beta = np.zeros(len(calibrate))
    for name, (objective, robust) in CALIBRATORS.items():
        judged = clean if name == "taught on clean rows" else noisy
        calibrated = SetCalibrator(model, objective=objective, random_state=seed)
        calibrated.fit(
            rows.X[teach],
            rows.Y[teach],
            calibration_data=(rows.X[calibrate], judged),
            alpha=alpha if robust else 0.0,
            beta=beta if robust else 0.0,
        )
        if judged is clean:
            found = binary_csr(calibrated.predict(rows.X[calibrate]))
            beta = alpha * lucky_share(clean, found, seed)
        sets, confidence = calibrated.predict_with_confidence(data.X_test)
        correct = rows_equal(sets, data.Y_test).astype(float)
        parts = brier_decomposition(correct, confidence)
        reference = results.get("taught on clean rows", {"squared": parts.score})
        results[name] = {
            "off": float(confidence.mean() - correct.mean()),
            "expected": float(-alpha.mean() * correct.mean()),
            "squared": parts.score,
            "relative": parts.score / reference["squared"],
            "alignment": parts.alignment_error,
        }
    return results


def lucky_share(clean: sparse.csr_array, predicted: sparse.csr_array, seed: int) -> float:
    """How often a corruption of the right set happens to be the wrong set that was predicted."""
    wrong = ~rows_equal(clean, predicted)
    always = np.ones(clean.shape[0])
    hits = [
        rows_equal(corrupted(clean, always, random_state=seed + draw), predicted)[wrong].mean()
        for draw in range(DRAWS)
    ]
    return float(np.mean(hits)) if wrong.any() else 0.0


NOISE = Study(
    "noise",
    "Calibrators that see through noisy annotation",
    ("yeast", "tmc2007", "debtags"),
    measure,
    tabulate,
    seeds=seeds_for,
    settings={"noises": NOISES, "calibrators": CALIBRATORS, "beta": "told"},
    quick={"datasets": ("yeast",)},
)
