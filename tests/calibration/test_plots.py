"""Figures of confidence: the numbers they draw and the words they say."""

from __future__ import annotations

import importlib.util
import io
import itertools
import sys

import numpy as np
import pytest
from scipy.stats import binomtest

from setwise.calibration._drawing import ON_DARK, ON_LIGHT
from setwise.calibration.accept_curve import accuracy_coverage
from setwise.calibration.coverage_plots import MOST_POINTS
from setwise.calibration.plots import (
    confidence_shares,
    plot_accuracy_coverage,
    plot_before_after,
    plot_candidates,
    plot_noise,
    plot_reliability,
    plot_sharpness,
    reliability_curves,
    wilson_interval,
)
from setwise.calibration.reliability_plots import STRIP_BINS
from setwise.errors import DataError, MissingDependency
from setwise.metrics import brier_decomposition, reliability_table

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.beta(1.2, 1.0, 800)
CORRECT = (RANDOM.random(800) < TRUTH).astype(int)
GROUP = RANDOM.integers(1, 4, 800)


def dots(ax):
    """The drawn points of each group: (x, y) arrays and the bars' ends."""
    found = []
    for container in ax.containers:
        line, _, (bars,) = container.lines
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        found.append((line.get_xdata(), line.get_ydata(), ends))
    return found


def bars_below(ax):
    return np.array([bar.get_height() for bar in ax.child_axes[0].patches])


def words(ax):
    legend = ax.get_legend()
    own = [text.get_text() for text in ax.texts]
    return " | ".join(own + ([t.get_text() for t in legend.get_texts()] if legend else []))


def drawn_lines(ax):
    return [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in ax.lines]


def every_figure():
    """A function for each figure, which draws it and returns one of its axes."""
    counts, oracle = [1, 2, 5, 10, 50], [0.5, 0.6, 0.7, 0.8, 0.9]
    return [
        lambda: plot_accuracy_coverage(CORRECT, TRUTH, threshold=0.7, target=0.8),
        lambda: plot_reliability(CORRECT, TRUTH, by=GROUP, label="a title"),
        lambda: plot_before_after(CORRECT, TRUTH**2, TRUTH)[0],
        lambda: plot_noise(CORRECT, CORRECT, TRUTH, TRUTH)[0, 0],
        lambda: plot_sharpness({"before": TRUTH**2, "after": TRUTH}),
        lambda: plot_candidates(counts, [0.5, 0.55, 0.58, 0.6, 0.59], oracle, baseline=0.5),
    ]


# Reliability


@pytest.mark.parametrize("strategy", ["width", "quantile"])
def test_reliability_draws_the_table(strategy):
    ax = plot_reliability(CORRECT, TRUTH, strategy=strategy)
    table = reliability_table(CORRECT, TRUTH, strategy=strategy)
    [(x, y, ends)] = dots(ax)
    np.testing.assert_allclose(x, table.mean_confidence, rtol=1e-12)
    np.testing.assert_allclose(y, table.accuracy, rtol=1e-12)
    np.testing.assert_allclose(
        ends, np.transpose(wilson_interval(table.accuracy, table.count)), rtol=1e-9, atol=1e-12
    )
    assert drawn_lines(ax)[0][0].tolist() == [0, 1]
    assert drawn_lines(ax)[0][1].tolist() == [0, 1]


def test_reliability_tells_the_parts():
    told = words(plot_reliability(CORRECT, TRUTH**2))
    parts = brier_decomposition(CORRECT, TRUTH**2)
    assert f"alignment error {parts.alignment_error:.4f}" in told
    assert f"noise floor {parts.noise_floor:.4f}" in told
    assert f"sharpness {parts.sharpness:.4f}" in told


def test_empty_buckets_are_left_out():
    [(x, y, _)] = dots(plot_reliability([1, 0, 1], [0.95, 0.05, 0.95]))
    np.testing.assert_allclose(x, [0.05, 0.95], rtol=1e-12)
    assert y.tolist() == [0, 1]


def test_the_strip_counts_predictions():
    ax = plot_reliability([1, 0, 1, 1], [0.0, 0.01, 0.5, 1.0])
    heights = bars_below(ax)
    assert heights.tolist() == [2, *[0] * 11, 1, *[0] * 11, 1]
    assert ax.child_axes[0].get_xlabel() == "confidence (n = 4)"


def test_the_strip_lies_below_and_bears_the_ticks():
    ax = plot_reliability(CORRECT, TRUTH)
    level_texts(ax.figure)  # draws, which places the strip
    [strip] = ax.child_axes
    assert strip.get_position().y1 < ax.get_position().y0
    assert not ax.xaxis.get_major_ticks()[0].label1.get_visible()
    shown = [text.get_text() for text in strip.get_xticklabels()]
    assert shown == ["0%", "25%", "50%", "75%", "100%"]


def test_groups_are_drawn_apart_and_stacked_below():
    ax = plot_reliability(CORRECT, TRUTH, by=GROUP)
    drawn = dots(ax)
    assert len(drawn) == 3
    for group, (x, y, _) in enumerate(drawn):
        own = np.flatnonzero(np.equal(GROUP, group + 1))
        table = reliability_table(CORRECT[own], TRUTH[own])
        held = table.count > 0
        np.testing.assert_allclose(x, table.mean_confidence[held], rtol=1e-12)
        np.testing.assert_allclose(y, table.accuracy[held], rtol=1e-12)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1", "2", "3"]
    total = bars_below(ax).reshape(3, STRIP_BINS).sum(axis=0)
    np.testing.assert_array_equal(total, np.histogram(TRUTH, STRIP_BINS, (0, 1))[0])
    tops = [bar.get_y() + bar.get_height() for bar in ax.child_axes[0].patches[-STRIP_BINS:]]
    np.testing.assert_array_equal(tops, total)
    markers = {container.lines[0].get_marker() for container in ax.containers}
    assert len(markers) == 3  # not by colour alone
    # The numbers are those of all predictions, not of a group.
    assert f"{brier_decomposition(CORRECT, TRUTH).alignment_error:.4f}" in words(ax)


def test_a_name_of_groups_heads_the_legend():
    pandas = pytest.importorskip("pandas")
    ax = plot_reliability(CORRECT, TRUTH, by=pandas.Series(GROUP, name="cardinality"))
    assert ax.get_legend().get_title().get_text() == "cardinality"


def test_graded_correctness():
    ax = plot_reliability(np.clip(TRUTH + 0.1, 0, 1), TRUTH)
    assert ax.get_ylabel() == "mean score"
    assert plot_reliability(CORRECT, TRUTH).get_ylabel() == "accuracy"


@pytest.mark.parametrize(("power", "corner"), [(0.3, "left"), (6.0, "right")])
def test_the_numbers_stand_in_the_empty_corner(power, corner):
    """Over-confidence leaves the upper left free, under-confidence the lower right."""
    [text] = plot_reliability(
        (TRUTH > 0.02).astype(int) if power > 1 else CORRECT, TRUTH**power
    ).texts
    assert text.get_horizontalalignment() == corner


def test_many_dots_are_not_joined():
    [few] = plot_reliability(CORRECT, TRUTH).containers
    [many] = plot_reliability(CORRECT, TRUTH, n_buckets=40).containers
    assert few.lines[0].get_linestyle() == "-"
    assert many.lines[0].get_linestyle() == "None"


def test_wilson_against_scipy():
    k, n = np.array([0, 3, 7, 10]), np.array([5, 10, 11, 10])
    lower, upper = wilson_interval(k / n, n, 0.9)
    for place in range(len(k)):
        expected = binomtest(k[place], n[place]).proportion_ci(0.9, "wilson")
        np.testing.assert_allclose(lower[place], expected.low, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(upper[place], expected.high, rtol=1e-12)
    assert np.isnan(wilson_interval(np.array([np.nan]), np.array([0]))).all()


def without_matplotlib(monkeypatch, name):
    """A module of ours, imported anew where matplotlib is not."""
    for loaded in [loaded for loaded in sys.modules if loaded.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    spec = importlib.util.find_spec(f"setwise.calibration.{name}")
    fresh = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, fresh)
    spec.loader.exec_module(fresh)
    return fresh


def test_reliability_curves_need_no_matplotlib(monkeypatch):
    plots = without_matplotlib(monkeypatch, "reliability_plots")
    [curve] = plots.reliability_curves([1, 0], [0.5, 0.5])
    assert curve.table.accuracy[5] == 0.5


def test_confidence_shares_need_no_matplotlib(monkeypatch):
    plots = without_matplotlib(monkeypatch, "coverage_plots")
    assert plots.confidence_shares([1], 2).tolist() == [0, 1]


def test_curves_of_groups_add_up():
    curves = reliability_curves(CORRECT, TRUTH, by=GROUP)
    [whole] = reliability_curves(CORRECT, TRUTH)
    assert [curve.name for curve in curves] == ["1", "2", "3"]
    np.testing.assert_array_equal(sum(c.table.count for c in curves), whole.table.count)
    np.testing.assert_array_equal(sum(c.histogram for c in curves), whole.histogram)
    assert curves[0].parts == brier_decomposition(CORRECT[GROUP == 1], TRUTH[GROUP == 1])


# Panels


def test_before_and_after():
    other = 1 - CORRECT
    left, right = plot_before_after(
        CORRECT, TRUTH**2, TRUTH, correct_after=other, labels=("BR", "BR-rerank")
    )
    assert (left.get_title("left"), right.get_title("left")) == ("BR", "BR-rerank")
    expected = reliability_table(CORRECT, TRUTH**2), reliability_table(other, TRUTH)
    for ax, table in zip((left, right), expected):
        np.testing.assert_allclose(dots(ax)[0][1], table.accuracy[table.count > 0], rtol=1e-12)
    [(_, same, _)] = dots(plot_before_after(CORRECT, TRUTH**2, TRUTH)[1])
    np.testing.assert_allclose(same, reliability_table(CORRECT, TRUTH).accuracy, rtol=1e-12)


def test_before_and_after_share_a_legend():
    left, right = plot_before_after(CORRECT, TRUTH**2, TRUTH, by=GROUP)
    assert left.get_legend() is None
    assert right.get_legend() is not None


def test_noise_has_four_panels():
    noisy = CORRECT * (RANDOM.random(800) > 0.2)
    axes = plot_noise(CORRECT, noisy, 0.8 * TRUTH, TRUTH)
    expected = {
        "non-robust, clean labels": (CORRECT, 0.8 * TRUTH),
        "non-robust, noisy labels": (noisy, 0.8 * TRUTH),
        "robust, clean labels": (CORRECT, TRUTH),
        "robust, noisy labels": (noisy, TRUTH),
    }
    assert [ax.get_title("left") for ax in axes.ravel()] == list(expected)
    for ax, (v, c) in zip(axes.ravel(), expected.values()):
        table = reliability_table(v, c)
        np.testing.assert_allclose(dots(ax)[0][1], table.accuracy[table.count > 0], rtol=1e-12)


def test_noise_on_other_rows():
    few = np.array([1, 0, 1]), np.array([0.3, 0.3, 0.7]), np.array([0.2, 0.2, 0.9])
    axes = plot_noise(CORRECT, few[0], TRUTH, TRUTH, non_robust_noisy=few[1], robust_noisy=few[2])
    np.testing.assert_allclose(dots(axes[0, 1])[0][0], [0.3, 0.7], rtol=1e-12)
    np.testing.assert_allclose(dots(axes[1, 1])[0][0], [0.2, 0.9], rtol=1e-12)


# Accuracy and coverage


def test_coverage_draws_the_curve_and_its_band():
    ax = plot_accuracy_coverage(CORRECT, TRUTH.round(2), confidence_level=0.9)
    curve = accuracy_coverage(TRUTH.round(2), CORRECT, 0.9)
    [(x, y)] = drawn_lines(ax)
    np.testing.assert_allclose(x, curve.coverage, rtol=1e-12)
    np.testing.assert_allclose(y, curve.accuracy, rtol=1e-12)
    edge = ax.collections[0].get_paths()[0].vertices
    for bound in (curve.lower, curve.upper):
        wanted = np.column_stack([curve.coverage, bound])
        distance = np.abs(wanted[:, None] - edge[None]).max(axis=2).min(axis=1)
        np.testing.assert_allclose(distance, 0, atol=1e-12)


def test_threshold_in_words():
    v, c = np.array([1, 1, 1, 0, 0]), np.array([0.9, 0.8, 0.8, 0.8, 0.1])
    ax = plot_accuracy_coverage(v, c, threshold=0.8, target=0.925)
    assert "80% accepted at 75%" in words(ax)
    assert "target\n92.5%" in words(ax)
    assert any(x.tolist() == [0.8] and y.tolist() == [0.75] for x, y in drawn_lines(ax))
    assert any(list(y) == [0.925, 0.925] for _, y in drawn_lines(ax))


def test_a_threshold_that_accepts_nothing():
    ax = plot_accuracy_coverage(CORRECT, 0.9 * TRUTH, threshold=0.95)
    assert "nothing accepted from 0.95 up" in words(ax)
    assert len(ax.lines) == 1


def test_long_curves_are_thinned_to_their_ends():
    c = np.linspace(1, 0, 5000)
    [(x, y)] = drawn_lines(plot_accuracy_coverage(c > 0.5, c))
    assert len(x) == MOST_POINTS
    assert (x[0], x[-1]) == (1 / 5000, 1)
    assert (y[0], y[-1]) == (1, 0.5)


# Sharpness and candidates


def test_sharpness_draws_shares():
    ax = plot_sharpness({"before": TRUTH**2, "after": TRUTH}, n_bins=8)
    outlines = [patch.get_data() for patch in ax.patches if not patch.get_fill()]
    for data, c in zip(outlines, (TRUTH**2, TRUTH), strict=True):
        np.testing.assert_allclose(data.values, np.histogram(c, 8, (0, 1))[0] / 800, rtol=1e-12)
        np.testing.assert_allclose(data.edges, np.arange(9) / 8, rtol=1e-12)
    assert f"after: variance {TRUTH.var():.3f}" in words(ax)
    assert confidence_shares(TRUTH).sum() == pytest.approx(1, rel=1e-12)


def test_candidates_in_ascending_order():
    ax = plot_candidates([10, 1, 50], [0.605, 0.5, 0.59], [0.8, 0.5, 0.9], baseline=0.52)
    (x, oracle), (_, accuracy), (_, baseline), (best, _) = drawn_lines(ax)
    assert x.tolist() == [1, 10, 50]
    assert oracle.tolist() == [0.5, 0.8, 0.9]
    assert accuracy.tolist() == [0.5, 0.605, 0.59]
    assert list(baseline) == [0.52, 0.52]
    assert best.tolist() == [10]
    assert ax.get_title("left") == "best: 60.5% with K = 10"
    assert {"oracle 90.0%", "reranked 59.0%", "baseline 52.0%"} == {t.get_text() for t in ax.texts}
    assert ax.get_xscale() == "log"
    assert plot_candidates([1, 2], [0.5, 0.5], [0.5, 0.6]).get_xscale() == "linear"


def test_names_of_close_lines_are_moved_apart():
    ax = plot_candidates([1, 5], [0.2, 0.501], [0.3, 0.502], baseline=0.5)
    heights = sorted(text.get_position()[1] for text in ax.texts)
    assert np.diff(heights).min() > 0.07
    assert [t.get_text().split()[0] for t in ax.texts] == ["baseline", "reranked", "oracle"]
    assert heights[-1] <= 1


# Manners


def unseen_ticks(figure):
    """Labels of ticks beyond the limits, which matplotlib makes and does not draw."""
    from matplotlib.axis import Axis

    return {
        tick.label1
        for axis in figure.findobj(Axis)
        for tick in axis.get_major_ticks()
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }


def level_texts(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    found = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    unseen = unseen_ticks(figure)
    shown = [t for t in found if t.get_rotation() == 0 and t not in unseen]
    return [(t.get_text(), t.get_window_extent(canvas.get_renderer())) for t in shown], canvas


@pytest.mark.parametrize("number", range(6))
def test_no_text_lies_on_another_or_leaves_the_figure(number):
    boxes, canvas = level_texts(every_figure()[number]().figure)
    width, height = canvas.get_width_height()
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not a.padded(-1).overlaps(b.padded(-1)), (one, other)
    for text, box in boxes:
        assert min(box.x0, box.y0) >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text


def test_colours_follow_the_style():
    from matplotlib import style

    with style.context("dark_background"):
        dark = plot_reliability(CORRECT, TRUTH)
        assert dark.texts[0].get_color() == "white"
    assert dark.containers[0].lines[0].get_color() == ON_DARK[0]
    assert plot_reliability(CORRECT, TRUTH).containers[0].lines[0].get_color() == ON_LIGHT[0]


def test_same_data_same_picture():
    def pixels(ax):
        with io.BytesIO() as file:
            ax.figure.savefig(file, format="png", metadata={"Software": None})
            return file.getvalue()

    for draw in every_figure()[:2]:
        assert pixels(draw()) == pixels(draw())


def test_axes_of_ones_own():
    from matplotlib.figure import Figure

    axes = Figure().subplots(2, 4).ravel()
    assert plot_reliability(CORRECT, TRUTH, ax=axes[0]) is axes[0]
    assert plot_accuracy_coverage(CORRECT, TRUTH, ax=axes[1]) is axes[1]
    assert plot_sharpness({"one": TRUTH}, ax=axes[2]) is axes[2]
    assert plot_candidates([1], [0.5], [0.5], ax=axes[3]) is axes[3]
    assert plot_before_after(CORRECT, TRUTH, TRUTH, axes=axes[:2]) == (axes[0], axes[1])
    assert plot_noise(CORRECT, CORRECT, TRUTH, TRUTH, axes=axes[4:]).ravel().tolist() == list(
        axes[4:]
    )


def test_what_cannot_be_drawn():
    with pytest.raises(DataError, match="one group for each of 800"):
        plot_reliability(CORRECT, TRUTH, by=[1, 2])
    with pytest.raises(DataError, match=r"by has 800 groups.*np\.minimum"):
        plot_reliability(CORRECT, TRUTH, by=np.arange(800))
    with pytest.raises(DataError, match="confidences has 0 groups"):
        plot_sharpness({})
    with pytest.raises(DataError, match="between 0 and 1"):
        plot_sharpness({"logits": [3.0]})
    with pytest.raises(DataError, match="confidence_level"):
        plot_accuracy_coverage(CORRECT, TRUTH, confidence_level=95)
    with pytest.raises(DataError, match="confidence_level"):
        reliability_curves(CORRECT, TRUTH, confidence_level=1.0)
    with pytest.raises(DataError, match=r"\(2,\), \(1,\), \(2,\)"):
        plot_candidates([1, 2], [0.5], [0.5, 0.6])
    with pytest.raises(DataError, match="from 1 up, got 0"):
        plot_candidates([0, 2], [0.5, 0.5], [0.5, 0.6])
    with pytest.raises(DataError, match="2 axes, got 1"):
        plot_before_after(CORRECT, TRUTH, TRUTH, axes=[None])


def test_without_matplotlib_a_sentence(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependency, match=r"setwise\[plot\]"):
        plot_reliability(CORRECT, TRUTH)
