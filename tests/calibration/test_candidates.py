"""Candidates against the list of all sets."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from setwise.calibration.candidates import (
    Candidates,
    found_in,
    listed_candidates,
    merged,
    scored,
    stacked,
    top_candidates,
)
from setwise.data.labels import distinct_sets
from setwise.distributions import BernoulliMixture, Product, Support
from setwise.errors import DataError

L = 4
ALL = np.array(list(product([0, 1], repeat=L)), dtype=np.int8)


def distributions(allow_empty, n=5, seed=0):
    random = np.random.default_rng(seed)
    log_pi = np.log(random.dirichlet(np.ones(3), size=n))
    listed = ALL[[0, 3, 5, 6, 9, 15]]
    scores = random.normal(size=(n, len(listed)))
    scores[1, 2] = -np.inf
    return {
        "product": Product(random.normal(scale=2, size=(n, L)), allow_empty),
        "mixture": BernoulliMixture(log_pi, random.normal(size=(n, 3, L)), allow_empty),
        "support": Support(listed, scores, allow_empty),
    }


def log_prob_of_all(distribution, sets=ALL):
    """(n, m), one set at a time."""
    n = distribution.n_rows
    return np.stack([distribution.log_prob(np.tile(one, (n, 1))) for one in sets], axis=1)


def of_row(candidates, row):
    span = slice(candidates.starts[row], candidates.starts[row + 1])
    return candidates.sets.toarray()[span], candidates.score[span]


every_kind = pytest.mark.parametrize("kind", ["product", "mixture", "support"])
either = pytest.mark.parametrize("allow_empty", [True, False])


def check_best_of(candidates, distribution, sets, k):
    """The candidates are the k best of the sets, by falling score, each once."""
    scores = log_prob_of_all(distribution, sets)
    np.testing.assert_array_equal(np.unique(candidates.row), np.arange(distribution.n_rows))
    for row in range(distribution.n_rows):
        found, score = of_row(candidates, row)
        possible = np.sort(scores[row][scores[row] > -np.inf])[::-1]
        np.testing.assert_allclose(score, possible[:k], rtol=1e-6, atol=1e-9)
        assert len({tuple(one) for one in found}) == len(found)
        for one, value in zip(found, score):
            number = np.flatnonzero((sets == one).all(axis=1))
            assert len(number) == 1
            np.testing.assert_allclose(value, scores[row, number[0]], rtol=1e-6, atol=1e-9)


@every_kind
@either
@pytest.mark.parametrize("k", [1, 3, 40])
def test_they_are_the_k_likeliest_of_all_sets(kind, allow_empty, k):
    distribution = distributions(allow_empty)[kind]
    candidates = top_candidates(distribution, k)
    check_best_of(candidates, distribution, ALL, k)
    if not allow_empty:
        assert candidates.sizes.min() >= 1


@every_kind
@either
@pytest.mark.parametrize("k", [1, 2, 9])
def test_listed_ones_are_the_likeliest_of_the_list(kind, allow_empty, k):
    distribution = distributions(allow_empty, seed=1)[kind]
    known = ALL[[15, 0, 3, 6, 9]]
    candidates = listed_candidates(distribution, sparse.csr_array(known), k)
    check_best_of(candidates, distribution, known, k)


def test_batches_of_rows_change_nothing(monkeypatch):
    distribution = distributions(True)["product"]
    known = sparse.csr_array(ALL[3:9])

    def all_kinds():
        return (
            top_candidates(distribution, 3),
            listed_candidates(distribution, known, 3),
            scored(distribution, ALL[:5]),
        )

    whole = all_kinds()
    monkeypatch.setattr("setwise.decisions.base.BATCH_CELLS", 1)
    for one, other in zip(whole, all_kinds()):
        np.testing.assert_array_equal(one.row, other.row)
        np.testing.assert_array_equal(one.sets.toarray(), other.sets.toarray())
        np.testing.assert_allclose(one.score, other.score, rtol=1e-12)
        assert other.n_rows == 5


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_a_number_of_candidates_that_is_none_is_refused(k):
    with pytest.raises(DataError, match="whole number from 1 on"):
        top_candidates(distributions(True)["product"], k)


def test_given_sets_have_the_models_score():
    distribution = distributions(False)["mixture"]
    given = ALL[[0, 1, 2, 3, 4]]
    candidates = scored(distribution, given)
    np.testing.assert_array_equal(candidates.score, distribution.log_prob(given))
    assert candidates.score[0] == -np.inf  # the empty set cannot be
    np.testing.assert_array_equal(candidates.sets.toarray(), given)
    np.testing.assert_array_equal(candidates.row, np.arange(5))


def random_candidates(seed, n=6):
    """Up to six different sets a row, by falling score."""
    random = np.random.default_rng(seed)
    sets, row, score = [], [], []
    for number in range(n):
        k = random.integers(1, 7)
        sets.append(ALL[random.choice(len(ALL), k, replace=False)])
        row.append(np.full(k, number))
        score.append(np.sort(random.normal(size=k))[::-1])
    return Candidates(
        sparse.csr_array(np.concatenate(sets)), np.concatenate(row), np.concatenate(score), n
    )


def as_pairs(candidates, value):
    sets = candidates.sets.toarray()
    return {(row, tuple(one)): v for row, one, v in zip(candidates.row, sets, value)}


@pytest.mark.parametrize("seed", range(5))
def test_merging_keeps_each_set_of_a_row_once(seed):
    first, second = random_candidates(seed), random_candidates(seed + 100)
    both = merged(first, second)
    # Of a set in both lists the first one's score counts.
    expected = as_pairs(second, second.score) | as_pairs(first, first.score)
    assert as_pairs(both, both.score) == expected
    assert len(both) == len(expected)
    assert (np.diff(both.row) >= 0).all()
    inside = np.diff(both.row) == 0
    assert (np.diff(both.score)[inside] <= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_values_are_found_in_another_list(seed):
    first, second = random_candidates(seed), random_candidates(seed + 100)
    value = np.random.default_rng(seed).random(len(first)) + 1
    pairs = as_pairs(first, value)
    found = found_in(first, value, second)
    expected = [pairs.get(pair, 0.0) for pair in as_pairs(second, second.score)]
    np.testing.assert_array_equal(found, expected)


def test_places_and_sizes_against_a_loop():
    candidates = random_candidates(3)
    seen = {}
    for number, (row, size) in enumerate(zip(candidates.row, candidates.sizes)):
        assert candidates.place[number] == seen.setdefault(row, 0)
        seen[row] += 1
        assert size == candidates.sets.toarray()[number].sum()
    assert len(candidates) == candidates.starts[-1]


@pytest.mark.parametrize("seed", range(5))
def test_the_best_one_has_the_greatest_value_and_then_the_greatest_score(seed):
    candidates = random_candidates(seed)
    value = np.random.default_rng(seed).integers(0, 3, size=len(candidates)) / 2
    for row, best in enumerate(candidates.best(value)):
        own = np.flatnonzero(candidates.row == row)
        assert best == own[np.argmax(value[own])]  # the first of several


def test_batches_are_stacked_in_order():
    first, second = random_candidates(0, n=3), random_candidates(1, n=4)
    both = stacked([first, second])
    assert both.n_rows == 7
    expected = as_pairs(first, first.score)
    expected |= {(r + 3, one): v for (r, one), v in as_pairs(second, second.score).items()}
    assert as_pairs(both, both.score) == expected


def test_some_are_taken():
    candidates = random_candidates(2)
    which = candidates.best(candidates.score)
    taken = candidates.taken(which)
    np.testing.assert_array_equal(taken.row, np.arange(6))
    np.testing.assert_array_equal(taken.score, candidates.score[which])
    assert len(distinct_sets(taken.sets)) <= 6
