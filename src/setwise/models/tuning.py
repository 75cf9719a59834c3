"""Decisions tuned on training rows that were held out from the model that predicts them.

A rule that is tuned on rows its model has learnt from takes the model for better than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import fspath
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from setwise.data.split import holdout
from setwise.decisions import Decision
from setwise.errors import DataError

TUNING_SHARE = 0.2  # of the rows, held out to tune decisions


def tune_decisions(
    model: Any,
    decisions: Sequence[Decision],
    X: Any,
    Y: sparse.csr_array,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    allow_empty: bool,
) -> None:
    """Tune each decision that needs it, all by one copy of the model, fitted on the other rows.

    Parameters
    ----------
    model : SetClassifier
        Only its parameters are used; it need not be fitted.
    decisions : sequence of Decision
        The rules, which are changed in place.
    X : array or CSR matrix (n, d)
    Y : csr_array (n, L)
        Canonical labels of the same rows.
    sample_weight, groups : array (n,), optional
        Rows without weight are neither learnt from nor held out; groups are never separated.
    allow_empty : bool
        Whether the rules will be used where the empty set is possible.
    """
    to_tune = [decision for decision in decisions if decision.needs_tuning]
    if not to_tune:
        return
    counts = np.arange(Y.shape[0]) if sample_weight is None else np.flatnonzero(sample_weight)
    if len(counts) < 2:
        raise DataError(
            f"the decision for {to_tune[0].target!r} is tuned on held-out rows, but there is "
            'only one row with weight; use target="f1" or "hamming", which need none'
        )
    train, held_out = (
        counts[rows]
        for rows in holdout(
            Y[counts],
            test_size=TUNING_SHARE,
            groups=_part(groups, counts),
            random_state=model.random_state,
        )
    )
    # A target that needs no tuning, or this would never end.
    inner = clone(model).set_params(target="hamming", allow_empty=allow_empty)
    if getattr(model, "checkpoint", None) is not None:  # which is for the fit of all rows
        inner.set_params(checkpoint=f"{fspath(model.checkpoint)}.tuning")
    inner.fit(X[train], Y[train], _part(sample_weight, train), _part(groups, train))
    distribution = inner.predict_dist(X[held_out])
    # Handed over only where there are weights: a rule of one's own need not know of them.
    weights = {} if sample_weight is None else {"sample_weight": _part(sample_weight, held_out)}
    for decision in to_tune:
        decision.tune(distribution, Y[held_out], **weights)


def _part(values: Any, rows: np.ndarray) -> Any:
    return None if values is None else np.asarray(values)[rows]
