"""``setwise evaluate`` and ``setwise report``: how good a model is."""

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

EVALUATE = """\
examples:
  setwise evaluate model.setwise test.csv
  setwise evaluate model.setwise test.csv --accept-accuracy 0.8 --all-labels
  setwise evaluate model.setwise test.csv --json > measures.json
"""

REPORT = """\
example:
  setwise report model.setwise test.csv --out report.html
"""


def add_evaluate(commands: Any) -> None:
    """``setwise evaluate``."""
    evaluate = new_command(
        commands, "evaluate", "how good a model is on labelled rows", EVALUATE, _evaluate
    )
    add_model_and_data(evaluate, "rows with their labels")
    add_accuracy(evaluate, None)
    evaluate.add_argument(
        "--draws", metavar="N", type=positive, default=200, help="of the bootstrap (200)"
    )
    evaluate.add_argument("--all-labels", action="store_true", help="a line for every label")
    add_reading(evaluate)


def add_report(commands: Any) -> None:
    """``setwise report``."""
    report = new_command(
        commands, "report", "the same and more, as a page to open", REPORT, _report
    )
    add_model_and_data(report, "rows with their labels")
    report.add_argument("--out", metavar="HTML", default="report.html", help="(report.html)")
    add_accuracy(report, 0.9)
    report.add_argument(
        "--draws", metavar="N", type=positive, default=200, help="of the bootstrap (200)"
    )
    add_reading(report)


def _evaluate(options: argparse.Namespace) -> None:
    from setwise.commands.evaluate import evaluate_file

    evaluate_file(
        talk_of(options), options.model, options.data, reading_of(options),
        draws=options.draws, accuracy=options.accept_accuracy, all_labels=options.all_labels,
    )  # fmt: skip


def _report(options: argparse.Namespace) -> None:
    from setwise.commands.report import report_file

    report_file(
        talk_of(options), options.model, options.data, options.out, reading_of(options),
        accuracy=options.accept_accuracy, draws=options.draws,
    )  # fmt: skip
