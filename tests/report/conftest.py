"""A model of tickets, and what a report of it tells."""

import runpy
from pathlib import Path

import pytest

from setwise.pipeline import FitSettings, fit_table
from setwise.pipeline.evaluation import judge
from setwise.report import report_facts

_MADE = runpy.run_path(str(Path(__file__).parents[1] / "pipeline" / "conftest.py"))
_made_rows, _as_table = _MADE["made_rows"], _MADE["as_table"]


@pytest.fixture(scope="session")
def test_table():
    rows = _made_rows(300, seed=1)
    rows[1]["tags"] = "never<b>seen"
    return _as_table(rows, "test.csv")


@pytest.fixture(scope="session")
def model():
    settings = FitSettings(
        labels=("tags",), model="CBM", options={"n_components": 4}, folds=2, promise="approximate"
    )
    return fit_table(_as_table(_made_rows(500)), settings)


@pytest.fixture(scope="session")
def judged(model, test_table):
    return judge(model, test_table)


@pytest.fixture(scope="session")
def facts(model, test_table, judged):
    return report_facts(model, test_table, judged, accuracy=0.85, draws=10)
