import json

import pytest

from setwise.errors import FormatError
from setwise.pipeline import read_table, rows_to

FIRST = {"id": ["a", "b"], "predicted": [["x", "y"], []], "p": [0.5, None], "none": [None, None]}
SECOND = {"id": ["c"], "predicted": [["y"]], "p": [1.0], "none": ["now"]}


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.jsonl", "out.parquet", "out.csv.gz"])
def test_what_is_written_is_read_again(tmp_path, name):
    path = str(tmp_path / name)
    with rows_to(path, separator="|") as writer:
        writer.write(FIRST)
        assert not (tmp_path / name).exists()  # nothing is there before all of it is
        writer.write(SECOND)
    columns = read_table(path).columns
    if "sv" in name:
        assert columns == {
            "id": ["a", "b", "c"],
            "predicted": ["x|y", "", "y"],
            "p": ["0.5", "", "1.0"],
            "none": ["", "", "now"],
        }
    else:
        assert columns == {key: FIRST[key] + SECOND[key] for key in FIRST}
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_after_an_error_there_is_what_was_there_before(tmp_path, name, error):
    path = tmp_path / name
    path.write_text("before")
    with pytest.raises(error), rows_to(str(path)) as writer:
        writer.write(FIRST)
        raise error
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_standard_output(capfdbinary):
    with rows_to("-", "jsonl") as writer:
        writer.write(SECOND)
    assert json.loads(capfdbinary.readouterr().out) == {
        "id": "c", "predicted": ["y"], "p": 1.0, "none": "now",
    }  # fmt: skip
    with pytest.raises(FormatError, match="Parquet is for files"), rows_to("-", "parquet"):
        pass
