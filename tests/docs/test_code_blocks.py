"""Every code block of the documentation runs, and prints what the page says it prints.

Each page is one program in a folder of its own. Its blocks run in order: ``python`` blocks share
one namespace, and of ``console`` blocks the lines ``$ setwise ...`` are commands (``$ cat FILE``
shows a file). What a page shows below a command is compared with what is printed, where ``...``
stands for anything. A block of text with a caption is a file of that name.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(
    page.relative_to(DOCS).as_posix()
    for page in DOCS.rglob("*.md")
    if "reference" not in page.parts and "_build" not in page.parts
)
BLOCK = re.compile(r"^(`{3,})(\S[^\n]*)\n(.*?)^\1[ ]*$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r"\A(?::caption: *(?P<name>\S+)\n)(?::\S+:.*\n)*\n?")

#: Languages of blocks that are not run: what a terminal shows, files, shell lines about a checkout.
NOT_RUN = {"text", "sh", "toml", "{toctree}"}

#: Said once on a machine, where numba's cache is empty.
COMPILING = "setwise is compiling its kernels"

#: Blocks that cannot be run are few.
MOST_SHELL_BLOCKS = 12


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def blocks_of(text):
    """The fenced blocks of a page, in order.

    >>> [(b.language, b.text, b.line) for b in blocks_of("Hello\\n```python\\n1 + 1\\n```\\n")]
    [('python', '1 + 1\\n', 3)]
    """
    return [
        Block(found[2].strip(), found[3], text.count("\n", 0, found.start(3)) + 1)
        for found in BLOCK.finditer(text)
    ]


class Page:
    """A page as a program."""

    def __init__(self, name):
        self.name = name
        self.names = {"__name__": "__page__"}

    def run(self, block):
        if block.language == "python":
            program = "\n" * (block.line - 1) + block.text  # so that tracebacks name the line
            exec(compile(program, str(DOCS / self.name), "exec"), self.names)
        elif block.language == "console":
            for command, shown in commands_of(block.text):
                self.compare(command, shown, printed_by(command), block)
        elif block.language == "{code-block} text":
            caption = CAPTION.match(block.text)
            assert caption, f"{self.name}, line {block.line}: such a block needs a caption"
            Path(caption["name"]).write_text(block.text[caption.end() :], encoding="utf-8")

    def compare(self, command, shown, printed, block):
        if shown.strip():
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            same = doctest.OutputChecker().check_output(shown, printed, flags)
            where = f"{self.name}, block at line {block.line}"
            assert same, f"{where}: $ {command}\nshown:\n{shown}\nprinted:\n{printed}"


def commands_of(text):
    """Each command of a console block, with the lines below it."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), ""])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        elif found:
            found[-1][1] += line
    return [tuple(pair) for pair in found]


def printed_by(command):
    """What a command prints, also on standard error; it must end well."""
    from setwise.cli import main

    program, *arguments = shlex.split(command)
    if program == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    assert program == "setwise", f"only setwise and cat are run here, not {program!r}"
    output, remarks = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(remarks):
        code = main(arguments)
    said = [line for line in remarks.getvalue().splitlines() if COMPILING not in line]
    printed = "\n".join([output.getvalue(), *said]).strip("\n") + "\n"
    assert code == 0, f"$ {command}\nended with {code}:\n{printed}"
    return printed


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("name", PAGES)
def test_blocks_run(name, empty_folder):
    page = Page(name)
    for block in blocks_of((DOCS / name).read_text(encoding="utf-8")):
        page.run(block)


@pytest.mark.parametrize("name", PAGES)
def test_every_block_has_a_known_language(name):
    known = {"python", "console", "{code-block} text", *NOT_RUN}
    text = (DOCS / name).read_text(encoding="utf-8")
    odd = [(block.line, block.language) for block in blocks_of(text) if block.language not in known]
    assert not odd
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks_of(text))


def test_blocks_that_are_not_run_are_few():
    languages = [b.language for page in PAGES for b in blocks_of((DOCS / page).read_text("utf-8"))]
    assert languages.count("sh") <= MOST_SHELL_BLOCKS
    assert languages.count("python") > 3 * languages.count("sh")


def test_commands_are_found_with_their_output():
    text = "$ setwise models \\\n    --json\n{}\n$ cat a.csv\n"
    assert commands_of(text) == [("setwise models --json", "{}\n"), ("cat a.csv", "")]


def test_output_that_differs_is_seen(empty_folder):
    Path("a.csv").write_text("one,two\n", encoding="utf-8")
    Page("made.md").run(Block("console", "$ cat a.csv\none,...\n", 1))
    with pytest.raises(AssertionError, match="printed"):
        Page("made.md").run(Block("console", "$ cat a.csv\none,three\n", 1))


def test_a_command_that_fails_is_seen(empty_folder):
    with pytest.raises(AssertionError, match="ended with 2"):
        Page("made.md").run(Block("console", "$ setwise evaluate none.setwise none.csv\n", 1))
    assert os.listdir() == []
