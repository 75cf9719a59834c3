"""Sections of an earlier page, for experiments whose records are not at hand.

Records may lie on another machine. What they said stands in the page that was made there: its
sections are taken over as they are, and marked with where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Any

MEASURED = "- Measured "  # how the line begins that says when and from what a section was made
KEPT = "- Kept from an earlier page"
QUICK = "- A quick run:"
EARLIER = ", earlier"  # after the name of a section that a newer one does not cover
_SECTION = re.compile(r"^### (.+?)\n(.*?)(?=^###? |\Z)", flags=re.MULTILINE | re.DOTALL)
_ORIGIN = re.compile(r"^Made by `setwise bench report`.*\n\nVersions: .*$", flags=re.MULTILINE)
_BEFORE = re.compile(r"^Kept sections are of a page .*$", flags=re.MULTILINE)
_ABSENT = re.compile(r"^- Not run yet on (.*)\.$", flags=re.MULTILINE)


@dataclass(frozen=True)
class EarlierPage:
    """What a page of results has: its sections by name, and when and from what it was made."""

    sections: dict[str, str]
    origin: str

    @classmethod
    def read(cls, text: str) -> EarlierPage:
        """The parts of a page; one that was not made by us has none."""
        before, origin = _BEFORE.search(text), _ORIGIN.search(text)
        said = before.group() if before else ""
        if not said and origin:
            said = "Kept sections are of a page that was " + _as_clause(origin.group())
        sections = {name: _marked(body.strip("\n")) for name, body in _SECTION.findall(text)}
        return cls(sections, said)

    def missing_in(self, facts: dict[str, Any], known: Container[str]) -> dict[str, str]:
        """The sections to take over: those of known experiments that tell what facts do not.

        A section that was measured on more data sets than there are records of stays beside the
        newer one, under a name of its own.
        """
        taken: dict[str, str] = {}
        for name in sorted(self.sections, key=lambda name: name.endswith(EARLIER)):
            body, plain = self.sections[name], name.removesuffix(EARLIER)
            told = facts["experiments"].get(plain)
            if plain not in known:
                continue
            if told is None:
                taken[name] = body
            elif _tells_more(body, told):
                taken.setdefault(plain + EARLIER, body)
        return taken


def with_kept(facts: dict[str, Any], earlier: EarlierPage, known: Container[str]) -> dict[str, Any]:
    """The facts of a page with sections of an earlier one, in the places of their experiments."""
    sections = earlier.missing_in(facts, known)
    there = [*facts["experiments"], *sections]
    places = []
    for place in facts["places"]:
        wanted = place["wanted"]
        order = [name for one in wanted for name in (one, one + EARLIER) if name in there]
        not_run = [name for name in wanted if name not in there]
        places.append(place | {"experiments": order, "not_run": not_run})
    kept_from = earlier.origin if any(KEPT in body for body in sections.values()) else ""
    return facts | {"places": places, "kept": sections, "kept_from": kept_from}


def _tells_more(body: str, told: dict[str, Any]) -> bool:
    """Whether a section has data sets, or a full run, that newer records have not."""
    if told["quick"] and QUICK not in body:
        return True
    return bool(set(told["undone"]) - _absent(body))


def _marked(body: str) -> str:
    """A section that says where it comes from: when it was measured, or that it was kept."""
    if MEASURED in body or KEPT in body:
        return body
    title, _, rest = body.partition("\n\n")
    line = f"{KEPT}: its records are not at hand."
    return f"{title}\n\n{line}\n{'' if rest.startswith('- ') else chr(10)}{rest}"


def _as_clause(origin: str) -> str:
    made, _, versions = origin.partition("\n\n")
    versions = versions.removeprefix("Versions: ")
    return f"made {made.removeprefix('Made ').rstrip('.')}, with {versions}"


def _absent(body: str) -> set[str]:
    """The data sets that a section says it was not run on."""
    found = _ABSENT.search(body)
    return set(found.group(1).split(", ")) if found else set()
