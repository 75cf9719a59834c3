"""Tickets as files, and a model of them that ``setwise fit`` wrote."""

import runpy
from pathlib import Path

import pytest

from setwise.cli import main

_MADE = runpy.run_path(str(Path(__file__).parents[1] / "pipeline" / "conftest.py"))
made_rows, write_rows = _MADE["made_rows"], _MADE["write_rows"]

FIT = ("--labels", "tags", "--model", "BRRerank", "--option", "C=1.0", "--folds", "3")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Files of tickets: train.csv, test.csv, and a model of the first."""
    folder = tmp_path_factory.mktemp("tickets")
    write_rows(folder / "train.csv", made_rows(500))
    write_rows(folder / "test.csv", made_rows(300, seed=1))
    paths = (str(folder / "train.csv"), "--out", str(folder / "model.setwise"))
    assert main(["fit", *paths, *FIT, "--quiet"]) == 0
    return folder


@pytest.fixture
def run(capfd, monkeypatch):
    """Run a command; its code, output and errors."""
    monkeypatch.setenv("COLUMNS", "140")

    def run_command(*arguments):
        code = main([str(argument) for argument in arguments])
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return run_command
