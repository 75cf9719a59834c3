import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from setwise.data.labels import LabelSpace, as_binary_csr, binary_csr, distinct_sets, rows_equal
from setwise.errors import LabelMismatch

binary_matrices = hnp.arrays(
    np.int8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(0, 1)
)

SPACE = LabelSpace(["beach", "sunset", "urban"])
MATRIX = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    "Y",
    [
        MATRIX,
        MATRIX.astype(bool),
        MATRIX.astype(float),
        sparse.csr_matrix(MATRIX),
        sparse.csc_array(MATRIX),
        sparse.coo_array(MATRIX),
        pd.DataFrame(MATRIX[:, ::-1], columns=["urban", "sunset", "beach"]),
        pl.DataFrame(MATRIX, schema=["beach", "sunset", "urban"]),
        [{"urban", "beach"}, set(), {"sunset"}],
        [["urban", "beach"], [], ["sunset"]],
        [("urban", "beach"), (), frozenset(["sunset"])],
        ["urban,beach", "", "sunset"],
        [" urban , beach", " ", "sunset,"],
        np.array([{"urban", "beach"}, set(), {"sunset"}], dtype=object),
    ],
    ids=lambda Y: type(Y).__name__,
)
def test_every_kind_of_label_sets_becomes_the_same_canonical_csr(Y):
    encoded = SPACE.encode(Y)
    np.testing.assert_array_equal(encoded.toarray(), MATRIX)
    assert isinstance(encoded, sparse.csr_array)
    assert encoded.dtype == np.int8
    assert encoded.indices.dtype == np.int32
    assert encoded.has_canonical_format
    assert encoded.nnz == 3


def test_strings_may_have_another_separator():
    np.testing.assert_array_equal(
        SPACE.encode(["urban|beach", "", "sunset"], separator="|").toarray(), MATRIX
    )


def test_duplicate_entries_of_a_sparse_matrix_are_not_one():
    twice = sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(1, 3))
    with pytest.raises(LabelMismatch, match="row 0, column 1 holds"):
        SPACE.encode(twice)


@given(binary_matrices)
def test_decode_then_encode_is_the_identity(matrix):
    space = LabelSpace([f"label {i}" for i in range(matrix.shape[1])])
    sets = space.decode(matrix)
    np.testing.assert_array_equal(space.encode(sets).toarray(), matrix)
    strings = space.to_strings(matrix, separator="|")
    np.testing.assert_array_equal(space.encode(strings, separator="|").toarray(), matrix)
    for backend in ("pandas", "polars"):
        frame = space.to_frame(matrix, backend=backend)
        np.testing.assert_array_equal(space.encode(frame).toarray(), matrix)


@given(st.lists(st.sets(st.sampled_from("abcdef")), min_size=1))
def test_inferred_space_agrees_with_scikit_learn(sets):
    space = LabelSpace.infer(sets)
    binarizer = MultiLabelBinarizer()
    np.testing.assert_array_equal(space.encode(sets).toarray(), binarizer.fit_transform(sets))
    assert list(space) == list(binarizer.classes_)


def test_inferred_names_of_matrices_and_frames():
    assert LabelSpace.infer(MATRIX).names == (0, 1, 2)
    assert LabelSpace.infer(pd.DataFrame(MATRIX, columns=["a", "b", "c"])).names == ("a", "b", "c")
    assert LabelSpace.infer([[10, 9], np.array([2])]).names == (2, 9, 10)


@pytest.mark.parametrize(
    ("Y", "sentence"),
    [
        (np.zeros((2, 4)), "Y has 4 columns but there are 3 labels"),
        (np.full((1, 3), np.nan), "labels are 0 or 1, but row 0, column 0 holds"),
        (np.array([[0, 2, 0]]), "row 0, column 1 holds"),
        (sparse.csr_array(np.array([[0, -1, 0]])), "row 0, column 1 holds"),
        ([["beach"], ["desert"]], "'desert' is not among the 3 labels"),
        ([["beach", "beach"]], "row 0 lists label 'beach' twice"),
        (pd.DataFrame({"beach": [1], "city": [0], "urban": [1]}), "'city' is in one"),
        ("beach", "wrap a single set in a list"),
        (7, "expected one label set a row"),
        ([1, 2], "row 0 is 1, not a set of labels"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(Y, sentence):
    with pytest.raises(LabelMismatch, match=sentence):
        SPACE.encode(Y)


def test_nested_lists_of_zeros_and_ones_are_not_taken_for_label_sets():
    for ambiguous in ([[0, 1, 1], [1, 0, 0]], [[1, 0], [0, 1]], [[True, False]]):
        with pytest.raises(LabelMismatch, match=r"pass np.array\(Y\) for a matrix"):
            as_binary_csr(ambiguous)
    np.testing.assert_array_equal(as_binary_csr([(1, 0), (0,)]).toarray(), [[1, 1], [1, 0]])
    np.testing.assert_array_equal(as_binary_csr([[1, 0], [0]]).toarray(), [[1, 1], [1, 0]])


def test_one_dimension_is_refused():
    with pytest.raises(LabelMismatch, match="two dimensions"):
        binary_csr(np.array([0, 1]))


def test_names_must_differ():
    with pytest.raises(LabelMismatch, match="'a' occurs twice"):
        LabelSpace(["a", "b", "a"])


def test_names_with_the_separator_cannot_be_written():
    with pytest.raises(LabelMismatch, match="choose a separator that no label contains"):
        LabelSpace(["a,b"]).to_strings(np.ones((1, 1)))


def test_columns_and_names():
    assert SPACE.column("sunset") == 1
    assert "urban" in SPACE
    assert "desert" not in SPACE
    assert repr(SPACE) == "LabelSpace(['beach', 'sunset', 'urban'], 3 labels)"
    assert LabelSpace(SPACE) == SPACE
    assert hash(LabelSpace(SPACE)) == hash(SPACE)
    with pytest.raises(LabelMismatch, match="'desert' is not among"):
        SPACE.column("desert")


@given(binary_matrices)
def test_distinct_sets_are_the_rows_of_numpys_unique(matrix):
    support = distinct_sets(matrix)
    expected, counts = np.unique(matrix, axis=0, return_counts=True)
    found = {tuple(row): count for row, count in zip(support.sets.toarray(), support.counts)}
    assert found == {tuple(row): count for row, count in zip(expected, counts)}
    np.testing.assert_array_equal(support.sets.toarray()[support.inverse], matrix)
    np.testing.assert_array_equal(matrix[support.first], support.sets.toarray())
    assert (np.diff(support.counts) <= 0).all()
    ties = np.diff(support.counts) == 0
    assert (np.diff(support.first)[ties] > 0).all()


def test_distinct_sets_survive_a_hash_that_collides(monkeypatch):
    class Colliding:
        """Gives all labels one hash at first, so that equally large sets collide."""

        calls = 0

        def __call__(self, seed):
            Colliding.calls += 1
            real = original(seed)
            if seed > 0:
                return real
            return type("", (), {"integers": lambda _, *a, size, **k: np.ones(size, np.uint64)})()

    original = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", Colliding())
    support = distinct_sets(np.eye(3, dtype=np.int8))
    assert len(support) == 3
    assert Colliding.calls == 2


@given(binary_matrices, st.randoms())
def test_rows_equal_compares_rows(matrix, random):
    other = matrix[random.sample(range(len(matrix)), len(matrix))]
    np.testing.assert_array_equal(
        rows_equal(binary_csr(matrix), binary_csr(other)), (matrix == other).all(axis=1)
    )


def test_frames_without_names_of_their_own():
    np.testing.assert_array_equal(as_binary_csr(pd.DataFrame(MATRIX)).toarray(), MATRIX)
    mirrored = pd.DataFrame(MATRIX[:, ::-1], columns=[2, 1, 0])
    np.testing.assert_array_equal(LabelSpace(range(3)).encode(mirrored).toarray(), MATRIX)


def test_arrays_of_strings_are_label_sets_and_tables_of_objects_are_matrices():
    np.testing.assert_array_equal(
        SPACE.encode(np.array(["urban,beach", "", "sunset"])).toarray(), MATRIX
    )
    np.testing.assert_array_equal(SPACE.encode(MATRIX.astype(object)).toarray(), MATRIX)


def test_one_dimension_is_too_few():
    for refuse in (SPACE.encode, LabelSpace.infer, as_binary_csr):
        with pytest.raises(LabelMismatch, match="two dimensions"):
            refuse(np.array([1, 0, 1]))


def test_wide_indices_become_narrow():
    Y = sparse.csr_array(MATRIX.astype(np.int8))
    Y.indices, Y.indptr = Y.indices.astype(np.int64), Y.indptr.astype(np.int64)
    assert binary_csr(Y).indices.dtype == np.int32
