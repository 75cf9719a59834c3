"""The documentation is whole: a page for each method, all of the API, no warnings."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import setwise as sw
from setwise.models import MODELS

DOCS = Path(__file__).parents[2] / "docs"
METHODS = {page.stem.replace("_", ""): page for page in (DOCS / "methods").glob("*.md")}
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+\.md)(?:#[^)]*)?\)")


def methods():
    """Models and calibrators that a person can choose."""
    exported = [getattr(sw, name) for name in sw.__all__]
    homes = ("setwise.models", "setwise.calibration")
    classes = {c for c in exported if inspect.isclass(c) and c.__module__.startswith(homes)}
    return sorted({c.__name__ for c in classes} | set(MODELS) | set(sw.list_models()))


class Extensions(NamedTuple):
    api_pages: ModuleType
    command_line: ModuleType
    method_list: ModuleType


@pytest.fixture(scope="module")
def extensions():
    """The modules of docs/_extensions that need no Sphinx."""
    sys.path.insert(0, str(DOCS / "_extensions"))
    try:
        import api_pages
        import command_line
        import method_list
    finally:
        sys.path.pop(0)
    return Extensions(api_pages, command_line, method_list)


@pytest.mark.parametrize("name", methods())
def test_each_method_has_its_page(name):
    assert name.lower() in METHODS, f"add docs/methods/ with a page on {name}"
    text = METHODS[name.lower()].read_text(encoding="utf-8")
    assert f"{{py:class}}`setwise.{name}`" in text
    assert f"sw.{name}(" in text, "the page uses the method"
    assert text.count("$$") >= 2, "the page shows the formula"
    assert re.search(r"\b(19|20)\d\d\b", text), "the page names the paper"


def test_the_list_of_methods_has_every_page(extensions):
    method_list = extensions.method_list
    shown = method_list.table(DOCS / "methods")
    index = (DOCS / "methods" / "index.md").read_text(encoding="utf-8")
    pages = {page.name for page in METHODS.values()} - {"index.md"}
    assert set(re.findall(r"^\| \[[^]]+\]\((\w+\.md)\) \| \S", shown, re.MULTILINE)) == pages
    assert method_list.MARKER in index


def test_examples_of_the_extensions_hold(extensions):
    for extension in extensions:
        done = doctest.testmod(extension)
        assert done.attempted > 0
        assert done.failed == 0


def contents_of(page):
    """The pages that the toctrees of a page name."""
    for block in TOCTREE.findall(page.read_text(encoding="utf-8")):
        entries = [line for line in block.splitlines() if line and not line.startswith(":")]
        for entry in entries:
            pattern = (page.parent / entry).relative_to(DOCS).as_posix() + ".md"
            others = (p for p in DOCS.rglob("*.md") if p != page)
            yield from (p for p in others if fnmatch(p.relative_to(DOCS).as_posix(), pattern))


def is_written(page):
    """Whether a page is made when the site is built."""
    return "reference" in page.parts or "_build" in page.parts


def test_every_page_is_reachable():
    reached, rest = set(), [DOCS / "index.md"]
    while rest:
        page = rest.pop()
        if page not in reached and not is_written(page):
            reached.add(page)
            rest.extend(contents_of(page))
    pages = {page for page in DOCS.rglob("*.md") if not is_written(page)}
    assert len(reached) > 20
    assert pages == reached


def test_every_link_leads_to_a_page():
    pages = [page for page in DOCS.rglob("*.md") if not is_written(page)]
    dead = [
        (page.name, target)
        for page in pages
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not is_written(Path(target)) and not (page.parent / target).exists()
    ]
    assert not dead


def test_every_experiment_that_is_named_exists():
    from setwise.experiments.entries import ENTRIES
    from setwise.experiments.studies import STUDIES

    pages = [page for page in DOCS.rglob("*.md") if not is_written(page)]
    texts = [" ".join(page.read_text(encoding="utf-8").split()) for page in pages]
    found = [m for text in texts for m in re.findall(r"bench run ((?:[a-z][a-z0-9-]* ?)+)", text)]
    named = {name for words in found for name in words.split()} - {"mine"}
    assert {"cbm", "noise", "rerank"} <= named
    assert named <= {*ENTRIES, *STUDIES}


def test_every_exported_name_is_in_the_api(extensions):
    api_pages = extensions.api_pages
    pages = dict(api_pages.all_pages())
    for name in sw.__all__:
        if not name.startswith("_"):
            assert re.search(rf"^\| \S*`{name}\b", pages["setwise"], re.MULTILINE), name
            is_class = inspect.isclass(getattr(sw, name))
            assert (f"setwise.{name}" in pages) == is_class or name == "metrics"


def test_every_public_package_is_in_the_api(extensions):
    api_pages = extensions.api_pages
    source = Path(sw.__file__).parent
    tops = {f"setwise.{p.parent.name}" for p in source.glob("*/__init__.py")}
    not_for_users = {"setwise.cli", "setwise.commands", "setwise.experiments"}
    assert tops - not_for_users <= set(api_pages.PACKAGES)
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^reference/(\S+)$", index, re.MULTILINE) == list(api_pages.PACKAGES)
    for package, words in api_pages.PACKAGES.items():
        assert f"(reference/{package}.md) | {words} |" in index
        page = api_pages.package_page(package, api_pages.exported(package))
        assert all(f"`{name}" in page for name in api_pages.exported(package))


def test_pages_of_the_api_follow_what_is_exported(extensions, tmp_path):
    api_pages = extensions.api_pages
    folder = tmp_path / api_pages.FOLDER
    folder.mkdir(parents=True)
    gone = folder / "setwise.Gone.md"
    gone.write_text("# Gone\n", encoding="utf-8")
    api_pages.write_pages(tmp_path)
    assert not gone.exists()
    assert "autoclass:: setwise.CBM" in (folder / "setwise.CBM.md").read_text(encoding="utf-8")


def test_the_reference_has_every_option_of_every_command(extensions):
    from setwise.cli.parser import make_parser

    command_line = extensions.command_line
    shown = command_line.reference()
    for parser in command_line.commands_of(make_parser()):
        section = command_line.section(parser)
        assert section.startswith(f"## {parser.prog}\n")
        assert section in shown
        table = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
        listed = {word.strip("`,") for cell in table for word in cell.split()}
        assert set(parser._option_string_actions) - {"-h", "--help"} <= listed
    assert command_line.MARKER in (DOCS / "command_line.md").read_text(encoding="utf-8")


def test_the_promise_is_worded_as_in_the_docstring():
    words = " ".join(sw.AutoAccept.__doc__.split())
    promise = words[words.index("Rows are independent") : words.index("Thresholds are tested")]
    page = (DOCS / "guides" / "confidence.md").read_text(encoding="utf-8")
    quoted = " ".join(page.replace("\n> ", " ").replace("`", "").split())
    assert promise.replace("`", "").strip() in quoted


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_needs_no_network(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(DOCS), str(tmp_path)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    remote = re.compile(r"""<(?:script|link|img)[^>]+(?:src|href)=["'](?:https?:)?//""")
    for page in tmp_path.rglob("*.html"):
        assert not remote.search(page.read_text(encoding="utf-8")), page
