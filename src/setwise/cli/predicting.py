"""``setwise predict`` for many rows, ``setwise explain`` for one."""

from __future__ import annotations

import argparse
from typing import Any

from setwise.cli.arguments import (
    add_accuracy,
    add_model_and_data,
    add_reading,
    new_command,
    positive,
    reading_of,
    talk_of,
)

PREDICT = """\
examples:
  setwise predict model.setwise new.csv --out predicted.csv
  setwise predict model.setwise new.csv --top 3 --accept-accuracy 0.95 --keep id --out out.csv
  setwise predict model.setwise new.jsonl --probabilities --out out.parquet
  cat new.csv | setwise predict model.setwise - > predicted.csv

columns that are written behind those of the input: predicted, confidence (how likely the whole set
is right), decision (accept or review), alternative_1, alternative_1_probability, ...
"""

EXPLAIN = """\
examples:
  setwise explain model.setwise "the screen stays black after the update"
  setwise explain model.setwise new.csv --row 17
  setwise explain model.setwise '{"description": "a black screen", "age": 3}'
"""


def add_predict(commands: Any) -> None:
    """``setwise predict``."""
    predict = new_command(
        commands, "predict", "label sets for new rows, with confidence", PREDICT, _predict
    )
    add_model_and_data(predict, "rows to predict")
    predict.add_argument(
        "--out", metavar="FILE", default="-",
        help="CSV, JSONL or Parquet, told by the name; standard output where it is left out",
    )  # fmt: skip
    predict.add_argument(
        "--out-format", choices=("csv", "jsonl", "parquet"), help="where the name does not tell"
    )
    predict.add_argument(
        "--top", metavar="K", type=positive, default=1, help="so many sets in all (1)"
    )
    add_accuracy(predict, 0.9)
    predict.add_argument(
        "--keep", metavar="COLUMN", nargs="*", help="columns of the input to copy (all)"
    )
    predict.add_argument(
        "--probabilities", action="store_true", help="the probability of every label, too"
    )
    add_reading(predict)


def add_explain(commands: Any) -> None:
    """``setwise explain``."""
    explain = new_command(commands, "explain", "why a row gets its set", EXPLAIN, _explain)
    explain.add_argument("model", metavar="MODEL", help="a file that `setwise fit` wrote")
    explain.add_argument("row", metavar="ROW", help="a text, a JSON object, or a file")
    explain.add_argument(
        "--row", metavar="N", dest="number", type=positive, default=1, help="of the file (1)"
    )
    add_accuracy(explain, 0.9)
    add_reading(explain)


def _predict(options: argparse.Namespace) -> None:
    from setwise.commands.predict import Wanted, predict_file

    wanted = Wanted(
        top=options.top,
        accuracy=options.accept_accuracy,
        keep=None if options.keep is None else tuple(options.keep),
        probabilities=options.probabilities,
    )
    predict_file(
        talk_of(options), options.model, options.data, options.out, wanted, reading_of(options),
        options.out_format,
    )  # fmt: skip


def _explain(options: argparse.Namespace) -> None:
    from setwise.commands.explain import explain_one

    explain_one(
        talk_of(options), options.model, options.row, options.number, reading_of(options),
        options.accept_accuracy,
    )  # fmt: skip
