"""Lines ``text <tab> label,label,... [<tab> name]``: raw text with numbered labels."""

from __future__ import annotations

from pathlib import Path

from setwise.data.dataset import Dataset
from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath, read_utf8
from setwise.data.labels import LabelSpace, first_repeated
from setwise.errors import FormatError


def read_tagged_text(path: StrPath, label_names: list[str], bad_rows: BadRows) -> Dataset:
    """Texts, as a list of strings, with their label sets; quotes mean nothing special here."""
    texts: list[str] = []
    sets: list[list[str]] = []
    names: list[str] = []
    lines = read_utf8(path).decode().rstrip("\r\n").split("\n")
    for number, line in enumerate(lines, start=1):
        fields = line.removesuffix("\r").split("\t")
        problem = _problem(fields, len(label_names))
        if problem:
            bad_rows.report(number, problem)
            continue
        texts.append(fields[0])
        sets.append([label_names[int(label)] for label in fields[1].split(",") if label])
        names.append(fields[2] if len(fields) > 2 else str(number))
    if not texts:
        raise FormatError(path, "no rows", remedy="is the file complete?")
    return Dataset(
        name=Path(path).name.split(".")[0],
        X_train=texts,
        Y_train=LabelSpace(label_names).encode(sets),
        label_names=tuple(label_names),
        row_names_train=tuple(names),
        skipped=tuple(bad_rows.skipped),
    )


def _problem(fields: list[str], n_labels: int) -> str:
    """What is wrong with a line, or nothing."""
    if len(fields) not in (2, 3):
        return f"{len(fields)} fields between tabs; expected text, labels and perhaps a name"
    labels = [label for label in fields[1].split(",") if label]
    for label in labels:
        if not label.isdecimal() or len(label) > 9 or int(label) >= n_labels:
            return f"label {label[:20]!r} is not a number from 0 to {n_labels - 1}"
    twice = first_repeated(map(int, labels))
    return f"label {twice} occurs twice in the row" if twice is not None else ""
