"""The command line: arguments only; what a command does stands in ``setwise.commands``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from rich.console import Console

from setwise import __version__
from setwise.errors import SetwiseError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it went well, 2 if something was wrong that the message explains."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except SetwiseError as error:
        print(f"setwise: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="setwise",
        description="Predict sets of labels, and say how likely the whole set is right.",
    )
    parser.add_argument("--version", action="version", version=f"setwise {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="a tour: bundled data, a model at work, measures")
    demo.add_argument("--rows", type=_positive, default=1000, help="test rows to predict (1000)")
    demo.set_defaults(run=_demo)

    datasets = commands.add_parser("datasets", help="list data sets with their statistics")
    datasets.add_argument("names", nargs="*", metavar="NAME", help="measure these in full")
    datasets.add_argument("--data", metavar="FOLDER", help="look here instead of $SETWISE_DATA")
    datasets.add_argument("--json", action="store_true", help="print JSON instead of a table")
    datasets.set_defaults(run=_datasets)

    bench = commands.add_parser("bench", help="run experiments and print their tables")
    actions = bench.add_subparsers(title="actions", required=True, metavar="ACTION")
    actions.add_parser("list", help="list the experiments").set_defaults(run=_bench_list)
    bench_run = actions.add_parser("run", help="run experiments")
    bench_run.add_argument(
        "names", metavar="NAME", nargs="+", help="as `setwise bench list` shows them"
    )
    bench_run.add_argument(
        "--data", metavar="DATASET", nargs="+", default=[], help="only these data sets"
    )
    bench_run.add_argument("--json", metavar="FILE", help="write the results there as well")
    bench_run.set_defaults(run=_bench_run)

    warmup = commands.add_parser("warmup", help="compile all kernels now, so that no call waits")
    warmup.set_defaults(run=_warmup)
    return parser


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {text!r}")
    return number


# Commands are imported when they run: `setwise --help` stays instant.


def _demo(options: argparse.Namespace) -> None:
    from setwise.commands.demo import tour

    tour(Console(), options.rows)


def _datasets(options: argparse.Namespace) -> None:
    from setwise.commands.datasets import list_known, measure

    show = measure if options.names else list_known
    show(Console(), options.names, data_home=options.data, as_json=options.json)


def _bench_list(options: argparse.Namespace) -> None:
    from setwise.commands.bench import list_entries

    list_entries(Console())


def _bench_run(options: argparse.Namespace) -> None:
    from setwise.commands.bench import run_named

    run_named(Console(), options.names, options.data, options.json)


def _warmup(options: argparse.Namespace) -> None:
    from setwise.commands.warmup import compile_everything

    compile_everything(Console())
