"""``setwise bench``: experiments, their pages, and benchmarks of speed."""

from __future__ import annotations

import argparse
import os
from typing import Any

from rich.console import Console

from setwise.cli.arguments import positive, with_examples

RUN = """\
examples:
  setwise bench run --quick                     all experiments, small: minutes
  setwise bench run cbm --data scene yeast      one table, on some of its data sets
  setwise bench run peers --data ./mine         on a folder of your own, see `setwise datasets`
  setwise bench run peers --data ./mine.csv@tags    or a file, with the column of its labels
  setwise bench run peers --models auto CBM     some rows of a table
  setwise bench run --jobs 2                    all of them, in two processes

A run that was stopped goes on where it was: each finished part stands in the folder of results.
"""
BENCH = """\
examples:
  setwise bench list
  setwise bench run --quick
  setwise bench report setwise-results --out results.html
"""
LIST = """\
example:
  setwise bench list
"""
REPORT = """\
examples:
  setwise bench report setwise-results --out results.html
  setwise bench report setwise-results --markdown results.md
  setwise bench report results --markdown RESULTS.md --keep RESULTS.md   the rest as it was
"""
SPEED = """\
examples:
  setwise bench speed
  setwise bench speed predict_texts --history speed.jsonl
"""


def add_bench(commands: Any) -> None:
    """``setwise bench``."""
    bench = with_examples(commands, "bench", "run experiments and print their tables", BENCH, None)
    actions = bench.add_subparsers(title="actions", required=True, metavar="ACTION")
    with_examples(actions, "list", "list the experiments", LIST, _list)
    _add_run(actions)
    report = with_examples(actions, "report", "make pages of the results", REPORT, _report)
    report.add_argument("folder", metavar="DIR", help="where `setwise bench run` left them")
    report.add_argument("--out", metavar="FILE", help="an HTML page that needs nothing else")
    report.add_argument("--markdown", metavar="FILE", help="the same as Markdown")
    report.add_argument(
        "--keep", metavar="FILE",
        help="an earlier Markdown page, for experiments of which DIR has no records",
    )  # fmt: skip
    words = "run the scripts of a folder of benchmarks"
    speed = with_examples(actions, "speed", words, SPEED, _speed)
    speed.add_argument("names", metavar="NAME", nargs="*", help="only these scripts")
    speed.add_argument("--scripts", metavar="DIR", default="benchmarks", help="(benchmarks)")
    speed.add_argument(
        "--history", metavar="FILE", default="benchmarks/history.jsonl",
        help="ours, theirs and their ratio are added there (benchmarks/history.jsonl)",
    )  # fmt: skip


def _add_run(actions: Any) -> None:
    run = with_examples(actions, "run", "run experiments", RUN, _run)
    run.add_argument(
        "names", metavar="NAME", nargs="*", help="as `setwise bench list` shows them (all)"
    )
    run.add_argument("--data", metavar="DATASET", nargs="+", default=[], help="only on these")
    run.add_argument(
        "--models", metavar="MODEL", nargs="+", default=[], help="only these, by their row's name"
    )
    run.add_argument("--quick", action="store_true", help="small data sets and few seeds")
    run.add_argument(
        "--jobs", metavar="N", type=positive,
        help="processes that share the cores (one after another, here, with all cores)",
    )  # fmt: skip
    run.add_argument(
        "--results", metavar="DIR", default="setwise-results",
        help="where each finished part is kept (setwise-results)",
    )  # fmt: skip
    run.add_argument("--fresh", action="store_true", help="run what is there already once more")
    run.add_argument("--json", metavar="FILE", help="write the results there as well")


def _console() -> Console:
    """Wide where nobody's window is: tables in a log should be whole."""
    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=180)


def _list(options: argparse.Namespace) -> None:
    from setwise.commands.bench import list_entries

    list_entries(_console())


def _run(options: argparse.Namespace) -> None:
    from setwise.commands.bench import run_named

    run_named(
        _console(),
        options.names,
        options.data,
        options.json,
        results=options.results,
        quick=options.quick,
        jobs=options.jobs,
        fresh=options.fresh,
        models=options.models,
    )


def _report(options: argparse.Namespace) -> None:
    from setwise.commands.bench_report import write_pages

    write_pages(Console(), options.folder, options.out, options.markdown, options.keep)


def _speed(options: argparse.Namespace) -> None:
    from setwise.commands.bench_speed import run_scripts

    run_scripts(_console(), options.scripts, options.names, options.history)
