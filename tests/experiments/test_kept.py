"""Sections of an earlier page are taken over where records are not at hand."""

import pytest
from rich.console import Console

from setwise.commands.bench_report import write_pages
from setwise.errors import DataError
from setwise.experiments.pages.kept import EarlierPage, with_kept

EARLIER = """# Results

Made by `setwise bench report` on 2026-01-02, from 3 parts that took 0.1 hours (0 failed).

Versions: python 3.11, numpy 2. Machine class: 2 cores.

Cells: ours.

## Li 2016

- Table 1: [one](#one).

### one

The first.

- Not run yet on scene, yeast.
- Protocol: folds.

| model | emotions |
|---|---|
| BR | 0.25 |

### two

The second.


**A study**

## Li 2019

### three

The third.

- Measured 2026-01-01: 5 parts, 0.10 hours, source abc.

### gone

No longer known.
"""
KNOWN = ("one", "two", "three", "four")


def facts(**absent):
    """Facts of a page that has records of some experiments, and lacks some data sets of each."""
    told = {name: {"undone": list(lacking), "quick": False} for name, lacking in absent.items()}
    wanted = {"Li 2016": ("one", "two"), "Li 2019": ("three", "four")}
    places = [
        {
            "paper": paper,
            "wanted": names,
            "experiments": [name for name in names if name in told],
            "not_run": [name for name in names if name not in told],
        }
        for paper, names in wanted.items()
    ]
    return {"experiments": told, "places": places}


def kept(text=EARLIER, **absent):
    return with_kept(facts(**absent), EarlierPage.read(text), KNOWN)


def test_sections_without_records_are_kept_in_their_places_and_say_so():
    found = kept(four=())
    assert list(found["kept"]) == ["one", "two", "three"]
    assert [place["experiments"] for place in found["places"]] == [
        ["one", "two"],
        ["three", "four"],
    ]
    assert not any(place["not_run"] for place in found["places"])
    assert found["kept"]["one"].splitlines()[2:5] == [
        "- Kept from an earlier page: its records are not at hand.",
        "- Not run yet on scene, yeast.",
        "- Protocol: folds.",
    ]
    assert found["kept"]["one"].endswith("| BR | 0.25 |")
    assert found["kept"]["two"].splitlines()[2] == (
        "- Kept from an earlier page: its records are not at hand."
    )


def test_a_section_that_says_when_it_was_measured_is_kept_as_it_is():
    assert kept()["kept"]["three"] == (
        "The third.\n\n- Measured 2026-01-01: 5 parts, 0.10 hours, source abc."
    )


def test_newer_records_replace_a_section_that_tells_no_more_than_they():
    assert "one" not in kept(one=())["kept"]
    assert list(kept(one=("scene",))["kept"]) == ["two", "three"]


def test_a_section_with_data_sets_that_records_lack_stays_beside_the_newer_one():
    found = kept(one=("emotions",))
    assert list(found["kept"]) == ["one, earlier", "two", "three"]
    assert found["places"][0]["experiments"] == ["one", "one, earlier", "two"]


def test_an_earlier_section_is_kept_again_and_never_put_in_place_of_a_newer_one():
    again = EARLIER.replace("### two\n\nThe second.", "### one, earlier\n\nThe oldest.")
    found = kept(again)["kept"]
    assert found["one"].startswith("The first.")
    assert found["one, earlier"].startswith("The oldest.")
    assert kept(again, one=("emotions",))["kept"]["one, earlier"].startswith("The first.")
    assert "one, earlier" not in kept(again, one=())["kept"]


def test_a_quick_run_replaces_no_full_one():
    quick = facts(one=())
    quick["experiments"]["one"]["quick"] = True
    assert "one, earlier" in with_kept(quick, EarlierPage.read(EARLIER), KNOWN)["kept"]
    page = EARLIER.replace("- Protocol: folds.", "- A quick run: few.")
    assert "one, earlier" not in with_kept(quick, EarlierPage.read(page), KNOWN)["kept"]


def test_the_page_says_what_kept_sections_were_made_from_also_when_they_are_kept_again():
    said = kept()["kept_from"]
    assert said.startswith(
        "Kept sections are of a page that was made by `setwise bench report` on "
    )
    assert "2026-01-02" in said
    assert "with python 3.11, numpy 2. Machine class: 2 cores." in said
    again = EARLIER.replace("Cells: ours.", said).replace("2026-01-02, from", "2026-03-04, from", 1)
    assert kept(again)["kept_from"] == said
    assert kept(one=(), two=())["kept_from"] == ""  # the third tells of itself


@pytest.mark.parametrize(
    ("text", "message"), [(None, "cannot read the page"), ("# Mine\n", "has no sections")]
)
def test_what_is_no_page_of_results_is_refused(small, tmp_path, text, message, monkeypatch):
    from setwise.experiments import entries
    from setwise.experiments.records import Results
    from setwise.experiments.runner import run_tasks
    from setwise.experiments.unit import units_of

    monkeypatch.setitem(entries.ENTRIES, "small", small)
    folder, page = tmp_path / "results", tmp_path / "page.md"
    run_tasks([(small, unit) for unit in units_of(small)], results=Results(folder))
    if text is not None:
        page.write_text(text)
    with pytest.raises(DataError, match=message):
        write_pages(Console(), str(folder), None, str(tmp_path / "new.md"), str(page))
    assert not (tmp_path / "new.md").exists()
