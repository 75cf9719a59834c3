"""The facts of a report as one HTML file that needs nothing else: no network, no fonts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from setwise.report import drawings

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


def page_of(facts: dict[str, Any]) -> str:
    """The page."""
    title = f"{facts['model']} on {facts['source']}"
    body = "".join(
        [
            _header(facts, title),
            _cards(facts),
            f'<div class="pair">{_reliability(facts)}{_accept(facts)}</div>',
            f'<div class="pair">{_data(facts)}{_measures(facts)}</div>',
            _labels(facts),
            _correlation(facts),
            _components(facts),
            _rows("The most confident mistakes", _MISTAKES, facts["mistakes"]),
            _rows("Rows the model is unsure of", _UNSURE, facts["unsure"]),
            _origin(facts),
        ]
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_part('page.css')}</style></head>"
        f"<body><main>{body}</main><script>{_part('page.js')}</script></body></html>\n"
    )


_MISTAKES = (
    "Sets that are wrong although the model was sure: often the annotation is at fault. "
    "Green outline: right; orange: wrong; dashed: missed."
)
_UNSURE = "Read these first: they teach most, to people and to the next model."


def _part(name: str) -> str:
    return files("setwise.report").joinpath(name).read_text(encoding="utf-8")


def _header(facts: dict[str, Any], title: str) -> str:
    unknown = facts["unknown_labels"]
    note = ""
    if unknown:
        some = ", ".join(map(escape, list(unknown)[:5]))
        note = (
            f'<p class="broken">{len(unknown)} labels of the file were never seen in training '
            f"({some}); their rows count as wrong.</p>"
        )
    return (
        f"<header><div><h1>{escape(title)}</h1><p class=soft>{facts['n_rows']:,} rows with known "
        f"labels; predictions for {escape(facts['target'].replace('_', ' '))}</p></div>"
        f'<button class="theme" type="button">dark / light</button></header>{note}'
    )


def _cards(facts: dict[str, Any]) -> str:
    rule = _wanted_rule(facts)
    exact, f1 = facts["measures"]["set_accuracy"], facts["measures"]["instance_f1"]
    calibration = facts["calibration"]
    cards = [
        (f"{exact['value']:.1%}", f"whole sets exactly right ({_interval(exact)})"),
        (f"{f1['value']:.3f}", f"F1, mean over rows ({_interval(f1, '.3f')})"),
        (
            f"{rule['coverage']:.1%}",
            f"may be accepted unread, at {rule['target']:.0%} accuracy",
        ),
        (
            _percent(rule["accuracy"]),
            f"of these {rule['accepted']:,} are right: the promise is "
            + ("kept" if rule["kept"] else "broken"),
        ),
        (
            f"{calibration['expected_calibration_error']:.3f}",
            "calibration error: how far confidence is off, on average",
        ),
    ]
    shown = "".join(f'<div class="card"><b>{a}</b>{escape(b)}</div>' for a, b in cards)
    return f'<section><div class="cards">{shown}</div></section>'


def _reliability(facts: dict[str, Any]) -> str:
    calibration = facts["calibration"]
    words = (
        f"Mean confidence {calibration['mean_confidence']:.1%}, right "
        f"{calibration['accuracy']:.1%}; Brier score {calibration['brier']['score']:.3f}."
    )
    return _section(
        "Does confidence come true?", words, drawings.reliability(calibration["buckets"])
    )


def _accept(facts: dict[str, Any]) -> str:
    rows = [
        [
            f"{rule['target']:.0%}",
            f"{rule['threshold']:.3f}" if rule["threshold"] is not None else "-",
            f"{rule['coverage']:.1%}",
            _percent(rule["accuracy"]),
            _verdict(rule),
        ]
        for rule in facts["accept"]
    ]
    names = ["promised", "confidence from", "accepted", "right", "the promise"]
    drawing = drawings.accuracy_coverage(facts["curve"], _wanted_rule(facts))
    return _section(
        "What may be accepted unread",
        "The surest rows are right most often. A promise is made on other rows, and checked here.",
        drawing + _table(names, rows, numbers=(1, 2, 3)),
    )


def _verdict(rule: dict[str, Any]) -> str:
    if not rule["found"]:
        return "none could be made"
    return (
        '<span class="kept">kept</span>' if rule["kept"] else '<span class="broken">broken</span>'
    )


def _data(facts: dict[str, Any]) -> str:
    train, test = facts["fit"]["statistics"], facts["statistics"]
    rows = [[words, _number(train[key]), _number(test[key])] for key, words in STATISTICS.items()]
    names = ["", "training", "this file"]
    return _section("The data", "", _table(names, rows, numbers=(1, 2)))


def _measures(facts: dict[str, Any]) -> str:
    rows = [
        [words, f"{one['value']:.4f}", _interval(one, ".4f")]
        for key, words in MEASURES.items()
        for one in [facts["measures"][key]]
    ]
    rows += [
        [name.replace("_", " "), f"{facts['ranking'][name]:.4f}", ""]
        for name in ("auc_roc", "average_precision", "one_error", "ndcg_at_5")
    ]
    names = ["measure", "value", "95% interval"]
    return _section(
        "Measures",
        "Intervals say how far chance in these rows may move a value (bootstrap).",
        _table(names, rows, numbers=(1, 2)),
    )


def _labels(facts: dict[str, Any]) -> str:
    heads = ["label", "rows", "predicted", "precision", "recall", "F1"]
    body = []
    for one in facts["labels"]:
        known = "" if one["known"] else " <span class=soft>(never seen)</span>"
        cells = [f"<td>{escape(one['label'])}{known}</td>"]
        cells += [_value(one[key], f"{one[key]:,}") for key in ("rows", "predicted")]
        cells += [_value(one[key], _percent(one[key])) for key in ("precision", "recall")]
        f1 = one["f1"] or 0.0
        cells.append(_value(one["f1"], f"{_percent(one['f1'])} {drawings.bar(f1)}"))
        body.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(
        f'<th class="{"number" if place else ""}"><button type="button">{name}</button></th>'
        for place, name in enumerate(heads)
    )
    return _section(
        "Labels",
        "A click on a column's name sorts.",
        '<input type="search" data-for="labels" placeholder="search labels" '
        'aria-label="search labels"><div class="scroll"><table class="sortable" id="labels">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>",
    )


def _correlation(facts: dict[str, Any]) -> str:
    found = facts["correlation"]
    if not found["labels"]:
        return ""
    drawing = drawings.correlations(found["labels"], found["values"])
    return _section(
        "Which labels go together",
        "Blue: together more often than by chance; orange: less. The most frequent labels.",
        f'<div class="scroll">{drawing}</div>',
    )


def _components(facts: dict[str, Any]) -> str:
    if not facts["components"]:
        return ""
    rows = [
        [
            f"{one['weight']:.1%}",
            _chips(f"{name} {value:.2f}" for name, value in one["labels"] if value >= 0.05),
            escape(", ".join(name for name, _ in one["features"])),
        ]
        for one in facts["components"]
    ]
    return _section(
        "Components of the mixture",
        "Kinds of rows that the model has found, with their labels and what is typical of them.",
        f'<div class="scroll">{_table(["weight", "labels", "typical"], rows, numbers=(0,))}</div>',
    )


def _rows(title: str, words: str, rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return _section(title, "There are none.", "")
    return _section(title, words, "".join(map(_row, rows)))


def _row(row: dict[str, Any]) -> str:
    cells = " · ".join(
        f"<b>{escape(name)}</b> {escape(cell)}" for name, cell in row["cells"].items() if cell
    )
    truth, said = set(row["truth"]), set(row["predicted"])
    shown = "".join(
        _chip(label, "right" if label in truth else "wrong") for label in row["predicted"]
    )
    missed = "".join(_chip(label, "missed") for label in row["truth"] if label not in said)
    others = "; ".join(
        f"{escape(', '.join(one['set']) or 'no label')} ({one['probability']:.2f})"
        for one in row["alternatives"]
    )
    return (
        f'<div class="row"><div class="cells">{escape(row["place"])} · {cells}</div>'
        f"<div>predicted with confidence {row['confidence']:.2f}: {shown or 'no label'}"
        f"{f' missed: {missed}' if missed else ''}</div>"
        f'<div class="soft">or: {others or "nothing else"}</div></div>'
    )


def _origin(facts: dict[str, Any]) -> str:
    fit = facts["fit"]
    told = escape(json.dumps({"settings": facts["settings"], "fit": fit}, indent=1))
    return _section(
        "How the model came about",
        f"{fit['model']} learnt from {fit['n_train']:,} rows of {fit['source']} in "
        f"{fit['seconds']:.0f} s, by setwise {fit['setwise']}. Why this model: {fit['reason']}.",
        f"<details><summary>all settings</summary><pre>{told}</pre></details>",
    )


def _wanted_rule(facts: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(
        rule for rule in facts["accept"] if rule["target"] == facts["accuracy_wanted"]
    )
    return found


def _section(title: str, words: str, body: str) -> str:
    told = f'<p class="soft">{escape(words)}</p>' if words else ""
    return f"<section><h2>{escape(title)}</h2>{told}{body}</section>"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]], numbers: tuple[int, ...]) -> str:
    """A table of cells that are HTML already."""

    def row(cells: Sequence[str], tag: str) -> str:
        marked = (
            f"<{tag}{' class=number' if place in numbers else ''}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(names, 'th')}</thead><tbody>{body}</tbody></table>"


def _value(value: float | None, shown: str) -> str:
    return f'<td class="number" data-value="{-1 if value is None else value}">{shown}</td>'


def _chips(labels: Iterable[str]) -> str:
    return "".join(_chip(label, "") for label in labels)


def _chip(label: str, kind: str) -> str:
    return f'<span class="chip {kind}">{escape(label)}</span>'


def _interval(one: dict[str, float], form: str = ".1%") -> str:
    return f"{one['low']:{form}} to {one['high']:{form}}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"
