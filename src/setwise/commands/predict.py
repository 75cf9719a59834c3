"""``setwise predict``: sets, confidence, what may be accepted unread, and alternatives.

Rows are read, predicted and written some thousand at a time, so that memory does not depend on the
length of the file. A file appears when it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from setwise.calibration import AutoAccept
from setwise.commands.evaluate import warn_of_strangers
from setwise.commands.fit import check_writable
from setwise.commands.talk import Talk, share
from setwise.errors import DataError
from setwise.learners.in_threads import thread_count
from setwise.pipeline import Predictions, Reading, Table, TableModel, load_model, rows_to, tables_of
from setwise.pipeline.in_order import in_order
from setwise.pipeline.label_columns import joiner
from setwise.pipeline.read_rows import STANDARD, check_readable, format_of
from setwise.report.html import goal

DIGITS = 6  # of probabilities
MOST_THREADS = 4  # each holds some thousand rows; reading and writing keep but one busy


@dataclass(frozen=True)
class Wanted:
    """What is written for each row."""

    top: int = 1
    accuracy: float = 0.9
    level: float = 0.95
    keep: tuple[str, ...] | None = None  # columns of the input; None: all
    probabilities: bool = False


def predict_file(
    talk: Talk,
    model_path: str,
    path: str,
    out: str,
    wanted: Wanted,
    reading: Reading,
    out_format: str | None = None,
) -> None:
    """Predict all rows of a file."""
    kind = format_of(path, reading.format, "csv" if path == STANDARD else None)
    check_readable(path)
    if out != STANDARD:
        check_writable(out)
        format_of(out, out_format, option="--out-format")
    model = load_model(model_path)
    rule = model.accept_rule(wanted.accuracy, wanted.level)
    separator = joiner(model.label_names, model.labels_.separator_)
    size = os.path.getsize(path) if path != STANDARD and kind != "parquet" else None
    n_threads = min(thread_count(None), MOST_THREADS)

    def predicted(table: Table) -> tuple[dict[str, list[Any]], np.ndarray]:
        said = model.predict(table, top=wanted.top, probabilities=wanted.probabilities)
        accepted = rule.accept(said.confidence) if len(table) else np.empty(0, dtype=bool)
        return rows_of(model, table, said, accepted, wanted), accepted

    n_rows = n_accepted = 0
    with (
        talk.bar("predicting", size) as done,
        rows_to(out, out_format, separator=separator, default=_streamed(kind)) as writer,
    ):
        tables = tables_of(path, reading, done)
        first = next(tables)
        for rows, accepted in in_order(predicted, chain([first], tables), n_threads):
            writer.write(rows)
            n_rows += len(accepted)
            n_accepted += int(accepted.sum())
    _tell(talk, rule, n_rows, n_accepted, out)
    warn_of_strangers(talk, model, first)


def rows_of(
    model: TableModel, table: Table, said: Predictions, accepted: np.ndarray, wanted: Wanted
) -> dict[str, list[Any]]:
    """The columns of the input that are kept, and those that are predicted."""
    predicted: dict[str, list[Any]] = {
        "predicted": [list(labels) for labels in said.sets],
        "confidence": said.confidence.round(DIGITS).tolist(),
        "decision": ["accept" if good else "review" for good in accepted.tolist()],
    }
    for place in range(wanted.top - 1):
        others = [row[place] if place < len(row) else None for row in said.alternatives]
        name = f"alternative_{place + 1}"
        predicted[name] = [None if one is None else list(one[0]) for one in others]
        predicted[f"{name}_probability"] = [
            None if one is None else round(one[1], DIGITS) for one in others
        ]
    if said.probabilities is not None:
        by_label = said.probabilities.round(DIGITS).T.tolist()
        for label, cells in zip(model.label_names, by_label, strict=True):
            predicted[f"p({label})"] = cells
    kept = _kept(table, wanted.keep)
    both = [name for name in predicted if name in kept]
    if both:
        raise DataError(
            f"{table.source} has a column {both[0]!r} already; rename it, or choose the columns to "
            "copy with --keep"
        )
    return {**kept, **predicted}


def _streamed(kind: str) -> str:
    """The format for standard output where nobody says: that of the input, if it can be streamed.

    >>> _streamed("parquet"), _streamed("jsonl")
    ('csv', 'jsonl')
    """
    return "csv" if kind == "parquet" else kind


def _kept(table: Table, keep: Sequence[str] | None) -> dict[str, list[Any]]:
    if keep is None:
        return table.columns
    table.check_columns(keep)
    return {name: table.columns[name] for name in keep}


def _tell(talk: Talk, rule: AutoAccept, n_rows: int, n_accepted: int, out: str) -> None:
    where = "standard output" if out == STANDARD else out
    if talk.as_json and out != STANDARD:
        talk.data(
            {
                "out": out,
                "rows": n_rows,
                "accepted": n_accepted,
                "threshold": float(rule.threshold_) if rule.found_ else None,
                "message": rule.message_,
            }
        )
        return
    if not n_rows:
        talk.warn(f"there were no rows after the header; {where} has none either")
        return
    talk.say(
        f"{n_rows:,} {'row' if n_rows == 1 else 'rows'} to {where}; {n_accepted:,} "
        f"({share(n_accepted / n_rows)}) may be accepted unread at "
        f"{goal(rule.target_accuracy)} accuracy, the others are to be reviewed"
    )
    if not rule.found_:
        talk.warn(f"nothing can be accepted: {rule.message_}")
