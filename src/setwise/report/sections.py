"""The parts of the page, each from the facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from setwise.models.topics.attribution import Attribution
from setwise.report import drawings
from setwise.report.html import (
    cell_of,
    chip,
    chips,
    goal,
    interval,
    number,
    percent,
    section,
    table,
)

MEASURES = {
    "set_accuracy": "whole sets exactly right",
    "instance_f1": "F1, mean over rows",
    "instance_precision": "precision, mean over rows",
    "instance_recall": "recall, mean over rows",
    "instance_jaccard": "Jaccard, mean over rows",
    "micro_f1": "F1, all labels together (micro)",
    "label_f1": "F1, mean over labels (macro)",
    "hamming_loss": "Hamming loss (less is better)",
}
RANKING = {
    "auc_roc": "AUC, mean over rows",
    "average_precision": "average precision",
    "one_error": "one-error (less is better)",
    "precision_at_1": "precision at 1",
    "ndcg_at_5": "NDCG at 5",
}
STATISTICS = {
    "n_rows": "rows",
    "n_labels": "labels",
    "cardinality": "labels per row",
    "n_distinct_sets": "different label sets",
    "unique_set_proportion": "rows with a set of their own",
    "n_empty_rows": "rows without labels",
    "max_set_size": "largest label set",
    "median_label_frequency": "rows per label, median",
}
LEAST = 0.005  # an alternative below this is none


def cards(facts: dict[str, Any]) -> str:
    """The numbers that matter most."""
    rule = wanted_rule(facts)
    exact, f1 = facts["measures"]["set_accuracy"], facts["measures"]["instance_f1"]
    at = f"at {goal(rule['target'])} accuracy"
    pairs = [
        (percent(exact["value"]), f"whole sets exactly right ({interval(exact)})"),
        (f"{f1['value']:.3f}", f"F1, mean over rows ({interval(f1, '.3f')})"),
    ]
    if rule["found"] and rule["accepted"]:
        verdict = "kept" if rule["kept"] else "broken"
        pairs += [
            (percent(rule["coverage"]), f"may be accepted unread, {at}"),
            (
                percent(rule["accuracy"]),
                f"of these {rule['accepted']:,} are right: the promise is {verdict}",
            ),
        ]
    else:
        why = "no row is so sure" if rule["found"] else "nothing can be promised"
        pairs.append(("none", f"may be accepted unread: {why} {at}"))
    off = facts["calibration"]["expected_calibration_error"]
    pairs.append((f"{off:.3f}", "calibration error: how far confidence is off, on average"))
    shown = "".join(f'<div class="card"><b>{a}</b>{escape(b)}</div>' for a, b in pairs)
    return f'<section><div class="cards">{shown}</div></section>'


def reliability(facts: dict[str, Any]) -> str:
    """Whether confidence comes true."""
    calibration = facts["calibration"]
    words = (
        f"Mean confidence {calibration['mean_confidence']:.1%}, right "
        f"{calibration['accuracy']:.1%}; Brier score {calibration['brier']['score']:.3f}."
    )
    return section(
        "Does confidence come true?", words, drawings.reliability(calibration["buckets"])
    )


def accept(facts: dict[str, Any]) -> str:
    """What may go out unread at several accuracies."""
    rows = [
        [
            goal(rule["target"]),
            f"{rule['threshold']:.3f}" if rule["threshold"] is not None else "-",
            percent(rule["coverage"]),
            percent(rule["accuracy"]),
            _verdict(rule),
        ]
        for rule in facts["accept"]
    ]
    names = ["promised", "from", "accepted", "right", "the promise"]
    words = (
        "The surest rows are right most often. A promise is made on other rows, and checked here."
    )
    if facts["groups"] is not None:
        words += f" One row is counted of all that share their {facts['groups']}."
    drawing = drawings.accuracy_coverage(facts["curve"], wanted_rule(facts))
    return section(
        "What may be accepted unread", words, drawing + table(names, rows, numbers=(1, 2, 3))
    )


def _verdict(rule: dict[str, Any]) -> str:
    if not rule["found"]:
        return '<span class="soft">none could be made</span>'
    if not rule["accepted"]:
        return '<span class="soft">no row is so sure</span>'
    word = "kept" if rule["kept"] else "broken"
    return f'<span class="{word}">{word}</span>'


def data(facts: dict[str, Any]) -> str:
    """The training rows and these rows, in numbers."""
    both = facts["fit"]["statistics"], facts["statistics"]
    rows = [
        [words, *((percent if "proportion" in key else number)(one[key]) for one in both)]
        for key, words in STATISTICS.items()
    ]
    return section("The data", "", table(["", "training", "this file"], rows, numbers=(1, 2)))


def measures(facts: dict[str, Any]) -> str:
    """All measures with their intervals."""
    rows = [
        [words, f"{one['value']:.4f}", interval(one, ".4f")]
        for key, words in MEASURES.items()
        for one in [facts["measures"][key]]
    ]
    rows += [[words, f"{facts['ranking'][key]:.4f}", ""] for key, words in RANKING.items()]
    return section(
        "Measures",
        "Intervals say how far chance in these rows may move a value (bootstrap).",
        table(["measure", "value", "95% interval"], rows, numbers=(1, 2)),
    )


def labels(facts: dict[str, Any]) -> str:
    """A table of all labels that sorts and searches."""
    heads = ["label", "rows", "predicted", "precision", "recall", "F1"]
    body = []
    for one in facts["labels"]:
        known = "" if one["known"] else " <span class=soft>(never seen)</span>"
        cells = [f"<td>{escape(one['label'])}{known}</td>"]
        cells += [cell_of(one[key], f"{one[key]:,}") for key in ("rows", "predicted")]
        cells += [cell_of(one[key], percent(one[key])) for key in ("precision", "recall")]
        bar = drawings.bar(one["f1"] or 0.0)
        cells.append(cell_of(one["f1"], f"{percent(one['f1'])} {bar}"))
        body.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(
        f'<th class="{"number" if place else ""}"><button type="button">{name}</button></th>'
        for place, name in enumerate(heads)
    )
    return section(
        "Labels",
        "A click on a column's name sorts.",
        '<div class="find"><input type="search" data-for="labels" placeholder="search labels" '
        'aria-label="search labels"><span class="soft" id="labels-count" role="status"></span>'
        '</div><div class="scroll tall" tabindex="0"><table class="sortable" id="labels">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>",
    )


def correlation(facts: dict[str, Any]) -> str:
    """A map of labels that go together, or exclude each other."""
    found = facts["correlation"]
    if not found["labels"]:
        return ""
    drawing = drawings.correlations(found["labels"], found["values"])
    return section(
        "Which labels go together",
        "Blue: together more often than by chance; orange: less. The most frequent labels.",
        f'<div class="scroll map">{drawing}</div>',
    )


def components(facts: dict[str, Any]) -> str:
    """The components of a mixture."""
    if not facts["components"]:
        return ""
    rows = [
        [
            percent(one["weight"]),
            chips(f"{name} {value:.2f}" for name, value in one["labels"] if value >= 0.05),
            escape(", ".join(name for name, _ in one["features"])),
        ]
        for one in facts["components"]
    ]
    return section(
        "Components of the mixture",
        "Kinds of rows that the model has found, with their labels and what is typical of them.",
        table(["weight", "labels", "typical"], rows, numbers=(0,)),
    )


def rows_told(title: str, words: str, rows: Sequence[dict[str, Any]]) -> str:
    """Rows with what was predicted, what is true, and what else it could be."""
    if not rows:
        return section(title, "There are none.", "")
    return section(title, words, "".join(map(_row, rows)))


def _row(row: dict[str, Any]) -> str:
    cells = " · ".join(
        f"<b>{escape(name)}</b> {escape(cell)}" for name, cell in row["cells"].items() if cell
    )
    truth, said = set(row["truth"]), set(row["predicted"])
    shown = "".join(
        chip(label, "right" if label in truth else "wrong") for label in row["predicted"]
    )
    missed = "".join(chip(label, "missed") for label in row["truth"] if label not in said)
    others = "; ".join(
        f"{one['probability']:.0%} {escape(', '.join(one['set']) or 'no label')}"
        for one in row["alternatives"]
        if one["probability"] >= LEAST
    )
    return (
        f'<div class="row"><div class="cells">{escape(row["place"])} · {cells}</div>'
        f"<div>predicted with confidence {row['confidence']:.0%}: {shown or 'no label'}"
        f"{f' missed: {missed}' if missed else ''}</div>"
        f'<div class="others">or: {others or "nothing else that is likely"}</div>'
        f"{_attribution(row)}</div>"
    )


def _attribution(row: dict[str, Any]) -> str:
    """The row's words in the colours of the labels they speak for, where the model knows."""
    told = row.get("attribution")
    if not told or not told["words"]:
        return ""
    shown = Attribution.from_dict(told).to_html()
    return f"<details><summary>what its words speak for</summary>{shown}</details>"


def wanted_rule(facts: dict[str, Any]) -> dict[str, Any]:
    """The rule of the accuracy that was asked for."""
    found: dict[str, Any] = next(
        rule for rule in facts["accept"] if rule["target"] == facts["accuracy_wanted"]
    )
    return found
