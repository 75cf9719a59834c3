"""Pairs of rows and components: their features, their bins, and what is known of them."""

import numpy as np
import pytest
from scipy import sparse

from setwise.learners.boosting import BoostedBank
from setwise.models.cbm import pairs as pairs_module
from setwise.models.cbm.pairs import KnownPairs, PairTable

N, D, K = 40, 30, 3


@pytest.fixture
def X():
    random = np.random.default_rng(0)
    return random.normal(size=(N, D)) * (random.random((N, D)) < 0.1)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_pair_has_the_features_of_its_row_and_a_one_for_its_component(X, kind):
    table = PairTable(kind(X), K)[np.array([2 * K + 1, 7 * K])]
    table = table.toarray() if sparse.issparse(table) else table
    expected = np.hstack([X[[2, 7]], [[0, 1, 0], [1, 0, 0]]])
    np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("n", [N, K - 1])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_bins_lose_nothing_of_pairs_that_they_were_not_made_from(X, kind, n):
    table = PairTable(kind(X[:n]), K)
    pairs = np.arange(n * K)
    binned = table.binned(pairs)
    T = np.random.default_rng(1).random((len(pairs), 2))
    T[:, 0] = pairs % K == 1
    bank = BoostedBank(20, min_rows_in_leaf=1, n_leaves=8).fit(binned, T)
    # Scores of binned rows were collected while trees grew, the others by thresholds.
    np.testing.assert_allclose(bank.scores(binned), bank.scores(table[pairs]), rtol=1e-6)
    assert (bank.scores(binned)[:, 0] > 0)[pairs % K == 1].all()


def test_scores_do_not_depend_on_blocks(X, monkeypatch):
    table, pairs = PairTable(X, K), np.array([0, 5, 60, 61, 100])

    def scorer(rows):
        return np.asarray(rows @ np.arange(2.0 * (D + K)).reshape(-1, 2))

    whole = table.scores(pairs, scorer, 2)
    np.testing.assert_allclose(whole, scorer(table[pairs]), rtol=1e-12)
    monkeypatch.setattr(pairs_module, "TABLE_CELLS", 2 * (D + K + 2))
    np.testing.assert_allclose(table.scores(pairs, scorer, 2), whole, rtol=1e-12)


def test_only_what_is_not_known_is_worked_out(X):
    asked = []

    def scorer(rows):
        asked.append(len(rows))
        return np.full((len(rows), 1), -1.0)

    known = KnownPairs(PairTable(X, K), np.array([3, 8]), np.array([[0.3], [0.8]]))
    assert known.ask(np.array([1, 3, 8, 90]), scorer).ravel().tolist() == [-1.0, 0.3, 0.8, -1.0]
    assert asked == [2]
    more = known.merged(np.array([5, 1]), np.array([[0.5], [0.1]]))
    assert more.pairs.tolist() == [1, 3, 5, 8]
    assert more.scores.ravel().tolist() == [0.1, 0.3, 0.5, 0.8]
