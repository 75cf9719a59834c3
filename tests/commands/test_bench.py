"""``setwise bench`` from the command line."""

import json

import pytest

from setwise.cli import main
from setwise.experiments import runner
from setwise.experiments.study import ResultTable, Study


def measure(name, seed):
    if name == "bad":
        raise ValueError("it cannot be")
    return 1.5


def tabulate(measured):
    rows = [[name, *runs] for name, runs in measured.items()]
    return [ResultTable("What is it", ("data", "value"), rows, "So.")]


@pytest.fixture
def studies(monkeypatch, tmp_path):
    """Two studies in place of all that there are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")
    known = {
        "one": Study(
            "one", "A study", ("good", "bad"), measure, tabulate, quick={"datasets": ("small",)}
        ),
        "two": Study("two", "Another", ("other",), measure, tabulate),
    }  # fmt: skip
    monkeypatch.setattr(runner, "ENTRIES", {})
    monkeypatch.setattr(runner, "STUDIES", known)
    return tmp_path


def test_all_are_run_where_none_is_named(studies, capsys):
    assert main(["bench", "run", "--json", "all.json", "--results", "kept"]) == 0
    out = capsys.readouterr().out
    assert out.count("What is it") == 2
    assert "failed: bad, seed 0: ValueError: it cannot be" in out
    assert set(json.loads((studies / "all.json").read_text())) == {"one", "two"}
    assert main(["bench", "run", "--results", "kept"]) == 0
    assert "2 of 3 parts were there already, in kept" in capsys.readouterr().out


def test_a_quick_run_has_its_own_data(studies, capsys):
    assert main(["bench", "run", "one", "--quick", "--json", "quick.json"]) == 0
    told = json.loads((studies / "quick.json").read_text())
    assert told["tables"][0]["rows"] == [["small", 1.5]]
    assert main(["bench", "run", "one", "--data", "small"]) == 2
    assert "one is not run on 'small', but on good, bad" in capsys.readouterr().err


def test_data_picks_the_experiments_that_know_them(studies, capsys):
    assert main(["bench", "run", "--data", "other", "--json", "some.json"]) == 0
    assert set(json.loads((studies / "some.json").read_text())) == {"two"}


def test_models_picks_rows_of_tables(studies, capsys, monkeypatch):
    asked = []

    def measure_part(name, seed, part):
        asked.append(part)
        return part

    three = Study("three", "With parts", ("good",), measure_part, tabulate, parts=("A", "B"))
    monkeypatch.setitem(runner.STUDIES, "three", three)
    assert main(["bench", "run", "--models", "B", "--results", "kept"]) == 0
    assert asked == ["B"]
    assert capsys.readouterr().out.count("What is it") == 1
    assert main(["bench", "run", "--models", "B", "C", "--results", "kept"]) == 2
    assert "there is no model 'C' to run; there are: A, B" in capsys.readouterr().err


def test_the_list_tells_papers_and_tables(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)  # a log is wide enough
    assert main(["bench", "list"]) == 0
    out = capsys.readouterr().out
    assert "Li 2016" in out
    assert "│ Tables 3, 4 " in out
    assert "chains, conditional trees, and mixtures of them" in out.lower()
    assert "peers" in out


def test_pages_are_written(studies, capsys, monkeypatch):
    monkeypatch.setattr("setwise.experiments.pages.gather.experiments", runner.experiments)
    assert main(["bench", "report", "nowhere", "--out", "page.html"]) == 2
    assert "there is no folder nowhere" in capsys.readouterr().err
    (studies / "empty").mkdir()
    assert main(["bench", "report", "empty"]) == 2
    assert "say what to write" in capsys.readouterr().err
    assert main(["bench", "report", "empty", "--out", "page.html"]) == 2
    assert "has no results" in capsys.readouterr().err
    assert main(["bench", "run", "two", "--results", "kept"]) == 0
    assert main(["bench", "report", "kept", "--out", "page.html", "--markdown", "R.md"]) == 0
    assert "1 experiments, 1 parts" in capsys.readouterr().out
    assert "</html>" in (studies / "page.html").read_text()
    assert (studies / "R.md").read_text().startswith("# Results")
