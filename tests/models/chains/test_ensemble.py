"""Ensembles of chains."""

from __future__ import annotations

import numpy as np
import pytest

import setwise as sw
from setwise.errors import DataError
from setwise.models.chains.classifier_chain import ClassifierChain
from setwise.models.chains.ensemble import VOTINGS, ChainEnsemble


def rows(n=120, d=4, L=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, L)) + random.normal(size=(n, L)) > 0.3).astype(int)
    Y[:, 1] = Y[:, 0] ^ (random.random(n) < 0.1)
    return X, Y


def test_one_chain_of_all_rows_is_that_chain():
    X, Y = rows()
    for voting in VOTINGS:
        model = ChainEnsemble(1, voting=voting, subsample=1.0).fit(X, Y)
        chain = ClassifierChain(model.orders_[0]).fit(X, Y)
        np.testing.assert_array_equal(model.predict(X), chain.predict(X))
    mixture = ChainEnsemble(1, subsample=1.0).fit(X, Y)
    np.testing.assert_allclose(mixture.predict_proba(X), chain.predict_proba(X), atol=1e-6)


def test_votes_are_counted():
    X, Y = rows()
    by_label = ChainEnsemble(5, voting="label", search="greedy", allow_empty=True).fit(X, Y)
    votes = np.stack([by_label._chain(X, number).mode()[0] for number in range(5)])
    np.testing.assert_array_equal(by_label.predict(X), votes.sum(axis=0) >= 3)
    by_set = ChainEnsemble(5, voting="subset", search="greedy", allow_empty=True).fit(X, Y)
    chosen = by_set.predict(X)
    support = (votes == chosen).all(axis=2).sum(axis=0)
    most = np.stack([(votes == votes[i]).all(axis=2).sum(axis=0) for i in range(5)]).max(axis=0)
    np.testing.assert_array_equal(support, most)


def test_the_mixture_averages_probabilities():
    X, Y = rows()
    model = ChainEnsemble(4, allow_empty=True).fit(X, Y)
    parts = [np.exp(model._chain(X, number).log_prob(Y)) for number in range(4)]
    np.testing.assert_allclose(
        np.exp(model.predict_dist(X).log_prob(Y)), np.mean(parts, axis=0), rtol=1e-9
    )
    nonempty = ChainEnsemble(4, allow_empty=False).fit(X, Y)
    Z = np.array([[1, 0, 0, 1]] * len(X))
    empty = np.exp(model.predict_dist(X).log_prob(0 * Z))
    np.testing.assert_allclose(
        np.exp(nonempty.predict_dist(X).log_prob(Z)),
        np.exp(model.predict_dist(X).log_prob(Z)) / (1 - empty),
        rtol=1e-9,
    )


def test_orders_differ_and_the_seed_decides():
    X, Y = rows()
    first, again = (ChainEnsemble(3, random_state=1).fit(X, Y) for _ in range(2))
    other = ChainEnsemble(3, random_state=2).fit(X, Y)
    np.testing.assert_array_equal(first.orders_, again.orders_)
    assert not np.array_equal(first.orders_, other.orders_)
    assert len(np.unique(first.orders_, axis=0)) > 1


@pytest.mark.parametrize("voting", VOTINGS)
def test_weights_storage_and_odd_labels(voting, tmp_path):
    X, Y = rows()
    weight = np.arange(len(Y)) % 2
    model = ChainEnsemble(3, voting=voting, C="auto").fit(X, Y, sample_weight=weight)
    model.save(tmp_path / "chains.setwise")
    loaded = sw.load(tmp_path / "chains.setwise")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for Z in (Y[:, :1], np.zeros_like(Y), np.repeat(Y[:, :1], 3, axis=1)):
        assert ChainEnsemble(3, voting=voting).fit(X, Z).predict(X).shape == Z.shape


def test_what_cannot_be_is_refused():
    X, Y = rows()
    for options, message in [
        ({"n_chains": 0}, "n_chains"),
        ({"voting": "loud"}, "voting is one of"),
        ({"subsample": 0}, "subsample"),
        ({"search": "greedy"}, "finds one"),
        ({"C": -1}, "C is"),
    ]:
        with pytest.raises(DataError, match=message):
            ChainEnsemble(**options).fit(X, Y)
