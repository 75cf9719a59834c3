"""The tour once, on few packages; what it says again from the same models."""

import json

import numpy as np
import pytest

from setwise.cli import main
from setwise.commands import demo
from setwise.commands.demo_data import some_packages, whole_groups, words_of
from setwise.data import load_dataset


@pytest.fixture(scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "TRAINING_ROWS", 300)
        patch.setattr(demo, "COMPONENTS", 4)
        patch.setattr(demo, "DRAWS", 5)
        yield patch


@pytest.fixture(scope="module")
def learnt(small):
    """What was learnt, what the tour was told meanwhile; later tours learn nothing new."""
    told = []
    train, test = some_packages(load_dataset("debtags"), demo.TRAINING_ROWS, 150)
    found = demo.learn(train, test, lambda name, measured: told.append((name, list(measured))))
    small.setattr(demo, "learn", lambda train, test, now: found)
    return found, told


def test_three_models_learn_one_after_another(learnt):
    (_, judged, measured), told = learnt
    assert told == [
        ("", []),
        ("binary relevance", []),
        ("CBM", ["binary relevance"]),
        ("BR-rerank", ["binary relevance", "CBM"]),
    ]
    for values in measured.values():
        assert 0 < values["set_accuracy"] < values["f1"] < 1
        assert values["seconds"] > 0
    assert measured["BR-rerank"]["set_accuracy"] == judged.correct.mean()


def test_facts_as_json(learnt, capsys, tmp_path):
    out = tmp_path / "tour.html"
    assert main(["demo", "--rows", "150", "--json", "--out", str(out)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["data"]["train_packages"] >= 300
    assert facts["data"]["test_packages"] >= 150
    assert list(facts["models"]) == ["binary relevance", "CBM", "BR-rerank"]
    confidence = [one["confidence"] for one in facts["packages"]]
    assert confidence == sorted(confidence, reverse=True)
    assert len(confidence) == demo.EXAMPLES
    assert [rule["target"] for rule in facts["unread"]] == [0.9, 0.95]
    # One package of each source counts.
    assert {rule["counted"] for rule in facts["unread"]} == {facts["data"]["test_sources"]}
    assert facts["out"] == str(out)
    assert "<h2>What may be accepted unread</h2>" in out.read_text()


def test_it_is_printed_and_the_report_is_where_it_says(learnt, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["demo", "--rows", "150"]) == 0
    out, err = capsys.readouterr()
    assert err == ""  # no bars where there is no terminal
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80
    for title in ("What each model gets right", "New packages", "What may be accepted unread"):
        assert title in out
    assert "setwise-demo.html" in out
    assert [path.name for path in tmp_path.iterdir()] == ["setwise-demo.html"]


def test_quiet_says_nothing(learnt, capsys, tmp_path):
    assert main(["demo", "--rows", "150", "--quiet", "--out", str(tmp_path / "a.html")]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "a.html").exists()


def test_a_place_that_cannot_be_written_to_is_told_before_any_work(capsys, tmp_path):
    assert main(["demo", "--out", str(tmp_path / "no" / "a.html")]) == 2
    assert "no such folder" in capsys.readouterr().err


@pytest.fixture(scope="module")
def dataset():
    return load_dataset("debtags")


def test_packages_are_always_the_same_and_keep_their_words(dataset):
    train, test = some_packages(dataset, 50, 20)
    again, _ = some_packages(dataset, 50, 1)
    assert train.columns == again.columns
    assert 50 <= len(train) < 100
    assert 20 <= len(test) < 60
    assert not set(train.columns["source"]) & set(test.columns["source"])
    place = list(dataset.row_names_test).index(test.columns["package"][3])
    words, counts = np.unique(test.columns["words"][3].split(), return_counts=True)
    row = dataset.X_test[[place]]
    known = dict(zip(np.array(dataset.feature_names)[row.indices].tolist(), row.data))
    assert dict(zip(words.tolist(), counts)) == known
    (tags,) = dataset.labels.decode(dataset.Y_test[[place]])
    assert test.columns["tags"][3] == ", ".join(tags)


def test_sources_are_taken_whole(dataset):
    groups = np.asarray(dataset.groups_test)
    rows = whole_groups(groups, 100)
    assert len(rows) >= 100
    assert np.isin(groups, groups[rows]).sum() == len(rows)
    assert len(whole_groups(groups, 10**6)) == len(groups)
    assert len(whole_groups(np.arange(500) // 2, 99)) == 100  # and no more of them than needed


def test_a_row_without_words_is_an_empty_text(dataset):
    none = dataset.X_test[[0]] * 0
    none.eliminate_zeros()
    assert words_of(none, np.array(dataset.feature_names, dtype=object)) == [""]


def test_examples_are_spread_from_the_surest_to_the_least_sure():
    probability = np.random.default_rng(0).random(101)
    rows = demo.spread(probability, 6)
    assert len(set(rows.tolist())) == 6
    assert (np.diff(probability[rows]) < 0).all()
    assert probability[rows[0]] == probability.max()
    assert probability[rows[-1]] == probability.min()
    assert demo.spread(probability[:2], 6).shape == (2,)
