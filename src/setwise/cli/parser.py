"""All commands together, and the way they are run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from setwise import __version__
from setwise.cli.arguments import with_examples
from setwise.cli.benching import add_bench
from setwise.cli.judging import add_evaluate, add_report
from setwise.cli.learning import add_fit, add_models
from setwise.cli.predicting import add_explain, add_predict
from setwise.cli.touring import add_datasets, add_demo, add_warmup
from setwise.commands.manners import run_politely

EXIT_CODES = """\
exit codes:
  0  all went well
  1  something that should not happen; --debug shows where
  2  the input or the arguments are wrong, as the message says
  3  the machine refused: the disk is full, a file may not be written, memory ran out
  130 stopped by Ctrl-C, 143 by the system; no half file is left
"""
START = """\
a first model from a CSV file of your own:
  setwise fit examples.csv --labels tags --text description --out model.setwise
  setwise predict model.setwise new.csv --out predicted.csv
"""
COMPLETION = """\
examples:
  eval "$(setwise completion bash)"     in ~/.bashrc
  eval "$(setwise completion zsh)"      in ~/.zshrc
  setwise completion fish > ~/.config/fish/completions/setwise.fish
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the code that the help explains."""
    options = make_parser().parse_args(arguments)
    return run_politely(lambda: options.run(options), debug=getattr(options, "debug", False))


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands, in the order in which the help shows them."""
    parser = argparse.ArgumentParser(
        prog="setwise",
        description="Predict sets of labels, and say how likely the whole set is right.",
        epilog=f"{START}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"setwise {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        add_fit, add_predict, add_evaluate, add_report, add_explain, add_models,
        add_demo, add_datasets, add_bench, add_warmup,
    ):  # fmt: skip
        add(commands)
    completion = with_examples(
        commands, "completion", "print a script that completes commands in a shell", COMPLETION,
        lambda options: _completion(options, parser),
    )  # fmt: skip
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    return parser


def _completion(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    from setwise.commands.completion import script

    sys.stdout.write(script(parser, options.shell))
