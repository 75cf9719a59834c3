"""The parts of the tour that choose; ``tests/test_cli.py`` runs all of it."""

import numpy as np
import pytest

from setwise.commands.demo import few, most_instructive, some_rows, spread
from setwise.data import load_dataset


@pytest.fixture(scope="module")
def dataset():
    return load_dataset("debtags")


def test_rows_are_always_the_same_and_keep_their_names(dataset):
    train, test = some_rows(dataset, 50, 20)
    again, _ = some_rows(dataset, 50, 10)
    assert train.X.shape == (50, 7149)
    assert test.Y.shape == (20, 507)
    assert train.names.tolist() == again.names.tolist()
    place = list(dataset.row_names_test).index(test.names[3])
    assert (dataset.Y_test[[place]].toarray() == test.Y[[3]].toarray()).all()
    words = np.flatnonzero(test.X[[3]].toarray()[0])
    assert set(words) <= set(dataset.X_test[[place]].indices)
    np.testing.assert_allclose(np.sqrt(train.X.multiply(train.X).sum(axis=1)), 1, rtol=1e-12)


def test_no_more_rows_than_there_are(dataset):
    train, test = some_rows(dataset, 10, 10**6)
    assert train.Y.shape[0] == 10
    assert test.Y.shape[0] == dataset.Y_test.shape[0]


def test_examples_are_spread_from_the_surest_to_the_least_sure():
    probability = np.random.default_rng(0).random(101)
    rows = spread(probability, 6)
    assert len(set(rows.tolist())) == 6
    assert (np.diff(probability[rows]) < 0).all()
    assert probability[rows[0]] == probability.max()
    assert probability[rows[-1]] == probability.min()
    assert spread(probability[:2], 6).shape == (2,)


@pytest.mark.parametrize(
    ("gained", "lifted", "row"),
    [
        ([1, 1, 0, 0], [1, 0, 0, 1], 0),  # a tag that correlation lifts comes before sureness
        ([1, 1, 0, 0], [0, 0, 1, 1], 1),  # but only in rows that the mixture alone has right
        ([0, 0, 0, 0], [1, 1, 1, 0], 3),
    ],
)
def test_the_row_to_explain_is_one_that_the_mixture_gains(gained, lifted, row):
    probability = np.array([0.2, 0.5, 0.7, 0.9])
    assert most_instructive(np.array(gained, bool), np.array(lifted, bool), probability) == row


def test_long_sets_are_cut():
    assert few(()) == "none"
    assert few(("a", "b"), many=2) == "a, b"
    assert few(("a", "b", "c", "d"), many=2) == "a, b, 2 more"
