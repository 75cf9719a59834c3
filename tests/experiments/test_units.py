"""What is run, what is kept, and what is run again."""

import json
from dataclasses import replace

import pytest

from setwise.experiments import records, runner
from setwise.experiments.entry import ModelSpec, quick_variant
from setwise.experiments.protocol import folds
from setwise.experiments.records import Results
from setwise.experiments.study import Study, quick_study
from setwise.experiments.unit import unit_of, units_of


def tasks_of(entry):
    return [(entry, unit) for unit in units_of(entry)]


def test_a_unit_is_a_data_set_a_model_a_seed_and_a_fold(small):
    entry = replace(small, seeds=(0, 1), protocol=folds(3))
    units = units_of(entry, ["tiny"])
    assert len(units) == len({unit.file for unit in units}) == 2 * 2 * 3
    assert {unit.fold for unit in units} == {0, 1, 2}
    only = ModelSpec("only", "BinaryRelevance", datasets=("other",))
    assert [unit.model for unit in units_of(replace(small, models=(only,)))] == ["only"]


def test_a_changed_setting_changes_the_fingerprint_of_its_own_units(small):
    before = {unit.place: unit.fingerprint for unit in units_of(small)}
    models = (small.models[0], replace(small.models[1], parameters={"C": 1e-5}))
    for changed, differs in (
        (replace(small, models=models), lambda place: place[1] == "weak"),
        (replace(small, decisions=("f1",)), lambda place: True),
        (replace(small, features={"tiny": "tfidf"}), lambda place: place[0] == "tiny"),
        (replace(small, title="Another", notes="", seeds=(0, 5)), lambda place: False),
    ):
        for unit in units_of(changed):
            if unit.place in before:
                assert (unit.fingerprint != before[unit.place]) == differs(unit.place)


def test_a_parameter_may_be_other_on_a_data_set(small):
    spec = ModelSpec("BR", "BinaryRelevance", {"C": 1.0}, by_dataset={"tiny": {"C": 2.0}})
    assert dict(spec.on("tiny").parameters) == {"C": 2.0}
    assert dict(spec.on("other").parameters) == {"C": 1.0}


def test_what_was_done_is_not_done_again(small, tmp_path, monkeypatch):
    store, done = Results(tmp_path / "results"), []
    first = runner.run_tasks(tasks_of(small)[:3], results=store)
    assert [record["status"] for record in first] == ["done"] * 3
    real = records.run_unit
    monkeypatch.setattr(runner, "run_unit", lambda e, unit: done.append(unit) or real(e, unit))
    again = runner.run_tasks(tasks_of(small), results=store)
    assert [str(unit) for unit in done] == ["weak on other, seed 0"]
    assert again[:3] == first
    damaged = tmp_path / "results" / units_of(small)[0].file
    damaged.write_text('{"unit": ')  # as by a disk that was full
    runner.run_tasks(tasks_of(small), results=store)
    assert len(done) == 2
    runner.run_tasks(tasks_of(small), results=store, fresh=True)
    assert len(done) == 6


def test_a_failing_unit_stops_no_other_and_is_tried_again(small, tmp_path):
    models = (ModelSpec("missing", "NoSuchModel"), ModelSpec("odd", "BinaryRelevance", {"C": -1.0}))
    entry = replace(small, models=(*models, small.models[0]), datasets=("tiny",))
    store = Results(tmp_path / "results")
    found = runner.run_tasks(tasks_of(entry), results=store)
    assert [record["status"] for record in found] == ["failed", "failed", "done"]
    assert "has no model NoSuchModel" in found[0]["reason"]
    assert "Traceback" in found[1]["traceback"]
    told = runner.told(entry, found)
    assert {row["model"] for row in told["rows"]} == {"BR"}
    assert [one["unit"]["model"] for one in told["failed"]] == ["missing", "odd"]
    assert store.done(units_of(entry)[0]) is None


def test_a_record_has_settings_versions_times_and_memory(small, tmp_path):
    store = Results(tmp_path / "results")
    [record, *_] = runner.run_tasks(tasks_of(small)[:1], results=store)
    kept = json.loads((tmp_path / "results" / units_of(small)[0].file).read_text())
    assert kept == record == next(store.records())
    assert set(kept["versions"]) >= {"python", "numpy", "scipy", "numba", "lightgbm", "setwise"}
    assert kept["machine"]["cores"] >= 1
    assert 20 < kept["peak_megabytes"] < 100_000
    assert kept["seconds"] > 0
    assert kept["settings"]["decisions"] == ["set_accuracy", "f1"]
    assert len(kept["result"]["rows"]["f1"]["set_accuracy"]) < 60  # sixty rows, in bits


def test_a_quick_variant_has_fewer_seeds_folds_and_data(small):
    quick = quick_variant(replace(small, seeds=(0, 1), protocol=folds(10)))
    assert (quick.datasets, quick.seeds, quick.protocol.count) == (("tiny",), (0,), 3)
    study = Study("s", "t", ("a",), print, print, seeds=(3, 4), quick={"datasets": ("b",)})
    assert (quick_study(study).datasets, quick_study(study).seeds_of("b")) == (("b",), (0,))


def test_a_user_s_file_that_changes_is_another_unit(small, tmp_path):
    path = str(tmp_path / "tiny")
    before = unit_of(small, path, "BR", 0).fingerprint
    file = tmp_path / "tiny/tiny-test.svm"
    file.write_text(file.read_text() + "\n")
    assert unit_of(small, path, "BR", 0).fingerprint != before


@pytest.mark.parametrize("name", ["no experiment", ""])
def test_an_unknown_experiment_gets_a_sentence(name):
    with pytest.raises(ValueError, match="there is no experiment"):
        runner.find(name)
