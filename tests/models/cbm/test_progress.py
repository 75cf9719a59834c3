"""What a fit shows while it runs."""

import io

import pytest
from rich.console import Console

from setwise.errors import DataError
from setwise.models.cbm.em import Round
from setwise.models.cbm.progress import described, progress, wants_bars


def some_rounds(console, verbose):
    with progress(verbose, console) as reports:
        report = reports("rounds", 5)
        report([Round(-12.5, -0.1, 1.5, 2.25, 0.5)])
    return console.file.getvalue()


@pytest.mark.parametrize("verbose", [0, "auto"])
def test_nothing_is_shown_unless_asked(rows, model, verbose, capfd):
    model(verbose=verbose).fit(*rows())
    assert capfd.readouterr() == ("", "")
    assert some_rounds(Console(file=io.StringIO(), force_terminal=False), verbose) == ""


def test_a_log_gets_a_line_a_round(rows, model, capfd):
    fitted = model(verbose=1, stopping="held_out", max_iter=3).fit(*rows())
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == len(fitted.stopping_curve_) + len(fitted.history_)
    assert lines[0].startswith("rounds without held-out rows 1/3: bound -")
    assert "held-out" in lines[0]
    assert "held-out" not in lines[-1].split(": ")[1]


@pytest.mark.parametrize("verbose", [1, "auto"])
def test_a_terminal_gets_a_bar(verbose):
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
    shown = some_rounds(console, verbose)
    assert "1/5" in shown
    assert described(Round(-12.5, -0.1, 1.5, 2.25, 0.5)).split(",")[0] in shown


def test_other_words_for_verbose_are_refused():
    for wrong in ("always", -1, None, 0.5):
        with pytest.raises(DataError, match='verbose must be 0, 1 or "auto"'):
            wants_bars(wrong, True)
