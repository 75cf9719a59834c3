import json

import pytest

import setwise as sw


def test_every_model_of_the_library_is_listed(run):
    code, said, _ = run("models")
    assert code == 0
    for name in ("auto", "BRRerank", *sw.list_models(of_counts=True)):
        assert name in said
    facts = json.loads(run("models", "--json")[1])
    assert set(facts) == {"auto", "BRRerank", *sw.list_models(of_counts=True)}
    assert all(facts.values())


@pytest.mark.parametrize(("width", "has_costs"), [(80, False), (140, True)])
def test_a_terminal_shows_all_that_it_has_room_for(run, monkeypatch, width, has_costs):
    monkeypatch.setenv("COLUMNS", str(width))
    code, said, _ = run("models")
    assert code == 0
    assert max(map(len, said.splitlines())) <= width
    for facts in json.loads(run("models", "--json")[1]).values():
        words = {*facts["what"].split(), *facts.get("paper", "").split()}
        assert words <= set(said.split())
    assert ("n d L" in said) == has_costs


def test_a_file_tells_how_it_came_about(run, folder):
    code, said, _ = run("models", folder / "model.setwise")
    assert code == 0
    assert "BRRerank learnt from 500 rows" in said
    facts = json.loads(run("models", folder / "model.setwise", "--json")[1])
    assert facts["settings"]["labels"] == ["tags"]
