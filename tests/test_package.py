"""Promises about the package as a whole."""

import importlib
import os
import pickle
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import setwise as sw
from setwise import errors

ROOT = Path(__file__).parents[1]


def test_importing_compiles_nothing_and_loads_nothing_heavy():
    code = "import sys, setwise; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True)
    heavy = {"numba", "sklearn", "lightgbm", "pandas", "polars", "matplotlib", "scipy.io"}
    assert not heavy & set(loaded.split())


@pytest.mark.parametrize("module", ["setwise", "setwise.data", "setwise.metrics", "setwise.models"])
def test_all_is_sorted_and_true(module):
    module = importlib.import_module(module)
    assert list(module.__all__) == sorted(module.__all__, key=constants_classes_functions)
    for name in module.__all__:
        assert hasattr(module, name), name


def constants_classes_functions(name):
    """The order that ruff asks for (RUF022): names in capitals, then classes, then the rest."""
    return not name.isupper(), not name[0].isupper(), name


def test_every_public_function_is_described():
    for module in ("setwise", "setwise.data", "setwise.metrics", "setwise.models"):
        module = importlib.import_module(module)
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                assert thing.__doc__, name


def test_papers_md_names_what_exists():
    rows = re.findall(r"\| `([\w.]+)` \|$", (ROOT / "PAPERS.md").read_text(), re.MULTILINE)
    assert len(rows) > 20
    for row in rows:
        module, _, name = row.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name)), row


def test_every_measure_is_in_papers_md_or_generic():
    named = (ROOT / "PAPERS.md").read_text()
    generic = {  # of no paper in particular, or a helper of those named
        "BrierDecomposition",
        "Counts",
        "ReliabilityTable",
        "expected_calibration_error",
        "mean_average_precision",
        "ranking_measures",
        "set_accuracy",
        "set_measures",
        "top_n",
    }
    missing = {name for name in sw.metrics.__all__ if f"metrics.{name}`" not in named}
    assert missing == generic


def test_the_readme_has_the_two_commands_and_ci_runs_the_second():
    readme = (ROOT / "README.md").read_text()
    assert "pip install . && setwise demo" in readme
    commands = re.findall(r"^pip install .*pytest$", readme, re.MULTILINE)
    assert commands == ['pip install ".[test]" && python -m pytest']
    assert "grep -E '^pip install .*pytest$' README.md" in (ROOT / ".ci/run").read_text()


def test_the_quick_start_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    section = (ROOT / "README.md").read_text().split("## Predict")[1]
    code = "".join(re.findall(r"```python\n(.*?)```", section.split("\n## Data")[0], re.DOTALL))
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code.replace("::6]", "::60]").replace("n_components=25", "n_components=4"), names)
    assert names["likeliest"].shape[0] == len(names["sure"]) == 100
    assert "role::" in capsys.readouterr().out  # the explanation names labels
    assert (tmp_path / "tags.setwise").exists()
    assert names["accepted"].shape == (100,)
    assert ((names["confidence"] >= 0) & (names["confidence"] <= 1)).all()


def test_every_module_can_be_imported_and_has_a_docstring():
    for module in pkgutil.walk_packages(sw.__path__, "setwise."):
        if module.name != "setwise.__main__":
            assert importlib.import_module(module.name).__doc__, module.name


def test_errors_are_of_the_families_that_users_catch():
    assert issubclass(errors.FormatError, ValueError)
    assert issubclass(errors.DatasetNotFound, LookupError)
    assert issubclass(errors.MissingDependency, ImportError)
    error = errors.FormatError("a.csv", "bad", line=3, remedy="mend it", unit="row")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "a.csv, row 3: bad; mend it"
    assert copy.line == 3


def test_without_the_public_data_all_other_tests_still_run():
    """A folder of tests that is named ``data`` is not what the mark ``data`` means."""
    environment = {name: os.environ[name] for name in os.environ if name != "SETWISE_DATA"}
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"),
            *("tests/data/test_balance.py", "tests/data/test_statistics.py"),
        ],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    assert re.search(r"\d+ passed, 2 skipped", ran.stdout), ran.stdout + ran.stderr
