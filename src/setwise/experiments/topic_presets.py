"""What the fast preset of the topic models loses beside the paper's, and what it saves."""

from __future__ import annotations

from functools import partial
from time import process_time
from typing import Any

import numpy as np

from setwise.data import load_dataset
from setwise.experiments.study import Measured, ResultTable, Study, figure
from setwise.experiments.topic_study import LESS, RANKS, model_of
from setwise.metrics import ranking_measures

FAST, SLOW = "fast", "paper"
PRESETS = (FAST, SLOW)
N_DOCUMENTS = 300  # the paper's preset takes a quarter of a second for each


def measure(name: str, split: int, preset: str, n_documents: int = N_DOCUMENTS) -> dict[str, Any]:
    """Ranking measures, by document, and seconds of Dependency-LDA with a preset."""
    data = load_dataset(name, split=split)
    X, Y = data.X_test[:n_documents], data.Y_test[:n_documents]
    began = process_time()
    model = model_of("DependencyLDA", split, preset).fit(data.X_train, data.Y_train)
    fitted = process_time()
    ranks = ranking_measures(Y, model.rank_scores(X))
    seconds = [fitted - began, process_time() - fitted]
    return {
        "preset": preset,
        "measures": [float(ranks[what]) for what in RANKS],
        "seconds": seconds,
        "documents": X.shape[0],
    }


def tabulate(measured: Measured) -> list[ResultTable]:
    """A row for each preset, and one that says how much worse the fast one is."""
    table = ResultTable(
        "Dependency-LDA: the fast preset beside the paper's",
        ("data", "preset", *RANKS, "seconds to fit", "seconds for 1000 documents"),
        notes="By document, on the first test documents of two splits. Seconds of the processor, "
        "all threads together. Lost: how much worse the fast preset is, relative to the other.",
    )
    for name, runs in measured.items():
        means: dict[str, np.ndarray] = {}
        for preset in dict.fromkeys(run["preset"] for run in runs):
            some = [run for run in runs if run["preset"] == preset]
            values = np.array([run["measures"] for run in some])  # (splits, measures)
            means[preset] = values.mean(axis=0)
            fit = np.mean([run["seconds"][0] for run in some])
            each = np.mean([1000 * run["seconds"][1] / run["documents"] for run in some])
            shown = [str(figure(column)) for column in values.T.tolist()]
            table.rows.append([name, preset, *shown, f"{fit:.1f}", f"{each:.1f}"])
        if set(PRESETS) <= set(means):
            table.rows.append([name, "lost", *_lost(means[FAST], means[SLOW]), "", ""])
    return [table]


def _lost(fast: np.ndarray, slow: np.ndarray) -> list[str]:
    sign = np.array([1 if what in LESS else -1 for what in RANKS])
    return [f"{100 * share:+.1f}%" for share in sign * (fast / slow - 1)]


TOPIC_PRESETS = Study(
    "topics-presets",
    "What does the fast preset of the topic models lose?",
    ("yahoo_arts", "yahoo_health"),
    measure,
    tabulate,
    seeds=(0, 1),
    parts=PRESETS,
    settings={"documents": N_DOCUMENTS},
    quick={"datasets": ("yahoo_health",), "measure": partial(measure, n_documents=40)},
)
