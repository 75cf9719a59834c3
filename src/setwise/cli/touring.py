"""``setwise demo``, ``datasets`` and ``warmup``: what needs no file of one's own."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console

from setwise.cli.arguments import new_command, positive, talk_of

DEMO = """\
examples:
  setwise demo
  setwise demo --out tour.html
"""
DATASETS = """\
examples:
  setwise datasets
  setwise datasets scene yeast --data ./datasets
  setwise datasets debtags --json
"""
WARMUP = """\
example:
  setwise warmup
"""


def add_demo(commands: Any) -> None:
    """``setwise demo``."""
    words = "a tour in a minute: three models on bundled data, and a report"
    demo = new_command(commands, "demo", words, DEMO, _demo)
    demo.add_argument(
        "--out", metavar="HTML", default="setwise-demo.html",
        help="where to write the report (setwise-demo.html)",
    )  # fmt: skip
    demo.add_argument(
        "--rows", metavar="N", type=positive, default=2500, help="test packages, about (2500)"
    )


def add_datasets(commands: Any) -> None:
    """``setwise datasets``."""
    words = "list data sets with their statistics"
    datasets = new_command(commands, "datasets", words, DATASETS, _datasets)
    datasets.add_argument("names", nargs="*", metavar="NAME", help="measure these in full")
    datasets.add_argument("--data", metavar="FOLDER", help="look here instead of $SETWISE_DATA")


def add_warmup(commands: Any) -> None:
    """``setwise warmup``."""
    words = "compile all kernels now, so that no call waits"
    new_command(commands, "warmup", words, WARMUP, _warmup)


def _demo(options: argparse.Namespace) -> None:
    from setwise.commands.demo import tour

    tour(talk_of(options), options.rows, options.out)


def _datasets(options: argparse.Namespace) -> None:
    from setwise.commands.datasets import list_known, measure

    show = measure if options.names else list_known
    show(Console(), options.names, data_home=options.data, as_json=options.json)


def _warmup(options: argparse.Namespace) -> None:
    from setwise.commands.warmup import compile_everything

    compile_everything(talk_of(options))
