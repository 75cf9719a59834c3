"""Why a row gets its labels: what changes when one feature is taken away.

    effect of feature j on label l  =  logit p_l(x) - logit p_l(x without j)

It needs nothing but the model's own probabilities, so every model can be asked. A feature is taken
away by setting it to 0: a word is then absent, a number is the average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logit

from setwise.errors import DataError
from setwise.models import CBM
from setwise.models.topics.base import TopicModel
from setwise.pipeline.table import Table
from setwise.pipeline.table_model import TableModel

LEAST = 1e-9
MOST_FEATURES = 500  # of one row that are taken away in turn, the largest first
SMALLEST_EFFECT = 0.01


def explain_row(
    model: TableModel, table: Table, *, n_features: int = 5, n_near: int = 3, top: int = 4
) -> dict[str, Any]:
    """What is predicted for one row, and the features behind each label of the set and near it."""
    if len(table) != 1:
        raise DataError(f"explain takes one row, got {len(table)}; choose one with --row")
    said = model.predict(table, top=top, probabilities=True)
    assert said.probabilities is not None
    p = said.probabilities[0]
    names = model.label_names
    inside = {names.index(label) for label in said.sets[0]}
    order = np.argsort(-p, kind="stable").tolist()
    near = [j for j in order if j not in inside][:n_near]
    told = [*(j for j in order if j in inside), *near]
    features, effects = _effects(model, model.features(table), np.array(told, dtype=np.int64))
    return {
        "set": list(said.sets[0]),
        "confidence": float(said.confidence[0]),
        "alternatives": [
            {"set": list(labels), "probability": float(q)} for labels, q in said.alternatives[0]
        ],
        "labels": [
            {
                "label": names[j],
                "predicted": j in inside,
                "probability": float(p[j]),
                "for": _strongest(features, effects[:, place], n_features),
                "against": _strongest(features, -effects[:, place], n_features),
            }
            for place, j in enumerate(told)
        ],
        "n_known_features": len(features),
    }


def mixture_inside(model: TableModel) -> CBM | None:
    """The conditional mixture that a model is made of, which can tell more about itself."""
    inner = model.model_.stages_[0].model_
    return inner if isinstance(inner, CBM) else None


def topics_inside(model: TableModel) -> TopicModel | None:
    """The topic model that a model is made of, which knows what words speak for what label."""
    inner = model.model_.stages_[0].model_
    return inner if isinstance(inner, TopicModel) else None


def word_attribution(model: TableModel, table: Table) -> list[dict[str, Any]]:
    """Which words of each row speak for which label; nothing for other than topic models."""
    inner = topics_inside(model)
    if inner is None:
        return []
    told = inner.attribute(
        model.features(table), words=model.encoder_.feature_names(), label_names=model.label_names
    )
    return [one.to_dict() for one in told]


def _effects(model: TableModel, row: Any, labels: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of the row's features, and what each adds to the log-odds of each label (m, l)."""
    X = sparse.csr_array(row)
    largest = np.argsort(-np.abs(X.data), kind="stable")[:MOST_FEATURES]
    m, d = len(largest), X.nnz
    if not m:
        return [], np.empty((0, len(labels)))
    data = np.tile(X.data, (m + 1, 1))
    data[np.arange(m), largest] = 0  # the last row stays as it is
    indptr = np.arange(m + 2) * d
    without = sparse.csr_array(
        (data.ravel(), np.tile(X.indices, m + 1), indptr), shape=(m + 1, X.shape[1])
    )
    rows: Any = without if sparse.issparse(row) else without.toarray()
    # Of the model itself: curves that calibrate its labels are flat in places.
    p = model.model_.stages_[0].model_.predict_proba(rows)[:, labels]
    z = logit(p.clip(LEAST, 1 - LEAST))
    names = model.encoder_.feature_names()
    return [names[j] for j in X.indices[largest].tolist()], z[-1] - z[:-1]


def _strongest(names: list[str], effect: np.ndarray, count: int) -> list[dict[str, Any]]:
    """The features of largest effect, as (name, effect)."""
    order = np.argsort(-effect, kind="stable")[:count]
    return [
        {"feature": names[j], "effect": float(effect[j])}
        for j in order.tolist()
        if effect[j] >= SMALLEST_EFFECT
    ]
