"""``setwise bench report``: pages of the results that a folder holds."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from setwise.data.formats.files import write_atomically
from setwise.errors import DataError
from setwise.experiments.pages.gather import gathered
from setwise.experiments.pages.html import page_of
from setwise.experiments.pages.markdown import markdown_of
from setwise.experiments.records import Results


def write_pages(console: Console, folder: str, html: str | None, markdown: str | None) -> None:
    """Write the pages that are asked for."""
    if html is None and markdown is None:
        raise DataError("say what to write: --out results.html, --markdown RESULTS.md, or both")
    if not Path(folder).is_dir():
        raise DataError(f"there is no folder {folder}; `setwise bench run` makes one")
    facts = gathered(Results(folder))
    if not facts["experiments"]:
        raise DataError(
            f"{folder} has no results that today's experiments know; run `setwise bench run` first"
        )
    for path, text in ((html, page_of), (markdown, markdown_of)):
        if path is not None:
            with write_atomically(path) as stream:
                stream.write(text(facts).encode())
    console.print(
        f"{len(facts['experiments'])} experiments, {facts['n_units']} parts, "
        f"{facts['n_failed']} of them failed: {', '.join(filter(None, (html, markdown)))}"
    )
