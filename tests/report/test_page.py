import re
from html.parser import HTMLParser

import pytest

from setwise.report import drawings, page_of

VOID = {"meta", "input", "br"}
SHAPES = {"line", "circle", "path", "rect"}


class Outline(HTMLParser):
    """Checks that every element is closed where it was opened, and gathers what there is."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def page(facts):
    return page_of(facts)


@pytest.fixture(scope="module")
def outline(page):
    parsed = Outline()
    parsed.feed(page)
    assert parsed.open == []
    return parsed


def test_it_is_whole_and_needs_no_network(page, outline):
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?://|@import|url\(", page)
    names = {name for name, _ in outline.attributes}
    assert not names & {"src", "href", "srcset"}
    assert ("name", "viewport") in outline.attributes
    assert "prefers-color-scheme: dark" in page


def test_all_parts_are_there(page, outline):
    text = "".join(outline.text)
    for title in (
        "Does confidence come true?", "What may be accepted unread", "The data", "Measures",
        "Labels", "Which labels go together", "Components of the mixture",
        "The most confident mistakes", "Rows the model is unsure of", "How the model came about",
    ):  # fmt: skip
        assert f"<h2>{title}</h2>" in page
    assert outline.tags.count("svg") == 3
    assert outline.tags.count("script") == 1
    assert "85% accuracy" in text
    assert "1 labels of the file were never seen" in text


def test_what_stands_in_a_file_cannot_become_a_part_of_the_page(facts, page):
    assert "never<b>seen" not in page
    assert "never&lt;b&gt;seen" in page
    bad = "<script>alert('x')</script>"
    row = facts["mistakes"][0] | {"cells": {bad: bad}, "truth": [bad], "predicted": [bad]}
    row["alternatives"] = [{"set": [bad], "probability": 0.1}]
    odd = facts | {
        "mistakes": [row],
        "source": bad,
        "correlation": {"labels": [bad] * 2, "values": [[1, 0], [0, 1]]},
    }
    assert page_of(odd).count("<script>") == 1


def test_every_label_has_a_row_that_sorts_by_its_value(facts, page):
    body = page[page.index('id="labels"') :]
    rows = re.findall(r"<tr><td>.*?</tr>", body[: body.index("</table>")])
    assert len(rows) == len(facts["labels"]) == 5
    values = re.findall(r'data-value="([-\d.e]+)"', rows[0])
    one = facts["labels"][0]
    keys = ("rows", "predicted", "precision", "recall", "f1")
    assert list(map(float, values)) == [one[key] for key in keys]


def test_points_stand_where_their_numbers_say():
    frame = drawings.Frame()
    bucket = {"mean_confidence": 0.25, "accuracy": 0.75, "standard_error": 0.0, "count": 10.0}
    drawn = drawings.reliability([bucket])
    assert f'cx="{frame.x(0.25)}" cy="{frame.y(0.75)}"' in drawn
    assert frame.x(0) < frame.x(1)
    assert frame.y(0) > frame.y(1)  # up is less in a picture


def test_a_rule_that_was_not_found_is_not_drawn():
    curve = {name: [0.5, 1.0] for name in ("coverage", "accuracy", "lower", "upper")}
    rule = {"target": 0.9, "found": True, "accepted": 5, "coverage": 0.5, "accuracy": 1.0}
    assert 'class="rule"' in drawings.accuracy_coverage(curve, rule)
    nothing = rule | {"found": False, "accepted": 0, "accuracy": None}
    assert 'class="rule"' not in drawings.accuracy_coverage(curve, nothing)
