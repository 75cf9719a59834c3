"""Figures of explanations and of components; matplotlib is imported when one is drawn.

Colours are Okabe and Ito's, which people who see colours differently can tell apart; what they say
is said by position or text as well.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.errors import MissingDependency
from setwise.models.cbm.explanation_text import probability_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from setwise.models.cbm.components_table import ComponentRecord, ComponentTable
    from setwise.models.cbm.explain import ComponentPart, Explanation

BLUE, ORANGE, SKY, GREY, PALE = "#0072B2", "#D55E00", "#56B4E9", "#8C8C8C", "#C9DFF0"
DARK = "#555555"
LINE = 0.27  # inches of height for a line of bars
LONGEST = 28  # characters of a name
MOST_LABELS = 10  # of a component's cluster in a figure
SMALL, NORMAL = 8.0, 9.0  # points
LONGEST_LINE = 68  # characters of words beside a set
MOST_ROWS = 14  # labels of an explanation in a figure
WORTH_A_ROW = 0.2  # a label's probability in a component
ARROWS = {"lifted": "▲", "sunk": "▼"}


def new_figure(width: float, height: float) -> Figure:
    """A figure that no global state knows, so that nothing has to be closed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency(
            'plots need matplotlib; pip install "setwise[plot]", or print the object'
        ) from None
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))


def plot_explanation(explanation: Explanation, figure: Figure | None = None) -> Figure:
    """Above, labels in the heaviest components (figure 3.5) and marginals; below, sets, pairs."""
    parts, labels, m = explanation.components, _labels_to_show(explanation), len(explanation.labels)
    above, below = LINE * len(labels) + 1.0, max(LINE * m, 1.2) + 1.6
    if figure is None:
        figure = new_figure(2.6 + 1.7 * (len(parts) + 1), above + below)
    upper, lower = _halves(figure, [above, below])
    axes = upper.subplots(1, len(parts) + 1, sharey=True, squeeze=False)[0]
    for axis, part in zip(axes, parts, strict=False):
        _component_bars(axis, part, labels)
    _marginal_bars(axes[-1], explanation, labels)
    axes[0].set_yticks(range(len(labels)), [_short(label) for label in labels])
    axes[0].invert_yaxis()
    for label, text in zip(labels, axes[0].get_yticklabels(), strict=True):
        text.set_fontweight("bold" if label in explanation.sets[0].labels else "normal")
    left, right = lower.subplots(1, 2)
    _set_bars(left, explanation)
    _correlations(right, explanation, lower)
    return figure


def plot_components(
    table: ComponentTable, figure: Figure | None = None, max_components: int = 12
) -> Figure:
    """The label clusters of the heaviest components (figure 3.2), a panel each."""
    records = table.records[:max_components]
    columns = min(4, len(records))
    starts = range(0, len(records), columns)
    lines = [
        max(1, *(min(len(record.labels), MOST_LABELS) for record in records[start:][:columns]))
        for start in starts
    ]
    heights = [LINE * count + 0.7 for count in lines]
    if figure is None:
        figure = new_figure(2.9 * columns, sum(heights) + 0.3)
    axes = figure.subplots(
        len(heights), columns, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    for axis, place in zip(axes.ravel(), range(axes.size), strict=True):
        if place < len(records):
            _cluster(axis, records[place], lines[place // columns])
        else:
            axis.set_axis_off()
    if len(records) < len(table):
        rest = sum(record.weight for record in table.records[len(records) :])
        told = f"components not shown: {len(table) - len(records)}, with {rest:.1%} of the weight"
        figure.supxlabel(told, fontsize=SMALL, color=DARK)
    return figure


def _labels_to_show(explanation: Explanation) -> list[Any]:
    """The labels that are explained, and then others that the components give."""
    labels = [reason.label for reason in explanation.labels]
    first = [part.labels[0] for part in explanation.components if part.labels]
    other = [pair for part in explanation.components for pair in part.labels[1:]]
    for label, probability in first + sorted(other, key=lambda pair: -pair[1]):
        if len(labels) < MOST_ROWS and probability >= WORTH_A_ROW and label not in labels:
            labels.append(label)
    return labels


def _component_bars(axis: Axes, part: ComponentPart, labels: Sequence[Any]) -> None:
    probabilities = dict(part.labels)
    values = [probabilities.get(label, 0.0) for label in labels]
    axis.barh(range(len(values)), values, color=BLUE, height=0.72)
    axis.set_title(f"component {part.number}\nπ = {part.weight:.2f}", fontsize=NORMAL)
    _probability_axis(axis)


def _marginal_bars(axis: Axes, explanation: Explanation, labels: Sequence[Any]) -> None:
    verdicts = {reason.label: reason.verdict for reason in explanation.labels}
    known = dict(explanation.marginals)
    values = [known.get(label, 0.0) for label in labels]
    colours = [ORANGE if verdicts.get(label) else GREY for label in labels]
    axis.barh(range(len(values)), values, height=0.72, color=colours)
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        verdict = verdicts.get(label)
        if not verdict:
            continue
        # Beside the bar where there is room, else in it.
        fits = value <= 0.52
        axis.text(
            value + (0.03 if fits else -0.03), place, f"{ARROWS[verdict]} {verdict}",
            va="center", ha="left" if fits else "right", fontsize=SMALL,
            color=ORANGE if fits else "white",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5} if fits else None,
        )  # fmt: skip
    axis.axvline(0.5, color="black", linewidth=0.8, linestyle=":", zorder=0)
    axis.set_title("marginal\nof all components", fontsize=NORMAL)
    _probability_axis(axis)


def _set_bars(axis: Axes, explanation: Explanation) -> None:
    """A bar a set; what it has more or less than the likeliest one stands above it."""
    values = [one.probability for one in explanation.sets]
    axis.barh(range(len(values)), values, color=[BLUE] + [SKY] * (len(values) - 1), height=0.4)
    for place, one in enumerate(explanation.sets):
        words = _difference(one.labels, explanation.sets[0].labels)
        axis.text(0.012 * max(values), place - 0.27, words, va="bottom", ha="left", fontsize=SMALL)
        told = f" {probability_text(one.probability)}"
        axis.text(one.probability, place, told, va="center", fontsize=SMALL)
    axis.set_ylim(len(values) - 0.5, -0.75)
    axis.set_xlim(0, max(values) * 1.18)
    axis.set_yticks([])
    axis.set_xticks([])
    axis.axvline(0, color=BLUE, linewidth=1.2)
    axis.spines[:].set_visible(False)
    axis.set_title("likeliest sets, against the first", fontsize=NORMAL, loc="left")


def _difference(labels: Sequence[Any], best: Sequence[Any]) -> str:
    """What one set has more and less than the best one, which is told by the bold names."""
    gained = [f"+ {_short(label)}" for label in labels if label not in best]
    lost = [f"− {_short(label)}" for label in best if label not in labels]
    if not gained and not lost:
        return "the labels in bold" if best else "no label"
    words, told = gained + lost, ""
    while words and len(told) + len(words[0]) < LONGEST_LINE:
        told += words.pop(0) + "  "
    return f"{told}… {len(words)} more" if words else told


def _correlations(axis: Axes, explanation: Explanation, figure: Any) -> None:
    """The triangle below the diagonal, purple for negative and orange for positive ones."""
    m = len(explanation.labels)
    if m < 2:
        axis.set_axis_off()
        return
    values = np.array(explanation.correlation)
    shown = np.where(np.tri(m, k=-1, dtype=bool), values, np.nan)[1:, :-1]
    image = axis.imshow(shown, cmap="PuOr_r", vmin=-1, vmax=1, aspect="equal")
    for row, column in np.argwhere(np.abs(shown) >= 0.05) if m <= MOST_ROWS else ():
        value = shown[row, column]
        axis.text(
            column, row, f"{value:+.1f}".replace("0.", ".").replace("-", "−"), ha="center",
            va="center", fontsize=7, color="white" if abs(value) > 0.55 else "black",
        )  # fmt: skip
    names = [_short(reason.label) for reason in explanation.labels]
    axis.set_yticks(range(m - 1), names[1:], fontsize=SMALL)
    axis.set_xticks(
        range(m - 1), names[:-1], fontsize=SMALL, rotation=40, ha="right", rotation_mode="anchor"
    )
    axis.set_title("correlations", fontsize=NORMAL, loc="left")
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0)
    bar = figure.colorbar(image, ax=axis, shrink=0.7, ticks=[-1, 0, 1])
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL, length=0)


def _cluster(axis: Axes, record: ComponentRecord, lines: int) -> None:
    """Names on pale bars: both length and size of letters say how probable a label is."""
    shown = record.labels[:MOST_LABELS]
    axis.barh(range(len(shown)), [rate for _, rate in shown], color=PALE, height=0.84)
    for place, (label, rate) in enumerate(shown):
        size = 6.5 + 3.5 * rate
        axis.text(0.02, place, _short(label), va="center", ha="left", fontsize=size)
        axis.text(1.16, place, f"{rate:.2f}", va="center", ha="right", fontsize=7, color=DARK)
    more = f" (+{len(record.labels) - len(shown)} more)" if record.labels[len(shown) :] else ""
    member = f" of member {record.member}" if record.member else ""
    title = f"component {record.number}{member}: {record.weight:.1%}{more}"
    axis.set_title(title, fontsize=NORMAL, loc="left", fontweight="bold")
    axis.set_xlim(0, 1.17)
    axis.set_ylim(lines - 0.5, -0.5)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
    axis.plot([0, 0], [-0.5, max(len(shown), 1) - 0.5], color=BLUE, linewidth=1.5)
    words = textwrap.shorten(", ".join(name for name, _ in record.features), 44, placeholder=" …")
    if words:
        under = max(len(shown), 1) - 0.45
        axis.text(0.02, under, words, va="top", ha="left", fontsize=7, color=DARK, style="italic")


def _halves(figure: Figure, heights: list[float]) -> tuple[Any, Any]:
    upper, lower = figure.subfigures(2, 1, height_ratios=heights)  # type: ignore[misc]
    return upper, lower


def _probability_axis(axis: Axes) -> None:
    axis.set_xlim(0, 1.02)
    axis.set_xticks([0, 0.5, 1], ["0", "½", "1"], fontsize=SMALL)
    axis.tick_params(axis="y", length=0, labelsize=NORMAL)
    axis.grid(axis="x", color="#E5E5E5", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)


def _short(name: Any) -> str:
    """The name, without its middle where it is long."""
    text = str(name)
    half = LONGEST // 2 - 1
    return text if len(text) <= LONGEST else f"{text[:half]}…{text[-half:]}"
