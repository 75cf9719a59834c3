"""Figures of what confidence is good for: accepting unseen, telling apart, reranking.

``accuracy_coverage`` and ``confidence_shares`` give the numbers behind them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.calibration._drawing import (
    PERCENTS,
    colours_of,
    ink_of,
    need_groups,
    otherwise,
    percents,
    tidy,
)
from setwise.calibration.accept_curve import AccuracyCoverage, accuracy_coverage
from setwise.errors import DataError
from setwise.metrics.buckets import checked_predictions
from setwise.metrics.options import check_positive
from setwise.models.cbm.plots import NORMAL, SMALL, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 1000  # of a curve in a figure


def confidence_shares(confidence: Any, n_bins: int = 20) -> np.ndarray:
    """The share of predictions in each of ``n_bins`` equal steps of confidence: (n_bins,).

    >>> confidence_shares([0.1, 0.2, 0.9, 1.0], n_bins=2)
    array([0.5, 0.5])
    """
    check_positive("n_bins", n_bins)
    confidence = checked_predictions(np.zeros_like(confidence, dtype=float), confidence).confidence
    counts: np.ndarray = np.histogram(confidence, bins=n_bins, range=(0, 1))[0]
    return counts / len(confidence)


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
    colour, shown = colours_of(ax)[0], _thinned(curve)
    x, lower, upper = curve.coverage[shown], curve.lower[shown], curve.upper[shown]
    ax.fill_between(x, lower, upper, color=colour, alpha=0.22, linewidth=0, zorder=1)
    ax.plot(x, curve.accuracy[shown], color=colour, linewidth=1.6, zorder=3)
    if target is not None:
        _target(ax, target)
    if threshold is not None:
        _threshold(ax, np.asarray(correct), np.asarray(confidence) >= threshold, threshold)
    # The first few rows swing wildly and would squeeze the rest of the curve.
    steady = curve.accuracy[curve.coverage >= 0.05]
    least = min(steady.min(), curve.lower[-1], otherwise(target, 1.0))
    ax.set(xlim=(0, 1), ylim=(least - 0.05 * (1 - least) - 0.01, 1.005))
    ax.set_xticks(*PERCENTS)
    percents(ax)
    ax.set_xlabel("accepted", fontsize=NORMAL)
    ax.set_ylabel("accuracy of the accepted", fontsize=NORMAL)
    tidy(ax, None)
    return ax


def plot_sharpness(
    confidences: Mapping[str, Any], *, n_bins: int = 20, ax: Axes | None = None
) -> Axes:
    """Histograms of confidence, such as before and after calibration, with their variances.

    For calibrated confidence the variance is the sharpness: the wider, the more it tells.
    """
    need_groups(len(confidences), "confidences")
    shares = {name: confidence_shares(values, n_bins) for name, values in confidences.items()}
    if ax is None:
        ax = new_figure(4.6, 3.0).subplots()
    edges = np.linspace(0, 1, n_bins + 1)
    drawn = zip(
        shares.items(), colours_of(ax), ("-", "-", "--", "-.", ":", "--", "-."), strict=False
    )
    for (name, share), colour, style in drawn:
        told = f"{name}: variance {np.var(np.asarray(confidences[name], dtype=float)):.3f}"
        ax.stairs(share, edges, color=colour, alpha=0.18, fill=True)
        ax.stairs(share, edges, color=colour, linewidth=1.5, linestyle=style, label=told)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.08 * max(share.max() for share in shares.values()))
    ax.set_xticks(*PERCENTS)
    percents(ax)
    ax.set_xlabel("confidence", fontsize=NORMAL)
    ax.set_ylabel("predictions", fontsize=NORMAL)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=SMALL,
        labelcolor=ink_of(ax), borderaxespad=0.2, borderpad=0.2, labelspacing=0.3,
    )  # fmt: skip
    tidy(ax, None)
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
    colours, ink = colours_of(ax), ink_of(ax)
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
    percents(ax)
    ax.set_xlabel("candidates K", fontsize=NORMAL)
    ax.set_ylabel("set accuracy", fontsize=NORMAL)
    told = f"best: {accuracy[best]:.1%} with K = {counts[best]:g}"
    tidy(ax, None)
    ax.set_title(told, fontsize=SMALL, loc="left", color=colours[0])
    return ax


def _target(ax: Axes, target: float) -> None:
    ink = ink_of(ax)
    ax.axhline(target, color=ink, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.7, zorder=2)
    ax.text(
        1.02, target, f"target\n{100 * target:.4g}%",
        transform=ax.get_yaxis_transform(), ha="left", va="center", fontsize=SMALL, color=ink,
    )  # fmt: skip


def _threshold(ax: Axes, correct: np.ndarray, accepted: np.ndarray, threshold: float) -> None:
    """A mark where the rows from ``threshold`` up are accepted, and its meaning above the axes."""
    x, colour = float(accepted.mean()), colours_of(ax)[1]
    told = f"nothing accepted from {threshold:g} up"
    if x > 0:
        y = float(correct[accepted].mean())
        told = f"{x:.0%} accepted at {y:.0%}"
        ax.axvline(x, color=colour, linewidth=1.1, linestyle=":", zorder=2)
        ax.plot(x, y, marker="o", markersize=7, color=colour, linestyle="none", zorder=5)
    side = "left" if x < 0.3 else "right" if x > 0.7 else "center"
    ax.text(
        x, 1.02, told, transform=ax.get_xaxis_transform(), ha=side, va="bottom",
        fontsize=NORMAL, color=ink_of(ax),
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
