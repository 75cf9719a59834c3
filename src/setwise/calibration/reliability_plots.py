"""Reliability diagrams: what was claimed beside what came true (Li 2019, figures 4.1 to 4.9).

``reliability_curves`` gives the numbers behind them, and needs no matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from setwise.calibration._accept_inputs import check_inside
from setwise.calibration._drawing import (
    MARKERS,
    PERCENTS,
    colours_of,
    ink_of,
    legend_beside,
    need_groups,
    otherwise,
    paper_of,
    tidy,
)
from setwise.errors import DataError
from setwise.metrics.buckets import checked_predictions
from setwise.metrics.confidence import (
    BrierDecomposition,
    ReliabilityTable,
    brier_decomposition,
    reliability_table,
)
from setwise.models.cbm.plots import NORMAL, SMALL, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRIP_BINS = 25  # bars below a reliability diagram
MOST_JOINED = 15  # dots that a line may join before it hides them


@dataclass(frozen=True)
class ReliabilityCurve:
    """A group's reliability table, with the interval of each accuracy and the spread below it.

    The interval is Wilson's, for counts of 0 and 1. Graded correctness with mean e varies less, by
    at most e (1 - e): there the interval is wider than it need be.
    """

    name: str
    table: ReliabilityTable
    parts: BrierDecomposition
    lower: np.ndarray  # (B,)
    upper: np.ndarray  # (B,)
    histogram: np.ndarray  # (STRIP_BINS,) predictions in equal steps of confidence


def reliability_curves(
    correct: Any,
    confidence: Any,
    *,
    n_buckets: int = 10,
    strategy: str = "width",
    by: Any = None,
    confidence_level: float = 0.95,
) -> tuple[ReliabilityCurve, ...]:
    """What was claimed and what came true, for each group of ``by`` in its order, or for all.

    >>> one, two = reliability_curves([1, 0, 1, 1], [0.6, 0.6, 0.6, 0.6], by=[1, 1, 2, 2])
    >>> one.name, one.table.accuracy[6:7], two.table.accuracy[6:7]
    ('1', array([0.5]), array([1.]))
    """
    predictions = checked_predictions(correct, confidence)
    names, group = _grouped(by, len(predictions.correct))
    curves = []
    for place, name in enumerate(names):
        v, c = predictions.correct[group == place], predictions.confidence[group == place]
        table = reliability_table(v, c, n_buckets=n_buckets, strategy=strategy)
        parts = brier_decomposition(v, c, n_buckets=n_buckets, strategy=strategy)
        lower, upper = wilson_interval(table.accuracy, table.count, confidence_level)
        histogram = np.histogram(c, bins=STRIP_BINS, range=(0, 1))[0]
        curves.append(ReliabilityCurve(name, table, parts, lower, upper, histogram))
    return tuple(curves)


def wilson_interval(
    rate: np.ndarray, count: np.ndarray, confidence_level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's score interval of a rate seen ``count`` times; nan where it was never seen.

    >>> low, high = wilson_interval(np.array([0.5, 1.0]), np.array([10, 10]))
    >>> low.round(3), high.round(3)
    (array([0.237, 0.722]), array([0.763, 1.   ]))
    """
    check_inside("confidence_level", confidence_level)
    z2 = ndtri(0.5 + confidence_level / 2) ** 2
    n = np.where(count > 0, count, np.nan)
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * rate * (1 - rate) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def plot_reliability(
    correct: Any,
    confidence: Any,
    *,
    n_buckets: int = 10,
    strategy: str = "width",
    by: Any = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Accuracy against claimed confidence, with 95% intervals, and a strip of counts below.

    Parameters
    ----------
    correct : array of shape (n,)
        0 or 1, or a grade between, such as an F1.
    confidence : array of shape (n,)
        What was claimed, in [0, 1].
    n_buckets, strategy
        As in :func:`setwise.metrics.reliability_table`; the thesis draws strategy "quantile" with
        about a hundred predictions in a bucket.
    by : array of shape (n,), optional
        A group for each prediction, such as its number of labels (figure 4.2a); its ``name``, if
        it has one, heads the legend.
    label : str, optional
        A title of the panel.
    ax : Axes, optional
        Where to draw; the strip becomes its child, ``ax.child_axes[0]``.
    """
    curves = reliability_curves(correct, confidence, n_buckets=n_buckets, strategy=strategy, by=by)
    parts = brier_decomposition(correct, confidence, n_buckets=n_buckets, strategy=strategy)
    if ax is None:
        ax = new_figure(3.6 if by is None else 4.5, 4.2).subplots()
    ink, colours = ink_of(ax), colours_of(ax)
    ax.plot([0, 1], [0, 1], color=ink, linewidth=0.8, linestyle=(0, (4, 3)), alpha=0.6, zorder=1)
    for curve, colour, marker in zip(curves, colours, MARKERS, strict=False):
        _dots(ax, curve, colour, marker)
    _strip(ax, curves, colours)
    _corner(ax, curves, parts)
    if by is not None:
        legend_beside(ax, getattr(by, "name", None))
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=PERCENTS[0])
    ax.tick_params(labelbottom=False)  # the strip tells them
    ax.set_yticks(*PERCENTS)
    ax.set_ylabel("accuracy" if np.isin(correct, (0, 1)).all() else "mean score")
    tidy(ax, label)
    return ax


def plot_before_after(
    correct: Any,
    before: Any,
    after: Any,
    *,
    correct_after: Any = None,
    n_buckets: int = 10,
    strategy: str = "width",
    by: Any = None,
    labels: tuple[str, str] = ("before", "after"),
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Two reliability diagrams side by side (figures 4.1 and 4.5).

    ``correct_after`` is for a reranker, which changes the sets and not only their confidence.
    """
    if axes is None:
        axes = new_figure(6.6 if by is None else 7.5, 4.1).subplots(1, 2)
    _need_axes(axes, 2)
    options: dict[str, Any] = {"n_buckets": n_buckets, "strategy": strategy, "by": by}
    later = correct if correct_after is None else correct_after
    plot_reliability(correct, before, label=labels[0], ax=axes[0], **options)
    plot_reliability(later, after, label=labels[1], ax=axes[1], **options)
    axes[1].set_ylabel("")
    if legend := axes[0].get_legend():
        legend.remove()  # the right panel has the same groups
    return axes[0], axes[1]


def plot_noise(
    clean: Any,
    noisy: Any,
    non_robust: Any,
    robust: Any,
    *,
    non_robust_noisy: Any = None,
    robust_noisy: Any = None,
    n_buckets: int = 10,
    strategy: str = "width",
    axes: Any = None,
) -> np.ndarray:
    """Two calibrators trained on noisy labels, against clean and noisy ones (figures 4.7-4.9).

    Parameters
    ----------
    clean, noisy : arrays
        Whether the predictions agree with the clean and with the noisy annotation.
    non_robust, robust : arrays
        The confidences of the calibrator that ignores the noise and of the one that knows it.
    non_robust_noisy, robust_noisy : arrays, optional
        The same on the rows of ``noisy``, where these are not those of ``clean``.
    axes : array of four Axes, optional

    Returns
    -------
    axes : array of shape (2, 2)
        A row for each calibrator; clean labels left, noisy ones right.
    """
    if axes is None:
        axes = new_figure(6.6, 7.8).subplots(2, 2)
    panels = np.asarray(axes, dtype=object).ravel()
    _need_axes(panels, 4)
    drawn = (
        ("non-robust, clean labels", clean, non_robust),
        ("non-robust, noisy labels", noisy, otherwise(non_robust_noisy, non_robust)),
        ("robust, clean labels", clean, robust),
        ("robust, noisy labels", noisy, otherwise(robust_noisy, robust)),
    )
    for ax, (label, v, c) in zip(panels, drawn, strict=True):
        plot_reliability(v, c, n_buckets=n_buckets, strategy=strategy, label=label, ax=ax)
    for ax in panels[1::2]:
        ax.set_ylabel("")
    for ax in panels[:2]:
        ax.child_axes[0].set_xlabel("")
    return panels.reshape(2, 2)


def _dots(ax: Axes, curve: ReliabilityCurve, colour: str, marker: str) -> None:
    """A dot for each bucket that holds something, joined where they are few."""
    held = curve.table.count > 0
    accuracy, few = curve.table.accuracy[held], held.sum() <= MOST_JOINED
    ax.errorbar(
        curve.table.mean_confidence[held],
        accuracy,
        # A bound may pass the accuracy itself by a rounding error.
        yerr=np.maximum([accuracy - curve.lower[held], curve.upper[held] - accuracy], 0),
        color=colour,
        ecolor=(colour, 0.65 if few else 0.25),
        elinewidth=1.2 if few else 0.8,
        marker=marker,
        markersize=5 if few else 3.2,
        markeredgewidth=0,
        linewidth=0.9,
        linestyle="-" if few else "none",
        label=curve.name,
        zorder=3,
        clip_on=False,
    )


def _strip(ax: Axes, curves: Sequence[ReliabilityCurve], colours: Sequence[str]) -> None:
    """Counts of similar confidences below the diagram, those of groups on each other."""
    strip = ax.inset_axes((0, -0.2, 1, 0.15))
    edges = np.linspace(0, 1, STRIP_BINS + 1)
    below = np.zeros(STRIP_BINS)
    for curve, colour in zip(curves, colours, strict=False):
        strip.bar(
            edges[:-1], curve.histogram, np.diff(edges), below, align="edge",
            color=colour, alpha=0.75, linewidth=0,
        )  # fmt: skip
        below = below + curve.histogram
    ink = ink_of(ax)
    strip.set_facecolor("none")
    strip.set(xlim=(0, 1), ylim=(0, 1.05 * below.max()))
    strip.set_yticks([])
    strip.spines[["top", "right", "left"]].set_visible(False)
    strip.spines["bottom"].set_color(ink)
    strip.tick_params(labelsize=SMALL, colors=ink)
    strip.set_xticks(*PERCENTS)
    strip.set_xlabel(f"confidence (n = {int(below.sum()):,})", fontsize=NORMAL, color=ink)


def _corner(ax: Axes, curves: Sequence[ReliabilityCurve], parts: BrierDecomposition) -> None:
    """The numbers, upper left or lower right, where fewer dots and bars would lie on them."""
    told = (
        f"alignment error {parts.alignment_error:.4f}\n"
        f"noise floor {parts.noise_floor:.4f}\n"
        f"sharpness {parts.sharpness:.4f}"
    )
    x = np.concatenate([curve.table.mean_confidence for curve in curves])
    bottom = np.concatenate([curve.lower for curve in curves])
    top = np.concatenate([curve.upper for curve in curves])
    in_upper = ((x < 0.5) & (top > 0.78)).sum()
    in_lower = ((x > 0.5) & (bottom < 0.22)).sum()
    upper = in_upper <= in_lower
    ax.text(
        0.03 if upper else 0.97, 0.97 if upper else 0.03, told, transform=ax.transAxes,
        va="top" if upper else "bottom", ha="left" if upper else "right", fontsize=SMALL,
        linespacing=1.3, color=ink_of(ax), bbox=paper_of(ax), zorder=2.5,
    )  # fmt: skip


def _grouped(by: Any, n: int) -> tuple[list[str], np.ndarray]:
    """The names of the groups, and the group of each prediction (n,)."""
    if by is None:
        return ["all"], np.zeros(n, dtype=np.int64)
    by = np.asarray(by)
    if by.shape != (n,):
        raise DataError(f"by needs one group for each of {n} predictions, got shape {by.shape}")
    values, group = np.unique(by, return_inverse=True)
    need_groups(len(values), "by")
    return [str(value) for value in values], group


def _need_axes(axes: Any, expected: int) -> None:
    if len(axes) != expected:
        raise DataError(
            f"axes must be {expected} axes, got {len(axes)}; leave them out for new ones"
        )
