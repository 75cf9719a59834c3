"""Which attributes of an ARFF file are labels: a Mulan XML, a MEKA header, names, or a count.

Mulan keeps the names of the labels in an XML file beside the data; nested labels count too, in
document order. MEKA writes options into the relation's name: ``-C 6`` says that the first six
attributes are labels, ``-C -6`` the last six, and ``-split 1000`` that the first 1,000 rows train.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from setwise.data.formats.arff_header import Header, unquote
from setwise.data.formats.files import StrPath, bare_suffix, read_bytes, read_lines
from setwise.data.labels import first_repeated
from setwise.errors import DataError, FormatError

#: How the labels of a file may be given: an XML or text file, names, or a count (negative: last).
LabelsArgument = StrPath | Iterable[str] | int | None

# Numbers of more digits are none that a file can mean.
_MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")
_MEKA_SPLIT = re.compile(r"-split\s+(\d{1,9})(?!\d)", re.IGNORECASE)
_ARFF_SUFFIX = re.compile(r"\.arff(\.\w+)?$", re.IGNORECASE)
_MULAN_PART = re.compile(r"[-_.](train|test|valid|validation|dev)$", re.IGNORECASE)


def label_columns(
    path: StrPath, header: Header, labels: LabelsArgument, encoding: str = "utf-8"
) -> np.ndarray:
    """The columns that are labels, in the order in which they were given."""
    if labels is None:
        labels = mulan_file_beside(path)
    if labels is None:
        match = _MEKA_LABELS.search(header.relation)
        if match is None:
            raise FormatError(
                path,
                "nothing says which attributes are labels: no XML file beside it, "
                "no -C in the relation's name",
                remedy="pass labels=, a file of names, a list of names, or a count",
            )
        labels = int(match[1])
    count = as_count(labels)
    if count is not None:
        return _counted(path, header, count)
    names = label_names(labels, encoding) or []
    source = labels if isinstance(labels, str | PathLike) else "labels="
    columns = {attribute.name: column for column, attribute in enumerate(header.attributes)}
    for name in names:
        if name not in columns:
            raise FormatError(
                path,
                f"label {name!r} (from {source}) is not among the {len(columns)} attributes",
                remedy="use the label file that belongs to this data",
            )
    return np.array([columns[name] for name in names], dtype=np.intp)


def training_rows(header: Header) -> int | None:
    """How many of the first rows train, if a MEKA header says so."""
    match = _MEKA_SPLIT.search(header.relation)
    return int(match[1]) if match is not None else None


def as_count(labels: LabelsArgument) -> int | None:
    """The number that a ``labels`` argument is, or None where it spells out names."""
    return int(labels) if isinstance(labels, Integral) else None


def label_names(labels: LabelsArgument, encoding: str = "utf-8") -> list[str] | None:
    """The names that a ``labels`` argument spells out: a file's, a list's, or None for a count."""
    if labels is None or as_count(labels) is not None:
        return None
    if isinstance(labels, str | PathLike):
        is_xml = bare_suffix(labels) == ".xml"
        names = read_mulan_xml(labels) if is_xml else read_lines(labels, encoding)
        source = f"{labels}: "
    elif isinstance(labels, Iterable):
        names, source = [str(name) for name in labels], ""
    else:
        raise DataError(f"expected a file, a list of names or a count, got {labels!r}")
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"{source}{twice!r} is named twice; each column has one name")
    if not names:
        raise DataError(f"{source}there are no names in it; give at least one, or a count")
    return names


def mulan_file_beside(path: StrPath) -> Path | None:
    """``scene.xml`` for ``scene-train.arff``, where there is one."""
    path = Path(path)
    stem = _ARFF_SUFFIX.sub("", path.name)
    for candidate in (stem, _MULAN_PART.sub("", stem)):
        xml = path.with_name(f"{candidate}.xml")
        if xml.is_file():
            return xml
    return None


def read_mulan_xml(path: StrPath) -> list[str]:
    """The names of all labels in a Mulan XML file, nested ones too, in document order."""
    contents = read_bytes(path)
    if b"<!DOCTYPE" in contents or b"<!ENTITY" in contents:
        raise FormatError(path, "a label file declares no entities", remedy="remove the DOCTYPE")
    try:
        root = ElementTree.fromstring(contents)
    except ElementTree.ParseError as error:
        raise FormatError(
            path, f"not well-formed XML ({error})", line=error.position[0], remedy="correct it"
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that Python or expat does not know
        raise FormatError(path, f"not readable XML ({error})", remedy="save it as UTF-8") from None
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    if not names or None in names:
        raise FormatError(
            path, "expected <label name=...> elements", remedy="is this a Mulan label file?"
        )
    return [unquote(name) for name in names if name is not None]


def _counted(path: StrPath, header: Header, count: int) -> np.ndarray:
    width = len(header.attributes)
    if not 0 < abs(count) < width:
        raise FormatError(
            path,
            f"{abs(count)} labels asked for, but there are {width} attributes in all",
            remedy="pass labels=, a count from 1 (first) or -1 (last) that leaves some features",
        )
    return np.arange(count) if count > 0 else np.arange(width + count, width)
