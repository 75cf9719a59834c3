"""Figures 4.7 to 4.9 of Li 2019: calibrators that know how often annotators err.

Half of the training rows teach binary relevance; the other half, whose annotations are corrupted,
the calibrators. Confidence is judged on clean test rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator

from setwise.calibration.cross_fit import TrainingRows
from setwise.calibration.noisy_labels import annotators, corrupted
from setwise.calibration.set_calibrator import SetCalibrator
from setwise.data import holdout
from setwise.data.labels import binary_csr, rows_equal
from setwise.experiments.calibration_data import SplitData, seeds_for, shown_name, split_data
from setwise.experiments.study import Measured, ResultTable, Study, figure
from setwise.metrics import brier_decomposition, reliability_table
from setwise.models import BinaryRelevance

#: name -> the error rates of the annotators, each of whom has an equal part of the rows
NOISES = {"0.2": (0.2,), "0.5": (0.5,), "0.1, 0.3, 0.5": (0.1, 0.3, 0.5)}
FIGURES = ("off", "expected", "squared", "relative", "alignment")
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
        for noise, kinds in runs[0].items():
            for kind in kinds:
                some = [run[noise][kind] for run in runs]
                shown = [str(figure([one[key] for one in some])) for key in FIGURES]
                table.rows.append([shown_name(name), noise, kind, *shown])
            table.curves[f"{name}, noise {noise}: how often right, by confidence"] = {
                kind: _mean_curve([run[noise][kind]["curve"] for run in runs]) for kind in kinds
            } | {"as right as sure": [(0.0, 0.0), (1.0, 1.0)]}
    return [table]


def measure(name: str, seed: int) -> dict[str, dict[str, dict[str, Any]]]:
    """Every noise and calibrator on one data set and seed."""
    data = split_data(name, seed)
    rows = data.train
    parts = holdout(rows.Y, test_size=0.5, groups=rows.groups, random_state=seed)
    teach, calibrate = (rows.taken(part) for part in parts)
    model = BinaryRelevance(C="auto", max_iter=1000, random_state=seed)
    model.fit(teach.X, teach.Y, groups=teach.groups)
    return {
        noise: noisy_once(model, teach, calibrate, data, rates, seed)
        for noise, rates in NOISES.items()
    }


def noisy_once(
    model: BinaryRelevance,
    teach: TrainingRows,
    calibrate: TrainingRows,
    data: SplitData,
    rates: Sequence[float],
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Every calibrator on one data set, noise and seed, judged on clean test rows."""
    clean = calibrate.Y
    _, alpha = annotators(calibrate.n, rates, random_state=seed)
    noisy = corrupted(clean, alpha, random_state=seed)
    results: dict[str, dict[str, Any]] = {}
    beta = np.zeros(calibrate.n)
    for name, (objective, robust) in CALIBRATORS.items():
        judged = clean if name == "taught on clean rows" else noisy
        frozen = FrozenEstimator(model)
        calibrated = SetCalibrator(frozen, objective=objective, random_state=seed)
        calibrated.fit(
            teach.X,
            teach.Y,
            calibration_data=(calibrate.X, judged, None, calibrate.groups),
            alpha=alpha if robust else 0.0,
            beta=beta if robust else 0.0,
        )
        if judged is clean:
            found = binary_csr(calibrated.predict(calibrate.X))
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
            "curve": reliability_points(correct, confidence),
        }
    return results


def reliability_points(correct: np.ndarray, confidence: np.ndarray) -> list[list[float]]:
    """Mean confidence and accuracy of tenths of the rows, from the least to the most confident."""
    table = reliability_table(correct, confidence, strategy="quantile")
    pairs = np.column_stack([table.mean_confidence, table.accuracy])
    found: list[list[float]] = pairs[table.count > 0].tolist()
    return found


def _mean_curve(curves: Sequence[Sequence[Sequence[float]]]) -> list[tuple[float, float]]:
    """The mean over seeds of points that have the same place; ties may leave a seed fewer."""
    fewest = min(len(curve) for curve in curves)
    mean = np.mean([curve[:fewest] for curve in curves], axis=0)
    return [(float(x), float(y)) for x, y in mean]


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
    settings={"noises": NOISES, "calibrators": CALIBRATORS, "beta": "told", "curves": 10},
    quick={"datasets": ("yeast",)},
)
