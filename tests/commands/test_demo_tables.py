import io

import pytest
from rich.console import Console

from setwise.commands.demo_tables import Progress, few, models, packages, unread

MEASURED = {
    "binary relevance": {"set_accuracy": 0.38, "f1": 0.61, "seconds": 4.25},
    "CBM": {"set_accuracy": 0.44, "f1": 0.6, "seconds": 5.0},
}
PACKAGE = {
    "package": "libthing-dev",
    "set": ["devel::library", "role::plugin"],
    "truth": ["devel::library", "role::devel-lib"],
    "confidence": 0.412,
    "alternatives": [
        {"set": ["devel::library"], "probability": 0.23},
        {"set": [], "probability": 0.001},
    ],
}
RULE = {
    "target": 0.9, "found": True, "coverage": 0.0614, "threshold": 0.871, "accuracy": 0.941,
    "accepted": 84, "kept": True, "message": "accept from here on",
}  # fmt: skip


def printed(part, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(part)
    return console.file.getvalue()


def test_models_with_what_they_reach():
    rows = printed(models(MEASURED)).splitlines()
    (row,) = (row for row in rows if row.startswith("CBM"))
    assert row.split()[-4:] == ["44.0%", "0.600", "5.0", "s"]
    assert any(row.startswith("BR-rerank") for row in rows)  # one that has yet to learn
    assert "learning" in printed(models(MEASURED, "BR-rerank"))
    assert "the first time, this compiles" in printed(models({}, ""))


def test_a_package_that_is_wrong_in_part_says_in_what():
    out = printed(packages([PACKAGE]))
    assert "41%  libthing-dev  not quite" in out
    assert "wrong: role::plugin" in out
    assert "missed: role::devel-lib" in out
    assert "or 23%: devel::library" in out
    assert "no tag" not in out  # too unlikely to be told
    right = printed(packages([PACKAGE | {"set": PACKAGE["truth"]}]))
    assert "exactly right" in right
    assert "wrong" not in right
    assert "missed" not in right


def test_a_promise_and_one_that_cannot_be_made():
    nothing = {"target": 0.95, "found": False, "message": "of 150 rows 143 were right"}
    out = " ".join(printed(unread([RULE, nothing])).split())
    assert "90% accuracy 6.1% may be accepted, those with confidence from 0.87 on" in out
    assert "94.1% of these 84 were right: the promise is kept" in out
    assert "95% accuracy nothing can be promised, so all sets are to be read" in out
    assert "of 150 rows 143 were right" in out
    assert "Counted by source package" in out


def test_a_promise_that_nothing_meets_in_the_test_packages():
    out = " ".join(
        printed(unread([RULE | {"accepted": 0, "accuracy": None, "coverage": 0.0}])).split()
    )
    assert "no test package is as sure as that" in out


def test_long_sets_are_cut():
    assert few(()) == "no tag"
    assert few(("a", "b"), many=2) == "a, b"
    assert few(("a", "b", "c", "d"), many=2) == "a, b, 2 more"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_table_fills_on_a_terminal_only(is_terminal):
    console = Console(file=io.StringIO(), width=80, force_terminal=is_terminal)
    with Progress(console) as progress:
        progress.now("CBM", {})
    assert ("learning" in console.file.getvalue()) == is_terminal
    with Progress(None) as progress:
        progress.now("CBM", {})
