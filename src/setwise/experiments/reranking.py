"""Table 4.3 and Figure 4.6 of Li 2019: what reranking makes of binary relevance, and of CBM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.calibration.first_stage import FirstStage
from setwise.decisions import decision_for
from setwise.experiments.calibration_data import (
    Crossed,
    calibrator,
    cross_fitted,
    seeds_for,
    shown_name,
    split_data,
)
from setwise.experiments.study import Progress, ResultTable, Study, figure
from setwise.metrics import brier_decomposition
from setwise.metrics.counts import overlap
from setwise.models import CBM

COUNTS = (1, 2, 3, 5, 10, 20, 50)

#: (data, model) -> set accuracy and F1, Li 2019, Table 4.3
PUBLISHED = {
    ("bibtex", "BR"): (0.166, 0.359),
    ("bibtex", "BR-rerank"): (0.215, 0.422),
    ("ohsumed", "BR"): (0.366, 0.629),
    ("ohsumed", "BR-rerank"): (0.420, 0.675),
    ("rcv1sub1", "BR"): (0.445, 0.770),
    ("rcv1sub1", "BR-rerank"): (0.532, 0.788),
    ("tmc2007", "BR"): (0.304, 0.658),
    ("tmc2007", "BR-rerank"): (0.333, 0.668),
    ("bibtex", "CBM"): (0.229, 0.453),
    ("ohsumed", "CBM"): (0.405, 0.672),
    ("rcv1sub1", "CBM"): (0.553, 0.803),
    ("tmc2007", "CBM"): (0.308, 0.652),
}

NOTES = (
    "BR is the set of highest probability under independent labels, each calibrated by isotonic "
    "regression. The last columns: how far reranking is above it, with the paired standard error; "
    "squared error of the final confidence over its uncertainty; its alignment error and what "
    "chance alone would give. Splits differ from the thesis, and ohsumed and tmc2007 have far "
    "fewer features here."
)

#: name -> training sets among the candidates, and what is chosen by
RERANKERS: dict[str, tuple[int, str]] = {
    "BR-rerank": (0, "set_accuracy"),
    "BR-rerank, with training sets": (10, "set_accuracy"),
    "BR-rerank for F1": (0, "f1"),
    "BR-rerank for F1, with training sets": (10, "f1"),
}


def run(datasets: Sequence[str], progress: Progress) -> list[ResultTable]:
    """Set accuracy and F1 of binary relevance and of its rerankings."""
    table = _empty_table("Reranking binary relevance (Li 2019, Table 4.3)", NOTES)
    for name in datasets:
        runs = []
        for seed in seeds_for(name):
            progress(f"{name}, seed {seed}")
            crossed = cross_fitted(split_data(name, seed), seed)
            runs.append(_reranked(crossed, seed, "BR", RERANKERS))
        _add_rows(table, name, runs)
    return [table]


def run_cbm(datasets: Sequence[str], progress: Progress) -> list[ResultTable]:
    """The same for conditional Bernoulli mixtures: whether reranking helps."""
    rerankers = {"CBM, reranked": (0, "set_accuracy"), "CBM, reranked for F1": (0, "f1")}
    table = _empty_table(
        "Reranking conditional Bernoulli mixtures (Li 2019, section 4.11)",
        "K = 30, one mixture, C chosen in each fit. F1 of CBM is that of its F1 decision.",
    )
    for name in datasets:
        runs = []
        for seed in seeds_for(name):
            progress(f"{name}, seed {seed}")
            data = split_data(name, seed)
            model = CBM(n_components=30, C="auto", random_state=seed)
            crossed = cross_fitted(data, seed, estimator=model)
            runs.append(_reranked(crossed, seed, "CBM", rerankers))
        _add_rows(table, name, runs)
    return [table]


def run_counts(datasets: Sequence[str], progress: Progress) -> list[ResultTable]:
    """Set accuracy against the number of candidates, with the share that has the right one."""
    table = ResultTable(
        "How many candidates? (Li 2019, Figure 4.6)",
        ("data", "candidates", "set accuracy", "oracle"),
        notes="The oracle knows the right set where it is among the candidates.",
    )
    for name in datasets:
        found: dict[int, list[tuple[float, float]]] = {count: [] for count in COUNTS}
        for seed in seeds_for(name):
            crossed = cross_fitted(split_data(name, seed), seed)
            for count in COUNTS:
                progress(f"{name}, seed {seed}, {count} candidates")
                chosen = _chosen(crossed, seed, FirstStage(count), "set_accuracy")
                found[count].append((float(chosen["right"].mean()), chosen["oracle"]))
        for count, values in found.items():
            accuracy, oracle = zip(*values, strict=True)
            table.rows.append([shown_name(name), count, str(figure(accuracy)), str(figure(oracle))])
    return [table]


def _reranked(
    crossed: Crossed, seed: int, base: str, rerankers: dict[str, tuple[int, str]]
) -> dict[str, dict[str, float]]:
    """The model itself and its rerankings on test rows."""
    stage = crossed.fits.final(FirstStage())
    said = stage.calibrated(crossed.distribution)
    truth = crossed.data.Y_test
    own = overlap(truth, said.mode()[0]).by_instance()
    own_f1 = overlap(truth, decision_for("f1").decide(said)).by_instance().f1(1.0)
    base_right = (own.errors == 0).astype(float)
    results = {base: {"accuracy": float(base_right.mean()), "f1": float(own_f1.mean())}}
    for name, (n_training_sets, target) in rerankers.items():
        stage = FirstStage(10, n_training_sets, for_f1=target == "f1")
        chosen = _chosen(crossed, seed, stage, target)
        gain = chosen["right"] - base_right if target == "set_accuracy" else chosen["f1"] - own_f1
        results[name] = {
            "accuracy": float(chosen["right"].mean()),
            "f1": float(chosen["f1"].mean()),
            "gain": float(gain.mean()),
            "error": float(gain.std() / np.sqrt(len(gain))),
            "relative": chosen["parts"].score / chosen["parts"].uncertainty,
            "alignment": chosen["parts"].alignment_error,
            "floor": chosen["parts"].noise_floor,
        }
    return results


def _chosen(crossed: Crossed, seed: int, template: FirstStage, target: str) -> dict[str, Any]:
    """What the reranker answers on test rows, and how right it is."""
    judged = crossed.judged(template, target)
    confidence = calibrator(crossed, judged, seed)
    test = crossed.test_features(template)
    said = confidence.of(test)
    best = test.candidates.best(said)
    right, f1 = (crossed.right(test.candidates, kind) for kind in ("set_accuracy", "f1"))
    correct = right if target == "set_accuracy" else f1
    return {
        "right": right[best],
        "f1": f1[best],
        "parts": brier_decomposition(correct[best], said[best]),
        "oracle": float(right.sum() / test.candidates.n_rows),
    }


def _empty_table(title: str, notes: str) -> ResultTable:
    return ResultTable(
        title,
        (
            *("data", "model", "set accuracy", "F1", "gain", "paired error"),
            *("squared error / uncertainty", "alignment error", "noise floor"),
            "published set accuracy, F1",
        ),
        notes=notes,
    )


def _add_rows(table: ResultTable, name: str, runs: list[dict[str, dict[str, float]]]) -> None:
    for model in runs[0]:
        values = {key: [run[model][key] for run in runs] for key in runs[0][model]}
        shown = [
            str(figure(values[key])) if key in values else ""
            for key in ("accuracy", "f1", "gain", "error", "relative", "alignment", "floor")
        ]
        published = PUBLISHED.get((name, model))
        told = f"{published[0]:.3f}, {published[1]:.3f}" if published else ""
        table.rows.append([shown_name(name), model, *shown, told])


_ALL = ("medical", "enron", "bibtex", "ohsumed", "rcv1sub1", "tmc2007", "debtags")

RERANKING = Study("rerank", "Binary relevance, reranked by calibrated confidence", _ALL, run)
RERANKING_CBM = Study(
    "rerank-cbm",
    "Does reranking help conditional Bernoulli mixtures?",
    ("scene", "yeast", "emotions", "medical", "enron", "bibtex", "rcv1sub1"),
    run_cbm,
)
RERANKING_COUNTS = Study(
    "rerank-candidates",
    "Set accuracy against the number of candidates",
    ("bibtex", "rcv1sub1", "ohsumed"),
    run_counts,
)
