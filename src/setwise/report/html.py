"""Small pieces of HTML: sections, tables, chips, numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def section(title: str, words: str, body: str) -> str:
    """A part of the page; ``words`` are text, ``body`` is HTML already."""
    told = f'<p class="soft">{escape(words)}</p>' if words else ""
    return f"<section><h2>{escape(title)}</h2>{told}{body}</section>"


def table(names: Sequence[str], rows: Iterable[Sequence[str]], numbers: tuple[int, ...]) -> str:
    """A table of cells that are HTML already; those of ``numbers`` stand to the right."""

    def row(cells: Sequence[str], tag: str) -> str:
        marked = (
            f"<{tag}{' class=number' if place in numbers else ''}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    inside = f"<table><thead>{row(names, 'th')}</thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{inside}</div>'


def cell_of(value: float | None, shown: str) -> str:
    """A cell that sorts by its value; what has none comes last."""
    return f'<td class="number" data-value="{-1 if value is None else value}">{shown}</td>'


def chips(labels: Iterable[str]) -> str:
    """Labels, each in a box."""
    return "".join(chip(label, "") for label in labels)


def chip(label: str, kind: str) -> str:
    """A label in a box of some kind: right, wrong, missed."""
    return f'<span class="chip {kind}">{escape(label)}</span>'


def interval(one: dict[str, float], form: str = ".1%") -> str:
    """From where to where a measure may lie.

    >>> interval({"low": 0.1, "high": 0.25})
    '10.0% to 25.0%'
    """
    return f"{one['low']:{form}} to {one['high']:{form}}"


def percent(value: float | None) -> str:
    """A share, or a dash where there is none."""
    return "-" if value is None else f"{value:.1%}"


def goal(share: float) -> str:
    """A share that somebody has asked for, as it was asked for.

    >>> goal(0.9), goal(0.995)
    ('90%', '99.5%')
    """
    return f"{100 * share:.6g}%"


def number(value: Any) -> str:
    """A count, or a number that need not be exact.

    >>> number(12345), number(3.14159)
    ('12,345', '3.14')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"
