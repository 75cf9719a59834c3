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


def test_a_note_on_the_confidence_stands_below_the_title(facts):
    assert facts["note"] == ""
    page = page_of(facts | {"note": "It has <no> probability"})
    assert "</header>" in page
    head = page.split("<section>")[0]
    assert "It has &lt;no&gt; probability.</p>" in head
    assert (
        page_of(facts).split("<section>")[0].count('class="soft"') == head.count('class="soft"') - 1
    )


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
    assert "1 label of the file was never seen" in text


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


def test_many_unknown_labels_are_counted_and_some_named(facts):
    many = facts | {"unknown_labels": {f"new{i}": 1 for i in range(7)}}
    told = "7 labels of the file were never seen in training (new0, new1, new2, new3, new4, ...)"
    assert told in page_of(many)


def test_a_promise_that_cannot_be_made_is_said_so(facts):
    nothing = {"found": False, "threshold": None, "accepted": 0, "coverage": 0.0, "accuracy": None}
    page = page_of(facts | {"accept": [rule | nothing for rule in facts["accept"]]})
    assert "<b>none</b>may be accepted unread: nothing can be promised at 85% accuracy" in page
    assert page.count("none could be made") == 4
    assert "the promise is" not in page


def test_a_promise_that_no_row_meets_is_neither_kept_nor_broken(facts):
    nothing = {"found": True, "threshold": 0.9, "accepted": 0, "coverage": 0.0, "accuracy": None}
    page = page_of(facts | {"accept": [rule | nothing for rule in facts["accept"]]})
    assert "<b>none</b>may be accepted unread: no row is so sure at 85% accuracy" in page
    assert page.count(">no row is so sure<") == 4
    assert '<span class="kept">' not in page


def test_rows_counted_by_group_are_said_to_be(facts, page):
    told = "One row is counted of all that share their &lt;source&gt;."
    assert "One row is counted" not in page
    assert told in page_of(facts | {"groups": "<source>"})


def test_alternatives_that_are_hardly_possible_are_left_out(facts):
    others = [{"set": ["a"], "probability": 0.2}, {"set": ["b"], "probability": 0.001}]
    row = facts["unsure"][0] | {"alternatives": others}
    assert "or: 20% a</div>" in page_of(facts | {"unsure": [row]})
    row |= {"alternatives": others[1:]}
    assert "or: nothing else that is likely" in page_of(facts | {"unsure": [row]})


def test_points_stand_where_their_numbers_say():
    frame = drawings.Frame()
    bucket = {"mean_confidence": 0.25, "accuracy": 0.75, "standard_error": 0.0, "count": 10.0}
    drawn = drawings.reliability([bucket])
    assert f'cx="{frame.x(0.25)}" cy="{frame.y(0.75)}"' in drawn
    assert frame.x(0) < frame.x(1)
    assert frame.y(0) > frame.y(1)  # up is less in a picture


def test_a_map_of_many_labels_scrolls_and_one_of_few_stays_small():
    few, many = (drawings.correlations(["label"] * n, [[0.0] * n] * n) for n in (3, 40))
    width = re.search(r'viewBox="0 0 ([\d.]+)', few)[1]
    assert f"max-width:{width}px;min-width:{float(width):g}px" in few
    assert f"min-width:{drawings.MAP_WIDTH}px" in many


def test_a_rule_that_was_not_found_is_not_drawn():
    curve = {name: [0.5, 1.0] for name in ("coverage", "accuracy", "lower", "upper")}
    rule = {"target": 0.9, "found": True, "accepted": 5, "coverage": 0.5, "accuracy": 1.0}
    assert 'class="rule"' in drawings.accuracy_coverage(curve, rule)
    nothing = rule | {"found": False, "accepted": 0, "accuracy": None}
    assert 'class="rule"' not in drawings.accuracy_coverage(curve, nothing)
