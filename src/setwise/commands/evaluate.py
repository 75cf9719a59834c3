"""``setwise evaluate``: how good a model is on rows whose labels are known."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table as Shown
from rich.text import Text

from setwise.commands.talk import Talk, share
from setwise.pipeline import Reading, Table, TableModel, load_model, read_table
from setwise.pipeline.evaluation import ACCURACIES, Judged, evaluation, judge
from setwise.report.html import goal
from setwise.report.sections import MEASURES, RANKING

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MANY = 15  # labels of the table that are shown


def read_and_judge(
    talk: Talk, model: TableModel, path: str, reading: Reading
) -> tuple[Table, Judged]:
    """The rows of a file, and what the model says of them beside the truth."""
    with talk.doing(f"reading {path}"):
        table = read_table(path, reading)
    with talk.doing(f"predicting {len(table):,} rows"):
        judged = judge(model, table)
    warn_of_strangers(talk, model, table)
    return table, judged


def warn_of_strangers(talk: Talk, model: TableModel, table: Table) -> None:
    """Tell of columns that hold other things than they did in training."""
    for column, example in model.encoder_.strangers(table).items():
        talk.warn(
            f"column {column!r} of {table.source} holds nothing that the model knows, such as "
            f"{example!r}, and counts for nothing; check that it is the column of the training file"
        )


def evaluate_file(
    talk: Talk,
    model_path: str,
    path: str,
    reading: Reading,
    *,
    draws: int,
    accuracy: float | None,
    all_labels: bool,
) -> None:
    """Measure a model on a file."""
    model = load_model(model_path)
    accuracies = ACCURACIES if accuracy is None else (accuracy,)
    table, judged = read_and_judge(talk, model, path, reading)
    with talk.counting("drawing rows again", draws) as tick:
        facts = evaluation(model, table, judged, accuracies=accuracies, draws=draws, tick=tick)
    if judged.unknown:
        talk.warn(unknown_sentence(path, judged.unknown))
    if talk.as_json:
        talk.data(facts)
    else:
        show_evaluation(talk, facts, path, MANY if not all_labels else len(facts["labels"]))


def unknown_sentence(path: str, unknown: dict[str, int]) -> str:
    """What labels the model has never seen, and what that means."""
    few = ", ".join(repr(label) for label in list(unknown)[:3])
    more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    return (
        f"{path} has labels that the model has never seen ({few}{more}), in "
        f"{sum(unknown.values()):,} places; their rows count as wrong; fit again with such rows"
    )


def show_evaluation(talk: Talk, facts: dict[str, Any], path: str, many: int) -> None:
    """The tables, and what to know of the confidence in them."""
    if facts["note"]:
        talk.say(f"{facts['note']}\n")
    talk.show(
        _measures(facts, path),
        _accept(facts),
        _coverage(facts),
        _reliability(facts),
        _labels(facts, many),
    )


def _measures(facts: dict[str, Any], path: str) -> Shown:
    title = f"{facts['model']} on {facts['n_rows']:,} rows of {path}"
    table = _table(title, "", "value", "95% interval")
    for name, words in MEASURES.items():
        one = facts["measures"][name]
        table.add_row(words, f"{one['value']:.4f}", f"{one['low']:.4f} to {one['high']:.4f}")
    table.add_section()
    for name, words in RANKING.items():
        table.add_row(words, f"{facts['ranking'][name]:.4f}", "")
    return table


def _accept(facts: dict[str, Any]) -> Shown:
    by = f" (one row counted of each {facts['groups']})" if facts["groups"] else ""
    table = _table(
        f"What may be accepted unread{by}",
        *("promised", "accepted", "rows", "right", "the promise"),
    )
    for fact in facts["accept"]:
        verdict = "kept" if fact["kept"] else "broken"
        verdict = verdict if fact["accepted"] else "no row is so sure"
        table.add_row(
            goal(fact["target"]),
            share(fact["coverage"]),
            f"{fact['accepted']:,}",
            share(fact["accuracy"]),
            Text(verdict if fact["found"] else "none could be made"),
            style="" if fact["kept"] else "red",
        )
    return table


def _coverage(facts: dict[str, Any]) -> Shown:
    curve = facts["curve"]
    table = _table(
        "Accuracy of the surest rows", "surest", "right", "confidence from", align_first="right"
    )
    for wanted in COVERAGES:
        at = next((i for i, c in enumerate(curve["coverage"]) if c >= wanted - 1e-9), None)
        if at is not None:
            row = (curve["coverage"][at], curve["accuracy"][at])
            table.add_row(*map(share, row), f"{curve['threshold'][at]:.3f}")
    return table


def _reliability(facts: dict[str, Any]) -> Shown:
    calibration = facts["calibration"]
    table = _table(
        f"Does confidence come true? (mean {share(calibration['mean_confidence'])}, right "
        f"{share(calibration['accuracy'])}, calibration error "
        f"{calibration['expected_calibration_error']:.3f}, Brier score "
        f"{calibration['brier']['score']:.3f})",
        *("confidence", "rows", "mean confidence", "right"),
    )
    for bucket in calibration["buckets"]:
        table.add_row(
            f"{bucket['lower']:.1f} to {bucket['upper']:.1f}",
            f"{bucket['count']:.0f}",
            share(bucket["mean_confidence"]),
            share(bucket["accuracy"]),
        )
    return table


def _labels(facts: dict[str, Any], many: int) -> Shown:
    shown = facts["labels"][:many]
    hidden = len(facts["labels"]) - len(shown)
    table = _table(
        f"Labels{f' ({hidden:,} more with --all-labels)' if hidden else ''}",
        *("label", "rows", "predicted", "precision", "recall", "F1"),
    )
    for one in shown:
        table.add_row(
            Text(one["label"] + ("" if one["known"] else " (never seen)")),
            f"{one['rows']:,}",
            f"{one['predicted']:,}",
            *(share(one[name]) for name in ("precision", "recall", "f1")),
        )
    return table


def _table(title: str, *columns: str, align_first: str = "left") -> Shown:
    table = Shown(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, column in enumerate(columns):
        table.add_column(
            column, justify="left" if place == 0 and align_first == "left" else "right"
        )
    return table
