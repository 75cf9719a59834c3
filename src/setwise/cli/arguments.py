"""What several commands share: options, kinds of values, how to speak and how to read."""

from __future__ import annotations

import argparse
import json
from typing import Any


def with_examples(commands: Any, name: str, words: str, examples: str, run: Any) -> Any:
    """A command with examples in its help."""
    command = commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Absent where it is not given: a command and an action of it may both be asked for it.
    command.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS,
        help="show where an error came from",
    )  # fmt: skip
    command.set_defaults(run=run)
    return command


def new_command(commands: Any, name: str, words: str, examples: str, run: Any) -> Any:
    """A command with examples, that can be quiet and speak to programs."""
    command = with_examples(commands, name, words, examples, run)
    command.add_argument(
        "--quiet", action="store_true", default=False, help="say nothing but results and errors"
    )
    command.add_argument(
        "--json", action="store_true", default=False, help="print results as JSON, for programs"
    )
    return command


def add_model_and_data(command: Any, words: str) -> None:
    """The model and the file that a command works on."""
    command.add_argument("model", metavar="MODEL", help="a file that `setwise fit` wrote")
    command.add_argument(
        "data", metavar="FILE", help=f"{words}: CSV, JSONL or Parquet; - is standard input"
    )


def add_reading(command: Any) -> None:
    """How the file is read."""
    command.add_argument(
        "--format", choices=("csv", "jsonl", "parquet"), default=None, help="of the file read"
    )  # fmt: skip
    command.add_argument("--delimiter", metavar="TEXT", default=None, help="of CSV; guessed")
    command.add_argument("--encoding", metavar="NAME", default="utf-8", help="of text (utf-8)")


def add_accuracy(command: Any, default: float | None) -> None:
    """The accuracy that accepted sets shall have."""
    shown = f"({default:g})" if default else "(0.8, 0.9 and 0.95)"
    command.add_argument(
        "--accept-accuracy", metavar="SHARE", type=share, default=default,
        help=f"how often accepted sets shall be right {shown}",
    )  # fmt: skip


def add_columns(command: Any, option: str, words: str) -> None:
    """An option that names columns."""
    command.add_argument(option, metavar="COLUMN", nargs="+", action="extend", help=words)


def positive(text: str) -> int:
    """A whole number from 1 up."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {text!r}")
    return number


def share(text: str) -> float:
    """A number between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 1, got {text!r}")
    return number


def pair(text: str) -> tuple[str, Any]:
    """``n_components=30`` as a name and a value; what is no JSON is a word."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


# What takes time to import is imported when it is needed: `setwise --help` stays instant.


def talk_of(options: argparse.Namespace) -> Any:
    """Where the command speaks."""
    from setwise.commands.talk import Talk

    return Talk(quiet=options.quiet, as_json=options.json)


def reading_of(options: argparse.Namespace) -> Any:
    """How the command reads its file."""
    from setwise.pipeline import Reading

    return Reading(options.format, options.delimiter, options.encoding)
