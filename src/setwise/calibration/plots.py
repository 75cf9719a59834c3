"""Figures of confidence: is it true, how far does it spread, what can be accepted unseen.

After the figures of Li 2019 (thesis), chapter 4. Each ``plot_`` takes arrays and returns axes; the
numbers behind it come from a function that needs no matplotlib:

    plot_reliability, plot_before_after, plot_noise    reliability_curves    (figures 4.1-4.9)
    plot_accuracy_coverage                             accuracy_coverage
    plot_sharpness                                     confidence_shares
    plot_candidates                                    its own arguments     (figure 4.6)

Colours are Okabe and Ito's, and markers differ with them; ink comes from the axes, so that dark
styles work. Matplotlib is imported when a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from setwise.calibration._accept_inputs import check_inside
from setwise.calibration.accept_curve import AccuracyCoverage, accuracy_coverage
from setwise.errors import DataError
from setwise.metrics.buckets import checked_predictions
from setwise.metrics.confidence import (
    BrierDecomposition,
    ReliabilityTable,
    brier_decomposition,
    reliability_table,
)
from setwise.metrics.options import check_positive
from setwise.models.cbm.plots import BLUE, GREY, NORMAL, ORANGE, SKY, SMALL, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREEN, PURPLE, AMBER, YELLOW = "#009E73", "#CC79A7", "#E69F00", "#F0E442"
ON_LIGHT = (BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, GREY)
ON_DARK = (SKY, AMBER, GREEN, PURPLE, YELLOW, ORANGE, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_GROUPS = len(MARKERS)
STRIP_BINS = 25  # bars below a reliability diagram
MOST_JOINED = 15  # dots that a line may join before it hides them
MOST_POINTS = 1000  # of a curve in a figure
PERCENTS = ([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])


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


def confidence_shares(confidence: Any, n_bins: int = 20) -> np.ndarray:
    """The share of predictions in each of ``n_bins`` equal steps of confidence: (n_bins,).

    >>> confidence_shares([0.1, 0.2, 0.9, 1.0], n_bins=2)
    array([0.5, 0.5])
    """
    check_positive("n_bins", n_bins)
    confidence = checked_predictions(np.zeros_like(confidence, dtype=float), confidence).confidence
    counts: np.ndarray = np.histogram(confidence, bins=n_bins, range=(0, 1))[0]
    return counts / len(confidence)


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
    ink, colours = _ink(ax), _colours(ax)
    ax.plot([0, 1], [0, 1], color=ink, linewidth=0.8, linestyle=(0, (4, 3)), alpha=0.6, zorder=1)
    for curve, colour, marker in zip(curves, colours, MARKERS, strict=False):
        _dots(ax, curve, colour, marker)
    _strip(ax, curves, colours)
    _corner(ax, curves, parts)
    if by is not None:
        _legend(ax, getattr(by, "name", None))
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=PERCENTS[0])
    ax.tick_params(labelbottom=False)  # the strip tells them
    ax.set_yticks(*PERCENTS)
    ax.set_ylabel("accuracy" if np.isin(correct, (0, 1)).all() else "mean score")
    _tidy(ax, label)
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
        ("non-robust, noisy labels", noisy, _else(non_robust_noisy, non_robust)),
        ("robust, clean labels", clean, robust),
        ("robust, noisy labels", noisy, _else(robust_noisy, robust)),
    )
    for ax, (label, v, c) in zip(panels, drawn, strict=True):
        plot_reliability(v, c, n_buckets=n_buckets, strategy=strategy, label=label, ax=ax)
    for ax in panels[1::2]:
        ax.set_ylabel("")
    for ax in panels[:2]:
        ax.child_axes[0].set_xlabel("")
    return panels.reshape(2, 2)


def plot_accuracy_coverage(
    correct: Any,
    confidence: Any,
    *,
    threshold: float | None = None,
    target: float | None = None,
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Accuracy of the accepted rows against the share accepted, from the most confident down.

    Rows of equal confidence are accepted together, as one point. The band is the one of
    :func:`setwise.calibration.accept_curve.accuracy_coverage`: it holds at each point alone, not
    for a threshold that was chosen on the same rows.

    Parameters
    ----------
    correct : array of shape (n,)
        0 or 1.
    confidence : array of shape (n,)
        In [0, 1].
    threshold : float, optional
        Rows at least this confident are accepted; the point is marked and told.
    target : float, optional
        The accuracy that is wanted, as a line.
    confidence_level : float
        Of the lower and of the upper edge of the band, each on its own.
    ax : Axes, optional
    """
    curve = accuracy_coverage(confidence, correct, confidence_level)
    if ax is None:
        ax = new_figure(4.6, 3.2).subplots()
    colour, shown = _colours(ax)[0], _thinned(curve)
    x, lower, upper = curve.coverage[shown], curve.lower[shown], curve.upper[shown]
    ax.fill_between(x, lower, upper, color=colour, alpha=0.22, linewidth=0, zorder=1)
    ax.plot(x, curve.accuracy[shown], color=colour, linewidth=1.6, zorder=3)
    if target is not None:
        _target(ax, target)
    if threshold is not None:
        _threshold(ax, np.asarray(correct), np.asarray(confidence) >= threshold, threshold)
    # The first few rows swing wildly and would squeeze the rest of the curve.
    steady = curve.accuracy[curve.coverage >= 0.05]
    least = min(steady.min(), curve.lower[-1], _else(target, 1.0))
    ax.set(xlim=(0, 1), ylim=(least - 0.05 * (1 - least) - 0.01, 1.005))
    ax.set_xticks(*PERCENTS)
    _percent(ax)
    ax.set_xlabel("accepted", fontsize=NORMAL)
    ax.set_ylabel("accuracy of the accepted", fontsize=NORMAL)
    _tidy(ax, None)
    return ax


def plot_sharpness(
    confidences: Mapping[str, Any], *, n_bins: int = 20, ax: Axes | None = None
) -> Axes:
    """Histograms of confidence, such as before and after calibration, with their variances.

    For calibrated confidence the variance is the sharpness: the wider, the more it tells.
    """
    _need_groups(len(confidences), "confidences")
    shares = {name: confidence_shares(values, n_bins) for name, values in confidences.items()}
    if ax is None:
        ax = new_figure(4.6, 3.0).subplots()
    edges = np.linspace(0, 1, n_bins + 1)
    drawn = zip(shares.items(), _colours(ax), ("-", "-", "--", "-.", ":", "--", "-."), strict=False)
    for (name, share), colour, style in drawn:
        told = f"{name}: variance {np.var(np.asarray(confidences[name], dtype=float)):.3f}"
        ax.stairs(share, edges, color=colour, alpha=0.18, fill=True)
        ax.stairs(share, edges, color=colour, linewidth=1.5, linestyle=style, label=told)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.08 * max(share.max() for share in shares.values()))
    ax.set_xticks(*PERCENTS)
    _percent(ax)
    ax.set_xlabel("confidence", fontsize=NORMAL)
    ax.set_ylabel("predictions", fontsize=NORMAL)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=SMALL,
        labelcolor=_ink(ax), borderaxespad=0.2, borderpad=0.2, labelspacing=0.3,
    )  # fmt: skip
    _tidy(ax, None)
    return ax


def plot_candidates(
    counts: Any,
    accuracy: Any,
    oracle: Any,
    baseline: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Set accuracy of a reranker against its number of candidates (figure 4.6).

    Parameters
    ----------
    counts : array of shape (k,)
        Numbers of candidates.
    accuracy : array of shape (k,)
        Set accuracy when these many are reranked.
    oracle : array of shape (k,)
        How often the true set is among them: what no reranker can exceed.
    baseline : float, optional
        Accuracy without reranking.
    ax : Axes, optional
    """
    counts, accuracy, oracle = _checked_candidates(counts, accuracy, oracle)
    if ax is None:
        ax = new_figure(4.6, 3.2).subplots()
    colours, ink = _colours(ax), _ink(ax)
    ax.plot(counts, oracle, color=ink, alpha=0.75, linewidth=1.3, linestyle=(0, (4, 2)))
    ax.plot(counts, accuracy, color=colours[0], linewidth=1.6, marker="o", markersize=4)
    ends = [("oracle", oracle[-1], ink), ("reranked", accuracy[-1], colours[0])]
    if baseline is not None:
        ax.axhline(baseline, color=colours[1], linewidth=1.2, linestyle=":")
        ends.append(("baseline", baseline, colours[1]))
    best = int(np.argmax(accuracy))
    ax.plot(
        counts[best], accuracy[best], marker="o", markersize=9,
        markerfacecolor="none", markeredgecolor=colours[0], markeredgewidth=1.2, linestyle="none",
    )  # fmt: skip
    if counts[-1] >= 20 * counts[0]:
        ax.set_xscale("log")
        ax.minorticks_off()
    ax.set_xlim(counts[0] * 0.93, counts[-1] * 1.02)
    ticks = _round_numbers(counts)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    values = np.concatenate([accuracy, oracle, [value for _, value, _ in ends]])
    room = max(0.08 * np.ptp(values), 0.005)
    ax.set_ylim(max(0, values.min() - room), min(1.005, values.max() + room))
    _end_labels(ax, ends)
    _percent(ax)
    ax.set_xlabel("candidates K", fontsize=NORMAL)
    ax.set_ylabel("set accuracy", fontsize=NORMAL)
    told = f"best: {accuracy[best]:.1%} with K = {counts[best]:g}"
    _tidy(ax, None)
    ax.set_title(told, fontsize=SMALL, loc="left", color=colours[0])
    return ax


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
    ink = _ink(ax)
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
        linespacing=1.3, color=_ink(ax), bbox=_paper(ax), zorder=2.5,
    )  # fmt: skip


def _legend(ax: Axes, heading: Any) -> None:
    """The groups, right of the diagram: inside it they would hide some of them."""
    legend = ax.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=SMALL, labelcolor=_ink(ax),
        title=None if heading is None else str(heading), title_fontsize=SMALL, alignment="left",
        frameon=False, handlelength=1.4,
    )  # fmt: skip
    legend.get_title().set_color(_ink(ax))


def _target(ax: Axes, target: float) -> None:
    ink = _ink(ax)
    ax.axhline(target, color=ink, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.7, zorder=2)
    ax.text(
        1.02, target, f"target\n{100 * target:.4g}%",
        transform=ax.get_yaxis_transform(), ha="left", va="center", fontsize=SMALL, color=ink,
    )  # fmt: skip


def _threshold(ax: Axes, correct: np.ndarray, accepted: np.ndarray, threshold: float) -> None:
    """A mark where the rows from ``threshold`` up are accepted, and its meaning above the axes."""
    x, colour = float(accepted.mean()), _colours(ax)[1]
    told = f"nothing accepted from {threshold:g} up"
    if x > 0:
        y = float(correct[accepted].mean())
        told = f"{x:.0%} accepted at {y:.0%}"
        ax.axvline(x, color=colour, linewidth=1.1, linestyle=":", zorder=2)
        ax.plot(x, y, marker="o", markersize=7, color=colour, linestyle="none", zorder=5)
    side = "left" if x < 0.3 else "right" if x > 0.7 else "center"
    ax.text(
        x, 1.02, told, transform=ax.get_xaxis_transform(), ha=side, va="bottom",
        fontsize=NORMAL, color=_ink(ax),
    )  # fmt: skip


def _end_labels(ax: Axes, ends: list[tuple[str, float, Any]]) -> None:
    """A name right of each line, moved apart where lines end close together."""
    low, high = ax.get_ylim()
    ends = sorted(ends, key=lambda end: end[1])
    places = np.array([(value - low) / (high - low) for _, value, _ in ends])
    gap = 0.075
    for upper in range(1, len(places)):
        places[upper] = max(places[upper], places[upper - 1] + gap)
    places -= max(0.0, places[-1] - 1)
    for (name, value, colour), place in zip(ends, places, strict=True):
        ax.text(
            1.02, place, f"{name} {value:.1%}", transform=ax.transAxes, ha="left",
            va="center", fontsize=SMALL, color=colour,
        )  # fmt: skip


def _thinned(curve: AccuracyCoverage) -> np.ndarray:
    """Places of at most MOST_POINTS points, the last one among them."""
    n_points = len(curve.coverage)
    places = np.linspace(0, n_points - 1, min(n_points, MOST_POINTS))
    return places.round().astype(np.intp)


def _round_numbers(counts: np.ndarray) -> np.ndarray:
    """1, 2, 5, 10, 20, 50, ... in the range of ``counts``, or all of a few."""
    if len(counts) <= 7:
        return counts
    decades = 10.0 ** np.arange(np.ceil(np.log10(counts[-1])) + 1)
    rounds = np.outer(decades, [1, 2, 5]).ravel()
    inside: np.ndarray = rounds[(rounds >= counts[0]) & (rounds <= counts[-1])]
    return inside


def _percent(ax: Axes) -> None:
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g}%")


def _tidy(ax: Axes, title: str | None) -> None:
    ink = _ink(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL, length=3, color=ink)
    ax.yaxis.label.set_fontsize(NORMAL)
    ax.grid(color=ink, alpha=0.12, linewidth=0.6)
    ax.set_axisbelow(True)
    if title:
        ax.set_title(title, fontsize=NORMAL, loc="left", fontweight="bold", color=ink)


def _ink(ax: Axes) -> Any:
    """The colour of the axes' own words: it stands out from whatever lies behind."""
    return ax.xaxis.label.get_color()


def _colours(ax: Axes) -> tuple[str, ...]:
    """Okabe and Ito's colours in an order that begins with those that contrast most."""
    from matplotlib.colors import to_rgba

    *rgb, alpha = to_rgba(_ink(ax))
    return ON_DARK if np.mean(rgb) * alpha > 0.5 else ON_LIGHT


def _paper(ax: Axes) -> dict[str, Any]:
    """A box in the colour of the axes, which keeps lines from crossing words."""
    return {"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.8, "pad": 1.5}


def _grouped(by: Any, n: int) -> tuple[list[str], np.ndarray]:
    """The names of the groups, and the group of each prediction (n,)."""
    if by is None:
        return ["all"], np.zeros(n, dtype=np.int64)
    by = np.asarray(by)
    if by.shape != (n,):
        raise DataError(f"by needs one group for each of {n} predictions, got shape {by.shape}")
    values, group = np.unique(by, return_inverse=True)
    _need_groups(len(values), "by")
    return [str(value) for value in values], group


def _need_groups(n_groups: int, name: str) -> None:
    if not 1 <= n_groups <= MOST_GROUPS:
        raise DataError(
            f"{name} has {n_groups} groups, but from 1 to {MOST_GROUPS} can be told apart; "
            "merge some, as np.minimum(cardinality, 5) does"
        )


def _need_axes(axes: Any, expected: int) -> None:
    if len(axes) != expected:
        raise DataError(
            f"axes must be {expected} axes, got {len(axes)}; leave them out for new ones"
        )


def _checked_candidates(counts: Any, *curves: Any) -> tuple[np.ndarray, ...]:
    """All as arrays of one length, in ascending order of the counts."""
    counts = np.asarray(counts, dtype=np.float64)
    arrays = [np.asarray(curve, dtype=np.float64) for curve in curves]
    shapes = [values.shape for values in (counts, *arrays)]
    if counts.ndim != 1 or not len(counts) or len(set(shapes)) > 1:
        raise DataError(
            f"counts, accuracy and oracle need one value for each number of candidates, got shapes "
            f"{', '.join(map(str, shapes))}"
        )
    if counts.min() < 1:
        raise DataError(f"counts must be numbers of candidates from 1 up, got {counts.min():g}")
    order = np.argsort(counts, kind="stable")
    return tuple(values[order] for values in (counts, *arrays))


def _else(value: Any, other: Any) -> Any:
    return other if value is None else value
