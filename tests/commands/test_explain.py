import json
import re

import pytest

ROW = '{"description": "router cable offline", "age": 31, "plan": "gold"}'


def test_a_row_of_json(run, folder):
    code, said, _ = run("explain", folder / "model.setwise", ROW)
    assert code == 0
    assert re.search(r"^\{network.*\}  confidence 0\.\d{3}: (accept|review)", said)
    assert re.search(r"or \{.*\}, probability 0\.\d{3}", said)
    assert re.search(r"\* +network +\d\.\d{3} +.*(router|cable|offline) \+\d", said)
    facts = json.loads(run("explain", folder / "model.setwise", ROW, "--json")[1])
    assert "network" in facts["set"]


def test_a_row_of_a_file(run, folder):
    arguments = ("explain", folder / "model.setwise", folder / "test.csv", "--json")
    first, second = (json.loads(run(*arguments, "--row", n)[1]) for n in (1, 300))
    assert first != second
    code, _, err = run(*arguments, "--row", 301)
    assert code == 2
    assert "has 300 rows, so there is no row 301" in err


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ('{"description": ', "the row is not JSON"),
        ("some words", "no such file, and the model reads more than one text"),
        ('{"age": 3}', "no columns 'description', 'plan'"),
    ],
)
def test_what_is_no_row_gets_a_sentence(run, folder, row, sentence):
    code, _, err = run("explain", folder / "model.setwise", row)
    assert code == 2
    assert sentence in err


def test_a_model_of_texts_takes_a_text_and_a_mixture_tells_of_its_components(run, folder, tmp_path):
    model = tmp_path / "text.setwise"
    assert run(
        "fit", folder / "train.csv", "--labels", "tags", "--ignore", "age", "plan", "id",
        "--model", "CBM", "--option", "n_components=4", "--folds", 2, "--out", model, "--quiet",
    )[0] == 0  # fmt: skip
    code, said, _ = run("explain", model, "router cable offline")
    assert code == 0
    assert "Components that count most" in said
    assert "network" in said
    _, _, err = run("explain", model, "xyzzy")
    assert "nothing in this row is known" in err
