"""The reference of the command line, written from the parsers themselves when the site is built.

The page ``command_line`` has a marker; it becomes a section for each command: what it does, its
usage, a table of its options, and the examples of its help.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from setwise.cli.parser import make_parser

PAGE = "command_line"
MARKER = "<!-- commands -->"
WIDTH = 88
USAGE = "usage: "  # what argparse begins with, and indents further lines by


def setup(app: Any) -> dict[str, Any]:
    """Fill the page while it is read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fill(app: Any, page: str, source: list[str]) -> None:
    """Put the reference where the marker is."""
    if page == PAGE:
        if MARKER not in source[0]:
            raise ValueError(f"{PAGE}.md has no line {MARKER!r} to put the commands at; add it")
        source[0] = source[0].replace(MARKER, reference())


def reference() -> str:
    """Markdown on every command.

    >>> "## setwise fit" in reference() and "--accept-accuracy" in reference()
    True
    """
    return "\n".join(section(parser) for parser in commands_of(make_parser()))


@contextmanager
def terminal_of_the_page() -> Iterator[None]:
    """What argparse goes by: always the same width, and no colours."""
    before = dict(os.environ)
    os.environ.update(COLUMNS=str(WIDTH), NO_COLOR="1")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def commands_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands, those of a command's own actions behind it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words = {choice.dest: choice.help for choice in action._choices_actions}
            for name, command in action.choices.items():
                command.description = command.description or sentence(words.get(name) or "")
                yield command
                yield from commands_of(command)


def section(parser: argparse.ArgumentParser) -> str:
    """One command."""
    with terminal_of_the_page():
        usage = parser.format_usage()
        rows = [f"| {spelling(a)} | {cell(words(parser, a))} |" for a in arguments_of(parser)]
    usage = usage.removeprefix(USAGE).replace("\n" + " " * len(USAGE), "\n").rstrip()
    parts = [
        f"## {parser.prog}",
        parser.description or "",
        f"```text\n{usage}\n```",
        "\n".join(["| argument | what |", "|---|---|", *rows]) if rows else "",
        f"```text\n{parser.epilog.rstrip()}\n```" if parser.epilog else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def arguments_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All that a person may write, in the order of the help."""
    odd = (argparse._HelpAction, argparse._SubParsersAction)
    return [action for action in parser._actions if not isinstance(action, odd)]


def spelling(action: argparse.Action) -> str:
    """An argument as it is typed: ``--top K``."""
    shown = action.metavar or (action.choices and "{" + ",".join(map(str, action.choices)) + "}")
    shown = shown if isinstance(shown, str) else action.dest.upper()
    if not action.option_strings:
        return f"`{shown}`"
    value = (
        "" if action.nargs == 0 else f" {shown}" + (" ..." if action.nargs in ("+", "*") else "")
    )
    return f"`{', '.join(action.option_strings)}{value}`"


def words(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """What the help says of an argument."""
    return parser._get_formatter()._expand_help(action) if action.help else ""


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def cell(text: str) -> str:
    """Text that may stand in a table of Markdown."""
    return text.replace("|", "\\|").replace("<", "\\<").replace("$", "\\$")
