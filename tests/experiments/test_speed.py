"""Benchmarks run together, their ratios kept."""

import json

import pytest

from setwise.cli import main
from setwise.errors import DataError
from setwise.experiments.speed import comparisons, scripts_of

TABLE = """\
sets, 100,000 x 500 sparse
measure                       setwise ms  sklearn ms   ratio
f1                                  12.3        45.6     3.7
set_measures (all 14)                9.9           -       -

file                         rows   ours s  theirs s   ratio   theirs
scene                       2,407    0.050     0.400     8.0x   liac-arff
"""


def test_tables_and_sentences_tell_ratios():
    found = list(comparisons(TABLE.splitlines()))
    assert [(one.case, one.ours, one.theirs, one.ratio) for one in found] == [
        ("f1", 12.3, 45.6, 3.7),
        ("scene 2,407", 0.05, 0.4, 8.0),
    ]
    said = (
        "scene: 0.50, 0.52 s ([9, 9] rounds), published 24 s, ratio 48 (to reach 20)",
        "fit: scikit-learn 30.1 s (from 8 labels), tol 1e-05, gap 1e-04: 6.2 times ours",
        "    setwise, float32     0.123 s, gap 1e-05, tol 0.001: 25.3x",
        "nothing to compare",
    )
    assert [one.ratio for one in comparisons(said)] == [48, 6.2, 25.3]


def test_scripts_run_one_after_another_and_leave_a_history(tmp_path, capsys):
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "one.py").write_text("print('a: ours is 2.5 times as fast')")
    (folder / "two.py").write_text("import sys; print('oh'); sys.exit(3)")
    for shared in ("all.py", "timing.py"):
        (folder / shared).write_text("raise SystemExit(9)")
    history = tmp_path / "history.jsonl"
    asked = ["bench", "speed", "--scripts", str(folder), "--history", str(history)]
    assert main(asked) == 0
    printed = capsys.readouterr().out
    assert "two.py: 0 s, code 3" in printed.replace("1 s", "0 s")
    assert main([*asked, "one"]) == 0
    lines = [json.loads(line) for line in history.read_text().splitlines()]
    assert [(line["script"], line["ratio"]) for line in lines] == [
        ("one", 2.5), ("two", None), ("one", 2.5),
    ]  # fmt: skip
    assert lines[0]["machine"]["cores"] >= 1
    assert lines[0]["version"]
    with pytest.raises(DataError, match="there is no benchmark 'three'; there are: one, two"):
        scripts_of(folder, ["three"])
    with pytest.raises(DataError, match="there is no folder"):
        scripts_of(tmp_path / "nowhere", [])
