"""``setwise fit``, and ``setwise models`` for what it can fit and has written."""

from __future__ import annotations

import argparse
from typing import Any

from setwise.cli.arguments import add_columns, add_reading, new_command, pair, reading_of, talk_of

FIT = """\
examples:
  setwise fit tickets.csv --labels tags --text description --out model.setwise
  setwise fit tickets.csv --labels tags --text title body --model CBM --option n_components=30
  setwise fit photos.parquet --labels beach sunset urban --target f1 --out photos.setwise
  setwise fit tickets.csv --settings fit.toml --out model.setwise

fit.toml, where every option may stand; the command line goes first:
  labels = "tags"
  text = ["title", "body"]
  model = "CBM"
  [options]
  n_components = 30
"""

MODELS = """\
examples:
  setwise models
  setwise models model.setwise
"""


def add_fit(commands: Any) -> None:
    """``setwise fit``."""
    # Options that are not given are absent, so that those of a file of settings can stand.
    fit = new_command(commands, "fit", "learn from a file of examples", FIT, _fit)
    fit.argument_default = argparse.SUPPRESS
    fit.add_argument("data", metavar="FILE", help="CSV, JSONL or Parquet; - is standard input")
    fit.add_argument("--out", metavar="MODEL", required=True, help="where to write the model")
    fit.add_argument(
        "--settings", metavar="TOML", default=None, help="a file of options, by their names"
    )
    add_columns(fit, "--labels", "one column of separated names, or several 0/1 columns")
    fit.add_argument(
        "--label-separator", metavar="TEXT", help="between names; guessed from , | and ;"
    )
    add_columns(fit, "--text", "columns of text; columns that are not named are guessed")
    add_columns(fit, "--number", "columns of numbers")
    add_columns(fit, "--category", "columns with some values that repeat")
    add_columns(fit, "--ignore", "columns to leave out, such as identifiers")
    fit.add_argument("--groups", metavar="COLUMN", help="rows that share its value stay together")
    fit.add_argument("--model", metavar="NAME", help="auto (default), or one of `setwise models`")
    fit.add_argument(
        "--option", metavar="NAME=VALUE", action="append", type=pair, dest="options",
        help="a parameter of the model, may be repeated",
    )  # fmt: skip
    fit.add_argument(
        "--target", metavar="MEASURE",
        help="what predictions are best for: set_accuracy (default), f1, hamming, micro_f1, "
        "macro_f1, jaccard, ...",
    )  # fmt: skip
    fit.add_argument(
        "--promise", choices=("auto", "exact", "approximate"),
        help="exact: rows are kept apart for the accept rule; approximate: all rows train",
    )  # fmt: skip
    fit.add_argument("--held-out", metavar="SHARE", type=float, help="rows kept apart (0.2)")
    fit.add_argument("--budget", metavar="SECONDS", type=float, help="for auto, about (600)")
    fit.add_argument(
        "--keep-rows", action=argparse.BooleanOptionalAction,
        help="whether the file may hold training rows, for neighbours and kernels (yes)",
    )  # fmt: skip
    fit.add_argument("--max-words", metavar="N", type=int, help="known words of a column (50000)")
    fit.add_argument("--min-rows", metavar="N", type=int, help="a known word is in so many (2)")
    fit.add_argument("--ngrams", metavar="N", type=int, help="words in a row that count as one (1)")
    fit.add_argument("--folds", metavar="N", type=int, help="of the calibrator (5, or 3)")
    fit.add_argument("--seed", metavar="N", type=int, help="of all that chance decides (0)")
    fit.add_argument("--jobs", metavar="N", type=int, help="threads (all cores)")
    add_reading(fit)


def add_models(commands: Any) -> None:
    """``setwise models``."""
    models = new_command(
        commands, "models", "list models, or tell what a file holds", MODELS, _models
    )
    models.add_argument("model", metavar="MODEL", nargs="?", help="a file that `setwise fit` wrote")


def _fit(options: argparse.Namespace) -> None:
    from setwise.commands.fit import fit_file

    beside = ("data", "out", "settings", "run", "quiet", "json", "debug")
    of_file = ("format", "delimiter", "encoding")
    given = {
        name: value for name, value in vars(options).items() if name not in (*beside, *of_file)
    }
    if "options" in given:
        given["options"] = dict(given["options"])
    fit_file(
        talk_of(options), options.data, options.out, given, options.settings, reading_of(options)
    )


def _models(options: argparse.Namespace) -> None:
    from setwise.commands.models import describe, list_models

    if options.model is None:
        list_models(talk_of(options))
    else:
        describe(talk_of(options), options.model)
