import json


def test_a_page_is_written(run, folder, tmp_path):
    out = tmp_path / "report.html"
    code, said, err = run(
        "report", folder / "model.setwise", folder / "test.csv", "--out", out, "--draws", 5
    )
    assert (code, said) == (0, "")
    assert f"{out} is written; open it in a browser" in err
    assert out.read_text().endswith("</body></html>\n")


def test_its_facts_can_be_had_as_json(run, folder, tmp_path):
    out = tmp_path / "report.html"
    arguments = ("--out", out, "--draws", 5, "--json", "--accept-accuracy", 0.7)
    code, said, _ = run("report", folder / "model.setwise", folder / "test.csv", *arguments)
    assert code == 0
    assert json.loads(said)["accuracy_wanted"] == 0.7


def test_a_place_that_cannot_be_written_to(run, folder):
    code, _, err = run(
        "report", folder / "model.setwise", folder / "test.csv", "--out", folder / "no" / "a.html"
    )
    assert code == 2
    assert "no such folder" in err
