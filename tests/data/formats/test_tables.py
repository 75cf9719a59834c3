import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setwise as sw
from setwise.data import SkippedRows
from setwise.data.formats import tables
from setwise.errors import DataError, FormatError, MissingDependency

BACKENDS = ["pandas", "polars"]

TEXT = """note,length,red,blue,tags,code
"hello, NA",1.5,1,0,"sea; sky",7
NA,,0,1,,8
"two
lines",?,1,1,sky ,9
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("pack", [False, True])
def test_a_column_of_separated_names(write, backend, pack):
    path = write("t.csv", gzip.compress(TEXT.encode()) if pack else TEXT)
    ds = sw.read(path, labels="tags", label_separator=";", backend=backend)
    assert ds.label_names == ("sea", "sky")
    np.testing.assert_array_equal(ds.Y_train.toarray(), [[1, 1], [0, 0], [0, 1]])
    assert type(ds.X_train).__module__.split(".")[0] == backend
    assert list(ds.X_train["note"]) == ["hello, NA", "NA", "two\nlines"]
    np.testing.assert_array_equal(ds.X_train["length"].to_numpy(), [1.5, np.nan, np.nan])
    assert list(ds.X_train["code"]) == [7, 8, 9]
    assert ds.feature_names == ("note", "length", "red", "blue", "code")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("labels", [["red", "blue"], ("blue", "red")])
def test_columns_of_zeros_and_ones(write, backend, labels):
    ds = sw.read(write("t.csv", TEXT), labels=labels, backend=backend)
    assert ds.label_names == tuple(labels)
    np.testing.assert_array_equal(ds.Y_train[:, labels.index("red")], [1, 0, 1])
    np.testing.assert_array_equal(ds.Y_train[:, labels.index("blue")], [0, 1, 1])
    assert "red" not in ds.feature_names


def test_a_count_of_columns_and_other_delimiters(write):
    text = "a;b;c\n1,5;0;1\n2;1;1\n"
    ds = sw.read(write("t.csv", text), labels=-2)
    assert ds.label_names == ("b", "c")
    assert list(ds.X_train["a"]) == ["1,5", "2"]
    tab = sw.read(write("t.tsv", "a,x\tb\n1\t0\n"), labels=["b"])
    assert tab.feature_names == ("a,x",)


@pytest.mark.parametrize("backend", BACKENDS)
def test_parquet_with_lists_and_with_columns(tmp_path, backend):
    frame = pl.DataFrame(
        {"x": [1.0, 2.0], "text": ["a", "b"], "tags": [["sea", "sky"], []], "y": [True, False]}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    ds = sw.read(tmp_path / "t.parquet", labels="tags", backend=backend)
    assert ds.label_names == ("sea", "sky")
    np.testing.assert_array_equal(ds.Y_train.toarray(), [[1, 1], [0, 0]])
    ds = sw.read(tmp_path / "t.parquet", labels=["y"], backend=backend)
    np.testing.assert_array_equal(ds.Y_train, [[1], [0]])
    assert list(ds.X_train["text"]) == ["a", "b"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("text", "labels", "sentence"),
    [
        ("a,b\n1\n", "b", "line 2: 1 values where the header names 2 columns"),
        ("a,b\n1,2\n1,2,3\n", "b", "line 3: 3 values"),
        ('a,b\n"x\ny",2\n1\n', "b", "line 4: 1 values"),
        ("a,b\n\n1,2\n", "b", "line 2: 0 values"),
        ("a,a\n1,2\n", "a", "line 1: column 'a' occurs twice"),
        ("a,\n1,2\n", "a", "line 1: a column has no name"),
        ("a,b\n", "b", "no rows after the header"),
        ('a,b\n"x,2\n', "b", "not CSV"),
        ("a,b\n1,2\n", None, "which columns are labels"),
        ("a,b\n1,2\n", "c", "there is no column 'c'; the columns are 'a', 'b'"),
        ("a,b\n1,2\n", 2, "2 labels asked for, but 2 columns"),
        ("a,b\n1,0\n1,2\n", ["b"], "line 3: label 'b' is 2; it must be 0 or 1"),
        ("a,b\n1,0\n1,\n", ["b"], "line 3: label 'b' is nan"),
        ("a,b\n1,yes\n", ["b"], "line 2: label 'b' is 'yes'"),
        ("a,b\ninf,1\n", ["b"], "line 2: column 'a' holds inf; leave a missing value empty"),
    ],
)
def test_bad_tables_get_a_sentence(write, backend, text, labels, sentence):
    with pytest.raises(FormatError, match=sentence):
        sw.read(write("bad.csv", text), labels=labels, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_ragged_rows_are_skipped_on_request(write, backend):
    path = write("bad.csv", 'a,b\n1\n"x\ny",1\n2,3,4\n5,0\n6,7\n')
    with pytest.warns(SkippedRows, match="3 rows skipped; the first is line 2"):
        ds = sw.read(path, labels=["b"], backend=backend, bad_rows="skip")
    assert list(ds.X_train["a"]) == ["x\ny", "5"]
    np.testing.assert_array_equal(ds.Y_train, [[1], [0]])
    assert [line for line, _ in ds.skipped] == [2, 5, 7]


def test_parquet_counts_rows(tmp_path):
    pl.DataFrame({"x": [1.0, float("inf")], "y": [1, 0]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(FormatError, match=r"t\.parquet, row 2: column 'x' holds inf"):
        sw.read(tmp_path / "t.parquet", labels=["y"])


def test_a_long_text_is_a_field(write):
    text = "long " * 50_000
    assert sw.read(write("t.csv", f"a,b\n{text},1\n"), labels=["b"]).X_train["a"][0] == text


def test_a_broken_parquet_file_gets_a_sentence(write):
    with pytest.raises(FormatError, match="not a complete Parquet file"):
        sw.read(write("t.parquet", b"PAR1 and then nothing"), labels="y")


def test_backends_that_are_unknown_or_missing(write, monkeypatch):
    path = write("t.csv", "a,b\n1,2\n")
    with pytest.raises(DataError, match="backend must be one of pandas, polars"):
        sw.read(path, labels="b", backend="dask")
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match="CSV and Parquet need pandas or polars; install"):
        sw.read(path, labels="b")


words = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=8)
letters = st.text(st.sampled_from("abc é\"',;\n"), min_size=1, max_size=6).map(lambda s: f"w{s}")


@pytest.mark.parametrize("backend", BACKENDS)
@given(
    rows=st.lists(
        st.tuples(
            letters,
            st.floats(allow_infinity=False),
            st.integers(-(2**50), 2**50),
            st.sets(st.sampled_from(["sea", "sky", "sun set"])),
        ),
        min_size=1,
        max_size=6,
    ),
    as_column=st.booleans(),
)
def test_write_then_read_is_the_identity(tmp_path_factory, backend, rows, as_column):
    text, numbers, integers, sets = (list(column) for column in zip(*rows, strict=True))
    if all(np.isnan(numbers)):  # a column without any value has no type to keep
        numbers[0] = 0.5
    X = pd.DataFrame({"text": text, "number": numbers, "integer": integers})
    space = sw.LabelSpace(["sea", "sky", "sun set"])
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    sw.write_csv(
        path,
        X,
        space.encode(sets),
        label_names=space,
        label_column="tags" if as_column else None,
        label_separator="|",
    )
    labels = "tags" if as_column else list(space)
    ds = sw.read(path, labels=labels, label_separator="|", backend=backend)
    assert list(ds.X_train["text"]) == text
    np.testing.assert_array_equal(ds.X_train["number"].to_numpy().astype(float), numbers)
    assert list(ds.X_train["integer"]) == integers
    assert [set(found) for found in ds.labels.decode(ds.Y_train)] == sets


@pytest.mark.parametrize("names", [None, ["sky", "sea"]])  # also in an order of one's own
def test_label_sets_are_written_by_their_own_names(tmp_path, names):
    sets = [{"sky"}, {"sea", "sky"}, set()]
    sw.write_csv(tmp_path / "t.csv", np.eye(3), sets, label_names=names, label_column="tags")
    ds = sw.read(tmp_path / "t.csv", labels="tags")
    assert [set(found) for found in ds.labels.decode(ds.Y_train)] == sets
    columns = names or ["sea", "sky"]
    sw.write_csv(tmp_path / "c.csv", np.eye(3), sets, label_names=names)
    ds = sw.read(tmp_path / "c.csv", labels=columns)
    assert [set(found) for found in ds.labels.decode(ds.Y_train)] == sets


def test_arrays_lists_and_packed_files_are_written_too(tmp_path):
    Y = np.array([[1, 0], [0, 1]])
    sw.write_csv(tmp_path / "a.csv.gz", np.array([[0.1], [0.2]]), Y)
    ds = sw.read(tmp_path / "a.csv.gz", labels=["0", "1"])
    np.testing.assert_array_equal(ds.X_train.to_numpy(), [[0.1], [0.2]])
    np.testing.assert_array_equal(ds.Y_train, Y)
    sw.write_csv(tmp_path / "b.csv", ["one text", "another"], Y)
    assert list(sw.read(tmp_path / "b.csv", labels=-2).X_train["text"]) == ["one text", "another"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"feature_names": ["0"]}, "'0' is the name of a feature and of a label"),
        ({"feature_names": ["a", "b"]}, "1 features but 2 different names"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.write_csv(tmp_path / "x.csv", np.ones((2, 1)), np.ones((2, 2)), **arguments)
    with pytest.raises(DataError, match="X has other rows than Y"):
        sw.write_csv(tmp_path / "x.csv", np.ones((1, 1)), np.ones((2, 2)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("backend", BACKENDS)
def test_quotes_and_line_ends_mean_the_same_to_both_libraries(write, backend):
    ds = sw.read(write("t.csv", 'a,y\nx"y,1\nz"w,0\n'), labels=["y"], backend=backend)
    assert list(ds.X_train["a"]) == ['x"y', 'z"w']
    ds = sw.read(write("t.csv", "a,y\rx,1\rz,0\r"), labels=["y"], backend=backend)
    assert list(ds.X_train["a"]) == ["x", "z"]
    ds = sw.read(write("t.csv", "aéy\n1é1\n2é0\n"), labels=["y"], backend=backend, delimiter="é")
    assert list(ds.X_train["a"]) == [1, 2]
    with pytest.raises(DataError, match=r"delimiter is one character, not a quote, got '\|\|'"):
        sw.read(write("t.csv", "a||y\n"), labels=["y"], backend=backend, delimiter="||")


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_a_number_does_not_depend_on_the_library(write, backend):
    text = "whole,large,point,arabic,hex,score,y\n+1,123456789012345678,.5,٣,0x1,1_0,1\n"
    X = sw.read(write("t.csv", text), labels=["y"], backend=backend).X_train
    assert [X[name][0] for name in X.columns] == [1, 123456789012345678, 0.5, "٣", "0x1", "1_0"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_label_column_is_text_to_the_letter(write, backend):
    path = write("t.csv", "a,tag\n1,7\n2,\n3,NA\n4,09\n")
    ds = sw.read(path, labels="tag", backend=backend)
    assert ds.labels.decode(ds.Y_train) == [("7",), (), ("NA",), ("09",)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_label_twice_in_a_cell_is_a_bad_row(write, backend):
    path = write("t.csv", "a,tags\n1,x;y\n2,x;x\n")
    with pytest.raises(FormatError, match="line 3: in column 'tags', label 'x' occurs twice"):
        sw.read(path, labels="tags", label_separator=";", backend=backend)
    with pytest.warns(SkippedRows, match="1 row skipped"):
        ds = sw.read(path, labels="tags", label_separator=";", backend=backend, bad_rows="skip")
    assert list(ds.X_train["a"]) == [1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_labels_written_as_true_and_false(write, backend):
    ds = sw.read(write("t.csv", "a,y\n1,True\n2,false\n"), labels=["y"], backend=backend)
    np.testing.assert_array_equal(ds.Y_train, [[1], [0]])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("labels", "sentence"),
    [(["b", "b"], "'b' is named twice"), (["b", "a"], "all columns are labels; leave some")],
)
def test_labels_that_leave_no_table(write, backend, labels, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.read(write("t.csv", "a,b\n1,0\n"), labels=labels, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_parquet_cells_without_a_value(tmp_path, backend):
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"x": [1.0, 2.0], "number": [3, None], "word": ["sea", None]})
    frame.write_parquet(path)
    for column, name in (("number", "3"), ("word", "sea")):
        ds = sw.read(path, labels=column, backend=backend)
        assert ds.labels.decode(ds.Y_train) == [(name,), ()]
    frame.to_pandas().convert_dtypes().to_parquet(path)
    ds = sw.read(path, labels="word", backend=backend)
    assert ds.labels.decode(ds.Y_train) == [("sea",), ()]
    pl.DataFrame({"x": [1.0], "tags": [["sea", None]]}).write_parquet(path)
    with pytest.raises(FormatError, match="row 1: in column 'tags', a label has no name"):
        sw.read(path, labels="tags", backend=backend)
    frame.clear().write_parquet(path)
    with pytest.raises(FormatError, match="no rows"):
        sw.read(path, labels="word", backend=backend)


def test_text_of_any_kind_comes_back(tmp_path):
    texts = ["a\rb", "c\r\nd", ' "quoted", ', "", "tab\t", "\u2028"]
    Y = np.eye(6, 2)
    for X in (texts, np.array(texts, dtype=object), pd.Series(texts)):
        sw.write_csv(tmp_path / "t.csv", X, Y)
        assert list(sw.read(tmp_path / "t.csv", labels=-2).X_train["text"]) == texts


def test_booleans_and_missing_values_come_back_as_numbers(tmp_path):
    X = pd.DataFrame({"yes": [True, False], "n": pd.array([1, None], dtype="Int64")})
    sw.write_csv(tmp_path / "t.csv", X, np.eye(2))
    read = sw.read(tmp_path / "t.csv", labels=-2).X_train
    np.testing.assert_array_equal(read.to_numpy(), [[1, 1], [0, np.nan]])


@pytest.mark.parametrize(
    ("X", "arguments", "sentence"),
    [
        (["nul\0", "b"], {}, "has a character that no text file holds"),
        (["half \ud800", "b"], {}, "has a character that no text file holds"),
        ([[np.inf], [1.0]], {}, "column 'x0' holds infinity"),
        (["a", "b"], {"feature_names": ["a", "b"]}, "1 features but 2 different names"),
        ([[1.0], [2.0]], {"label_names": [1, "1"]}, "two labels are written alike"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(tmp_path, X, arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.write_csv(tmp_path / "x.csv", X, np.eye(2), **arguments)
    assert not list(tmp_path.iterdir())
