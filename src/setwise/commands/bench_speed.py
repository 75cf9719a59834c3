"""``setwise bench speed``: the scripts of a folder of benchmarks, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from setwise.experiments import speed


def run_scripts(console: Console, folder: str, names: Sequence[str], history: str) -> None:
    """Run them, then show each ratio once more, in one table."""

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    found = speed.run_scripts(Path(folder), names, Path(history), say)
    table = Table("script", "case", title="Ours, theirs, ratio", title_justify="left")
    for head in ("ours", "theirs", "ratio"):
        table.add_column(head, justify="right")
    for one in found:
        values = (one.get(key) for key in ("ours", "theirs", "ratio"))
        shown = ["" if value is None else f"{value:.4g}" for value in values]
        table.add_row(one["script"], one["case"], *shown)
    console.print(table)
    console.print(f"added to {history}")
