"""The facts of a report as one HTML file that needs nothing else: no network, no fonts."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any

from setwise.report import sections
from setwise.report.html import section

_MISTAKES = (
    "Sets that are wrong although the model was sure: often the annotation is at fault. "
    "Green outline: right; orange: wrong; dashed: missed."
)
_UNSURE = "Read these first: they teach most, to people and to the next model."


def page_of(facts: dict[str, Any]) -> str:
    """The page."""
    title = f"{facts['model']} on {facts['source']}"
    body = "".join(
        [
            _header(facts, title),
            sections.cards(facts),
            f'<div class="pair">{sections.reliability(facts)}{sections.accept(facts)}</div>',
            f'<div class="pair">{sections.data(facts)}{sections.measures(facts)}</div>',
            sections.labels(facts),
            sections.correlation(facts),
            sections.components(facts),
            sections.rows_told("The most confident mistakes", _MISTAKES, facts["mistakes"]),
            sections.rows_told("Rows the model is unsure of", _UNSURE, facts["unsure"]),
            _origin(facts),
        ]
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{_part('page.css')}</style></head>"
        f"<body><main>{body}</main><script>{_part('page.js')}</script></body></html>\n"
    )


def _part(name: str) -> str:
    return files("setwise.report").joinpath(name).read_text(encoding="utf-8")


def _header(facts: dict[str, Any], title: str) -> str:
    unknown = facts["unknown_labels"]
    note = ""
    if unknown:
        some = ", ".join(map(escape, list(unknown)[:5]))
        count = "1 label" if len(unknown) == 1 else f"{len(unknown):,} labels"
        more = ", ..." if len(unknown) > 5 else ""
        note = (
            f'<p class="broken">{count} of the file {"was" if len(unknown) == 1 else "were"} never '
            f"seen in training ({some}{more}); their rows count as wrong.</p>"
        )
    if facts["note"]:
        note += f'<p class="soft">{escape(facts["note"])}.</p>'
    return (
        f"<header><div><h1>{escape(title)}</h1><p class=soft>{facts['n_rows']:,} rows with known "
        f"labels; predictions for {escape(facts['target'].replace('_', ' '))}</p></div>"
        f'<button class="theme" type="button">dark / light</button></header>{note}'
    )


def _origin(facts: dict[str, Any]) -> str:
    fit = facts["fit"]
    told = escape(json.dumps({"settings": facts["settings"], "fit": fit}, indent=1))
    return section(
        "How the model came about",
        f"{fit['model']} learnt from {fit['n_train']:,} rows of {fit['source']} in "
        f"{fit['seconds']:.0f} s, by setwise {fit['setwise']}. Why this model: {fit['reason']}.",
        f"<details><summary>all settings</summary><pre>{told}</pre></details>",
    )
