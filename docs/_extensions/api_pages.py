"""The pages of the API, written when the site is built: a name that is exported is documented.

Each public package gets a page under ``api/reference``: a table of its names, then each in full.
Only the classes of ``setwise`` itself have pages of their own. What it exports is documented under
that short name, and other packages refer to it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = "api/reference"
TOP = "setwise"

#: Public packages in the order of the pages, each with what it is for.
PACKAGES = {
    "setwise": "What most people need, ready after `import setwise as sw`.",
    "setwise.data": "Label spaces, readers and writers, data sets by name, splits, made data.",
    "setwise.models": "Models of p(y|x), as scikit-learn estimators.",
    "setwise.distributions": "p(y|x) as objects that know their own structure.",
    "setwise.decisions": "The set that is best for a measure, given p(y|x).",
    "setwise.calibration": "How sure to be of a set, and what may be accepted unread.",
    "setwise.calibration.plots": "Figures of confidence.",
    "setwise.learners": "What models are made of: many binary problems that share their rows.",
    "setwise.metrics": "Measures of sets, of rankings and of confidences.",
    "setwise.pipeline": "From a table to a model, and from a model to a table.",
    "setwise.report": "A page about a model and its rows.",
    "setwise.storage": "Fitted objects as one file that cannot run code.",
    "setwise.errors": "What can go wrong, and the sentences that say so.",
}


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(folder: Path) -> None:
    """All pages; those of names that are gone are removed."""
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    pages = dict(all_pages())
    for name, text in pages.items():
        path = target / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in target.glob("*.md"):
        if path.stem not in pages:
            path.unlink()


def all_pages() -> Iterator[tuple[str, str]]:
    """Each page's name and Markdown.

    >>> pages = dict(all_pages())
    >>> "setwise.CBM" in pages and "setwise.metrics" in pages
    True
    """
    for package in PACKAGES:
        names = exported(package)
        yield package, package_page(package, names)
        if package == TOP:
            for name in names:
                if inspect.isclass(thing(package, name)):
                    yield f"{package}.{name}", class_page(f"{package}.{name}")


def exported(package: str) -> list[str]:
    """The public names of a package: ``__all__``, or what is defined in it."""
    module = import_module(package)
    named = getattr(module, "__all__", None)
    if named is None:
        named = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == package
        ]
    return sorted((name for name in named if not name.startswith("_")), key=str.lower)


def thing(package: str, name: str) -> Any:
    """What a package exports under a name."""
    return getattr(import_module(package), name)


def home_of(package: str, name: str) -> str:
    """The first package of the list that exports the same object under the same name."""
    wanted = thing(package, name)
    for other in PACKAGES:
        if name in exported(other) and thing(other, name) is wanted:
            return other
    return package


def package_page(package: str, names: list[str]) -> str:
    """A table of the names, then those in full that have no page of their own."""
    classes = [name for name in names if inspect.isclass(thing(package, name))]
    others = [name for name in names if name not in classes]
    parts = [f"# {package}", PACKAGES[package]]
    for title, some in (("Classes", classes), ("Functions and more", others)):
        if some:
            rows = [f"| {link(package, name)} | {summary(package, name)} |" for name in some]
            parts.append("\n".join([f"## {title}", "", "| name | what |", "|---|---|", *rows]))
    here = others if package == TOP else [*classes, *others]
    here = [n for n in here if home_of(package, n) == package and not is_module(package, n)]
    if here:
        parts += ["## In full", *(directive(package, name) for name in here)]
    if package == TOP:
        toctree = "\n".join(f"{package}.{name}" for name in classes)
        parts.append(f"```{{toctree}}\n:hidden:\n\n{toctree}\n```")
    return "\n\n".join(parts) + "\n"


def is_module(package: str, name: str) -> bool:
    """Whether a name is a module, which has a page of its own."""
    return inspect.ismodule(thing(package, name))


def link(package: str, name: str) -> str:
    """A name that leads to where it is documented."""
    if is_module(package, name):
        return f"[`{name}`]({package}.{name}.md)"
    return f"{{py:obj}}`{name} <{home_of(package, name)}.{name}>`"


def summary(package: str, name: str) -> str:
    """The first sentence on a name, safe in a table."""
    value = thing(package, name)
    if is_module(package, name):
        return PACKAGES[f"{package}.{name}"]
    if not (inspect.isclass(value) or callable(value)):
        return f"a {type(value).__name__}"
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
    parts = first.replace("|", "\\|").split("`")  # every second one is code
    parts[::2] = [re.sub(r"([<$*_])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def directive(package: str, name: str) -> str:
    """A class or function in full; of a constant, what it is."""
    if callable(thing(package, name)):
        kind = "autoclass" if inspect.isclass(thing(package, name)) else "autofunction"
        return f"```{{eval-rst}}\n.. {kind}:: {package}.{name}\n```"
    words = f"{summary(package, name)}: {', '.join(f'``{key}``' for key in thing(package, name))}"
    return f"```{{eval-rst}}\n.. py:data:: {package}.{name}\n\n   {words}\n```"


def class_page(full_name: str) -> str:
    """A class with all that it can do."""
    title = full_name.rpartition(".")[2]
    return f"# {title}\n\n```{{eval-rst}}\n.. autoclass:: {full_name}\n```\n"
