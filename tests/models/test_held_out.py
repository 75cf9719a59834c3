import numpy as np
import pytest
from scipy import sparse

from setwise.errors import DataError
from setwise.models.held_out import held_out_parts

Y = sparse.csr_array(np.random.default_rng(0).integers(0, 2, size=(50, 3)))


def test_parts_are_all_rows_once():
    train, test = held_out_parts(Y, None, None, 0.2, 0)
    assert len(test) == 10
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(50))


def test_rows_without_weight_are_in_neither_part():
    weight = (np.arange(50) % 2).astype(float)
    train, test = held_out_parts(Y, weight, None, 0.2, 0)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(1, 50, 2))
    packed = held_out_parts(Y[1::2], None, None, 0.2, 0)
    np.testing.assert_array_equal(train, 1 + 2 * packed[0])
    np.testing.assert_array_equal(test, 1 + 2 * packed[1])


def test_groups_stay_together():
    groups = np.arange(50) // 4
    for weight in (None, (np.arange(50) % 3).astype(float)):
        train, test = held_out_parts(Y, weight, groups, 0.3, 0)
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize(
    ("weight", "share", "sentence"),
    [
        (None, 0.0, "between 0 and 1, not 0.0"),
        (None, 1.0, "between 0 and 1, not 1.0"),
        (np.eye(50)[3], 0.2, "only one row with weight"),
    ],
)
def test_what_cannot_be_parted_gets_a_sentence(weight, share, sentence):
    with pytest.raises(DataError, match=sentence):
        held_out_parts(Y, weight, None, share, 0)


def test_a_single_group_cannot_be_parted():
    groups = np.arange(50) % 2
    for weight, of_rows in ((None, np.zeros(50)), (groups.astype(float), groups)):
        with pytest.raises(DataError, match="only one group of rows with weight; give numbers"):
            held_out_parts(Y, weight, of_rows, 0.2, 0)
