import contextlib
import re
import signal
import subprocess
import sys
import warnings

import pytest

from setwise.cli import main
from setwise.commands.manners import run_politely
from setwise.errors import DataError, NotConverged

COMMANDS = (
    *("fit", "predict", "evaluate", "report", "explain", "models", "demo", "datasets", "warmup"),
    *("completion", "bench", "bench list", "bench run", "bench report", "bench speed"),
)


def failing(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (DataError("too few rows;\nbring more"), 2, "too few rows; bring more"),
        (KeyboardInterrupt(), 130, "stopped; nothing half written is left behind"),
        (MemoryError(), 3, "memory ran out; use fewer rows, words or labels"),
        (OSError(28, "No space", "a.csv"), 3, "a.csv: the disk is full; free some space"),
        (PermissionError(13, "denied", "a.csv"), 3, "a.csv: permission denied; check"),
        (OSError(5, "Input/output error"), 3, "Input/output error; check the path"),
        (ZeroDivisionError("by zero"), 1, "should not have (ZeroDivisionError: by zero); run"),
    ],
)
def test_every_error_is_one_sentence_with_a_code(capfd, error, code, sentence):
    assert run_politely(failing(error)) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("setwise: ")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_model_that_would_rather_keep_what_it_has(capfd, sent, code):
    def run():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(sent)
        raise AssertionError("went on")

    before = signal.getsignal(sent)
    assert run_politely(run) == code
    assert "nothing half written" in capfd.readouterr().err
    assert signal.getsignal(sent) is before


def test_a_traceback_is_shown_to_who_debugs(capfd):
    assert run_politely(failing(DataError("too few")), debug=True) == 2
    err = capfd.readouterr().err
    assert "Traceback" in err
    assert err.endswith("setwise: too few\n")


@pytest.mark.parametrize(
    "command",
    [("models", "none.setwise"), ("datasets", "none"), ("bench", "report", "none")],
)
def test_debug_is_an_option_of_every_command(capsys, command):
    assert main([*command, "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_errors_are_red_on_a_terminal_unless_colour_is_unwanted(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    run_politely(failing(DataError("wrong")))
    assert "\x1b[1;31msetwise: wrong" in capsys.readouterr().err
    monkeypatch.setenv("NO_COLOR", "1")
    run_politely(failing(DataError("wrong")))
    assert "31m" not in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_warnings_of_ours_are_sentences_and_others_are_silent(capfd):
    def run():
        warnings.warn("stopped at its cap; raise max_iter", NotConverged, stacklevel=1)
        warnings.warn("something else", UserWarning, stacklevel=1)

    assert run_politely(run) == 0
    assert capfd.readouterr().err == "setwise: stopped at its cap; raise max_iter\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([*command.split(), "--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert re.search(rf"\nexamples?:\n.*setwise {command}", said)
    assert "--debug" in said
    if command.split()[0] not in ("completion", "bench"):
        assert "--quiet" in said
        assert "--json" in said


def test_help_tells_the_exit_codes_and_is_quick(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    assert "exit codes:" in said
    heavy = (
        "import sys, setwise.cli; print([m for m in ('sklearn', 'lightgbm') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("option", [("--accept-accuracy", "90"), ("--top", "0")])
def test_silly_numbers_are_refused(capsys, option):
    with pytest.raises(SystemExit) as stopped:
        main(["predict", "m", "d", *option])
    assert stopped.value.code == 2
    assert "expected a" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(capsys, shell):
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert "predict" in said
    assert "accept-accuracy" in said
    assert "history" in said  # of `setwise bench speed`
    assert "zsh" in said
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=said, text=True, check=True)
