import json
import re

import pytest

from setwise.pipeline import load_model
from setwise.pipeline.build import Choice
from setwise.pipeline.candidates import Candidate


def test_it_says_what_it_did_and_what_comes_next(run, folder, tmp_path):
    out = tmp_path / "model.setwise"
    code, said, err = run(
        "fit", folder / "train.csv", "--labels", "tags", "--text", "description",
        "--model", "BRRerank", "--option", "C=1.0", "--folds", "2", "--out", out,
    )  # fmt: skip
    assert code == 0
    assert err == ""  # no bars where there is no terminal
    assert "\x1b" not in said
    assert re.search(r"description +text +\d+ words \(as you said\)", said)
    assert re.search(r"age +number .*some missing", said)
    assert re.search(r"id +ignored +it differs from row to row", said)
    assert re.search(r"tags +labels +4: billing, network, screen, ...", said)
    assert re.search(r"whole sets exactly right +0\.\d{4}", said)
    assert re.search(r"may be accepted unread at 90% accuracy +\d", said)
    assert f"setwise predict {out}" in said.replace("\n", "")
    model = load_model(str(out))
    assert model.settings["options"] == {"C": 1.0}
    assert model.facts_["source"] == str(folder / "train.csv")


def test_auto_compares_and_says_why(run, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("setwise.pipeline.choose.MOST_ROWS", 200)
    arguments = ("--labels", "tags", "--target", "f1", "--folds", "2", "--budget", "36000")
    code, said, _ = run("fit", folder / "train.csv", *arguments, "--out", tmp_path / "a.setwise")
    assert code == 0
    assert re.search(r"BinaryRelevance +0\.\d{4} +\d", said)
    assert re.search(r"CBM +0\.\d{4} +\d", said)
    assert re.search(r"Chosen: \w+ has the best instance F1 on \d+ held-out rows: 0\.\d{4}", said)


def test_a_file_that_holds_training_rows_is_told_and_need_not(run, folder, tmp_path, monkeypatch):
    near = Candidate(Choice("LPkNN", {"metric": "cosine"}))
    first = Candidate(Choice("BinaryRelevance", {"C": 1e-6}))

    def candidates(*_, keep_rows, **__):
        return [first, near] if keep_rows else [first]

    monkeypatch.setattr("setwise.pipeline.choose.candidates_for", candidates)
    arguments = ("--labels", "tags", "--target", "hamming", "--folds", "2")
    for flags, is_told in (((), True), (("--no-keep-rows",), False), (("--keep-rows",), True)):
        out = tmp_path / "a.setwise"
        code, said, _ = run("fit", folder / "train.csv", *arguments, *flags, "--out", out)
        assert code == 0
        said = " ".join(said.split())  # lines are as wide as the terminal
        assert ("The file holds training rows" in said) == is_told
        assert ("--no-keep-rows does without" in said) == is_told
        model = load_model(str(out))
        assert model.settings["keep_rows"] == is_told == model.facts_["keeps_rows"]
        assert ("LPkNN" in str(model.facts_["trials"])) == is_told


def test_settings_come_from_a_file_and_the_command_line_goes_first(run, folder, write, tmp_path):
    settings = write(
        "fit.toml",
        'labels = "tags"\nignore = ["age"]\nmodel = "BRRerank"\nfolds = 3\nseed = 7\n'
        "[options]\nC = 3.0\nn_candidates = 4\n",
    )
    code, said, _ = run(
        "fit", folder / "train.csv", "--settings", settings, "--folds", "2", "--option", "C=1",
        "--out", tmp_path / "a.setwise", "--json",
    )  # fmt: skip
    assert code == 0
    facts = json.loads(said)
    used = facts["settings"]
    assert (used["folds"], used["seed"], used["options"]) == (2, 7, {"C": 1, "n_candidates": 4})
    assert "age" not in facts["columns"]
    assert facts["accept"][0]["target"] == 0.9


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--labels", "tag"), "there is no column 'tag'; the columns are 'id', 'description'"),
        (("--labels", "tags", "--text", "body"), "there is no column 'body'"),
        (("--labels", "tags", "--model", "SVM"), "there is no model 'SVM'; there are: auto"),
        (("--labels", "tags", "--model", "cbm"), "there is no model 'cbm'; did you mean 'CBM'?"),
        (("--labels", "tags", "--target", "acc"), "target is one of set_accuracy"),
        (("--labels", "tags", "--model", "CBM", "--option", "K=3"), "CBM has no option 'K'"),
        (("--labels", "tags", "--model", "CBM", "--option", "members=3"), "no option 'members'"),
        (("--labels", "tags", "--model", "ModelAverage", "--option", "members=3"), "is a list of"),
        (("--labels", "tags", "--model", "KernelModel", "--option", "inside=3"), "is an object"),
        (("--labels", "tags", "--model", "Reranker"), "Reranker is what auto makes of the models"),
        (("--labels", "tags", "--model", "MLkNN", "--no-keep-rows"), "would hold training rows"),
        ((), "nothing says which column holds the labels; pass --labels"),
        (("--labels", "tags", "--settings", "none.toml"), "none.toml: no such file of settings"),
    ],
)
def test_mistakes_are_one_sentence(run, folder, tmp_path, arguments, sentence):
    out = tmp_path / "a.setwise"
    code, said, err = run("fit", folder / "train.csv", *arguments, "--out", out)
    assert code == 2
    assert said == ""
    assert err.startswith("setwise: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert not out.exists()


def test_an_option_of_columns_may_be_repeated(run, folder, tmp_path):
    code, said, _ = run(
        "fit", folder / "train.csv", "--labels", "tags", "--ignore", "id", "--ignore", "age",
        "--model", "BinaryRelevance", "--folds", "2", "--json", "--out", tmp_path / "a.setwise",
    )  # fmt: skip
    assert code == 0
    assert json.loads(said)["settings"]["ignore"] == ["id", "age"]


def test_a_place_that_cannot_be_written_to_is_told_before_any_work(run, folder, monkeypatch):
    def work(*_):
        raise AssertionError("worked")

    monkeypatch.setattr("setwise.commands.fit.read_table", work)
    for out, sentence in (
        (folder / "none" / "a.setwise", "no such folder"),
        (folder, "a folder, not a file"),
        (folder / "a.gz", "packed already"),
    ):
        code, _, err = run("fit", folder / "train.csv", "--labels", "tags", "--out", out)
        assert code == 2
        assert sentence in err


def test_an_empty_file_and_one_of_a_header_only(run, write, tmp_path):
    for contents, sentence in (("", "the file is empty"), ("a,tags\n", "no rows after the header")):
        path = write("a.csv", contents)
        code, _, err = run("fit", path, "--labels", "tags", "--out", tmp_path / "a.setwise")
        assert code == 2
        assert sentence in err


def test_quiet_says_nothing(run, folder, tmp_path):
    arguments = ("--labels", "tags", "--model", "BinaryRelevance", "--folds", "2", "--quiet")
    assert run("fit", folder / "train.csv", *arguments, "--out", tmp_path / "a") == (0, "", "")
