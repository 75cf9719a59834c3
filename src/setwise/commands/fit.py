"""``setwise fit``: from a file of examples to a model in one file."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table as Shown
from rich.text import Text

from setwise.commands.talk import Talk, share
from setwise.errors import FormatError
from setwise.pipeline import FitSettings, Reading, TableModel, fit_table, read_settings, read_table
from setwise.pipeline.build import Choice, keeps_rows
from setwise.pipeline.compared import named
from setwise.pipeline.judging import MEASURES
from setwise.storage import check_target

ACCURACIES = (0.9, 0.95)
ROWS_KEPT = (
    "The file holds training rows, all or some, as the numbers that their columns became: new rows "
    "are compared with them."
)
_WORDS = {
    "set_accuracy": "whole sets exactly right",
    "instance_f1": "F1 of a row, mean",
    "micro_f1": "micro F1",
    "label_f1": "macro F1",
    "hamming_loss": "Hamming loss",
}


def fit_file(
    talk: Talk,
    path: str,
    out: str,
    given: dict[str, Any],
    settings_path: str | None,
    reading: Reading,
) -> None:
    """Learn from a file and write the model; what is ``given`` goes before the file of settings."""
    from_file = read_settings(settings_path) if settings_path else {}
    named = {key.replace("-", "_"): value for key, value in from_file.items()}
    options = {**named.get("options", {}), **given.get("options", {})}
    merged = {**named, **given} | ({"options": options} if options else {})
    settings = FitSettings.of(merged, settings_path or "the settings")
    check_target(out)
    check_writable(out)
    with talk.doing(f"reading {path}") as update:
        table = read_table(path, reading)
        model = fit_table(table, settings, update)
    model.facts_["reading"] = asdict(reading)
    model.save(out)
    if talk.as_json:
        talk.data(
            {"out": out, "settings": model.settings, **model.facts_, "accept": _accept(model)}
        )
    elif not talk.quiet:
        show_fit(talk, model, out)


def check_writable(out: str) -> None:
    """Refuse, before any work is done, a path that cannot be written to."""
    if Path(out).is_dir():
        raise FormatError(out, "a folder, not a file to write to", remedy="add a file name")
    folder = Path(out).parent
    if not folder.is_dir():
        raise FormatError(out, "there is no such folder to write to", remedy="create it first")
    if not os.access(folder, os.W_OK):
        raise FormatError(out, "may not write into the folder", remedy="choose another --out")


def show_fit(talk: Talk, model: TableModel, out: str) -> None:
    """What was learnt, from what, why this model, and what can be expected of it."""
    facts = model.facts_
    talk.show(_columns(model))
    if facts["trials"]:
        talk.show(_trials(model))
        talk.show(Text(f"Chosen: {facts['reason']}.\n"))
    where = "rows that were kept apart" if model.is_exact_ else "rows, each by a model without it"
    table = _table(f"On {facts['n_judged']:,} {where}", "", "value")
    for name, words in _WORDS.items():
        if name in facts["measures"]:
            table.add_row(words, f"{facts['measures'][name]:.4f}")
    for fact in _accept(model):
        words = f"may be accepted unread at {fact['target']:.0%} accuracy"
        table.add_row(words, share(fact["coverage"]) + ("" if fact["found"] else " (no promise)"))
    talk.show(table)
    if model.note:
        talk.show(Text(f"{model.note}.\n"))
    chosen = Choice(facts["model"], facts["model_options"])
    if facts.get("keeps_rows", keeps_rows(chosen)):  # files of before do not say it
        hint = " --no-keep-rows does without such models." if facts["trials"] else ""
        talk.show(Text(f"{ROWS_KEPT}{hint}\n"))
    talk.show(
        Text(
            f"{facts['model']} learnt from {facts['n_train']:,} rows in {facts['seconds']:.0f} s; "
            f"written to {out}.\nNext: setwise predict {out} NEW.csv --out predicted.csv"
        )
    )


def _accept(model: TableModel) -> list[dict[str, Any]]:
    rules = [model.accept_rule(accuracy) for accuracy in ACCURACIES]
    return [
        {
            "target": rule.target_accuracy,
            "found": rule.found_,
            "coverage": rule.coverage_,
            "message": rule.message_,
        }
        for rule in rules
    ]


def _columns(model: TableModel) -> Shown:
    table = _table("Columns", "column", "used as", "what")
    kinds = model.facts_["columns"]
    for role in model.facts_["roles"]:
        used = role["kind"] != "ignored"
        what = f"{kinds[role['column']][1]} ({role['reason']})" if used else role["reason"]
        table.add_row(Text(role["column"]), role["kind"], Text(what))
    labels = model.labels_
    example = ", ".join(labels.names_[:3]) + (", ..." if len(labels.names_) > 3 else "")
    columns = ", ".join(labels.columns[:3]) + (", ..." if len(labels.columns) > 3 else "")
    table.add_row(Text(columns), "labels", Text(f"{len(labels.names_):,}: {example}"))
    return table


def _trials(model: TableModel) -> Shown:
    measure = MEASURES[model.settings["target"]][0].replace("_", " ").replace("f1", "F1")
    table = _table("Models compared on held-out rows", "model", measure, "seconds", "")
    chosen = named(model.facts_["model"], model.facts_["model_options"])
    for trial in model.facts_["trials"]:
        value = "-" if trial["value"] is None else f"{trial['value']:.4f}"
        name = named(trial["model"], trial["options"])
        is_chosen = name == chosen
        note = "chosen" if is_chosen else trial["note"]
        style = "bold" if is_chosen else ""
        table.add_row(name, value, f"{trial['seconds']:.1f}", note, style=style)
    return table


def _table(title: str, *columns: str) -> Shown:
    return Shown(*columns, title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
