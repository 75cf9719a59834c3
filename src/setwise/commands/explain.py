"""``setwise explain``: why one row gets its set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table as Shown
from rich.text import Text

from setwise.commands.talk import Talk
from setwise.errors import DataError, FormatError
from setwise.models.topics.attribution import INK, Attribution, colour_of
from setwise.pipeline import Reading, Table, TableModel, load_model, tables_of
from setwise.pipeline.read_rows import STANDARD
from setwise.pipeline.reasons import explain_row, mixture_inside, word_attribution
from setwise.report.html import goal


def explain_one(
    talk: Talk, model_path: str, row: str, number: int, reading: Reading, accuracy: float
) -> None:
    """Explain a row: JSON, plain text, or a file and a number."""
    model = load_model(model_path)
    table = row_of(model, row, number, reading)
    facts = explain_row(model, table)
    rule = model.accept_rule(accuracy)
    accepted = bool(rule.accept([facts["confidence"]])[0])
    facts |= {"decision": "accept" if accepted else "review", "accept_accuracy": accuracy}
    mixture = mixture_inside(model)
    told = None
    if mixture is not None:
        told = mixture.explain(
            model.features(table),
            label_names=model.label_names,
            feature_names=model.encoder_.feature_names(),
        )
        facts["mixture"] = told.to_dict()
    for attribution in word_attribution(model, table):
        facts["attribution"] = attribution
    if talk.as_json:
        talk.data(facts)
        return
    show_explanation(talk, facts)
    if model.note:
        talk.say(model.note)
    if told is not None:
        talk.show(told)
    if "attribution" in facts:
        show_attribution(talk, Attribution.from_dict(facts["attribution"]))


def row_of(model: TableModel, row: str, number: int, reading: Reading) -> Table:
    """The row that is meant: a JSON object, row ``number`` of a file, or a text for its column."""
    if row.lstrip().startswith("{"):
        try:
            cells = json.loads(row)
        except ValueError as error:
            raise DataError(
                f'the row is not JSON ({error}); write it as {{"column": value, ...}}'
            ) from None
        return Table({name: [cell] for name, cell in cells.items()}, [1], "the row")
    if row == STANDARD or Path(row).is_file():
        return _numbered(row, number, reading)
    texts = [one.name for one in model.encoder_.encoders_ if one.kind == "text"]
    if len(model.encoder_.columns) == len(texts) == 1:
        return Table({texts[0]: [row]}, [1], "the row")
    raise FormatError(
        row,
        "no such file, and the model reads more than one text",
        remedy=f"pass a file, or JSON with the columns {', '.join(model.encoder_.columns)}",
    )


def _numbered(path: str, number: int, reading: Reading) -> Table:
    before = 0
    for table in tables_of(path, reading):
        if number <= before + len(table):
            place = number - before - 1
            cells = {name: [cells[place]] for name, cells in table.columns.items()}
            return Table(cells, [table.places[place]], table.source, table.unit)
        before += len(table)
    raise DataError(
        f"{path} has {before:,} rows, so there is no row {number}; choose another --row"
    )


def show_explanation(talk: Talk, facts: dict[str, Any]) -> None:
    """The set, what else it could be, and what speaks for each label."""
    text = Text("{" + ", ".join(facts["set"]) + "}", style="bold")
    text.append(
        f"  confidence {facts['confidence']:.3f}: {facts['decision']} "
        f"(accepted ones are right {goal(facts['accept_accuracy'])} of the time)\n",
        style="not bold",
    )
    for other in facts["alternatives"]:
        text.append(
            f"or {{{', '.join(other['set'])}}}, probability {other['probability']:.3f}\n",
            style="not bold dim",
        )
    talk.show(text)
    table = Shown(
        "", "label", "probability", "speaks for it", "speaks against it",
        title="What each feature adds to the log-odds of a label (* predicted)",
        title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0),
    )  # fmt: skip
    for one in facts["labels"]:
        table.add_row(
            "*" if one["predicted"] else "",
            Text(one["label"]),
            f"{one['probability']:.3f}",
            Text(_listed(one["for"], 1)),
            Text(_listed(one["against"], -1)),
        )
    talk.show(table)
    if not facts["n_known_features"]:
        talk.warn("nothing in this row is known to the model, so it says what is common")


def show_attribution(talk: Talk, told: Attribution) -> None:
    """The words in the colour of the label that each speaks for; numbers say it without colour."""
    text = Text("What words speak for, given all the others:\n")
    for j, label in enumerate(told.labels):
        text.append(f" {j + 1} {label} ", style=f"{INK} on {colour_of(j)}").append(" ")
    text.append("\n")
    for word, best in zip(told.words, told.speaks_for, strict=True):
        if best is None:
            text.append(f"{word} ", style="dim")
        else:
            text.append(f"{word} {best + 1}", style=f"{INK} on {colour_of(best)}").append(" ")
    talk.show(text)


def _listed(effects: list[dict[str, Any]], sign: int) -> str:
    return ", ".join(f"{one['feature']} {sign * one['effect']:+.2f}" for one in effects)
