"""How good a model is on rows with known labels: facts as one dict, for terminals and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import betaincinv

from setwise.calibration import AutoAccept, accuracy_coverage
from setwise.calibration._accept_inputs import one_row_per_group
from setwise.data.labels import rows_equal
from setwise.data.sparse_rows import canonical_csr
from setwise.data.statistics import statistics
from setwise.metrics import (
    brier_decomposition,
    expected_calibration_error,
    ranking_measures,
    reliability_table,
)
from setwise.metrics.averaging import divided
from setwise.pipeline.bootstrap import DRAWS, measures_with_intervals
from setwise.pipeline.grouping import groups_of
from setwise.pipeline.read_rows import CHUNK
from setwise.pipeline.table import Table
from setwise.pipeline.table_model import LEVEL, TableModel

ACCURACIES = (0.8, 0.9, 0.95)  # that accept rules are shown for
CURVE_POINTS = 200

Tick = Callable[[], None]


@dataclass(frozen=True)
class Judged:
    """Predictions beside the truth; labels that the model does not know stand behind its own."""

    truth: sparse.csr_array  # (n, L + U)
    predicted: sparse.csr_array  # (n, L + U)
    confidence: np.ndarray  # (n,)
    probabilities: np.ndarray  # (n, L)
    unknown: dict[str, int]  # label -> rows

    @property
    def correct(self) -> np.ndarray:
        """Whether each set is exactly right, (n,) of 0 and 1."""
        return rows_equal(self.truth, self.predicted).astype(np.float64)


def judge(model: TableModel, table: Table, tick: Tick = lambda: None) -> Judged:
    """Predict rows whose labels are known, some at a time."""
    truth, unknown = model.labels_.encode(model.labels_.sets(table))
    parts = []
    for begin in range(0, len(table), CHUNK):
        rows = np.arange(begin, min(begin + CHUNK, len(table)))
        parts.append(model.predict_matrix(table.taken(rows)))
        tick()
    sets = sparse.vstack([sets for sets, _, _ in parts], format="csr")
    predicted = sparse.csr_array(
        (sets.data, sets.indices, sets.indptr), shape=(len(table), truth.shape[1])
    )
    predicted.eliminate_zeros()
    return Judged(
        truth,
        canonical_csr(predicted),
        np.concatenate([confidence for _, confidence, _ in parts]),
        np.concatenate([single for _, _, single in parts]),
        unknown,
    )


def evaluation(
    model: TableModel,
    table: Table,
    judged: Judged,
    *,
    accuracies: tuple[float, ...] = ACCURACIES,
    draws: int = DRAWS,
    seed: int = 0,
    tick: Tick = lambda: None,
) -> dict[str, Any]:
    """All facts, ready for JSON.

    Where the model was fitted with groups and the table has their column, the bootstrap draws
    groups, and what concerns acceptance counts one row of each: rows of one group are no
    independent witnesses.
    """
    correct, confidence = judged.correct, judged.confidence
    column = model.settings.get("groups")
    groups = groups_of(table, column) if column in table.columns else None
    counted = np.arange(len(table))
    if groups is not None:
        counted = one_row_per_group(groups, confidence, correct, model.settings.get("seed", 0))
    pairs = correct[counted], confidence[counted]
    L = len(model.label_names)
    known = judged.truth[:, :L]
    return {
        "n_rows": len(table),
        "model": model.facts_["model"],
        "target": model.settings["target"],
        "note": model.note,
        "statistics": statistics([np.empty((len(table), 0))], [judged.truth]).to_dict(),
        "unknown_labels": judged.unknown,
        "groups": None if groups is None else column,
        "measures": measures_with_intervals(
            judged.truth, judged.predicted, draws=draws, seed=seed, groups=groups, tick=tick
        ),
        "ranking": ranking_measures(known, judged.probabilities),
        "labels": label_table(model.label_names, judged),
        "calibration": calibration_facts(correct, confidence),
        "accept": [accept_facts(model.accept_rule(a), *pairs) for a in accuracies],
        "curve": curve_facts(*pairs),
    }


def label_table(names: tuple[str, ...], judged: Judged) -> list[dict[str, Any]]:
    """What is right and wrong of each label, the most frequent first; unknown ones are last."""
    right = judged.truth.multiply(judged.predicted).sum(axis=0)
    true, predicted = (np.asarray(Y.sum(axis=0)).ravel() for Y in (judged.truth, judged.predicted))
    right = np.asarray(right).ravel()
    precision = divided(right.astype(float), predicted.astype(float))
    recall = divided(right.astype(float), true.astype(float))
    f1 = divided(2.0 * right, (true + predicted).astype(float))
    every = [*names, *sorted(judged.unknown)]
    order = np.lexsort((np.arange(len(every)), -true, np.arange(len(every)) >= len(names)))
    return [
        {
            "label": every[j],
            "rows": int(true[j]),
            "predicted": int(predicted[j]),
            "right": int(right[j]),
            "precision": _plain(precision[j]),
            "recall": _plain(recall[j]),
            "f1": _plain(f1[j]),
            "known": bool(j < len(names)),
        }
        for j in order.tolist()
    ]


def calibration_facts(correct: np.ndarray, confidence: np.ndarray) -> dict[str, Any]:
    """Whether confidence comes true: Brier score and its parts, and a table of ten buckets."""
    table = reliability_table(correct, confidence)
    keys = ("lower", "upper", "count", "mean_confidence", "accuracy", "standard_error")
    rows = zip(*(getattr(table, key) for key in keys), strict=True)
    return {
        "mean_confidence": float(confidence.mean()),
        "accuracy": float(correct.mean()),
        "expected_calibration_error": expected_calibration_error(correct, confidence),
        "brier": asdict(brier_decomposition(correct, confidence)),
        "buckets": [dict(zip(keys, map(_plain, row), strict=True)) for row in rows if row[2]],
    }


def accept_facts(rule: AutoAccept, correct: np.ndarray, confidence: np.ndarray) -> dict[str, Any]:
    """What a rule would accept of these rows, how right that is, and whether the promise holds.

    It is broken where the accuracy is below the target even at the upper end of its one-sided
    binomial interval: more errors than chance explains.
    """
    accepted = correct[rule.accept(confidence)]
    n, k = len(accepted), int(accepted.sum())
    upper = 1.0 if k == n else float(betaincinv(k + 1, n - k, LEVEL))
    return {
        "target": rule.target_accuracy,
        "threshold": _plain(rule.threshold_),
        "found": rule.found_,
        "guarantee": rule.guarantee_,
        "message": rule.message_,
        "counted": len(correct),
        "coverage": n / len(correct),
        "accepted": n,
        "right": k,
        "accuracy": k / n if n else None,
        "upper": upper,
        "kept": upper >= rule.target_accuracy,
    }


def curve_facts(correct: np.ndarray, confidence: np.ndarray) -> dict[str, list[float]]:
    """Accuracy over coverage at some hundred thresholds."""
    curve = accuracy_coverage(confidence, correct, LEVEL)
    m = len(curve.coverage)
    some = np.unique(np.linspace(0, m - 1, min(m, CURVE_POINTS)).round().astype(int))
    keys = ("threshold", "coverage", "accuracy", "lower", "upper")
    return {key: getattr(curve, key)[some].tolist() for key in keys}


def _plain(value: Any) -> float | None:
    """A number as JSON has it: none for nan and infinity."""
    number = float(value)
    return number if np.isfinite(number) else None
