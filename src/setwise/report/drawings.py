"""Drawings of a report as SVG: colours and letters come from the page, so that dark ones work.

Each function takes numbers and returns the text of one ``<svg>`` with a title for those who listen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from setwise.report.html import goal

SIDE = 340  # of a square drawing, before it is scaled to the page
MAP_WIDTH = 520  # below which the names of a map of labels cannot be read: better to scroll
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 14, 42


class Frame:
    """The square from 0 to 1 on both axes, with its grid."""

    def __init__(self, width: float = SIDE, height: float = SIDE) -> None:
        self.width, self.height = width, height

    def x(self, value: float) -> float:
        """Where a value of the horizontal axis stands."""
        return round(LEFT + value * (self.width - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        """Where a value of the vertical axis stands."""
        return round(self.height - BOTTOM - value * (self.height - TOP - BOTTOM), 1)

    def grid(self, across: str, up: str) -> list[str]:
        """Lines, numbers and the names of the axes."""
        parts = []
        for tick in (0, 0.25, 0.5, 0.75, 1):
            x, y = self.x(tick), self.y(tick)
            parts += [
                f'<line class="grid" x1="{x}" x2="{x}" y1="{self.y(0)}" y2="{self.y(1)}"/>',
                f'<line class="grid" x1="{self.x(0)}" x2="{self.x(1)}" y1="{y}" y2="{y}"/>',
                f'<text x="{x}" y="{self.y(0) + 15}" text-anchor="middle">{tick:.0%}</text>',
                f'<text x="{self.x(0) - 6}" y="{y + 4}" text-anchor="end">{tick:.0%}</text>',
            ]
        middle = self.x(0.5)
        parts.append(
            f'<text class="axis" x="{middle}" y="{self.height - 6}" text-anchor="middle">'
            f"{escape(across)}</text>"
        )
        up_y = self.y(0.5)
        parts.append(
            f'<text class="axis" x="11" y="{up_y}" text-anchor="middle" '
            f'transform="rotate(-90 11 {up_y})">{escape(up)}</text>'
        )
        return parts

    def path(self, points: Iterable[tuple[float, float]], kind: str) -> str:
        """A line through points."""
        steps = " L".join(f"{self.x(a)} {self.y(b)}" for a, b in points)
        return f'<path class="{kind}" d="M{steps}"/>'

    def drawn(self, title: str, parts: Sequence[str]) -> str:
        """All parts as one picture."""
        return _svg(self.width, self.height, title, parts)


def reliability(buckets: Sequence[dict[str, Any]]) -> str:
    """What came true over what was claimed, with standard errors; dots as large as their rows."""
    frame = Frame()
    parts = [*frame.grid("confidence", "right"), frame.path([(0, 0), (1, 1)], "ideal")]
    most = max((bucket["count"] for bucket in buckets), default=1.0)
    for bucket in buckets:
        c, a, error = bucket["mean_confidence"], bucket["accuracy"], bucket["standard_error"]
        low, high = max(0.0, a - 2 * error), min(1.0, a + 2 * error)
        radius = round(3 + 7 * (bucket["count"] / most) ** 0.5, 1)
        tip = f"{bucket['count']:.0f} rows: confidence {c:.1%}, right {a:.1%}"
        parts += [
            f'<line class="error" x1="{frame.x(c)}" x2="{frame.x(c)}" '
            f'y1="{frame.y(low)}" y2="{frame.y(high)}"/>',
            f'<circle class="dot" cx="{frame.x(c)}" cy="{frame.y(a)}" r="{radius}">'
            f"<title>{escape(tip)}</title></circle>",
        ]
    return frame.drawn("Reliability: how often sets are right, by confidence", parts)


def accuracy_coverage(curve: dict[str, list[float]], rule: dict[str, Any]) -> str:
    """Accuracy of the surest rows over their share, with the share that a rule accepts."""
    frame = Frame(440, SIDE)
    points = list(zip(curve["coverage"], curve["accuracy"], strict=True))
    lower = list(zip(curve["coverage"], curve["lower"], strict=True))
    upper = list(zip(curve["coverage"], curve["upper"], strict=True))
    band = frame.path([*lower, *reversed(upper)], "band")
    target = rule["target"]
    parts = [
        *frame.grid("share of rows, the surest first", "right"),
        band,
        frame.path(points, "line"),
        frame.path([(0, target), (1, target)], "ideal"),
        f'<text x="{frame.x(1)}" y="{frame.y(target) - 5}" text-anchor="end">'
        f"{goal(target)} wanted</text>",
    ]
    if rule["found"] and rule["accepted"]:
        at = rule["coverage"]
        flip = at > 0.7
        parts += [
            f'<line class="rule" x1="{frame.x(at)}" x2="{frame.x(at)}" '
            f'y1="{frame.y(0)}" y2="{frame.y(1)}"/>',
            f'<circle class="dot" cx="{frame.x(at)}" cy="{frame.y(rule["accuracy"])}" r="5"/>',
            f'<text class="note" x="{frame.x(at) + (-7 if flip else 7)}" y="{frame.y(0.06)}" '
            f'text-anchor="{"end" if flip else "start"}">accepted {at:.1%}</text>',
        ]
    return frame.drawn("Accuracy over coverage, with the accept threshold", parts)


def correlations(labels: Sequence[str], values: Sequence[Sequence[float]]) -> str:
    """A map: blue cells go together, orange ones exclude each other."""
    if not labels:
        return ""
    cell, room = 20, 8 + 6.2 * max(len(label) for label in labels)
    size = round(room + cell * len(labels) + 4, 1)
    parts = []
    for i, row in enumerate(values):
        y = room + i * cell
        parts.append(
            f'<text x="{room - 5:.1f}" y="{y + 14:.1f}" text-anchor="end">'
            f"{escape(labels[i])}</text>"
        )
        x = room + i * cell + 13
        parts.append(
            f'<text x="{x:.1f}" y="{room - 5:.1f}" transform="rotate(-90 {x:.1f} {room - 5:.1f})">'
            f"{escape(labels[i])}</text>"
        )
        for j, value in enumerate(row):
            if i == j:
                continue
            kind = "together" if value >= 0 else "apart"
            tip = f"{labels[i]} and {labels[j]}: {value:+.2f}"
            parts.append(
                f'<rect class="{kind}" x="{room + j * cell:.1f}" y="{y:.1f}" width="{cell - 1}" '
                f'height="{cell - 1}" fill-opacity="{min(1.0, abs(value)) ** 0.5:.2f}">'
                f"<title>{escape(tip)}</title></rect>"
            )
    return _svg(size, size, "Correlations of labels", parts, least=MAP_WIDTH)


def bar(share: float) -> str:
    """A small bar for a cell of a table."""
    width = 100 * max(0.0, min(1.0, share))
    return f'<span class="bar"><span style="width:{width:.1f}%"></span></span>'


def _svg(width: float, height: float, title: str, parts: Sequence[str], least: float = 0.0) -> str:
    """A picture as wide as its place, but for limits: ``least``, and its own width."""
    style = f"max-width:{width}px;min-width:{min(width, least):g}px"
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f'style="{style}">{"".join(parts)}</svg>'
    )
