import numpy as np
import pytest
from scipy import sparse

from setwise.errors import DataError
from setwise.models.topics.documents import repeated, word_counts


def test_counts_are_whole_sorted_and_without_zeros():
    X = sparse.csr_array((np.array([1.0, 2.0, 0.0, 3.0]), [3, 1, 0, 3], [0, 4]), shape=(1, 5))
    counts = word_counts(X)
    np.testing.assert_array_equal(counts.toarray(), [[0, 2, 0, 4, 0]])
    assert counts.nnz == 2
    assert counts.has_sorted_indices
    assert X.nnz == 4  # what came is left alone


@pytest.mark.parametrize(("value", "shown"), [(0.5, "0.5"), (-1.0, "-1")])
def test_what_is_no_count_gets_a_sentence(value, shown):
    with pytest.raises(DataError, match=f"whole numbers from 0 on, but X holds {shown};"):
        word_counts(np.array([[1.0, value]]))


def test_more_words_than_fit_get_a_sentence():
    with pytest.raises(DataError, match="pass fewer documents"):
        word_counts(np.full((1, 3), 1e9))


def test_weights_repeat_documents():
    counts, Y = word_counts(np.array([[1, 0], [0, 2]])), sparse.csr_array(np.eye(2, dtype=int))
    more, labels = repeated(counts, Y, np.array([0.0, 2.0]))
    np.testing.assert_array_equal(more.toarray(), [[0, 2], [0, 2]])
    np.testing.assert_array_equal(labels.toarray(), [[0, 1], [0, 1]])
    with pytest.raises(DataError, match="whole numbers: how often each document is there; got 0.5"):
        repeated(counts, Y, np.array([0.5, 1.0]))
