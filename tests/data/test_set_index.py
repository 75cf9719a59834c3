"""Where label sets stand in a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from setwise.data import set_index
from setwise.data.labels import distinct_sets
from setwise.data.set_index import SetIndex, as_index
from setwise.errors import LabelMismatch


def matrices(n_rows):
    return st.integers(0, 10**6).map(
        lambda seed: np.random.default_rng(seed).integers(0, 2, size=(n_rows, 4))
    )


@given(matrices(12), matrices(9))
def test_each_set_is_found_where_it_stands(listed, asked):
    sets = distinct_sets(listed).sets
    place = SetIndex(sets).find(asked)
    dense = sets.toarray()
    for row, where in zip(asked, place, strict=True):
        same = np.flatnonzero((dense == row).all(axis=1))
        assert where == (same[0] if len(same) else -1)


def test_repeats_are_noticed():
    twice = np.array([[1, 0], [0, 1], [1, 0]])
    assert SetIndex(twice).has_repeats
    assert not SetIndex(twice[:2]).has_repeats
    assert_array_equal(SetIndex(twice).find(twice), [0, 1, 0])


def test_sets_whose_hashes_collide_are_told_apart(monkeypatch):
    def colliding(Y, seed):
        return np.zeros(Y.shape[0], np.uint64) if seed == 0 else row_hashes(Y, seed)

    row_hashes = set_index.row_hashes
    monkeypatch.setattr(set_index, "row_hashes", colliding)
    sets = np.array([[1, 0], [0, 1]])
    assert_array_equal(SetIndex(sets).find(sets[::-1]), [1, 0])
    assert_array_equal(SetIndex(sets[:1]).find(sets), [0, -1])  # one alone keeps the poor hash


def test_an_empty_list_finds_nothing_and_an_index_stays_as_it_is():
    index = SetIndex(sparse.csr_array((0, 3), dtype=np.int8))
    assert_array_equal(index.find(np.ones((2, 3), int)), [-1, -1])
    assert as_index(index) is index


@pytest.mark.parametrize("shape", [(0, 2), (3, 2)])
def test_no_questions_no_answers(shape):
    assert SetIndex(np.eye(2, dtype=int)).find(np.zeros(shape, int)).tolist() == [-1] * shape[0]


def test_sets_over_other_labels_are_refused():
    with pytest.raises(LabelMismatch, match="Y has 3 labels"):
        SetIndex(np.eye(2, dtype=int)).find(np.eye(3, dtype=int))
