"""Figures: what they say, and that no text lies on another."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

from setwise.distributions import BernoulliMixture
from setwise.errors import MissingDependency
from setwise.models.cbm.components_table import ComponentRecord, ComponentTable
from setwise.models.cbm.explain import Limits, explain_row

NAMES = ["interface::graphical", "x11::application", "role::program", "use::gameplaying", "car"]


@pytest.fixture(scope="module")
def explanation():
    pi = np.array([0.42, 0.33, 0.25])
    p = np.array(
        [
            [0.95, 0.95, 0.70, 0.75, 0.01],
            [0.30, 0.60, 0.75, 0.02, 0.01],
            [0.10, 0.20, 0.40, 0.01, 0.30],
        ]
    )
    row = BernoulliMixture(np.log(pi)[None], np.log(p / (1 - p))[None])
    return explain_row(row, row.mode()[0][0], NAMES, Limits())


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    records = []
    for number in range(14):
        rates = np.sort(random.uniform(0.1, 1, 12 if number == 5 else 1 + number % 6))[::-1]
        labels = tuple((f"implemented-in::language{j}", float(r)) for j, r in enumerate(rates))
        features = tuple((f"library{j}", 1.0) for j in range(5))
        records.append(ComponentRecord(number, 0, 0.3 * 0.7**number, labels, features, 5))
    return ComponentTable(tuple(records))


def texts(figure):
    """All visible texts with their boxes in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    if not hasattr(figure, "was_drawn"):  # the layout takes most of the time
        canvas.draw()
        figure.set_layout_engine("none")
        figure.was_drawn = True
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    return [(text, text.get_window_extent(canvas.get_renderer())) for text in found]


def overlapping(figure):
    """Pairs of level texts that lie on each other; leaning ones have boxes that do."""
    level = [(text, box) for text, box in texts(figure) if text.get_rotation() == 0]
    return [
        (one.get_text(), other.get_text())
        for (one, a), (other, b) in itertools.combinations(level, 2)
        if a.padded(-1).overlaps(b.padded(-1))
    ]


def said(figure):
    return " | ".join(text.get_text() for text, _ in texts(figure))


def test_explanation(explanation):
    figure = explanation.plot()
    words = said(figure)
    assert "component 0\nπ = 0.42" in words
    assert "▲ lifted" in words
    assert "the labels in bold" in words
    assert overlapping(figure) == []
    widths = {
        axis.get_title(): [bar.get_width() for bar in axis.patches] for axis in figure.axes[:4]
    }
    labels = [reason.label for reason in explanation.labels]
    expected = dict(explanation.components[0].labels)
    assert widths["component 0\nπ = 0.42"][: len(labels)] == [expected[name] for name in labels]
    marginals = dict(explanation.marginals)
    drawn = widths["marginal\nof all components"][: len(labels)]
    assert drawn == [marginals[name] for name in labels]


def test_all_text_is_inside_the_figure(explanation, table):
    for figure in (explanation.plot(), table.plot()):
        width, height = figure.canvas.get_width_height()
        for text, box in texts(figure):
            assert box.x0 >= -1, text
            assert box.y0 >= -1, text
            assert box.x1 <= width + 1, text
            assert box.y1 <= height + 1, text


def test_components(table):
    figure = table.plot()
    words = said(figure)
    assert "component 0: 30.0%" in words
    assert "component 5: 5.0% (+2 more)" in words
    assert "components not shown: 2" in words
    assert "component 12" not in words
    assert overlapping(figure) == []


def test_as_many_components_as_asked(table):
    words = said(ComponentTable(table.records[:3]).plot(max_components=2))
    assert "component 1:" in words
    assert "component 2:" not in words
    assert "components not shown: 1" in words


def test_a_single_label_and_component():
    row = BernoulliMixture(np.zeros((1, 1)), np.array([[[2.0]]]))
    figure = explain_row(row, np.array([1]), ["only"], Limits()).plot()
    assert "only" in said(figure)
    one = ComponentTable((ComponentRecord(0, 0, 1.0, (), (), 0),))
    assert "component 0: 100.0%" in said(one.plot())


def test_no_label_at_all():
    row = BernoulliMixture(np.zeros((1, 1)), np.array([[[-9.0, -9.0]]]))
    told = explain_row(row, np.array([0, 0]), ["a", "b"], Limits(n_sets=1))
    assert told.labels == ()
    assert "no label" in said(told.plot())
    assert "{}" in str(told)


def test_a_figure_of_ones_own(explanation, table):
    from matplotlib.figure import Figure

    for thing in (explanation, table):
        mine = Figure(figsize=(10, 8))
        assert thing.plot(mine) is mine
        assert mine.axes


def test_without_matplotlib_a_sentence(explanation, table, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    for thing in (explanation, table):
        with pytest.raises(MissingDependency, match=r"setwise\[plot\]"):
            thing.plot()
