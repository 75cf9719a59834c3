"""``setwise bench report``: pages of the results that a folder holds."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from setwise.data.formats.files import write_atomically
from setwise.errors import DataError
from setwise.experiments.pages.gather import gathered
from setwise.experiments.pages.html import page_of
from setwise.experiments.pages.kept import EarlierPage, with_kept
from setwise.experiments.pages.markdown import markdown_of
from setwise.experiments.records import Results
from setwise.experiments.runner import experiments


def write_pages(
    console: Console,
    folder: str,
    html: str | None,
    markdown: str | None,
    keep: str | None = None,
) -> None:
    """Write the pages that are asked for.

    The Markdown page takes over what the page ``keep`` tells and the folder does not know.
    """
    if html is None and markdown is None:
        raise DataError("say what to write: --out results.html, --markdown RESULTS.md, or both")
    if not Path(folder).is_dir():
        raise DataError(f"there is no folder {folder}; `setwise bench run` makes one")
    facts = gathered(Results(folder))
    if not facts["experiments"]:
        raise DataError(
            f"{folder} has no results that today's experiments know; run `setwise bench run` first"
        )
    pages = {html: page_of(facts)} if html is not None else {}
    if markdown is not None:
        told = facts if keep is None else with_kept(facts, _earlier(keep), experiments())
        pages[markdown] = markdown_of(told)
    for path, text in pages.items():
        with write_atomically(path) as stream:
            stream.write(text.encode())
    console.print(
        f"{len(facts['experiments'])} experiments, {facts['n_units']} parts, "
        f"{facts['n_failed']} of them failed: {', '.join(filter(None, (html, markdown)))}"
    )


def _earlier(path: str) -> EarlierPage:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(f"cannot read the page to keep sections of, {path}: {problem}") from None
    page = EarlierPage.read(text)
    if not page.sections:
        raise DataError(
            f"{path} has no sections of experiments; name a page that `setwise bench report "
            "--markdown` made"
        )
    return page
