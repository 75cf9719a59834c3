import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import setwise as sw
from setwise.data import SkippedRows
from setwise.errors import DataError, FormatError

DENSE = """% colours of flags
@relation flags
@attribute area NUMERIC
@attribute kind {round, 'almost square', other}
@attribute zone {1,2,4}
@attribute red {0,1}
@attribute blue {false,TRUE}
@data
% a comment among the data

1.5, round, 1, 0, TRUE
-2e3 ,'almost square', 4 ,1, false
?, other, ?, 1, "TRUE"
"""

SPARSE = """@relation words
@attribute a numeric
@attribute b {x, y}
@attribute c {5, 6}
@attribute red {0,1}
@attribute blue {TRUE,FALSE}
@data
{0 2.5, 3 1}
{ 1 y , 2 6, 4 FALSE }
{}
{4 FALSE, 0 ?}
"""


def test_a_dense_file_with_everything_in_it(write):
    ds = sw.read(write("flags.arff", DENSE), labels=["red", "blue"])
    np.testing.assert_array_equal(ds.X_train, [[1.5, 0, 1], [-2000, 1, 4], [np.nan, 2, np.nan]])
    np.testing.assert_array_equal(ds.Y_train, [[0, 1], [1, 0], [1, 1]])
    assert ds.feature_names == ("area", "kind", "zone")
    assert ds.label_names == ("red", "blue")
    assert ds.categories == {"kind": ("round", "almost square", "other"), "zone": ("1", "2", "4")}
    assert ds.name == "flags"


def test_a_sparse_file_implies_the_first_category(write):
    ds = sw.read(write("words.arff", SPARSE), labels=-2)
    assert isinstance(ds.X_train, sparse.csr_array)
    np.testing.assert_array_equal(
        ds.X_train.toarray(), [[2.5, 0, 5], [0, 1, 6], [0, 0, 5], [np.nan, 0, 5]]
    )
    np.testing.assert_array_equal(ds.Y_train.toarray(), [[1, 1], [0, 0], [0, 1], [0, 0]])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_a_missing_last_one_make_no_difference(write, newline):
    text = DENSE.rstrip().replace("\n", newline)
    expected = sw.read(write("a.arff", DENSE), labels=-2)
    found = sw.read(write("b.arff", text), labels=-2)
    np.testing.assert_array_equal(found.X_train, expected.X_train)
    np.testing.assert_array_equal(found.Y_train, expected.Y_train)


matrices = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=width, max_size=width),
        min_size=1,
        max_size=6,
    )
)


@given(matrices)
def test_any_finite_number_is_read_exactly_dense_and_sparse(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("arff")
    width = len(rows[0])
    head = "@relation r\n@attribute y {0,1}\n"
    head += "".join(f"@attribute x{i} numeric\n" for i in range(width)) + "@data\n"
    dense, packed = folder / "dense.arff", folder / "sparse.arff"
    dense.write_text(head + "".join("1," + ",".join(map(repr, row)) + "\n" for row in rows))
    cells = [", ".join(f"{i + 1} {value!r}" for i, value in enumerate(row)) for row in rows]
    packed.write_text(head + "".join("{0 1, " + row + "}\n" for row in cells))
    np.testing.assert_array_equal(sw.read(dense, labels=1).X_train, rows)
    np.testing.assert_array_equal(sw.read(packed, labels=1).X_train.toarray(), rows)


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c {0,1}\n@data\n"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("1,x", "line 6: 2 values where the header declares 3 attributes; complete the row"),
        ("1,x,0,5", "line 6: 4 values"),
        ("1,z,0", r"line 6: 'z' is not a category of 'b' \{x, y\}"),
        ("1,x,2", r"line 6: label 'c' is 2|line 6: '2' is not a category of 'c' \{0, 1\}"),
        ("1,x,?", "line 6: label 'c' is missing; it must be 0 or 1"),
        ("one,x,0", "line 6: attribute 'a' is numeric, but its value is 'one'"),
        ("nan,x,0", "line 6: attribute 'a' is numeric, but its value is 'nan'"),
        ("-inf,x,0", "line 6: attribute 'a' is numeric"),
        ("1e400,x,0", "line 6: attribute 'a' is numeric"),
        (",x,0", "line 6: attribute 'a' has no value"),
        ("1,'x,0", "line 6: a quote is opened but not closed"),
        ("{0 1}\n1,x,0", "line 7: sparse .* and dense rows are mixed"),
        ("{0 1", "line 6: the closing brace is missing"),
        ("{7 1}", "line 6: index 7 is out of range: 3 attributes are numbered from 0"),
        ("{-1 1}", "line 6: expected 'index value', found '-1 1'"),
        ("{a 1}", "line 6: expected 'index value'"),
        ("{0}", "line 6: index 0 has no value"),
        ("{0 1, 0 2}", "line 6: attribute 'a' occurs twice in the row"),
        ("{2 1, 0 1, 2 1}", "line 6: attribute 'c' occurs twice in the row"),
        ("{1 z}", "line 6: 'z' is not a category"),
        ("{2 3}", r"line 6: '3' is not a category of 'c' \{0, 1\}"),
        ("", "no rows after @data"),
        ("% only a comment", "no rows after @data"),
    ],
)
def test_a_bad_row_is_named_by_its_line(write, row, sentence):
    with pytest.raises(FormatError, match=sentence):
        sw.read(write("bad.arff", HEAD + row + "\n"), labels=["c"])


def test_bad_rows_are_skipped_on_request_and_counted(write):
    rows = ["1,x,0", "2,x", "3,z,0", "4,y,?", "5,y,1", "inf,y,1"]
    path = write("bad.arff", HEAD + "\n".join(rows))
    with pytest.warns(SkippedRows, match="4 rows skipped; the first is line 7: 2 values"):
        ds = sw.read(path, labels=["c"], bad_rows="skip")
    np.testing.assert_array_equal(ds.X_train, [[1, 0], [5, 1]])
    np.testing.assert_array_equal(ds.Y_train, [[0], [1]])
    assert sorted(line for line, _ in ds.skipped) == [7, 8, 9, 11]


def test_sparse_bad_rows_are_skipped_too(write):
    rows = ["{0 1}", "{9 1}", "{0 1, 0 1}", "{2 1}"]
    with pytest.warns(SkippedRows, match="2 rows skipped"):
        ds = sw.read(write("bad.arff", HEAD + "\n".join(rows)), labels=["c"], bad_rows="skip")
    np.testing.assert_array_equal(ds.X_train.toarray(), [[1, 0], [0, 0]])
    np.testing.assert_array_equal(ds.Y_train.toarray(), [[0], [1]])


def test_labels_must_be_yes_or_no(write):
    with pytest.raises(FormatError, match=r"label 'b' has the categories \{x, y\}"):
        sw.read(write("r.arff", HEAD + "1,x,0\n"), labels=["b"])


def test_unknown_policy_is_refused(write):
    with pytest.raises(DataError, match='bad_rows must be "error" or "skip"'):
        sw.read(write("r.arff", HEAD + "1,x,0\n"), labels=["c"], bad_rows="drop")


def test_quoted_numbers_are_numbers(write):
    ds = sw.read(write("r.arff", HEAD + "'1.5',x,'0'\n\"-2\",'y',1\n"), labels=["c"])
    np.testing.assert_array_equal(ds.X_train, [[1.5, 0], [-2, 1]])


@pytest.mark.parametrize("cell", ["1\x15", "\x1c1", "１", "1_0"])
def test_damaged_numbers_are_not_guessed(write, cell):
    for row in (f"{cell},x,0", f"{{0 {cell}}}"):
        with pytest.raises(FormatError, match="line 6: attribute 'a' is numeric"):
            sw.read(write("r.arff", f"{HEAD}{row}\n"), labels=["c"])


def test_a_file_of_old_line_ends_is_read(write):
    ds = sw.read(write("r.arff", (HEAD + "1,x,0\n2,y,1\n").replace("\n", "\r")), labels=["c"])
    np.testing.assert_array_equal(ds.X_train, [[1, 0], [2, 1]])


def test_when_every_row_lacks_a_label_nothing_is_left(write):
    with pytest.raises(FormatError, match="no row has all its labels"):
        sw.read(write("r.arff", HEAD + "1,x,?\n"), labels=["c"], bad_rows="skip")


def test_a_long_word_does_not_make_a_long_sentence(write):
    text = HEAD.replace("numeric", "n" * 100_000) + "1,x,0\n"
    with pytest.raises(
        FormatError, match=r"is of type 'nnn.* \[\.\.\.\] nnn.*can be read"
    ) as caught:
        sw.read(write("r.arff", text), labels=["c"])
    assert len(str(caught.value)) < 1000
