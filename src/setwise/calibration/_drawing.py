"""What the figures of confidence share: colours, words, and how axes look.

Colours are Okabe and Ito's, and markers differ with them; ink comes from the axes, so that dark
styles work. Matplotlib is imported when a figure is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.errors import DataError
from setwise.models.cbm.plots import BLUE, GREY, NORMAL, ORANGE, SKY, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREEN, PURPLE, AMBER, YELLOW = "#009E73", "#CC79A7", "#E69F00", "#F0E442"
ON_LIGHT = (BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, GREY)
ON_DARK = (SKY, AMBER, GREEN, PURPLE, YELLOW, ORANGE, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_GROUPS = len(MARKERS)
PERCENTS = ([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])


def tidy(ax: Axes, title: str | None) -> None:
    ink = ink_of(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL, length=3, color=ink)
    ax.yaxis.label.set_fontsize(NORMAL)
    ax.grid(color=ink, alpha=0.12, linewidth=0.6)
    ax.set_axisbelow(True)
    if title:
        ax.set_title(title, fontsize=NORMAL, loc="left", fontweight="bold", color=ink)


def percents(ax: Axes) -> None:
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g}%")


def legend_beside(ax: Axes, heading: Any) -> None:
    """The groups, right of the diagram: inside it they would hide some of them."""
    legend = ax.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=SMALL, labelcolor=ink_of(ax),
        title=None if heading is None else str(heading), title_fontsize=SMALL, alignment="left",
        frameon=False, handlelength=1.4,
    )  # fmt: skip
    legend.get_title().set_color(ink_of(ax))


def ink_of(ax: Axes) -> Any:
    """The colour of the axes' own words: it stands out from whatever lies behind."""
    return ax.xaxis.label.get_color()


def colours_of(ax: Axes) -> tuple[str, ...]:
    """Okabe and Ito's colours in an order that begins with those that contrast most."""
    from matplotlib.colors import to_rgba

    *rgb, alpha = to_rgba(ink_of(ax))
    return ON_DARK if np.mean(rgb) * alpha > 0.5 else ON_LIGHT


def paper_of(ax: Axes) -> dict[str, Any]:
    """A box in the colour of the axes, which keeps lines from crossing words."""
    return {"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.8, "pad": 1.5}


def need_groups(n_groups: int, name: str) -> None:
    if not 1 <= n_groups <= MOST_GROUPS:
        raise DataError(
            f"{name} has {n_groups} groups, but from 1 to {MOST_GROUPS} can be told apart; "
            "merge some, as np.minimum(cardinality, 5) does"
        )


def otherwise(value: Any, other: Any) -> Any:
    return other if value is None else value
