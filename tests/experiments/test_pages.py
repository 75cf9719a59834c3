"""Pages of results: what is marked, ranked and drawn."""

import re
from dataclasses import replace

import numpy as np
import pytest

from setwise.experiments import entries
from setwise.experiments.entry import ModelSpec
from setwise.experiments.packing import packed, unpacked
from setwise.experiments.pages import statistics
from setwise.experiments.pages.compare import contrasts, pivots
from setwise.experiments.pages.drawings import critical_difference_diagram, curves, ticks
from setwise.experiments.pages.gather import (
    _has_seconds,
    _processors,
    _references,
    _warnings,
    gathered,
)
from setwise.experiments.pages.html import page_of
from setwise.experiments.pages.markdown import markdown_of, sentences
from setwise.experiments.pages.paired import RowsByModel
from setwise.experiments.protocol import RANDOM
from setwise.experiments.records import Results
from setwise.experiments.runner import run_tasks
from setwise.experiments.studies import STUDIES
from setwise.experiments.study import ResultTable, Study
from setwise.experiments.summary import summarised
from setwise.experiments.unit import units_of


def run(experiment, store):
    return run_tasks([(experiment, unit) for unit in units_of(experiment)], results=store)


def tabulate(measured):
    curve = {"rising": [(1, 0.5), (100, 0.75)]}
    rows = [[name, *runs] for name, runs in measured.items()]
    return [ResultTable("A figure", ("data", "value"), rows, "Drawn.", {"picture": curve})]


@pytest.fixture
def facts(small, tmp_path, monkeypatch):
    store = Results(tmp_path / "results")
    missing = ModelSpec("missing", "NoSuchModel")
    monkeypatch.setitem(entries.ENTRIES, "small", replace(small, models=(*small.models, missing)))
    run(entries.ENTRIES["small"], store)
    study = Study("drawn", "A study", ("a",), lambda name, seed: 0.125, tabulate)
    monkeypatch.setitem(STUDIES, "drawn", study)
    run(study, store)
    place = replace(gather_places()[0], experiments=("small", "drawn", "absent"), missing="more")
    monkeypatch.setattr("setwise.experiments.pages.gather.PLACES", (place,))
    return gathered(store)


def gather_places():
    from setwise.experiments.registry import PLACES

    return PLACES


def test_values_of_rows_survive_packing():
    values = np.linspace(0, 1, 9)
    texts = packed({"f1": values, "right": values > 0.4})
    np.testing.assert_allclose(unpacked(texts["f1"], 9, False), values, atol=1e-3)
    np.testing.assert_array_equal(unpacked(texts["right"], 9, True), values > 0.4)


def test_models_are_compared_row_by_row_and_with_what_was_published(small):
    records = run(small, None)
    accuracy, f1 = pivots(small, records)
    assert (accuracy.measure, f1.measure) == ("set_accuracy", "instance_f1")
    good, weak = (accuracy.rows[name]["tiny"] for name in ("BR", "weak"))
    assert good.is_best
    assert not weak.is_best
    assert (good.published, good.mark) == (0.01, "better")
    high = replace(small, published={("tiny", "BR", "set_accuracy"): (0.99, "")})
    assert pivots(high, records)[0].rows["BR"]["tiny"].mark == "worse"
    near = replace(small, published={("tiny", "BR", "set_accuracy"): (good.mean - 0.01, "")})
    assert pivots(near, records)[0].rows["BR"]["tiny"].mark == ""


def test_a_model_is_held_against_the_best_of_its_rivals(small):
    entry = replace(small, contrast=("BR", ("weak", "missing")))
    found = contrasts(entry, run(entry, None))
    assert [(one["dataset"], one["measure"]) for one in found] == [
        (data, measure) for data in ("tiny", "other") for measure in ("set accuracy", "F1")
    ]
    assert all(one["rival"] == "weak" and one["verdict"] == "better" for one in found)
    assert all(one["low"] <= one["gap"] <= one["high"] for one in found)
    turned = replace(small, contrast=("weak", ("BR",)))
    assert {one["verdict"] for one in contrasts(turned, run(turned, None))} == {"worse"}


def test_a_model_and_its_rival_are_told_with_how_far_their_runs_differ(small):
    entry = replace(small, seeds=(0, 1), contrast=("BR", ("weak",)))
    records = run(entry, None)
    shifts = {"BR": 0.02, "weak": 0.04}
    for record in records:
        measured = record["result"]["measured"]["set_accuracy"]
        measured["set_accuracy"] += shifts[record["unit"]["model"]] * record["unit"]["seed"]
    cells = pivots(entry, records)[0].rows
    told = contrasts(entry, records)[0]
    for side, name in (("ours", "BR"), ("theirs", "weak")):
        mean, deviation = told[side]
        assert mean == cells[name]["tiny"].mean
        assert deviation == pytest.approx(shifts[name] / 2**0.5)
    alone = contrasts(replace(entry, seeds=(0,)), [r for r in records if r["unit"]["seed"] == 0])
    assert alone[0]["ours"][1] is None


def test_random_splits_are_compared_row_by_row_over_all_seeds(small):
    entry = replace(small, seeds=(0, 1), protocol=RANDOM)
    records = run(entry, None)
    tests = [r["result"]["n_test"] for r in records if r["unit"]["model"] == "BR"]
    own, key = RowsByModel.of(entry, records), ("tiny", "BR", "set_accuracy", "set_accuracy")
    pair = own.pair(key, ("tiny", "weak", *key[2:]))
    values = pair.ours
    assert pair.inflation == pytest.approx(1.25**0.5)
    told = [
        r["result"]["measured"]["set_accuracy"]["set_accuracy"]
        for r in records
        if (r["unit"]["dataset"], r["unit"]["model"]) == ("tiny", "BR")
    ]
    assert len(values) == sum(tests[:2])
    assert values.mean() == pytest.approx(np.average(told, weights=tests[:2]))
    weak = pivots(entry, records)[0].rows["weak"]
    assert not any(cell.is_best for cell in weak.values())  # two runs alone would not tell
    for record, groups in zip(records[:2], ([0, 0, 1], [0, 1]), strict=True):
        record["result"]["groups"] = groups
    assert {r["unit"]["seed"] for r in records[:2]} == {0, 1}
    grouped = RowsByModel.of(entry, records)
    assert grouped.pair(key, key).groups.tolist() == [0, 0, 1, 2, 3]
    assert RowsByModel.of(small, records).groups["tiny"][0].tolist() == [0, 1]


def test_models_are_paired_on_the_random_parts_that_both_have():
    keys = [("tiny", name, "f1", "f1") for name in "abc"]
    parts = {0: np.zeros(2), 1: np.ones(3), 2: np.full(2, 2.0)}
    rows = RowsByModel(
        {
            keys[0]: {part: parts[part] for part in (0, 1)},
            keys[1]: {part: parts[part] for part in (1, 2)},
            keys[2]: {0: parts[0]},
        },
        {"tiny": {0: np.array([0, 1]), 1: np.array([0, 0, 1]), 2: np.array([1, 0])}},
    )
    pair = rows.pair(keys[0], keys[1])
    assert (pair.ours.tolist(), pair.groups.tolist()) == ([1, 1, 1], [0, 0, 1])
    assert pair.inflation == 1
    assert rows.pair(keys[1], keys[2]) is None
    assert rows.pair(keys[0], ("tiny", "missing", "f1", "f1")) is None


def test_parts_that_test_anew_make_a_mean_surer():
    # as pooling the rows of both would have it, but for those that are in both
    pooled = statistics.standard_error(np.tile([0.0, 1.0], 100))
    alone = statistics.standard_error(np.tile([0.0, 1.0], 50))
    assert statistics.noise_of_parts(0.0, 2, alone) == pytest.approx(pooled * 1.25**0.5)
    assert statistics.noise_of_parts(0.5, 2, alone) == pytest.approx((0.5**2 / 2 * 1.25) ** 0.5)


def test_means_beside_the_authors_program_show_how_far_runs_differ(small):
    entry = replace(small, seeds=(0, 1), reference={("tiny", "set_accuracy"): 0.5})
    records = run(entry, None)
    (row,) = (row for row in _references(entry, summarised(entry, records)) if row[1] == "weak")
    runs = [r["result"]["measured"]["set_accuracy"]["set_accuracy"] for r in records
            if (r["unit"]["dataset"], r["unit"]["model"]) == ("tiny", "weak")]  # fmt: skip
    assert len(runs) > 1
    assert row[3:] == [pytest.approx(np.mean(runs)), pytest.approx(np.std(runs, ddof=1)), 0.5]
    alone = [record for record in records if record["unit"]["seed"] == entry.seeds[0]]
    assert _references(entry, summarised(entry, alone))[0][4] is None


def test_paired_tests_see_small_steady_gaps():
    random = np.random.default_rng(0)
    base = random.normal(size=400)
    assert statistics.rows_differ(base + 0.1 + 0.1 * random.normal(size=400), base)
    assert not statistics.rows_differ(base + random.normal(size=400), base)
    assert not statistics.rows_differ(base, base)
    assert statistics.runs_differ([0.51, 0.62, 0.73, 0.82], [0.5, 0.6, 0.7, 0.8])
    assert not statistics.runs_differ([0.5, 0.6, 0.7], [0.6, 0.5, 0.7])
    assert not statistics.runs_differ([0.5], [0.9])


def test_rows_of_one_group_are_one_witness():
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 25)
    gaps = 0.3 * random.normal(size=40)[groups] + 0.1 * random.normal(size=1000) + 0.05
    none = np.zeros(1000)
    assert statistics.rows_differ(gaps, none)
    assert not statistics.rows_differ(gaps, none, groups)
    alone, together = (statistics.paired_bootstrap(gaps, none, some) for some in (None, groups))
    assert alone[0] == together[0] == pytest.approx(gaps.mean())
    assert together[2] - together[1] > 3 * (alone[2] - alone[1])
    assert together[2] - together[1] == pytest.approx(
        2 * 1.96 * statistics.standard_error(gaps, groups), rel=0.15
    )


def test_groups_of_test_rows_reach_the_comparison(small):
    records = [record for record in run(small, None) if record["unit"]["dataset"] == "tiny"]
    right = {
        record["unit"]["model"]: unpacked(
            record["result"]["rows"]["set_accuracy"]["set_accuracy"],
            record["result"]["n_test"],
            True,
        )
        for record in records
    }
    gained = (right["BR"] > right["weak"]).astype(int).tolist()
    assert not pivots(small, records)[0].rows["weak"]["tiny"].is_best
    for record in records:  # all that differs is one witness
        record["result"]["groups"] = gained
    assert pivots(small, records)[0].rows["weak"]["tiny"].is_best


def test_ranks_are_friedman_s():
    values = np.array([[0.9, 0.8, 0.1], [0.7, 0.7, 0.2], [0.5, 0.4, 0.3], [0.8, 0.6, 0.1]])
    found = statistics.ranks(["a", "b", "c"], values, less_is_better=False)
    np.testing.assert_allclose(found.mean, [1.125, 1.875, 3.0], rtol=1e-12)
    assert found.p_value < 0.05
    turned = statistics.ranks(["a", "b", "c"], values, less_is_better=True)
    np.testing.assert_allclose(turned.mean, [2.875, 2.125, 1.0], rtol=1e-12)
    assert statistics.ranks(["a", "b"], values[:, :2], False) is None
    # Demšar 2006, table 5: q at 5% is 2.343 for three models and 3.164 for ten
    for k, q in ((3, 2.343), (10, 3.164)):
        expected = q * np.sqrt(k * (k + 1) / (6 * 30))
        assert statistics.critical_difference(k, 30) == pytest.approx(expected, rel=1e-3)


def test_the_diagram_joins_what_chance_may_have_told_apart():
    ranks = {"models": ["a", "b", "c"], "mean": [1.0, 1.5, 3.0], "critical_difference": 1.0}
    drawn = critical_difference_diagram(ranks)
    assert drawn.count('class="bar"') == 2  # the difference itself, and a with b
    assert critical_difference_diagram(ranks | {"critical_difference": 5.0}).count("bar") == 2
    assert critical_difference_diagram(ranks | {"critical_difference": 0.1}).count("bar") == 1
    assert "b 1.50" in drawn


def test_curves_are_drawn_over_round_numbers():
    drawn = curves("title", {"one": [(1, 0.2), (10, 0.3)], "empty": []})
    assert drawn.count("<circle") == 2
    assert "empty" not in drawn
    assert curves("title", {}) == ""
    assert ticks(3, 3)


def test_many_places_have_round_numbers_below_and_few_their_own():
    many = [(0.1073 + place * 0.0501, place) for place in range(18)]
    below = re.findall(r'"middle">([^<]+)<', curves("title", {"one": many}))
    assert below == ["0.25", "0.5", "0.75"]
    few = [(1, 0.2), (5, 0.3), (7, 0.4)]
    assert re.findall(r'"middle">([^<]+)<', curves("title", {"one": few})) == ["1", "5", "7"]


def test_the_markdown_page_has_ours_beside_theirs(facts):
    text = markdown_of(facts)
    assert re.search(r"\| BR \| \*\*0\.\d{4} \(0\.01\) ▲\*\* \|", text)
    assert "published: Nobody 1900, Table 1" in text
    assert "- Failed: missing on tiny, other: setwise" in text
    assert "Only a test." in text
    assert "(more). Not run: absent." in text
    assert "numpy" in text
    assert "| a | 0.125 |" in text


def test_warnings_of_fits_are_told_with_model_and_data(small, tmp_path):
    store = Results(tmp_path / "results")
    hasty = ModelSpec("hasty", "BinaryRelevance", {"C": 100.0, "max_iter": 1})
    entry = replace(small, models=(hasty,))
    told = _warnings(run(entry, store))
    assert told == ["hasty on tiny, other: some targets had not converged after 1 iterations"]
    origin = {"finished": "2026-01-02", "n_units": 2, "seconds": 90, "source": "abc"}
    facts = {"quick": False, "protocol": "", "differences": [], "absent": [], "notes": ""}
    facts["processors"] = {}
    assert sentences(facts | {"warnings": told, "origin": origin}) == [
        "Measured 2026-01-02: 2 parts, 0.03 hours, source abc.",
        f"Warned of: {told[0]}.",
    ]


def test_warnings_that_differ_in_numbers_are_told_once():
    def record(data, *lines):
        return {"unit": {"model": "BR", "dataset": data}, "warnings": lines}

    told = _warnings(
        [
            record("scene", "the gap is 0.5 after 300 rounds; wait", "the gap is 0.25 after 9"),
            record("yeast", "the gap is 0.75 after 300 rounds"),
        ]
    )
    assert told == [
        "BR on scene, yeast: the gap is 0.5 after 300 rounds",
        "BR on scene: the gap is 0.25 after 9",
    ]


def test_seconds_of_different_processors_are_told_apart(small):
    def record(processor, model):
        return {"machine": {"processor": processor}, "unit": {"model": model}}

    records = [record("slow", "BR"), *(record("fast", name) for name in ("BR", "CBM", "BR"))]
    told = [("fast", ["BR", "CBM"]), ("slow", ["BR"])]
    assert list(_processors(records, True).items()) == told
    assert _processors(records, False) == {}
    for also, has_seconds in (("fit_seconds", True), ("instance_f1", False)):
        assert _has_seconds(replace(small, also=(also,)), {}) == has_seconds
    study = Study("s", "A study", ("a",), lambda name, seed: 0, tabulate)
    for column in ("value", "seconds to fit"):
        tables = {"tables": [{"columns": ("data", column)}]}
        assert _has_seconds(study, tables) == column.startswith("seconds")


def test_the_html_page_needs_nothing_else(facts):
    page = page_of(facts)
    assert "http" not in page
    assert "<script" not in page
    assert 'class="better">▲' in page
    assert page.count("<svg") == 1  # the figure; two data sets make no diagram
    assert "Nobody 1900" in page


def test_records_of_other_settings_are_left_out(small, tmp_path, monkeypatch):
    store = Results(tmp_path / "results")
    run(small, store)
    changed = replace(small, models=(ModelSpec("BR", "BinaryRelevance", {"C": 0.5}),))
    monkeypatch.setitem(entries.ENTRIES, "small", changed)
    assert "small" not in gathered(store)["experiments"]
    run(replace(changed, datasets=("tiny",)), store)
    told = gathered(store)["experiments"]["small"]
    assert (told["quick"], told["absent"]) == (False, ["other"])
