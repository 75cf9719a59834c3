"""What a fit shows of itself while it runs: bars on a terminal, lines in a log, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from setwise.errors import DataError
from setwise.models.cbm.em import Round

Report = Callable[[Sequence[Round]], None]
#: From the name of a part of a fit and its rounds at most, to what is told of each round.
Reports = Callable[[str, int], Report]


@contextmanager
def progress(verbose: Any, console: Console | None = None) -> Iterator[Reports]:
    """Reports of the rounds, on the standard error stream unless a console is given.

    ``verbose`` is 0 for nothing, 1 for bars, "auto" for bars on a terminal alone. Where there is no
    terminal, 1 writes a line a round.
    """
    console = console or Console(stderr=True)
    shows = wants_bars(verbose, console.is_terminal)
    if not shows:
        yield lambda name, total: lambda history: None
    elif console.is_terminal or console.is_jupyter:
        with _bars(console) as bars:
            yield lambda name, total: _on_bar(bars, name, total)
    else:
        yield lambda name, total: _in_lines(console, name, total)


def wants_bars(verbose: Any, is_terminal: bool) -> bool:
    """What ``verbose`` asks for.

    >>> wants_bars("auto", True), wants_bars(1, False), wants_bars(0, True)
    (True, True, False)
    """
    if isinstance(verbose, str) and verbose == "auto":
        return is_terminal
    if not isinstance(verbose, int) or verbose < 0:
        raise DataError(f'verbose must be 0, 1 or "auto", not {verbose!r}')
    return verbose > 0


def described(done: Round) -> str:
    """A round in a few words."""
    words = [
        f"bound {done.bound:,.1f}",
        f"{done.active_rows:.2f} components a row",
        f"{done.active_labels:.1f} labels a component",
        f"{done.seconds:.2f} s a round",
    ]
    if done.held_out is not None:
        words.append(f"held-out {done.held_out:.4f}")
    return ", ".join(words)


def _bars(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        console=console,
    )


def _on_bar(bars: Progress, name: str, total: int) -> Report:
    bar = bars.add_task(name, total=total, state="starting")
    return lambda history: bars.update(
        bar, completed=len(history), state=described(history[-1]), refresh=True
    )


def _in_lines(console: Console, name: str, total: int) -> Report:
    return lambda history: console.print(
        f"{name} {len(history)}/{total}: {described(history[-1])}", soft_wrap=True, highlight=False
    )
