import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from setwise.pipeline import load_model, read_table


def rows_in(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_sets_confidence_decision_and_alternatives(run, folder, tmp_path):
    out = tmp_path / "out.csv"
    code, said, err = run(
        "predict", folder / "model.setwise", folder / "test.csv", "--top", 3,
        "--accept-accuracy", 0.85, "--out", out,
    )  # fmt: skip
    assert (code, said) == (0, "")
    assert "300 rows to" in err
    rows = rows_in(out)
    model = load_model(str(folder / "model.setwise"))
    expected = model.predict(read_table(str(folder / "test.csv")), top=3)
    assert [row["predicted"] for row in rows] == ["|".join(labels) for labels in expected.sets]
    np.testing.assert_allclose(
        [float(row["confidence"]) for row in rows], expected.confidence, atol=1e-6
    )
    accepted = model.accept_rule(0.85).accept(expected.confidence)
    assert [row["decision"] == "accept" for row in rows] == accepted.tolist()
    assert 0 < accepted.sum() < 300
    assert rows[0]["alternative_2"] == "|".join(expected.alternatives[0][1][0])
    originals = rows_in(folder / "test.csv")
    assert [row["id"] for row in rows] == [row["id"] for row in originals]
    right = [a["predicted"] == b["tags"] for a, b in zip(rows, originals)]
    assert np.mean(right) > 0.7


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
def test_every_format_says_the_same(run, folder, tmp_path, name):
    out = tmp_path / name
    assert run(
        "predict", folder / "model.setwise", folder / "test.csv", "--keep", "id", "--out", out,
        "--probabilities",
    )[0] == 0  # fmt: skip
    columns = read_table(str(out)).columns
    assert list(columns)[:4] == ["id", "predicted", "confidence", "decision"]
    assert list(columns)[4:] == ["p(billing)", "p(network)", "p(screen)", "p(urgent)"]
    said = load_model(str(folder / "model.setwise")).predict(read_table(str(folder / "test.csv")))
    sets = columns["predicted"]
    if name == "out.csv":
        sets = [cell.split("|") if cell else [] for cell in sets]
    assert sets == [list(labels) for labels in said.sets]
    # What was written can be predicted again, from any format.
    if name != "out.csv":
        copy = tmp_path / f"in{out.suffix}"
        assert run("predict", folder / "model.setwise", folder / "test.csv", "--out", copy)[0] == 0
        again = tmp_path / "again.csv"
        arguments = ("--keep", "id", "--out", again)
        assert run("predict", folder / "model.setwise", copy, *arguments)[0] == 0
        assert [row["predicted"] for row in rows_in(again)] == ["|".join(s) for s in said.sets]


def test_standard_input_and_output(run, folder, monkeypatch):
    contents = (folder / "test.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(contents)))
    code, said, _ = run("predict", folder / "model.setwise", "-", "--out-format", "jsonl")
    assert code == 0
    assert len(said.splitlines()) == 300
    assert json.loads(said.splitlines()[0])["decision"] in ("accept", "review")


def test_the_size_of_a_chunk_makes_no_difference(run, folder, tmp_path, monkeypatch):
    outs = []
    for size in (300, 7):
        monkeypatch.setattr(
            "setwise.cli.predicting.reading_of", lambda options, size=size: _reading(size)
        )
        out = tmp_path / f"{size}.csv"
        assert run("predict", folder / "model.setwise", folder / "test.csv", "--out", out)[0] == 0
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]


def _reading(size):
    from setwise.pipeline import Reading

    return Reading(chunk=size)


def test_a_header_alone_gives_a_header_alone(run, folder, write, tmp_path):
    path = write("none.csv", "id,description,age,plan\n")
    out = tmp_path / "out.csv"
    code, _, err = run("predict", folder / "model.setwise", path, "--out", out)
    assert code == 0
    assert "no rows after the header" in err
    assert out.read_text() == "id,description,age,plan,predicted,confidence,decision\n"


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        ("", "the file is empty"),
        ("id,age\n1,2\n", "no columns 'description', 'plan'; the columns are 'id', 'age'"),
        ("description,age,plan\nx,old,gold\n", "line 2: column 'age' holds 'old'"),
        ("description,age,plan,confidence\nx,1,a,b\n", "has a column 'confidence' already"),
        ("description,age,plan\nx,1\n", "line 2: 2 values where the header names 3"),
    ],
)
def test_wrong_rows_get_a_sentence_and_no_file(run, folder, write, tmp_path, contents, sentence):
    path = write("new.csv", contents)
    out = tmp_path / "out.csv"
    code, _, err = run("predict", folder / "model.setwise", path, "--out", out)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert [one.name for one in tmp_path.iterdir()] == ["new.csv"]


def test_files_that_are_not_there_or_of_no_known_kind(run, folder, tmp_path):
    model = folder / "model.setwise"
    for arguments, sentence in (
        ((tmp_path / "none.csv",), "no such file, where a data file was expected; check the path"),
        ((tmp_path / "none.parquet",), "no such file, where a data file was expected"),
        ((folder / "none.txt",), "cannot tell the format from the name; pass --format, one of"),
        ((folder / "test.csv", "--out", tmp_path / "a.txt"), "pass --out-format, one of csv"),
        ((folder / "test.csv", "--out-format", "parquet"), "Parquet is for files; pass --out"),
    ):
        code, said, err = run("predict", model, *arguments)
        assert (code, said) == (2, "")
        assert sentence in err


def test_a_column_whose_values_have_changed_gets_a_remark(run, folder, write, tmp_path):
    path = write("new.csv", "description,age,plan\nrouter cable,1,17\nblack pixel,2,18\n")
    out = tmp_path / "out.csv"
    for quiet in (False, True):
        asked = ("--out", out, *(["--quiet"] if quiet else []))
        code, _, err = run("predict", folder / "model.setwise", path, *asked)
        assert code == 0
        assert (f"column 'plan' of {path} holds nothing that the model knows" in err) is not quiet
        assert len(rows_in(out)) == 2
    _, _, err = run("predict", folder / "model.setwise", folder / "test.csv", "--out", out)
    assert "holds nothing" not in err


def test_parquet_becomes_csv_on_standard_output(run, folder, tmp_path):
    path = tmp_path / "rows.parquet"
    assert run("predict", folder / "model.setwise", folder / "test.csv", "--out", path)[0] == 0
    code, said, _ = run("predict", folder / "model.setwise", path, "--keep", "id")
    assert code == 0
    assert said.startswith("id,predicted,confidence,decision\nT-1-0,")


def test_numbers_that_a_column_of_parquet_cannot_hold_get_a_sentence(run, folder, tmp_path):
    rows = [{"description": "router", "age": 3, "plan": "gold", "id": 7} for _ in range(2001)]
    rows[-1]["id"] = 7.5  # in the second part of the file
    path, out = tmp_path / "rows.jsonl", tmp_path / "out.parquet"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    code, _, err = run("predict", folder / "model.setwise", path, "--out", out)
    assert code == 2
    assert "column 'id' begins as int64 and goes on as something else" in err
    assert not out.exists()
    assert run("predict", folder / "model.setwise", path, "--keep", "plan", "--out", out)[0] == 0


def test_a_model_of_a_newer_version_and_files_that_are_none(run, folder, write, tmp_path):
    newer = tmp_path / "newer.setwise"
    with zipfile.ZipFile(folder / "model.setwise") as old, zipfile.ZipFile(newer, "w") as new:
        for name in old.namelist():
            contents = old.read(name)
            if name == "manifest.json":
                manifest = json.loads(contents)
                contents = json.dumps(manifest | {"version": 99}).encode()
            new.writestr(name, contents)
    code, _, err = run("predict", newer, folder / "test.csv")
    assert code == 2
    assert "written in format 99" in err
    assert "upgrade setwise" in err
    code, _, err = run("predict", write("no.setwise", "no"), folder / "test.csv")
    assert code == 2
    assert "not a complete setwise file" in err
    code, _, err = run("predict", tmp_path / "none.setwise", folder / "test.csv")
    assert code == 2
    assert "no such file" in err


def test_a_full_disk_gets_a_sentence_and_leaves_no_file(run, folder, tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "out.csv"
    code, _, err = run("predict", folder / "model.setwise", folder / "test.csv", "--out", out)
    assert code == 3
    assert err == "setwise: the disk is full; free some space, or write to another disk\n"
    assert list(tmp_path.iterdir()) == []


def _command(*arguments):
    return [sys.executable, "-m", "setwise", *map(str, arguments)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_an_output_that_is_full_gets_a_sentence(folder):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            _command("predict", folder / "model.setwise", folder / "test.csv"),
            stdout=full, stderr=subprocess.PIPE, check=False, text=True,
        )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == "setwise: the disk is full; free some space, or write to another disk\n"


@pytest.mark.parametrize(
    ("sent", "code", "word"),
    [(signal.SIGINT, 130, "stopped"), (signal.SIGTERM, 143, "ended"), (signal.SIGKILL, -9, "")],
)
def test_a_run_that_is_stopped_leaves_nothing_that_looks_whole(folder, tmp_path, sent, code, word):
    """Standard input stays open, so that the run waits in the middle of its work."""
    out = tmp_path / "out.csv"
    process = subprocess.Popen(
        _command("predict", folder / "model.setwise", "-", "--out", out),
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdin.write((folder / "test.csv").read_text())
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir())  # it has begun to write
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert not out.exists()
    if sent != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == []
        assert err.startswith(f"setwise: {word}")
        assert "Traceback" not in err
