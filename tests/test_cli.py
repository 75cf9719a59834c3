import json
import re

import pytest

from setwise import __version__
from setwise.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")

    def run_command(*arguments):
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_command


def test_version_and_help(capsys):
    for option in ("--version", "--help"):
        with pytest.raises(SystemExit) as stopped:
            main([option])
        assert stopped.value.code == 0
    assert f"setwise {__version__}" in capsys.readouterr().out


def test_no_command_is_a_mistake(capsys):
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_datasets_lists_what_is_there(run, monkeypatch, write, tmp_path):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    write("own/own-train.svm", "0 1:1\n")
    code, out, _ = run("datasets", "--data", str(tmp_path))
    assert code == 0
    assert re.search(r"debtags .*23,666 .*7,149 .*507 .*3.63 .*7,164 .*17,856 / 5,810", out)
    assert re.search(r"own .*not measured", out)
    facts = json.loads(run("datasets", "--json")[1])
    assert facts["debtags"]["n_labels"] == 507


def test_a_narrow_terminal_still_shows_every_number(run, monkeypatch):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("datasets")
    assert re.search(r"debtags +23,666 +7,149 +507 +3.63 +7,164 +17,856 / 5,810", out)


def test_datasets_measures_some_in_full(run):
    code, out, _ = run("datasets", "debtags")
    assert code == 0
    assert re.search(r"distinct label sets .*7,164", out)
    facts = json.loads(run("datasets", "debtags", "--json")[1])
    assert facts["debtags"]["max_set_size"] == 51


def test_what_goes_wrong_is_one_sentence(run):
    code, out, err = run("datasets", "no-such-data")
    assert code == 2
    assert out == ""
    assert err.startswith("setwise: there is no data set 'no-such-data'")
    assert "Traceback" not in err


def test_demo_refuses_a_silly_number_of_rows(capsys):
    with pytest.raises(SystemExit):
        main(["demo", "--rows", "none"])
    assert "expected a number from 1 up, got 'none'" in capsys.readouterr().err


def test_warmup_compiles_everything(run):
    code, out, _ = run("warmup")
    assert code == 0
    from setwise.distributions import _odds_kernel
    from setwise.learners import _tiled_kernel

    for kernel in ("add_marginals", "fill_log_joint", "fill_log_nonempty"):
        assert getattr(_odds_kernel, kernel).signatures
    assert len(_tiled_kernel.add_products.signatures) >= 2  # for both precisions
    assert re.search(r"all kernels compiled or loaded in \d+\.\d s", out)
