import json
from dataclasses import replace

import numpy as np
import pytest

from setwise.cli import main
from setwise.data import load_dataset, write_svmlight
from setwise.decisions import DECISIONS, decision_for
from setwise.experiments import entries, measuring, runner, summary
from setwise.experiments.entries import OWN_MEASURE, Entry, ModelSpec
from setwise.experiments.tuning import held_out_log_prob, tune
from setwise.metrics import set_measures
from setwise.models import BinaryRelevance


def labelled_rows(n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, (2 * X @ np.eye(3) + random.normal(size=(n, 3)) > 0).astype(int)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """An experiment on a data set of a hundred rows."""
    (tmp_path / "tiny").mkdir()
    for seed, part in enumerate(("train", "test")):
        write_svmlight(tmp_path / f"tiny/tiny-{part}.svm", *labelled_rows(60, seed))
    monkeypatch.setenv("SETWISE_DATA", str(tmp_path))
    entry = Entry(
        name="tiny",
        title="A tiny table",
        datasets=("tiny",),
        models=(ModelSpec("BR", "BinaryRelevance", grid={"C": (1e-6, 1.0)}),),
        seeds=(0, 1),
        published={("tiny", "BR", "set_accuracy"): (0.5, "nowhere")},
        notes="Only a test.",
    )
    monkeypatch.setitem(entries.ENTRIES, "tiny", entry)
    return entry


def test_an_entry_is_run_and_summarised(tiny):
    results = json.loads(json.dumps(runner.run("tiny")))
    assert [row["decision"] for row in results["rows"]] == ["set_accuracy", "f1", "hamming"]
    first = results["rows"][0]
    assert first["settings"] == [{"C": 1.0}] * 2
    assert first["published"] == {"set_accuracy": [0.5, "nowhere"]}
    assert 0.3 < first["mean"]["set_accuracy"] < 1
    assert first["deviation"]["set_accuracy"] == 0  # nothing here is left to chance
    assert set(results["wins"]) == {"set_accuracy", "f1", "hamming"}


def test_tuned_decisions_are_run_as_models_make_them(tiny, monkeypatch, capsys):
    """Each as by a model with that target, which tunes it on rows it holds out."""
    assert set(OWN_MEASURE) == set(DECISIONS)
    tuned = [target for target in DECISIONS if decision_for(target).needs_tuning]
    entry = replace(
        tiny,
        models=(ModelSpec("BR", "BinaryRelevance"),),
        decisions=("hamming", *tuned),
        seeds=(3,),
        published={},
    )
    monkeypatch.setitem(entries.ENTRIES, "tiny", entry)
    rows = {row["decision"]: row["mean"] for row in runner.run("tiny")["rows"]}
    data = load_dataset("tiny")
    for target in tuned:
        model = BinaryRelevance(target=target, random_state=3).fit(data.X_train, data.Y_train)
        expected = set_measures(data.Y_test, model.predict(data.X_test))
        assert {measure: rows[target][measure] for measure in expected} == expected
    assert main(["bench", "run", "tiny"]) == 0
    assert "the decision for jaccard has the best Jaccard on" in capsys.readouterr().out


def test_each_seed_deals_its_own_folds(tiny, monkeypatch):
    seen = []

    def spy(*arguments, **options):
        seen.append(options["random_state"])
        return tune(*arguments, **options)

    monkeypatch.setattr(measuring, "tune", spy)
    runner.run("tiny")
    assert seen == [0, 1]


def test_wins_count_the_best_on_the_own_measure(tiny):
    rows = [
        {"dataset": "tiny", "model": "BR", "decision": decision, "mean": means}
        for decision, means in (
            ("set_accuracy", {"set_accuracy": 0.6, "instance_f1": 0.5, "hamming_loss": 0.2}),
            ("f1", {"set_accuracy": 0.5, "instance_f1": 0.7, "hamming_loss": 0.3}),
            ("hamming", {"set_accuracy": 0.6, "instance_f1": 0.6, "hamming_loss": 0.1}),
        )
    ]
    assert summary.wins(tiny, rows) == {"set_accuracy": 1, "f1": 1, "hamming": 1}
    rows[2]["mean"]["hamming_loss"] = 0.25
    assert summary.wins(tiny, rows)["hamming"] == 0


def test_the_command_prints_a_table_and_writes_json(tiny, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["bench", "run", "tiny", "--json", str(tmp_path / "out.json")]) == 0
    out = capsys.readouterr().out
    assert "A tiny table" in out
    assert "0.5 (nowhere)" in out
    assert "has the best F1 on" in out
    assert "Only a test." in out
    assert json.loads((tmp_path / "out.json").read_text())["rows"]
    assert main(["bench", "list"]) == 0
    assert "tiny" in capsys.readouterr().out
    assert main(["bench", "run", "nothing"]) == 2
    assert "there is no experiment 'nothing'" in capsys.readouterr().err


def test_settings_are_chosen_by_held_out_likelihood():
    X, Y = labelled_rows(90, 3)
    model, setting = tune(BinaryRelevance(), {"C": (1e-6, 1.0)}, X, Y)
    assert setting == {"C": 1.0}
    assert model.get_params()["C"] == 1.0
    assert not hasattr(model, "bank_")
    folds = [(np.arange(0, 60), np.arange(60, 90)), (np.arange(30, 90), np.arange(0, 30))]
    expected = np.concatenate(
        [
            BinaryRelevance(C=0.5).fit(X[train], Y[train]).predict_dist(X[test]).log_prob(Y[test])
            for train, test in folds
        ]
    ).mean()
    found = held_out_log_prob(BinaryRelevance(), {"C": 0.5}, X, Y, folds)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("validated", [False, True])
def test_groups_are_never_separated(monkeypatch, validated):
    X, Y = labelled_rows(40, 4)
    groups = np.repeat(np.arange(10), 4)
    seen = []
    monkeypatch.setattr(
        "setwise.experiments.tuning.held_out_log_prob",
        lambda model, setting, X, Y, folds, groups: seen.extend(folds) or 0.0,
    )
    tune(BinaryRelevance(), {"C": (1.0, 2.0)}, X, Y, groups=groups, validated=validated)
    assert len(seen) == 2 * (1 if validated else 3)  # of each setting
    assert all(len(test) == 8 for _, test in seen) or not validated
    for train, test in seen:
        assert not set(groups[train]) & set(groups[test])


def test_a_data_set_without_a_test_part_gets_a_sentence(tiny, tmp_path):
    (tmp_path / "tiny/tiny-test.svm").unlink()
    [first, _] = runner.run("tiny")["failed"]
    assert first["reason"] == "tiny has no published split to test on"


@pytest.mark.parametrize("judged_by", ["log_prob", "set_accuracy"])
def test_groups_reach_the_fits_of_a_search(monkeypatch, judged_by):
    X, Y = labelled_rows(40, 4)
    groups = np.repeat(np.arange(10), 4)
    seen, fit = [], BinaryRelevance.fit

    def watched(self, X, y, sample_weight=None, groups=None):
        seen.append(len(set(groups)))
        return fit(self, X, y, sample_weight, groups)

    monkeypatch.setattr(BinaryRelevance, "fit", watched)
    tune(
        BinaryRelevance(),
        {"C": (1.0, 2.0)},
        X,
        Y,
        groups=groups,
        validated=True,
        judged_by=judged_by,
    )
    assert seen == [8, 8]
