"""The header of an ARFF file: its relation and its attributes.

Keywords in any case, names and categories plain or quoted, with backslash escapes, ``%`` comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite

from setwise.data.formats.files import StrPath
from setwise.errors import FormatError

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
# Possessive (*+): a damaged list of 100,000 blanks must not be tried in every possible way.
_CATEGORY = re.compile(rf"\s*+((?:{_QUOTED})(?=\s*+[,}}])|[^,}}]*+)\s*+([,}}])")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\\'\"tnr%])")
_NUMERIC = {"numeric", "real", "integer"}
_UNESCAPED = {"t": "\t", "n": "\n", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """A column: numeric, or nominal with its categories in order.

    Categories that are all numbers stand for themselves; others for their position, from 0.
    """

    name: str
    categories: tuple[str, ...] | None = None
    codes: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def by_position(self) -> bool:
        """Whether a cell is a word to look up rather than a number to read."""
        return self.categories is not None and list(self.codes.values()) != _numbers(
            self.categories
        )

    @property
    def implied(self) -> float:
        """What a sparse row means by leaving this column out: 0, or the first category."""
        return next(iter(self.codes.values())) if self.codes else 0.0


@dataclass(frozen=True)
class Header:
    """Everything before the data: ``start`` is the first byte, ``line`` the first line after it."""

    relation: str
    attributes: tuple[Attribute, ...]
    start: int
    line: int


def parse_header(path: StrPath, contents: bytes) -> Header:
    """The header of an ARFF file given as UTF-8 bytes."""
    relation = ""
    attributes: list[Attribute] = []
    lines: dict[str, int] = {}
    for number, start, text in _lines(contents):
        keyword = text.split(None, 1)[0].lower() if text else ""
        if not text or text.startswith("%"):
            continue
        if keyword == "@relation":
            relation = unquote(text[len("@relation") :].strip())
        elif keyword == "@attribute":
            attribute = _parse_attribute(path, number, text)
            if attribute.name in lines:
                raise FormatError(
                    path,
                    f"attribute {attribute.name!r} was declared in line {lines[attribute.name]}",
                    line=number,
                    remedy="rename one of the two",
                )
            lines[attribute.name] = number
            attributes.append(attribute)
        elif keyword == "@data":
            if not attributes:
                raise FormatError(path, "no @attribute before @data", line=number)
            return Header(relation, tuple(attributes), start, number + 1)
        else:
            raise FormatError(
                path,
                f"expected @relation, @attribute or @data, found {text[:40]!r}",
                line=number,
                remedy="is this an ARFF file? Otherwise pass format=",
            )
    raise FormatError(path, "the header never reaches @data", remedy="is the file complete?")


def unquote(text: str) -> str:
    r"""A name or category as it was meant: without its quotes and escapes.

    >>> unquote(r"'rock \'n\' roll'")
    "rock 'n' roll"
    """
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def category_codes(categories: tuple[str, ...]) -> dict[str, float]:
    """The number each category becomes: itself if all are different numbers, else its position."""
    numbers = _numbers(categories)
    if numbers is None or len(set(numbers)) < len(numbers):
        numbers = [float(position) for position in range(len(categories))]
    return dict(zip(categories, numbers, strict=True))


def _lines(contents: bytes) -> Iterator[tuple[int, int, str]]:
    """(line number, first byte after the line, stripped text) for each line."""
    start, number = 0, 1
    while start < len(contents):
        end = contents.find(b"\n", start)
        end = len(contents) if end < 0 else end
        yield number, end + 1, contents[start:end].decode().strip()
        start, number = end + 1, number + 1


def _parse_attribute(path: StrPath, number: int, text: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        raise FormatError(
            path, f"cannot read {text[:60]!r}", line=number, remedy="write @attribute name type"
        )
    name, kind = unquote(match[1]), match[2].strip()
    if kind.partition("%")[0].strip().lower() in _NUMERIC:
        return Attribute(name)
    categories = _categories(kind)
    if categories is not None:
        codes = category_codes(categories)
        if not categories or len(codes) < len(categories):
            raise FormatError(
                path, f"the categories of {name!r} are empty or repeat themselves", line=number
            )
        return Attribute(name, categories, codes)
    raise FormatError(
        path,
        f"attribute {name!r} is of type {kind.split()[0] if kind else 'nothing'!r}; "
        "numeric, real, integer and {nominal} can be read",
        line=number,
        remedy="save text as CSV, where text columns are kept as text",
    )


def _categories(kind: str) -> tuple[str, ...] | None:
    """The names between braces, or None if ``kind`` is not a list of names and a comment."""
    names: list[str] = []
    end = 1 if kind.startswith("{") else 0
    while end and (match := _CATEGORY.match(kind, end)):
        names.append(match[1].strip())
        end = match.end()
        if match[2] == "}":
            names = names if names[-1] else names[:-1]  # {a,b,} has two
            rest = kind[end:].strip()
            return tuple(map(unquote, names)) if not rest or rest.startswith("%") else None
    return None


def _numbers(categories: tuple[str, ...]) -> list[float] | None:
    try:
        numbers = [float(category) for category in categories]
    except ValueError:
        return None
    return numbers if all(map(isfinite, numbers)) else None


def _unescape(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped.startswith("u"):
        return chr(int(escaped[1:], 16))
    return _UNESCAPED.get(escaped, escaped)
