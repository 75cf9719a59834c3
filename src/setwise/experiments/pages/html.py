"""Facts of results as one HTML file that needs nothing else: no network, no fonts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from setwise.experiments.pages.compare import Pivot
from setwise.experiments.pages.drawings import critical_difference_diagram, curves
from setwise.experiments.pages.markdown import (
    KEY,
    by_paper,
    cell_text,
    first_places,
    more_tables,
    rank_sentence,
    sentences,
)

STYLE = """
:root{color-scheme:light dark;--ink:#1d2530;--soft:#667;--line:#d5dae2;--paper:#fff;--best:#e8f1fb}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#9aa4b2;--line:#39424f;
--paper:#14181e;--best:#1e3450}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:1150px;margin:0 auto;padding:24px}
h1{margin:0 0 4px}h2{margin:36px 0 8px;border-bottom:2px solid var(--line)}h3{margin:28px 0 4px}
p,ul{margin:6px 0}.soft,li{color:var(--soft)}.scroll{overflow-x:auto}
table{border-collapse:collapse;margin:8px 0 14px;font-size:13px}
th,td{padding:3px 10px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}td.best{background:var(--best);font-weight:600}
.better{color:#2a8a4a}.worse{color:#c0392b}.failed{color:#c0392b}
svg{width:100%;display:block;margin:8px 0}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
.thin{stroke:var(--ink);stroke-width:1;fill:none}.bar{stroke:var(--ink);stroke-width:4}
.grid{stroke:var(--line)}nav a{margin-right:14px}
"""


def page_of(facts: dict[str, Any]) -> str:
    """The page."""
    body = [_header(facts)]
    for paper, places in by_paper(facts):
        body.append(f"<h2>{escape(paper)}</h2><ul>{''.join(map(_place, places))}</ul>")
        body += [
            _experiment(name, facts["experiments"][name]) for name in first_places(facts, places)
        ]
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Results</title><style>{STYLE}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _header(facts: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    machine = ", ".join(f"{name.replace('_', ' ')} {v}" for name, v in facts["machine"].items())
    key = escape(KEY.replace("**", "")).replace("Bold", "Shaded")
    return (
        f"<h1>Results</h1><p class=soft>Made on {facts['made']} from {facts['n_units']} parts, "
        f"{facts['n_failed']} of them failed; {facts['hours']:.1f} hours of runs, finished "
        f"{escape(facts['finished'])}.<br>{escape(versions)}<br>{escape(machine)}</p><p>{key}</p>"
    )


def _place(place: dict[str, Any]) -> str:
    links = ", ".join(f'<a href="#{name}">{name}</a>' for name in place["experiments"])
    missing = f" ({escape(place['missing'])})" if place["missing"] else ""
    not_run = f" Not run: {', '.join(place['not_run'])}." if place["not_run"] else ""
    return (
        f"<li><b>{escape(place['table'])}</b>, {escape(place['about'])}: "
        f"{links or 'nothing yet'}{missing}.{not_run}</li>"
    )


def _experiment(name: str, told: dict[str, Any]) -> str:
    parts = [f'<section id="{name}"><h3>{name}: {escape(told["title"])}</h3>']
    parts.append("<ul>" + "".join(f"<li>{escape(one)}</li>" for one in sentences(told)) + "</ul>")
    if told["kind"] == "study":
        for table in told["tables"]:
            parts.append(f"<p><b>{escape(table['title'])}</b></p>")
            parts.append(_table(table["columns"], table["rows"]))
            parts += [curves(title, lines) for title, lines in table["curves"].items()]
            parts.append(f"<p class=soft>{escape(table['notes'])}</p>")
    else:
        parts += [_pivot(pivot) for pivot in told["pivots"]]
        for title, heads, rows in more_tables(told):
            parts.append(f"<p><b>{escape(title)}</b></p>{_table(heads, rows)}")
        parts += [f"<p>{escape(one)}</p>" for one in told["certified"]]
    parts += [f"<p class=failed>failed: {escape(reason)}</p>" for reason in told["failed"]]
    return "".join(parts) + "</section>"


def _pivot(pivot: Pivot) -> str:
    less = " (less is better)" if pivot.less_is_better else ""
    sources = f"; published: {escape('; '.join(pivot.sources))}" if pivot.sources else ""
    ranks, mean = pivot.ranks, pivot.mean_ranks
    heads = ["model", *pivot.datasets, *(["mean rank"] if ranks else [])]
    rows = []
    for name, cells in pivot.rows.items():
        row = [f"<td>{escape(name)}</td>"]
        for data in pivot.datasets:
            cell = cells.get(data)
            kind = "best" if cell is not None and cell.is_best else ""
            text = "" if cell is None else escape(cell_text(cell, pivot.measure))
            for mark, sign in (("better", "▲"), ("worse", "▼")):
                text = text.replace(sign, f'<span class="{mark}">{sign}</span>')
            row.append(f'<td class="{kind}">{text}</td>')
        if ranks:
            theirs = pivot.published_ranks.get(name)
            shown = f"{mean[name]:.2f}" if name in mean else ""
            row.append(f"<td>{shown}{f' ({theirs:.2f})' if theirs is not None else ''}</td>")
        rows.append(f"<tr>{''.join(row)}</tr>")
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    drawn = ""
    if ranks:
        drawn = f"<p class=soft>{escape(rank_sentence(pivot))}</p>"
        if ranks["n_datasets"] > 2:
            drawn += critical_difference_diagram(ranks)
    return (
        f"<p><b>{escape(pivot.title)}</b>{less}{sources}</p><div class=scroll><table><thead><tr>"
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{drawn}"
    )


def _table(heads: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{escape(str(one))}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    head = f"<thead><tr>{head}</tr></thead>"
    return f"<div class=scroll><table>{head}<tbody>{body}</tbody></table></div>"
