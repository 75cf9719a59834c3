"""Facts of results as Markdown: each table with published values beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from setwise.experiments.pages.compare import SECONDS, Cell, Pivot

MARKS = {"better": "▲", "worse": "▼", "": ""}
KEY = (
    "Cells: ours ± deviation over seeds or folds (published). **Bold**: the best of a column, and "
    "those that a paired test at 5% does not tell from it. ▲ ▼: above or below the published value "
    "(better, worse) by more than two standard errors. A line before the tables says where data or "
    "protocol differ from the paper's."
)


def markdown_of(facts: dict[str, Any]) -> str:
    """The whole page."""
    lines = ["# Results", "", *_origin(facts), "", KEY, ""]
    kept = facts.get("kept", {})
    for paper, places in by_paper(facts):
        lines += [f"## {paper}", ""]
        for place in places:
            lines += _place(place)
        for name in first_places(facts, places):
            if name in kept:
                lines += ["", f"### {name}", "", *kept[name].split("\n"), ""]
            else:
                lines += _experiment(name, facts["experiments"][name])
    return "\n".join(lines).rstrip() + "\n"


def by_paper(facts: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Places in the order of the papers."""
    papers = dict.fromkeys(place["paper"] for place in facts["places"])
    return [
        (paper, [place for place in facts["places"] if place["paper"] == paper]) for paper in papers
    ]


def first_places(facts: dict[str, Any], places: Sequence[dict[str, Any]]) -> list[str]:
    """Experiments that are told under these places: where they come first."""
    earlier = facts["places"][: facts["places"].index(places[0])]
    before = {name for place in earlier for name in place["experiments"]}
    names = dict.fromkeys(name for place in places for name in place["experiments"])
    return [name for name in names if name not in before]


def number(value: float, measure: str) -> str:
    """A figure with as many digits as its measure deserves."""
    return f"{value:,.1f}" if measure in (*SECONDS, "cll_loss") else f"{value:.4f}"


def published_number(value: float) -> str:
    """A figure as papers print it: four digits, large ones whole.

    >>> published_number(0.68301), published_number(213400.0)
    ('0.683', '213,400')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def with_deviation(mean: float, deviation: float | None) -> str:
    """A mean over runs, and how far they differ where there are several.

    >>> with_deviation(0.5, 0.25), with_deviation(0.5, None)
    ('0.5000 ± 0.2500', '0.5000')
    """
    return f"{mean:.4f}" if deviation is None else f"{mean:.4f} ± {deviation:.4f}"


def cell_text(cell: Cell, measure: str) -> str:
    """A cell without emphasis."""
    text = number(cell.mean, measure)
    if cell.n_runs > 1:
        text += f" ± {number(cell.deviation, measure)}"
    if cell.published is not None:
        theirs = published_number(cell.published)
        if cell.published_deviation is not None:
            theirs += f" ± {published_number(cell.published_deviation)}"
        text += f" ({theirs}){' ' + MARKS[cell.mark] if cell.mark else ''}"
    return text


def sentences(told: dict[str, Any]) -> list[str]:
    """What must be known before the tables are read."""
    found = [_measured(told["origin"])]
    if told["quick"]:
        found.append("A quick run: small data sets, few seeds; not the paper's protocol.")
    if told["protocol"]:
        found.append(f"Protocol: {told['protocol']}; seeds {', '.join(map(str, told['seeds']))}.")
    found += told["differences"]
    found += _apart(told["processors"])
    if told["absent"]:
        found.append(f"Not run yet on {', '.join(told['absent'])}.")
    if told["notes"]:
        found.append(told["notes"])
    return found + [f"Warned of: {line}." for line in told["warnings"]]


def rank_sentence(pivot: Pivot) -> str:
    """Friedman's test in words."""
    ranks = pivot.ranks or {}
    p = ranks["p_value"]
    verdict = "differ" if p < 0.05 else "are not told apart"
    return (
        f"Mean ranks over {ranks['n_datasets']} data sets: the models {verdict} "
        f"(Friedman, p = {p:.3g}); critical difference {ranks['critical_difference']:.2f} "
        "(Nemenyi)."
    )


def _apart(processors: dict[str, list[str]]) -> list[str]:
    """Which seconds do not compare, as they were taken on different processors.

    >>> for sentence in _apart({"EPYC": ["BR", "CBM"], "Xeon": ["CBM"]}):
    ...     print(sentence)
    Mostly run on EPYC; on Xeon: CBM. Seconds of one do not compare with those of the other.
    """
    first, *others = processors or [""]
    if not others:
        return []
    those = "; ".join(f"on {name}: {', '.join(processors[name])}" for name in others)
    return [
        f"Mostly run on {first}; {those}. Seconds of one do not compare with those of the other."
    ]


def _measured(origin: dict[str, Any]) -> str:
    """When and from what a section was made; ``kept`` knows it by its first word."""
    source = origin["source"]
    return (
        f"Measured {origin['finished']}: {origin['n_units']} parts, "
        f"{origin['seconds'] / 3600:.2f} hours{f', source {source}' if source else ''}."
    )


def _origin(facts: dict[str, Any]) -> list[str]:
    kept_from = facts.get("kept_from", "")
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    machine = facts["machine"]
    return [
        f"Made by `setwise bench report` on {facts['made']}, from {facts['n_units']} parts that "
        f"took {facts['hours']:.1f} hours (finished {facts['finished']}; {facts['n_failed']} "
        "failed).",
        "",
        f"Versions: {versions}. Machine class: {machine.get('cores', '?')} cores of "
        f"{machine.get('processor', '?')}, {machine.get('memory_gigabytes', '?')} GB, "
        f"{machine.get('system', '?')}; {facts['threads'] or '?'} threads a part.",
        *(["", kept_from] if kept_from else []),
    ]


def _place(place: dict[str, Any]) -> list[str]:
    told = ", ".join(f"[{name}](#{_anchor(name)})" for name in place["experiments"])
    missing = f" ({place['missing']})" if place["missing"] else ""
    not_run = f" Not run: {', '.join(place['not_run'])}." if place["not_run"] else ""
    return [f"- {place['table']}, {place['about']}: {told or 'nothing yet'}{missing}.{not_run}"]


def _anchor(heading: str) -> str:
    """How a heading is linked to: without commas, and with dashes for spaces."""
    return heading.replace(",", "").replace(" ", "-")


def _experiment(name: str, told: dict[str, Any]) -> list[str]:
    end = "" if told["title"].endswith("?") else "."
    lines = ["", f"### {name}", "", f"{told['title']}{end}", ""]
    lines += [f"- {sentence}" for sentence in sentences(told)] + [""]
    if told["kind"] == "study":
        for table in told["tables"]:
            lines += _study(table)
    else:
        for pivot in told["pivots"]:
            lines += _pivot(pivot)
        for title, heads, rows in more_tables(told):
            lines += [f"**{title}**", "", *table_lines(heads, rows), ""]
        lines += [*told["certified"], ""] if told["certified"] else []
    lines += [f"- Failed: {reason}" for reason in told["failed"]]
    return [*lines, ""] if told["failed"] else lines


def _pivot(pivot: Pivot) -> list[str]:
    less = " (less is better)" if pivot.less_is_better else ""
    sources = f"; published: {'; '.join(pivot.sources)}" if pivot.sources else ""
    lines = [f"**{pivot.title}**{less}{sources}", ""]
    heads = ["model", *pivot.datasets]
    ranked = (
        dict(zip(pivot.ranks["models"], pivot.ranks["mean"], strict=True)) if pivot.ranks else {}
    )
    if ranked:
        heads.append("mean rank")
    rows = []
    for name, cells in pivot.rows.items():
        row = [name]
        for data in pivot.datasets:
            cell = cells.get(data)
            text = "" if cell is None else cell_text(cell, pivot.measure)
            row.append(f"**{text}**" if cell is not None and cell.is_best else text)
        if ranked:
            theirs = pivot.published_ranks.get(name)
            told = f"{ranked[name]:.2f}" if name in ranked else ""
            row.append(told + (f" ({theirs:.2f})" if told and theirs is not None else ""))
        rows.append(row)
    lines += table_lines(heads, rows)
    return [*lines, "", *([rank_sentence(pivot), ""] if ranked else [])]


def more_tables(told: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Title, heads and rows of what is compared beside the papers."""
    tables = []
    if told["contrasts"]:
        rows = [
            [
                one["dataset"], one["measure"], with_deviation(*one["ours"]), one["rival"],
                with_deviation(*one["theirs"]),
                f"{one['gap']:+.4f} ({one['low']:+.4f} to {one['high']:+.4f})", one["verdict"],
            ]
            for one in told["contrasts"]
        ]  # fmt: skip
        heads = ["data", "measure", "ours", "best peer", "theirs", "gap (95%)", "ours is"]
        title = "Our default beside the best peer, by a paired bootstrap over test rows"
        tables.append((title, heads, rows))
    if told["reference"]:
        rows = [
            [*row, with_deviation(ours, spread), f"{theirs:.4f}"]
            for *row, ours, spread, theirs in told["reference"]
        ]
        heads = ["data", "model", "measure", "ours", "the authors' program"]
        tables.append(("Beside the authors' own program, on the same split", heads, rows))
    return tables


def _study(table: dict[str, Any]) -> list[str]:
    lines = [f"**{table['title']}**", "", *table_lines(table["columns"], table["rows"]), ""]
    return [*lines, table["notes"], ""] if table["notes"] else lines


def table_lines(heads: Sequence[Any], rows: Iterable[Sequence[Any]]) -> list[str]:
    """A Markdown table."""
    told = ["| " + " | ".join(map(str, heads)) + " |", "|" + "---|" * len(heads)]
    return told + [
        "| " + " | ".join(str(cell).replace("|", "/") for cell in row) + " |" for row in rows
    ]
