"""How commands speak: results on standard output, everything else on standard error.

Colours and bars appear on a terminal only, and never where ``NO_COLOR`` or ``--quiet`` is set, as
each of them says. A bar or spinner appears when its work has taken two seconds.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

PATIENCE = 2.0  # seconds before a bar appears


class Talk:
    """Where results, remarks and progress go.

    Parameters
    ----------
    quiet : bool
        Say nothing but results and errors.
    as_json : bool
        Results are one JSON object, for programs.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json
        self.out, self.err = Console(), Console(stderr=True)

    def show(self, *parts: RenderableType) -> None:
        """A result, for people."""
        for part in parts:
            self.out.print(part)

    def data(self, facts: Any) -> None:
        """A result, for programs."""
        print(json.dumps(facts, ensure_ascii=False, indent=1), file=self.out.file)

    def say(self, text: str) -> None:
        """A remark."""
        if not self.quiet:
            self.err.print(Text(text), style="dim", soft_wrap=True)

    def warn(self, text: str) -> None:
        """A remark that somebody should read."""
        if not self.quiet:
            self.err.print(Text(f"setwise: {text}"), style="yellow", soft_wrap=True)

    @contextmanager
    def doing(self, text: str) -> Iterator[Callable[[str], None]]:
        """A spinner, what is being done, and since when; call what it gives to change the words."""
        if self.quiet or not self.err.is_terminal:
            yield lambda _: None
            return
        columns = [
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
        ]
        progress = Progress(*columns, console=self.err, transient=True)
        task = progress.add_task(text, total=None)
        waiting = threading.Timer(PATIENCE, progress.start)
        waiting.daemon = True
        waiting.start()
        try:
            yield lambda words: progress.update(task, description=words)
        finally:
            waiting.cancel()
            waiting.join()  # else it could start after the stop
            if progress.live.is_started:
                progress.stop()

    @contextmanager
    def bar(self, text: str, total: float | None) -> Iterator[Callable[[float], None]]:
        """A bar that is told how much of ``total`` is done; without a total it only counts."""
        if self.quiet or not self.err.is_terminal:
            yield lambda _: None
            return
        columns = [
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(),
        ]
        progress = Progress(*columns, console=self.err, transient=True)
        task = progress.add_task(text, total=total)
        begin, is_shown = time.monotonic(), False

        def done(amount: float) -> None:
            nonlocal is_shown
            progress.update(task, completed=amount)
            if not is_shown and time.monotonic() - begin > PATIENCE:
                progress.start()
                is_shown = True

        try:
            yield done
        finally:
            if is_shown:
                progress.stop()

    @contextmanager
    def counting(self, text: str, total: int) -> Iterator[Callable[[], None]]:
        """A bar that moves on by one each time what it gives is called."""
        with self.bar(text, total) as done:
            count = 0

            def tick() -> None:
                nonlocal count
                count += 1
                done(count)

            yield tick


def share(value: float | None) -> str:
    """A share as people read it.

    >>> share(0.912), share(None)
    ('91.2%', '-')
    """
    return "-" if value is None or value != value else f"{value:.1%}"
