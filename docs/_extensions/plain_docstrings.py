"""Docstrings are read by people first: what reStructuredText would misread is put right.

In ``p(y|x)`` the bars are bars, in ``weights_`` the underscore is part of a name, and a section of
parameters may hold a paragraph of text. Members that come from scikit-learn are left to its own
documentation.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

#: What is left as it is: literals, roles, names in single backticks, and strong words.
CODE = re.compile(r"(``.+?``|:\w[\w:]*:`[^`]+`|`[^`]+`_{0,2}|\*\*[^*\s][^*]*\*\*)")
TRAILING = re.compile(r"(?<=\w)_(?=\W|$)")
ENTRY = re.compile(r"[\w*]+(, *[\w*]+)*( : .*)?$")
LISTS = ("Parameters", "Attributes")


def setup(app: Any) -> dict[str, Any]:
    """Look at each docstring before napoleon does."""
    app.connect("autodoc-process-docstring", plain, priority=100)
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("doctree-read", unlink_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def is_foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Whether a member is scikit-learn's or Python's; None leaves it to Sphinx."""
    made_in = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    named = getattr(obj, "__qualname__", "")
    is_ours = made_in.startswith("setwise")
    has_home = bool(made_in) and callable(obj)
    return True if (has_home and not is_ours) or "RequestMethod" in named else None


def unlink_words(app: Any, doctree: nodes.document) -> None:
    """Types are written in words: "path" is no link to whatever has an attribute of that name."""
    for link in list(doctree.findall(pending_xref)):
        if link.get("refspecific") and link.get("reftype") == "class":
            target = link["reftarget"]
            if target[:1].islower() and "." not in target:
                link.replace_self(link.children)


def plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sections as napoleon expects them, signs as they are written."""
    lines[:] = [line if is_code(line) else escaped(line) for line in tidied(lines)]


def tidied(lines: list[str]) -> list[str]:
    """Text that stands in a list of parameters goes before it; long lists of names are one line.

    >>> tidied(["Parameters", "----------", "a, b,", "c", "    Numbers.", "", "Words; more."])
    ['Words; more.', '', 'Parameters', '----------', 'a, b, c', '    Numbers.', '']
    """
    done: list[str] = []
    rest = list(lines)
    while rest:
        is_header = rest[0] in LISTS and len(rest) > 1 and set(rest[1]) == {"-"}
        if not is_header:
            done.append(rest.pop(0))
            continue
        end = next((i for i in range(2, len(rest) - 1) if is_title(rest, i)), len(rest))
        entries, text = separated(rest[2:end])
        if not any(entries):  # only words, which a list of names cannot show
            done += [f".. rubric:: {rest[0]}", "", *text]
        else:
            done += [*text, *rest[:2], *entries]
        rest = rest[end:]
    return done


def is_title(lines: list[str], i: int) -> bool:
    """Whether a section begins at line i."""
    return bool(lines[i].strip()) and len(lines[i + 1]) > 2 and set(lines[i + 1]) == {"-"}


def separated(lines: list[str]) -> tuple[list[str], list[str]]:
    """The entries of a list, and the text between them."""
    entries: list[str] = []
    text: list[str] = []
    for chunk in chunks(lines):
        while len(chunk) > 1 and chunk[0].endswith(",") and not chunk[1].startswith(" "):
            chunk = [f"{chunk[0]} {chunk[1]}", *chunk[2:]]
        is_text = not any(line.startswith(" ") for line in chunk) and not ENTRY.match(chunk[0])
        (text if is_text else entries).extend([*chunk, ""])
    return entries, text


def chunks(lines: list[str]) -> list[list[str]]:
    """Runs of lines with no blank one between them."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [chunk for chunk in found if chunk]


def is_code(line: str) -> bool:
    """A line of an example, a table or a heading."""
    return line.lstrip().startswith((">>>", "...", "..", "===", "---", "|"))


def escaped(line: str) -> str:
    r"""The line with its bars, stars and trailing underscores taken as they are.

    >>> print(escaped("p(y|x) of ``a|b`` and weights_"))
    p(y\|x) of ``a|b`` and weights\_
    """
    parts = CODE.split(line)
    parts[::2] = [
        TRAILING.sub(r"\\_", part).replace("|", r"\|").replace("*", r"\*") for part in parts[::2]
    ]
    return "".join(parts)
