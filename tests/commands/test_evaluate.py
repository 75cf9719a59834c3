import json
import re


def test_all_is_told(run, folder):
    code, said, err = run("evaluate", folder / "model.setwise", folder / "test.csv", "--draws", 20)
    assert (code, err) == (0, "")
    assert re.search(r"whole sets exactly right +0\.\d{4} +0\.\d{4} to 0\.\d{4}", said)
    assert re.search(r"AUC, mean over rows +0\.9", said)
    assert re.search(r"80% +\d+\.\d% +\d+ +\d+\.\d% +kept", said)
    assert re.search(r"100\.0% +\d+\.\d% +0\.\d+", said)
    assert re.search(r"0\.9 to 1\.0 +\d+ +9\d\.\d% +\d+\.\d%", said)
    assert re.search(r"network +\d+ +\d+ +\d+\.\d% +\d+\.\d% +\d+\.\d%", said)


def test_json_is_for_programs(run, folder):
    code, said, _ = run(
        "evaluate", folder / "model.setwise", folder / "test.csv", "--json", "--draws", 5,
        "--accept-accuracy", 0.7,
    )  # fmt: skip
    facts = json.loads(said)
    assert code == 0
    assert facts["n_rows"] == 300
    assert [fact["target"] for fact in facts["accept"]] == [0.7]


def test_labels_never_seen_are_told(run, folder, write):
    text = (folder / "test.csv").read_text().replace("billing", "invoices")
    path = write("test.csv", text)
    arguments = ("--draws", 5, "--all-labels")
    code, said, err = run("evaluate", folder / "model.setwise", path, *arguments)
    assert code == 0
    assert re.search(r"labels that the model has never seen \('invoices'\), in \d+ places", err)
    assert re.search(r"invoices \(never seen\) +\d+ +0 +- +0\.0%", said)


def test_a_file_without_labels_gets_a_sentence(run, folder, write):
    path = write("test.csv", "id,description,age,plan\n1,a,2,gold\n")
    code, _, err = run("evaluate", folder / "model.setwise", path)
    assert code == 2
    assert "there is no column 'tags'" in err
