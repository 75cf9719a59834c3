import gzip
import io
import json
import sys
import tracemalloc

import pytest

from setwise.errors import DataError, FormatError
from setwise.pipeline.read_rows import Reading, read_table, tables_of


def test_csv_comes_in_tables_with_the_lines_of_its_rows(write):
    path = str(write("a.csv", 'name,text\nx,"two\nlines"\ny,b\n\nz,c\n'))
    parts = list(tables_of(path, Reading(chunk=2)))
    assert [part.columns for part in parts] == [
        {"name": ["x", "y"], "text": ["two\nlines", "b"]},
        {"name": ["z"], "text": ["c"]},
    ]
    assert [list(part.places) for part in parts] == [[2, 4], [6]]
    assert read_table(path).columns["name"] == ["x", "y", "z"]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_delimiter_is_guessed_and_a_mark_of_order_is_dropped(write, mark):
    path = str(write("a.csv", f"\ufeffa{mark}b\n1{mark}2\n".encode()))
    assert read_table(path).columns == {"a": ["1"], "b": ["2"]}


def test_packed_files_are_unpacked(write):
    path = str(write("a.csv.gz", gzip.compress(b"a\n1\n2\n")))
    assert read_table(path).columns == {"a": ["1", "2"]}
    damaged = str(write("b.csv.gz", gzip.compress(b"a\n1\n2\n" * 1000)[:40]))
    with pytest.raises(FormatError, match="truncated or damaged"):
        read_table(damaged)


def test_json_lines_may_lack_columns(write):
    path = str(write("a.jsonl", '{"a": 1}\n\n{"b": ["x"]}\n{"a": 2}\n'))
    assert read_table(path, Reading(chunk=1)).columns == {
        "a": [1, None, 2],
        "b": [None, ["x"], None],
    }
    assert list(read_table(path).places) == [1, 3, 4]


def test_parquet_comes_in_tables(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = str(tmp_path / "a.parquet")
    columns = {"a": list(range(5)), "tags": [["x"], [], ["x", "y"], None, ["y"]]}
    pyarrow.parquet.write_table(arrow.table(columns), path)
    parts = list(tables_of(path, Reading(chunk=2)))
    assert [len(part) for part in parts] == [2, 2, 1]
    assert read_table(path).columns == columns
    assert list(parts[1].places) == [3, 4]


def test_standard_input_is_a_file_too(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_table("-").columns == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("name", "contents", "sentence"),
    [
        ("a.csv", "", "the file is empty; check"),
        ("a.jsonl", "\n\n", "the file is empty; check"),
        ("a.csv", "a,b\n", "no rows after the header; is the file complete"),
        ("a.csv", "a,b\n1,2\n1,2,3\n", "line 3: 3 values where the header names 2 columns"),
        ("a.csv", "a,a\n1,2\n", "line 1: column 'a' occurs twice"),
        ("a.csv", 'a,b\n1,"2\n', "not CSV"),
        ("a.csv", b"a,b\n1,\xff\n", "not in the encoding .* pass --encoding"),
        ("a.csv", b"\xff\xfea\0,\0b\0", "not in the encoding .* utf-16"),
        ("a.jsonl", '{"a": 1}\n{"a": \n', "line 2: not JSON"),
        ("a.jsonl", "[1]\n", "line 1: a list, where an object was expected"),
        ("a.parquet", "no", "not a complete Parquet file"),
        ("a.docx", "no", "cannot tell the format .* --format, one of csv, jsonl, parquet"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(write, name, contents, sentence):
    path = str(write(name, contents))
    with pytest.raises(FormatError, match=sentence) as error:
        read_table(path)
    assert path in str(error.value)


def test_a_file_that_is_not_there_and_options_that_do_not_exist(tmp_path, write):
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(FormatError, match="no such file"):
            read_table(str(tmp_path / name))
    path = str(write("a.csv", "a\n1\n"))
    with pytest.raises(DataError, match="there is no encoding 'klingon'"):
        read_table(path, Reading(encoding="klingon"))
    with pytest.raises(DataError, match="delimiter is one character"):
        read_table(path, Reading(delimiter="::"))


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(n):
        path = tmp_path / f"{n}.jsonl"
        path.write_text("".join(json.dumps({"text": f"row {i} " * 10}) + "\n" for i in range(n)))
        tracemalloc.start()
        for _ in tables_of(str(path), Reading(chunk=500)):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(20_000) < 1.5 * peak(2_000)
