import numpy as np
from scipy import sparse

from setwise.models.folds import dealt_out, n_units

Y = sparse.csr_array(np.random.default_rng(0).integers(0, 2, (24, 3)))


def test_every_row_is_in_one_of_the_folds():
    part = dealt_out(Y, None, None, 4, 0)
    np.testing.assert_array_equal(np.bincount(part), [6, 6, 6, 6])


def test_groups_stay_together_and_rows_without_weight_follow_them():
    groups, weight = np.arange(24) // 3, np.ones(24)
    weight[::3] = 0
    part = dealt_out(Y, weight, groups, 4, 0)
    for group in range(8):
        assert len(np.unique(part[groups == group])) == 1
    assert len(np.unique(part)) == 4


def test_rows_without_weight_do_not_count():
    weight = np.ones(24)
    weight[6:] = 0
    assert n_units(weight, None, 24) == 6
    assert n_units(weight, np.arange(24) // 2, 24) == 3
    part = dealt_out(Y, weight, None, 10, 0)  # as many folds as there are rows
    assert sorted(part[:6]) == list(range(6))
    assert not part[6:].any()
