"""Models of word counts from the command line: fitting, explaining, reporting."""

import json

import pytest

TOLD = ("--labels", "tags", "--folds", 2, "--quiet")
SMALL = ("--option", "preset=fast", "--option", "word_chains=1", "--option", "n_chains=1")


@pytest.fixture(scope="module")
def fitted(folder, tmp_path_factory):
    """A model of the tickets' texts."""
    from setwise.cli import main

    out = tmp_path_factory.mktemp("topics") / "topics.setwise"
    arguments = (
        *("fit", folder / "train.csv", "--ignore", "age", "plan", "id"),
        *("--model", "FlatLDA", *SMALL, *TOLD, "--out", out),
    )
    assert main([str(one) for one in arguments]) == 0
    return out


def test_words_are_attributed_to_labels(run, fitted):
    facts = json.loads(run("explain", fitted, "router router cable", "--json")[1])
    told = facts["attribution"]
    assert facts["set"] == ["network"]
    assert told["words"] == ["cable", "router"]
    assert told["counts"] == [1, 2]  # not tf-idf
    best = [max(zip(row, told["labels"], strict=True))[1] for row in told["tokens"]]
    assert best == ["network", "network"]
    code, said, _ = run("explain", fitted, "router router cable")
    assert code == 0
    assert "What words speak for, given all the others" in said
    assert "1 network" in said
    assert "router 1" in said


def test_the_report_shows_words_in_colour(run, folder, fitted, tmp_path):
    out = tmp_path / "page.html"
    code, _, err = run("report", fitted, folder / "test.csv", "--out", out, "--draws", 2, "--quiet")
    assert (code, err) == (0, "")
    page = out.read_text()
    assert '<div class="attribution"><p><mark style="background:' in page
    assert "what its words speak for" in page


def test_numbers_get_a_sentence(run, folder, tmp_path):
    code, _, err = run(
        *("fit", folder / "train.csv", "--ignore", "id", "--model", "DependencyLDA", *TOLD),
        *("--out", tmp_path / "none.setwise"),
    )
    assert code == 2
    assert "the model reads counts of words, but column 'age' holds numbers" in err
    assert not (tmp_path / "none.setwise").exists()


def test_all_of_them_are_listed(run):
    facts = json.loads(run("models", "--json")[1])
    assert {"FlatLDA", "PriorLDA", "DependencyLDA", "TunedSVM"} <= set(facts)
    assert facts["DependencyLDA"]["paper"] == "Rubin 2012, 3.3"
