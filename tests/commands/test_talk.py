import time

from setwise.commands import talk as talking
from setwise.commands.talk import Talk


def _talk(monkeypatch, terminal=True, **given):
    monkeypatch.setenv("TERM", "xterm")
    talk = Talk(**given)
    talk.err = talking.Console(stderr=True, force_terminal=terminal)
    return talk


def test_a_bar_appears_after_a_while_on_a_terminal_only(capsys, monkeypatch):
    monkeypatch.setattr(talking, "PATIENCE", 0.05)
    for terminal, quiet, shown in ((True, False, True), (False, False, False), (True, True, False)):
        talk = _talk(monkeypatch, terminal, quiet=quiet)
        with talk.bar("predicting", 10) as done:
            done(1)
            assert "predicting" not in capsys.readouterr().err  # quick work has no bar
            time.sleep(0.06)
            done(5)
            time.sleep(0.15)
        assert ("predicting" in capsys.readouterr().err) is shown


def test_a_spinner_appears_after_a_while_on_a_terminal_only(capsys, monkeypatch):
    monkeypatch.setattr(talking, "PATIENCE", 0.05)
    for terminal, quiet, shown in ((True, False, True), (False, False, False), (True, True, False)):
        with _talk(monkeypatch, terminal, quiet=quiet).doing("reading [b]a[/b].csv") as now:
            assert capsys.readouterr().err == ""
            now("fitting [b]")
            time.sleep(0.2)
        said = capsys.readouterr().err
        assert ("fitting [b]" in said) is shown
        assert ("0:00:00" in said) is shown
    with _talk(monkeypatch).doing("quick work"):
        pass
    assert capsys.readouterr().err == ""


def test_remarks_are_for_people_who_want_them(capsys, monkeypatch):
    for quiet in (False, True):
        talk = _talk(monkeypatch, False, quiet=quiet)
        talk.say("done")
        talk.warn("odd")
        assert capsys.readouterr().err == ("" if quiet else "done\nsetwise: odd\n")
