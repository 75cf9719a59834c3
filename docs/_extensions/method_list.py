"""The list of all methods: a line for each page in ``methods``, taken from the page itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = "methods/index"
MARKER = "<!-- methods -->"


def setup(app: Any) -> dict[str, Any]:
    """Fill the page while it is read; it is read anew whenever a method has changed."""
    app.connect("source-read", fill)
    app.connect("env-get-outdated", lambda *_: [PAGE])
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fill(app: Any, page: str, source: list[str]) -> None:
    """Put the table where the marker is."""
    if page == PAGE:
        source[0] = source[0].replace(MARKER, table(Path(app.srcdir) / "methods"))


def table(folder: Path) -> str:
    """Every method with what its page says first, by name."""
    pages = [path for path in folder.glob("*.md") if path.stem != "index"]
    lines = sorted(
        (line(path.stem, path.read_text(encoding="utf-8")) for path in pages), key=str.lower
    )
    return "\n".join(["| method | what it does |", "|---|---|", *lines])


def line(stem: str, text: str) -> str:
    r"""A row: the title as a link, and the first sentence.

    >>> line("binary_relevance", "# Binary relevance\n\nEach label by itself. The simplest.\n")
    '| [Binary relevance](binary_relevance.md) | Each label by itself. |'
    """
    title, _, rest = text.lstrip().removeprefix("# ").partition("\n")
    first = " ".join(rest.strip().split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.!?])\s", first)[0].replace("|", "\\|")
    return f"| [{title.strip()}]({stem}.md) | {sentence} |"
