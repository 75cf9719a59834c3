import numpy as np
import pytest

from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.tagged_text import read_tagged_text
from setwise.errors import FormatError

NAMES = ["joy", "fear"]


def test_quotes_and_commas_are_text(write):
    path = write("t.tsv", '"Oh, no\t1,0\tid1\nfine\t\tid2\n')
    ds = read_tagged_text(path, NAMES, BadRows(path))
    assert ds.X_train == ['"Oh, no', "fine"]
    np.testing.assert_array_equal(ds.Y_train.toarray(), [[1, 1], [0, 0]])
    assert ds.row_names_train == ("id1", "id2")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("only text", "line 2: 1 fields between tabs"),
        ("text\t2\tid", "line 2: label '2' is not a number from 0 to 1"),
        ("text\tjoy\tid", "line 2: label 'joy' is not a number"),
    ],
)
def test_bad_lines_get_a_sentence_or_are_skipped(write, line, sentence):
    path = write("t.tsv", f"good\t0\tid\n{line}\n")
    with pytest.raises(FormatError, match=sentence):
        read_tagged_text(path, NAMES, BadRows(path))
    assert read_tagged_text(path, NAMES, BadRows(path, "skip")).X_train == ["good"]


def test_a_label_twice_or_beyond_all_numbers_is_a_bad_line(write):
    for labels, sentence in (("1,1", "label 1 occurs twice"), ("9" * 5000, "is not a number")):
        path = write("t.tsv", f"text\t{labels}\tid\n")
        with pytest.raises(FormatError, match=f"line 1: .*{sentence}"):
            read_tagged_text(path, NAMES, BadRows(path))


def test_blank_lines_at_the_end_are_no_rows(write):
    path = write("t.tsv", "text\t1\tid\r\n\r\n")
    assert read_tagged_text(path, NAMES, BadRows(path)).X_train == ["text"]
