"""Drawings of a page as SVG: a diagram of critical differences, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10
from typing import Any

COLOURS = ("#2f6fb0", "#c4622d", "#3a8f5c", "#8a5aa8", "#b03a5b", "#6b7280", "#a08a1f")
MOST_MARKS = 16  # values of x, above which round numbers are written below instead
Points = Sequence[Sequence[float]]


def critical_difference_diagram(ranks: Mapping[str, Any]) -> str:
    """Models on a line of mean ranks; bars join those that chance may have told apart."""
    pairs = sorted(zip(ranks["mean"], ranks["models"], strict=True))
    k, cd = len(pairs), ranks["critical_difference"]
    side = 50 + 7 * max(len(name) for _, name in pairs)  # room for names
    width, left, right, top = 420 + 2 * side, side, side, 62
    rows = (k + 1) // 2
    bars = _cliques([rank for rank, _ in pairs], cd)
    first_row = top + 18 + 9 * len(bars)
    height = first_row + 20 * rows + 8

    def at(rank: float) -> float:
        return round(left + (rank - 1) / max(k - 1, 1) * (width - left - right), 1)

    parts = [_line(at(1), top, at(k), top)]
    parts += [
        f"{_line(at(n), top - 5, at(n), top)}{_text(at(n), top - 9, str(n), 'middle')}"
        for n in range(1, k + 1)
    ]
    end = at(1 + min(cd, k - 1))
    parts += [
        _line(at(1), 22, end, 22, "bar"),
        _text(at(1), 15, f"critical difference {cd:.2f}", "start"),
    ]
    for number, (low, high) in enumerate(bars):
        y = top + 12 + 9 * number
        parts.append(_line(at(pairs[low][0]) - 4, y, at(pairs[high][0]) + 4, y, "bar"))
    for place, (rank, name) in enumerate(pairs):
        is_left = place < rows
        y = first_row + 20 * (place if is_left else k - 1 - place) + 8
        edge = left - 8 if is_left else width - right + 8
        parts += [
            f'<path class="thin" d="M{at(rank)} {top} V{y} H{edge}"/>',
            _text(edge + (-4 if is_left else 4), y + 4, f"{name} {rank:.2f}",
                  "end" if is_left else "start"),
        ]  # fmt: skip
    return _svg(width, height, "Mean ranks with the critical difference", parts)


def curves(title: str, lines: Mapping[str, Points], log_x: bool | None = None) -> str:
    """Lines through points, with their names beside; a wide range across is drawn by logarithms."""
    lines = {name: points for name, points in lines.items() if points}
    if not lines:
        return ""
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points]
    if log_x is None:
        log_x = min(xs) > 0 and max(xs) / min(xs) > 20
    scale = (lambda value: log10(value)) if log_x else (lambda value: value)
    x_low, x_high = scale(min(xs)), scale(max(xs))
    y_ticks = ticks(min(ys), max(ys))
    y_low, y_high = min(*y_ticks, min(ys)), max(*y_ticks, max(ys))
    width, height, left, right, top, bottom = 640, 300, 56, 170, 26, 34

    def px(x: float) -> float:
        share = (scale(x) - x_low) / ((x_high - x_low) or 1)
        return round(left + share * (width - left - right), 1)

    def py(y: float) -> float:
        share = (y - y_low) / ((y_high - y_low) or 1)
        return round(height - bottom - share * (height - top - bottom), 1)

    parts = [_text(left, 15, title, "start")]
    for tick in y_ticks:
        parts.append(_line(left, py(tick), width - right, py(tick), "grid"))
        parts.append(_text(left - 6, py(tick) + 4, f"{tick:.4g}", "end"))
    for x in _marks(sorted(set(xs)), log_x):
        parts.append(_text(px(x), height - bottom + 16, f"{x:g}", "middle"))
    names = sorted(lines, key=lambda name: -lines[name][-1][1])
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " L".join(f"{px(x)} {py(y)}" for x, y in points)
        y = top + 14 + 18 * names.index(name)
        parts.append(f'<path fill="none" stroke="{colour}" stroke-width="2" d="M{path}"/>')
        parts += [f'<circle cx="{px(x)}" cy="{py(y)}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(
            f'<rect x="{width - right + 12}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
        )
        parts.append(_text(width - right + 27, y, name, "start"))
    return _svg(width, max(height, top + 18 * len(lines) + 20), title, parts)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that cover a range.

    >>> ticks(0.21, 0.38)
    [0.2, 0.25, 0.3, 0.35, 0.4]
    """
    if high <= low:
        high = low + (abs(low) or 1.0) * 0.1
    raw = (high - low) / (count - 1)
    size = 10.0 ** floor(log10(raw))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw * 0.99)
    first, last = floor(low / step + 1e-9), -floor(-high / step + 1e-9)
    return [round(n * step, 10) for n in range(first, last + 1)]


def _cliques(ranks: Sequence[float], cd: float) -> list[tuple[int, int]]:
    """Largest runs of models, first and last, within one critical difference."""
    found: list[tuple[int, int]] = []
    for low in range(len(ranks)):
        high = max(n for n in range(low, len(ranks)) if ranks[n] - ranks[low] <= cd)
        if high > low and (not found or high > found[-1][1]):
            found.append((low, high))
    return found


def _marks(values: list[float], is_log: bool) -> list[float]:
    """What is written below: the values themselves, or round numbers where there are many."""
    if len(values) > MOST_MARKS and not is_log:
        return [tick for tick in ticks(values[0], values[-1]) if values[0] <= tick <= values[-1]]
    return values if len(values) <= 8 else values[:: -(-len(values) // 8)]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "thin") -> str:
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:{width}px">{"".join(parts)}</svg>'
    )
