import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setwise.calibration.noisy_labels import WAYS, annotators, corrupted
from setwise.data.labels import rows_equal
from setwise.errors import DataError


def sets(seed, n, L, density=0.4):
    return (np.random.default_rng(seed).random((n, L)) < density).astype(np.int8)


@given(
    st.integers(0, 10_000),
    st.integers(1, 40),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.lists(st.sampled_from(WAYS), min_size=1, max_size=3, unique=True),
)
@settings(max_examples=100)
def test_corrupted_sets_always_differ_by_one_label_added_moved_or_removed(
    seed, n, L, density, ways
):
    Y = sets(seed, n, L, density)
    noisy = corrupted(Y, 1.0, ways=ways, random_state=seed).toarray().astype(int)
    gained, lost = (noisy > Y).sum(axis=1), (noisy < Y).sum(axis=1)
    way = np.select(
        [(gained == 1) & (lost == 0), (gained == 1) & (lost == 1), (gained == 0) & (lost == 1)],
        ["add", "move", "remove"],
        "none",
    )
    size = Y.sum(axis=1)
    allowed = {"add": size < L, "move": (size > 0) & (size < L), "remove": size > 0}
    possible = np.any([allowed[name] for name in ways], axis=0)
    assert np.isin(way[possible], ways).all()
    assert (way[~possible] == np.where(size[~possible] > 0, "remove", "add")).all()
    assert set(np.unique(noisy)) <= {0, 1}


def test_labels_and_ways_are_drawn_evenly():
    Y = np.tile([1, 0, 1, 0, 0], (30_000, 1))
    noisy = corrupted(sparse.csr_array(Y), 1.0, random_state=0).toarray()
    gained, lost = (noisy > Y).mean(axis=0), (noisy < Y).mean(axis=0)
    # two ways of three gain one of three labels; two lose one of two
    np.testing.assert_allclose(gained, [0, 2 / 9, 0, 2 / 9, 2 / 9], rtol=0, atol=0.01)
    np.testing.assert_allclose(lost, [1 / 3, 0, 1 / 3, 0, 0], rtol=0, atol=0.01)


def test_each_row_is_corrupted_with_its_own_probability():
    Y = sparse.csr_array(sets(0, 30_000, 8))
    who, rate = annotators(30_000, [0.1, 0.3, 0.5], random_state=1)
    changed = ~rows_equal(Y, corrupted(Y, rate, random_state=2))
    np.testing.assert_allclose(
        np.bincount(who, changed) / np.bincount(who), [0.1, 0.3, 0.5], rtol=0, atol=0.02
    )
    none = corrupted(Y, 0.0, random_state=2)
    assert rows_equal(Y, none).all()
    same = corrupted(Y, rate, random_state=2), corrupted(Y, rate, random_state=2)
    assert rows_equal(*same).all()


@pytest.mark.parametrize("n", [0, 1, 3, 100])
def test_annotators_have_equal_parts(n):
    who, rate = annotators(n, [0.1, 0.3, 0.5], random_state=0)
    counts = np.bincount(who, minlength=3)
    assert counts.max() - counts.min() <= 1
    assert counts.sum() == n
    np.testing.assert_array_equal(rate, np.array([0.1, 0.3, 0.5])[who])
    if n == 100:
        assert (who != np.arange(100) % 3).any()  # not in turn


def test_what_cannot_be_corrupted_gets_a_sentence():
    Y = sets(0, 5, 3)
    for alpha in (-0.1, 1.1, np.nan, [0.1, 0.2]):
        with pytest.raises(DataError, match="each of 5 rows"):
            corrupted(Y, alpha)
    with pytest.raises(DataError, match="ways must be"):
        corrupted(Y, 0.5, ways=["swap"])
    with pytest.raises(DataError, match="no labels"):
        corrupted(np.zeros((3, 0)), 0.5)
    with pytest.raises(DataError, match="no annotators"):
        annotators(5, [])
