import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import setwise as sw
from setwise.data import SkippedRows
from setwise.errors import DataError, FormatError

TEXT = """# a comment is no row
0,2 1:0.5 3:-2e3  # a comment after a row
 2:1
1
\x20
2,0 3:1 1:7
"""


def test_labels_features_and_comments(write):
    ds = sw.read(write("x.svm", TEXT))
    np.testing.assert_array_equal(
        ds.X_train.toarray(), [[0.5, 0, -2000], [0, 1, 0], [0, 0, 0], [0, 0, 0], [7, 0, 1]]
    )
    np.testing.assert_array_equal(
        ds.Y_train.toarray(), [[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1]]
    )
    assert ds.label_names == ("0", "1", "2")
    assert ds.feature_names is None


def test_names_fix_the_sizes(write):
    ds = sw.read(
        write("x.svm", "0 1:1\n"), labels=["a", "b"], features=write("words.txt", "one\ntwo\n")
    )
    assert ds.X_train.shape == ds.Y_train.shape == (1, 2)
    assert ds.feature_names == ("one", "two")
    assert sw.read(write("y.svm", "0 1:1\n"), labels=5, features=7).X_train.shape == (1, 7)


def test_counting_from_zero(write):
    assert sw.read(write("x.svm", "0 0:4\n"), zero_based=True).X_train.toarray() == [[4]]


def test_a_size_header_is_checked_and_counts_from_zero(write):
    ds = sw.read(write("x.txt", "2 4 3\n0,1 0:1\n2 2:1\n"))
    assert ds.X_train.shape == (2, 4)
    assert ds.Y_train.shape == (2, 3)
    with pytest.raises(FormatError, match="declares 3 rows, the file has 1"):
        sw.read(write("y.txt", "3 4 3\n0 0:1\n"))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("0 1:1\n\n1 1:1", "line 2: an empty line"),
        ("red 1:1", "line 1: labels are integers from 0 .* found 'red'"),
        ("0,,1 1:1", "line 1: labels are integers"),
        ("1.0 1:1", "line 1: labels are integers"),
        ("-1 1:1", "line 1: labels are integers"),
        ("0 1:1 7", "line 1: expected index:value, found '7'"),
        ("0 1:", "line 1: expected index:value"),
        ("0 a:1", "line 1: a feature's index is a whole number .* found 'a:1'"),
        ("0 0:1", "line 1: feature index 0 .* pass zero_based=True"),
        ("0 1:one", "line 1: feature 1 is 'one', not a finite number"),
        ("0 1:nan", "line 1: feature 1 is 'nan'"),
        ("0 1:inf", "line 1: feature 1 is 'inf'"),
        ("0 1:1 2:1 1:1", "line 1: feature 1 occurs twice in the row"),
        ("1,0,1 1:1", "line 1: label 1 occurs twice in the row"),
        ("0 1:1\n0 9:1", "line 2: feature 9 is out of range: there are 3, counted from 1"),
        ("0 1:1\n4 1:1", "line 2: label 4 is out of range: there are 2, counted from 0"),
    ],
)
def test_bad_rows_are_named_by_their_line_or_skipped(write, rows, sentence):
    path = write("bad.svm", rows + "\n0 1:5\n")
    with pytest.raises(FormatError, match=sentence):
        sw.read(path, labels=2, features=3)
    with pytest.warns(SkippedRows, match="1 row skipped"):
        ds = sw.read(path, labels=2, features=3, bad_rows="skip")
    assert len(ds.skipped) == 1
    assert ds.X_train[-1, 0] == 5
    assert ds.X_train.shape[0] == rows.count("\n") + 1


def test_only_bad_rows_is_no_data(write):
    with pytest.raises(FormatError, match="no rows"):
        sw.read(write("bad.svm", "x 1:1\n"), bad_rows="skip")


def test_a_negative_count_is_refused(write):
    with pytest.raises(DataError, match="number their columns from the first; got -2"):
        sw.read(write("x.svm", "0 1:1\n"), labels=-2)


bits = st.integers(0, 1)
values = st.floats(allow_nan=False, allow_infinity=False) | st.just(0.0)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            hnp.arrays(np.float64, st.tuples(st.just(n), st.integers(1, 5)), elements=values),
            hnp.arrays(
                np.int8, st.tuples(st.just(n), st.integers(1, 5)), elements=st.integers(0, 1)
            ),
        )
    ),
    st.booleans(),
    st.sampled_from(["", ".gz", ".bz2", ".xz"]),
)
def test_write_then_read_is_the_identity(tmp_path_factory, matrices, zero_based, suffix):
    X, Y = matrices
    path = tmp_path_factory.mktemp("svm") / f"x.svm{suffix}"
    sw.write_svmlight(path, X, Y, zero_based=zero_based)
    ds = sw.read(path, labels=Y.shape[1], features=X.shape[1], zero_based=zero_based)
    np.testing.assert_array_equal(ds.X_train.toarray(), X)
    np.testing.assert_array_equal(ds.Y_train.toarray(), Y)


def test_scikit_learn_reads_what_we_write_and_the_reverse(write, tmp_path):
    random = np.random.default_rng(0)
    X = sparse.csr_array(random.random((30, 20)) * (random.random((30, 20)) < 0.3))
    Y = (random.random((30, 4)) < 0.4).astype(int)
    sw.write_svmlight(tmp_path / "ours.svm", X, Y)
    theirs, sets = load_svmlight_file(
        str(tmp_path / "ours.svm"), n_features=20, multilabel=True, zero_based=False
    )
    np.testing.assert_array_equal(theirs.toarray(), X.toarray())
    assert [tuple(np.flatnonzero(row)) for row in Y] == sets

    buffer = io.BytesIO()
    dump_svmlight_file(X, sparse.csr_matrix(Y), buffer, zero_based=False, multilabel=True)
    ds = sw.read(write("theirs.svm", buffer.getvalue()), labels=4, features=20)
    np.testing.assert_allclose(ds.X_train.toarray(), X.toarray(), rtol=1e-15)
    np.testing.assert_array_equal(ds.Y_train.toarray(), Y)


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(DataError, match="no spelling for NaN"):
        sw.write_svmlight(tmp_path / "x.svm", np.array([[np.nan]]), np.ones((1, 1)))
    with pytest.raises(DataError, match="X has 2 rows but Y has 1"):
        sw.write_svmlight(tmp_path / "x.svm", np.ones((2, 1)), np.ones((1, 1)))
    assert not list(tmp_path.iterdir())


def test_a_size_header_counts_rows_that_were_skipped_once(write):
    path = write("x.txt", "3 4 3\n0 0:1\n2 9:1\nred 1:1\n")
    with pytest.warns(SkippedRows, match="2 rows skipped"):
        assert sw.read(path, bad_rows="skip").X_train.shape == (1, 4)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("999999999 1:1\n", "line 1: label 999999999 would be one of over 10,000,000"),
        ("1 5 999999999\n0 0:1\n", "line 1: the header declares 999,999,999 labels"),
        (f"1 {'9' * 30} 3\n0 0:1\n", "line 1: expected index:value"),
        (f"1 {'9' * 5000} 3\n0 0:1\n", "line 1: expected index:value"),
        ("\n2 4 3\n0 0:1\n1 0:1\n", "line 1: an empty line"),
        ("0 1:2.\x15\n", "line 1: feature 1 is '2"),
        ("0 1:1 2\x1c4:1\n", "line 1: a feature's index is a whole number"),
    ],
)
def test_damaged_numbers_neither_fill_the_memory_nor_are_guessed(write, text, sentence):
    with pytest.raises(FormatError, match=sentence):
        sw.read(write("x.svm", text))


def test_booleans_and_tables_are_written_as_numbers(tmp_path):
    X, Y = np.array([[True, False], [False, True]]), np.eye(2)
    for form in (X, sparse.csr_array(X), pd.DataFrame(X)):
        sw.write_svmlight(tmp_path / "x.svm", form, Y)
        np.testing.assert_array_equal(sw.read(tmp_path / "x.svm").X_train.toarray(), X)


def test_text_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(DataError, match="svmlight holds a matrix of numbers"):
        sw.write_svmlight(tmp_path / "x.svm", ["text"], np.ones((1, 1)))
    with pytest.raises(FormatError, match="there is no such folder to write to"):
        sw.write_svmlight(tmp_path / "none/x.svm", np.ones((1, 1)), np.ones((1, 1)))
