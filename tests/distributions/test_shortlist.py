"""A short list against the list of all sets."""

from itertools import product

import numpy as np
import pytest

from setwise.distributions.shortlist import Shortlist
from setwise.errors import DataError

K, N, L = 4, 6, 3
ALL = np.array(list(product([0, 1], repeat=L)), dtype=np.int8)


def make(allow_empty=True, seed=0):
    random = np.random.default_rng(seed)
    chosen = np.stack([random.choice(len(ALL), K, replace=False) for _ in range(N)], axis=1)
    log_weights = random.normal(size=(K, N))
    log_weights[3, 2] = -np.inf  # row 2 has three sets
    return Shortlist(ALL[chosen], log_weights, allow_empty, random.random(N) * 0.8)


def probabilities(dist):
    """P(set) of all 2^L sets by loops, (n, 2^L), which lack the rest."""
    p = np.zeros((dist.n_rows, len(ALL)))
    for row in range(dist.n_rows):
        for sample, log_weight in zip(dist.samples[:, row], dist.log_weights[:, row]):
            number = int(np.flatnonzero((sample == ALL).all(axis=1))[0])
            if dist.allow_empty or sample.any():
                p[row, number] += np.exp(log_weight)
        p[row] *= (1 - dist.rest[row]) / p[row].sum()
    return p


either = pytest.mark.parametrize("allow_empty", [True, False])


@either
def test_listed_sets_and_the_rest_make_one(allow_empty):
    dist = make(allow_empty)
    expected = probabilities(dist)
    for number, one in enumerate(ALL):
        found = np.exp(dist.log_prob(np.tile(one, (N, 1))))
        np.testing.assert_allclose(found, expected[:, number], rtol=1e-9)
    np.testing.assert_allclose(expected.sum(axis=1) + dist.rest, 1, rtol=1e-12)


@either
def test_the_best_ones_come_first(allow_empty):
    dist = make(allow_empty)
    expected = probabilities(dist)
    sets, log_prob = dist.top(5)
    mode, mode_log_prob = dist.mode()
    for row in range(N):
        falling = np.sort(expected[row])[::-1][:5]
        np.testing.assert_allclose(np.exp(log_prob[row]), falling, rtol=1e-9)
        np.testing.assert_array_equal(mode[row], ALL[np.argmax(expected[row])])
        for one, value in zip(sets[row], np.exp(log_prob[row])):
            if value > 0:
                number = int(np.flatnonzero((one == ALL).all(axis=1))[0])
                np.testing.assert_allclose(value, expected[row, number], rtol=1e-9)
    np.testing.assert_allclose(mode_log_prob, log_prob[:, 0], rtol=1e-12)


@either
def test_marginals_and_sizes_are_given_that_a_listed_set_is_right(allow_empty):
    dist = make(allow_empty)
    p = probabilities(dist) / (1 - dist.rest[:, None])
    np.testing.assert_allclose(dist.marginals(), p @ ALL, rtol=1e-9)
    sizes = dist.size_distribution(L)
    for s in range(L + 1):
        of_size = p[:, ALL.sum(axis=1) == s].sum(axis=1)
        np.testing.assert_allclose(sizes[:, s], of_size, rtol=1e-9, atol=1e-12)


@either
@pytest.mark.parametrize("selection", [slice(1, 4), [5, 0], np.arange(N) % 2 == 0])
def test_some_rows_are_those_rows(allow_empty, selection):
    dist = make(allow_empty)
    some = dist.rows(selection)
    assert isinstance(some, Shortlist)
    assert some.allow_empty == allow_empty
    np.testing.assert_array_equal(some.rest, dist.rest[selection])
    np.testing.assert_array_equal(some.top(2)[0], dist.top(2)[0][selection])
    np.testing.assert_allclose(some.top(2)[1], dist.top(2)[1][selection], rtol=1e-12)


def test_samples_are_listed():
    dist = make(allow_empty=False)
    drawn = dist.sample(200, random_state=0)
    assert all(np.isfinite(dist.log_prob(sets)).all() for sets in drawn)


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [
        (np.zeros(2), r"rest has shape \(2,\) but there are 1 rows"),
        (None, "rest has shape"),
        (np.array([1.0]), "under one"),
        (np.array([-0.1]), "under one"),
        (np.array([np.nan]), "under one"),
    ],
)
def test_a_rest_that_is_none_gets_a_sentence(rest, sentence):
    with pytest.raises(DataError, match=sentence):
        Shortlist(np.ones((1, 1, 2), dtype=np.int8), np.zeros((1, 1)), rest=rest)
