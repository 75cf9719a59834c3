"""From a table of examples to a ``TableModel``: columns, split, choice, fit, accept rule."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import setwise
from setwise.data.labels import rows_equal
from setwise.data.split import holdout
from setwise.data.statistics import statistics
from setwise.errors import DataError
from setwise.metrics import set_measures
from setwise.pipeline.build import (
    FOLDS,
    Choice,
    keeps_rows,
    note_on,
    takes_counts,
    with_confidence,
)
from setwise.pipeline.choose import choose
from setwise.pipeline.compared import Chosen
from setwise.pipeline.grouping import groups_of
from setwise.pipeline.label_columns import LabelColumns
from setwise.pipeline.roles import Role, roles_of
from setwise.pipeline.settings import FitSettings
from setwise.pipeline.table import Table
from setwise.pipeline.table_encoder import TableEncoder
from setwise.pipeline.table_model import TableModel

ENOUGH_FOR_EXACT = 2000  # rows from which on some can be kept for the accept rule alone
LEAST_ROWS = 20
MANY_ROWS = 10_000  # of which a model without a third is as good as one without a fifth

Say = Callable[[str], None]


@dataclass(frozen=True)
class _Rows:
    """A table with its labels; groups stay together."""

    table: Table
    Y: sparse.csr_array
    groups: np.ndarray | None

    def taken(self, rows: np.ndarray) -> _Rows:
        groups = None if self.groups is None else self.groups[rows]
        return _Rows(self.table.taken(rows), self.Y[rows], groups)


class _Judged(NamedTuple):
    """How right and how sure the model is on rows that it has not learnt from."""

    confidence: np.ndarray  # (m,)
    correct: np.ndarray  # (m,), 1 where the set is exactly right
    groups: np.ndarray | None  # (m,)
    measures: dict[str, float]


def fit_table(table: Table, settings: FitSettings, say: Say = lambda _: None) -> TableModel:
    """Learn everything from one table; ``say`` is told what is being done."""
    begin = time.perf_counter()
    settings = _settled(settings, table)
    labels = LabelColumns(settings.labels, settings.label_separator).fit(table)
    rows, roles = _read(table, labels, settings)
    train, apart = _split(rows, settings) if _is_exact(settings, rows) else (rows, None)
    say("reading columns")
    encoder = _encoder(train.table, roles, settings)
    X = encoder.transform(train.table)
    chosen = _chosen(X, train, settings, say)
    say(f"fitting {chosen.choice.name} to {X.shape[0]:,} rows")
    model = TableModel(settings.to_dict())
    model.model_ = with_confidence(chosen.choice, settings).fit(X, train.Y, groups=train.groups)
    model.encoder_, model.labels_, model.is_exact_ = encoder, labels, apart is not None
    judged = _judged_in_folds(model, train) if apart is None else _judged_apart(model, apart, say)
    model.judged_confidence_, model.judged_correct_ = judged.confidence, judged.correct
    model.judged_groups_ = judged.groups
    _forget_training_rows(model.model_)
    model.facts_ = _facts(train, X, roles, encoder, chosen, judged)
    model.facts_["seconds"] = time.perf_counter() - begin
    return model


def _settled(settings: FitSettings, table: Table) -> FitSettings:
    """The settings with the number of folds that suits a table, which must have enough rows."""
    if len(table) < LEAST_ROWS:
        raise DataError(
            f"{table.source} has {len(table)} rows, too few to learn from and to check on; "
            f"bring at least {LEAST_ROWS}"
        )
    if settings.folds is not None:
        return settings
    return replace(settings, folds=folds_for(len(table)))


def folds_for(n: int) -> int:
    """How many folds suit a number of rows."""
    return 3 if n >= MANY_ROWS else FOLDS


def _read(table: Table, labels: LabelColumns, settings: FitSettings) -> tuple[_Rows, list[Role]]:
    """The rows with their labels and groups, and what each column is for."""
    groups = groups_of(table, settings.groups)
    beside = {*labels.columns, *([settings.groups] if settings.groups else [])}
    given = {
        "text": settings.text,
        "number": settings.number,
        "category": settings.category,
        "ignored": settings.ignore,
    }
    roles = roles_of(table, given, sorted(beside))
    Y, _ = labels.encode(labels.sets(table))
    return _Rows(table, Y, groups), roles


def _encoder(table: Table, roles: list[Role], settings: FitSettings) -> TableEncoder:
    """What makes features of columns, as the model takes them."""
    words = {name: getattr(settings, name) for name in ("max_words", "min_rows", "ngrams")}
    return TableEncoder(words, takes_counts(settings.model)).fit(table, roles)


def _chosen(X: Any, rows: _Rows, settings: FitSettings, say: Say) -> Chosen:
    if settings.model != "auto":
        choice = Choice(settings.model, dict(settings.options))
        with_confidence(choice, settings)  # refuses what it does not know before anything is done
        if keeps_rows(choice) and not settings.keep_rows:
            raise DataError(
                f"the file of {choice.name} would hold training rows; take another --model, or "
                "let it: --keep-rows"
            )
        return Chosen(choice, [], "as you said")
    if settings.options:
        raise DataError(
            f"options ({', '.join(settings.options)}) are for one model, but the model is auto; "
            "name it with --model"
        )
    return choose(X, rows.Y, rows.groups, settings, say)


def _is_exact(settings: FitSettings, rows: _Rows) -> bool:
    if settings.promise != "auto":
        return settings.promise == "exact"
    n = len(rows.table) if rows.groups is None else len(np.unique(rows.groups))
    return n >= ENOUGH_FOR_EXACT


def _split(rows: _Rows, settings: FitSettings) -> tuple[_Rows, _Rows]:
    train, apart = holdout(
        rows.Y, test_size=settings.held_out, groups=rows.groups, random_state=settings.seed
    )
    return rows.taken(train), rows.taken(apart)


def _judged_apart(model: TableModel, apart: _Rows, say: Say) -> _Judged:
    """On rows that neither the model nor its calibrator has seen."""
    say(f"checking on {len(apart.table):,} rows that were kept apart")
    predicted, confidence = model.model_.predict_with_confidence(model.features(apart.table))
    predicted = sparse.csr_array(predicted).astype(np.int8)
    correct = rows_equal(apart.Y, _canonical(predicted)).astype(np.float64)
    return _Judged(confidence, correct, apart.groups, set_measures(apart.Y, predicted))


def _judged_in_folds(model: TableModel, rows: _Rows) -> _Judged:
    """On all rows, each by the fold that it was not in."""
    confidence, correct = model.model_.out_of_fold_confidence_, model.model_.out_of_fold_correct_
    return _Judged(confidence, correct, rows.groups, {"set_accuracy": float(correct.mean())})


def _facts(
    rows: _Rows,
    X: Any,
    roles: list[Role],
    encoder: TableEncoder,
    chosen: Chosen,
    judged: _Judged,
) -> dict[str, Any]:
    """How the model came about: what was chosen and why, from which data, how it was judged."""
    return {
        "setwise": setwise.__version__,
        "source": rows.table.source,
        "model": chosen.choice.name,
        "model_options": chosen.choice.options,
        "reason": chosen.reason,
        "note": note_on(chosen.choice.name),
        "keeps_rows": keeps_rows(chosen.choice),
        "trials": chosen.trials,
        "roles": [asdict(role) for role in roles],
        "columns": {one.name: [one.kind, one.summary()] for one in encoder.encoders_},
        "n_features": int(X.shape[1]),
        "n_train": int(X.shape[0]),
        "n_judged": len(judged.correct),
        "statistics": statistics([X], [rows.Y]).to_dict(),
        "measures": judged.measures,
    }


def _canonical(Y: sparse.csr_array) -> sparse.csr_array:
    Y.eliminate_zeros()
    Y.sort_indices()
    return Y


def _forget_training_rows(model: Any) -> None:
    """What the accept rule has taken over need not be stored twice."""
    nothing = np.empty(0)
    model.out_of_fold_confidence_, model.out_of_fold_correct_ = nothing, nothing
