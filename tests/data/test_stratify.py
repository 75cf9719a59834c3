from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from setwise.data import stratify as module
from setwise.data._stratify_kernel import deal, move, swap
from setwise.data.stratify import stratify


def slow_deal(units, wanted, luck):
    """Algorithm 1 of Sechidis et al. on dense units (m, labels), the last label being the rows."""
    excess = -wanted
    part = np.full(len(units), -1)
    while (part < 0).any():
        remaining = units[part < 0].sum(axis=0).astype(float)
        remaining[remaining == 0] = np.inf
        label = remaining.argmin()
        for unit in np.flatnonzero((units[:, label] > 0) & (part < 0)):
            lacks = list(zip(excess[label], excess[-1], strict=True))
            keenest = [p for p, lack in enumerate(lacks) if lack == min(lacks)]
            part[unit] = keenest[int(luck[unit] * len(keenest))]
            excess[:, part[unit]] += units[unit]
    return part


def random_units(seed, *, m=40, L=6, largest=1):
    """Units with up to ``largest`` rows each; the last column counts them."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, largest + 1, m)
    units = random.binomial(sizes[:, None], 0.3, (m, L))
    return np.column_stack([units, sizes]), random


def problem(seed, n_parts, **kinds):
    """Flat units, Pearson weights, the excess of a random assignment, and the assignment."""
    units, random = random_units(seed, **kinds)
    part = random.permutation(np.arange(len(units)) % n_parts)
    wanted = np.outer(units.sum(axis=0), np.full(n_parts, 1 / n_parts))
    return units, module._flat(sparse.csr_array(units)), 1 / wanted, wanted, part


def excess_of(units, wanted, part):
    return units.T @ (part[:, None] == np.arange(wanted.shape[1])) - wanted


@pytest.mark.parametrize("largest", [1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_dealing_agrees_with_the_slow_twin(seed, largest):
    units, random = random_units(seed, largest=largest)
    # Powers of two: shares are exact, so that both twins see the same ties.
    wanted = np.outer(units.sum(axis=0), [0.5, 0.25, 0.25])
    luck = random.random(len(units))
    flat, by_label = sparse.csr_array(units), sparse.csc_array(units)
    dealt = deal(*module._flat(flat), *module._flat(by_label)[:2], -wanted, luck)
    np.testing.assert_array_equal(dealt, slow_deal(units, wanted, luck))


@pytest.mark.parametrize("largest", [1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_moves_lower_the_sum_until_none_can(seed, largest):
    units, flat, weight, wanted, part = problem(seed, 3, largest=largest)
    excess = excess_of(units, wanted, part)
    before = (weight * excess**2).sum()
    move(*flat, weight, 100, excess, part)
    after = (weight * excess**2).sum()
    assert after < before
    np.testing.assert_allclose(excess, excess_of(units, wanted, part), rtol=0, atol=1e-9)
    for unit in range(len(part)):
        for there in range(3):
            other = part.copy()
            other[unit] = there
            assert (weight * excess_of(units, wanted, other) ** 2).sum() >= after - 1e-6


@pytest.mark.parametrize("largest", [1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_swaps_lower_the_sum_and_keep_the_units_per_part(seed, largest):
    units, flat, weight, wanted, part = problem(seed, 3, largest=largest)
    excess = excess_of(units, wanted, part)
    before, units_per_part = (weight * excess**2).sum(), np.bincount(part)
    module._swap(flat, weight, excess, part)
    after = (weight * excess**2).sum()
    assert after < before
    np.testing.assert_allclose(excess, excess_of(units, wanted, part), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(np.bincount(part), units_per_part)
    module._swap(flat, weight, excess, part)
    assert (weight * excess**2).sum() <= after + 1e-9


def test_swaps_keep_the_lists_of_members():
    units, flat, weight, wanted, part = problem(0, 3)
    members = np.argsort(part, kind="stable")
    first = np.searchsorted(part[members], np.arange(4))
    swap(*flat, weight, first, members, 5, 32, excess_of(units, wanted, part), part)
    np.testing.assert_array_equal(part[members], np.repeat(np.arange(3), np.diff(first)))


def test_a_greedy_deal_is_mended():
    Y = (np.random.default_rng(0).random((500, 8)) < 0.3).astype(np.int8)
    part = stratify(sparse.csr_array(Y), np.full(5, 100.0), random=np.random.default_rng(0))
    positives = np.stack([Y[part == p].sum(axis=0) for p in range(5)])
    # Random folds stray by some 4.6 rows a label; these by less than one.
    assert np.abs(positives - Y.sum(axis=0) / 5).mean() < 1


def test_sizes_are_exact_where_the_rarest_label_wants_otherwise():
    Y = sparse.csr_array(np.eye(7, dtype=np.int8))
    part = stratify(Y, np.array([5.0, 2.0]), random=np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(part), [5, 2])


def test_sizes_are_exact_where_shares_are_not():
    for n in range(90, 110):
        Y = sparse.csr_array((np.random.default_rng(n).random((n, 12)) < 0.3).astype(np.int8))
        for n_test in range(1, n, 7):  # 91 * (29 / 91) is not 29
            wanted = np.array([n - n_test, n_test], dtype=float)
            part = stratify(Y, wanted, random=np.random.default_rng(0))
            np.testing.assert_array_equal(np.bincount(part), wanted)


def test_no_part_stays_empty_where_a_group_is_far_too_large():
    groups = np.array([0] * 9 + [1])
    Y = sparse.csr_array(np.ones((10, 1), dtype=np.int8))
    for seed in range(5):
        part = stratify(Y, np.array([9.5, 0.5]), groups=groups, random=np.random.default_rng(seed))
        assert sorted(np.bincount(part)) == [1, 9]
