"""What a report tells, as one dict ready for JSON: the page only lays it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from setwise.pipeline import Table, TableModel
from setwise.pipeline.evaluation import Judged, evaluation
from setwise.pipeline.reasons import mixture_inside, word_attribution

MISTAKES = 12  # and as many unsure rows
ALTERNATIVES = 3
TEXT = 280  # letters of a row that are shown
MAP_LABELS = 24  # labels of the correlation map, the most frequent
COMPONENTS = 20


def report_facts(
    model: TableModel,
    table: Table,
    judged: Judged,
    *,
    accuracy: float = 0.9,
    draws: int = 200,
    tick: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Everything about a model and rows with known labels."""
    accuracies = tuple(sorted({accuracy, 0.8, 0.9, 0.95}))
    facts = evaluation(model, table, judged, accuracies=accuracies, draws=draws, tick=tick)
    wrong = np.flatnonzero(judged.correct == 0)
    surest = wrong[np.argsort(-judged.confidence[wrong], kind="stable")][:MISTAKES]
    unsure = np.argsort(judged.confidence, kind="stable")[:MISTAKES]
    return facts | {
        "source": table.source,
        "accuracy_wanted": accuracy,
        "fit": model.facts_,
        "settings": model.settings,
        "mistakes": _rows(model, table, judged, surest),
        "unsure": _rows(model, table, judged, unsure),
        "correlation": correlation_map(model.label_names, judged.truth),
        "components": component_facts(model),
    }


def _rows(
    model: TableModel, table: Table, judged: Judged, rows: np.ndarray
) -> list[dict[str, Any]]:
    """Rows as people know them, what was said of each, and what is true."""
    if not len(rows):
        return []
    some = table.taken(rows)
    said = model.predict(some, top=ALTERNATIVES + 1)
    told: list[Any] = list(word_attribution(model, some)) or [None] * len(rows)
    names = [*model.label_names, *sorted(judged.unknown)]
    shown = {
        name: list(map(_short, cells))
        for name, cells in some.columns.items()
        if name not in model.labels_.columns
    }
    return [
        {
            "place": f"{table.unit} {some.places[place]}",
            "cells": {name: cells[place] for name, cells in shown.items()},
            "predicted": [names[j] for j in judged.predicted[[row]].indices.tolist()],
            "confidence": float(judged.confidence[row]),
            "truth": [names[j] for j in judged.truth[[row]].indices.tolist()],
            "attribution": told[place],
            "alternatives": [
                {"set": list(labels), "probability": float(p)}
                for labels, p in said.alternatives[place]
            ],
        }
        for place, row in enumerate(rows.tolist())
    ]


def _short(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= TEXT else f"{text[:TEXT].rstrip()} …"


def correlation_map(names: tuple[str, ...], truth: sparse.csr_array) -> dict[str, Any]:
    """Pearson's correlations of the most frequent labels, like ones beside each other."""
    L = len(names)
    count = np.asarray(truth[:, :L].sum(axis=0)).ravel()
    top = np.argsort(-count, kind="stable")[:MAP_LABELS]
    top = top[(count[top] > 0) & (count[top] < truth.shape[0])]
    if len(top) < 2:
        return {"labels": [], "values": []}
    dense = truth[:, top].toarray().astype(np.float64)
    values = np.atleast_2d(np.corrcoef(dense, rowvar=False))
    order = _neighbours(values)
    return {
        "labels": [names[top[j]] for j in order],
        "values": values[np.ix_(order, order)].round(3).tolist(),
    }


def _neighbours(values: np.ndarray) -> list[int]:
    """An order in which each label is followed by the one it goes with best, of those left."""
    order, left = [0], set(range(1, len(values)))
    while left:
        best = max(left, key=lambda j: (values[order[-1], j], -j))
        order.append(best)
        left.remove(best)
    return order


def component_facts(model: TableModel) -> list[dict[str, Any]]:
    """The heaviest components of a mixture, with their labels and words; none for other models."""
    mixture = mixture_inside(model)
    if mixture is None:
        return []
    table = mixture.components(
        label_names=model.label_names, feature_names=model.encoder_.feature_names()
    )
    return [
        {
            "weight": float(one.weight),
            "labels": [[str(name), float(value)] for name, value in one.labels[:6]],
            "features": [[str(name), float(value)] for name, value in one.features[:6]],
        }
        for one in list(table)[:COMPONENTS]
    ]
