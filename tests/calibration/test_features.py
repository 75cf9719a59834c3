"""Features against loops over the candidates of each row."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from setwise.calibration.candidates import Candidates
from setwise.calibration.features import (
    FAR,
    LEAST_SCORE,
    NUMBERS,
    OF_THE_THESIS,
    agreement,
    expected_f1,
    features_of,
    leads,
    shares_of_mass,
)
from setwise.calibration.prior import SetPrior


@pytest.fixture
def candidates():
    """Seven rows of one to five sets of five labels, empty ones among them."""
    random = np.random.default_rng(0)
    row = np.repeat(np.arange(7), [3, 1, 5, 2, 1, 4, 5])
    sets = random.integers(0, 2, size=(len(row), 5))
    sets[[0, 4, 9]] = 0
    return Candidates(sparse.csr_array(sets), row, random.normal(size=len(row)), 7)


def rows_of(candidates):
    return [np.flatnonzero(candidates.row == row) for row in range(candidates.n_rows)]


def f1(one, other):
    total = one.sum() + other.sum()
    return 1.0 if total == 0 else 2 * (one & other).sum() / total


def test_shares_of_mass(candidates):
    log_mass = 300 * candidates.score  # far beyond what exp can hold
    log_mass[1] = -np.inf
    shares = shares_of_mass(candidates, log_mass)
    for own in rows_of(candidates):
        np.testing.assert_allclose(shares[own], log_mass[own] - logsumexp(log_mass[own]), rtol=1e-9)


def test_leads_are_distances_to_the_best_other_one(candidates):
    value = np.random.default_rng(1).integers(0, 4, size=len(candidates)).astype(float)
    found = leads(candidates, value)
    for own in rows_of(candidates):
        for number in own:
            others = value[own[own != number]]
            expected = value[number] - others.max() if len(others) else FAR
            assert found[number] == expected


def test_a_lead_over_what_cannot_be_is_far(candidates):
    value = np.where(candidates.place == 0, -1.0, -np.inf)
    found = leads(candidates, value)
    np.testing.assert_array_equal(found[candidates.place == 0], FAR)
    np.testing.assert_array_equal(found[candidates.place > 0], -np.inf)


def test_expected_f1(candidates, monkeypatch):
    weight = np.random.default_rng(2).random(len(candidates))
    sets = candidates.sets.toarray()
    expected = [
        sum(weight[j] * f1(sets[i], sets[j]) for j in own)
        for own in rows_of(candidates)
        for i in own
    ]
    np.testing.assert_allclose(expected_f1(candidates, weight), expected, rtol=1e-6)
    monkeypatch.setattr("setwise.decisions.base.BATCH_CELLS", 1)
    np.testing.assert_allclose(expected_f1(candidates, weight), expected, rtol=1e-6)


def test_each_number_is_what_its_name_says(candidates):
    sets = candidates.sets.toarray()
    prior = SetPrior().fit(sets[:8])
    features = features_of(candidates, prior)
    assert tuple(features.numbers) == tuple(NUMBERS)
    numbers = features.numbers
    share = np.array([(sets[:8] == one).all(axis=1).mean() for one in sets])
    np.testing.assert_array_equal(numbers["score"], candidates.score)
    np.testing.assert_allclose(numbers["prior"], share, rtol=1e-12)
    np.testing.assert_array_equal(numbers["size"], sets.sum(axis=1))
    np.testing.assert_array_equal(numbers["place"], candidates.place)
    posterior = np.exp(candidates.score) * (share + 1 / 16)
    for own in rows_of(candidates):
        of_row = posterior[own] / posterior[own].sum()
        np.testing.assert_allclose(np.exp(numbers["share"][own]), of_row, rtol=1e-9)
        best_by_f1 = [sum(p * f1(sets[i], sets[j]) for p, j in zip(of_row, own)) for i in own]
        np.testing.assert_allclose(numbers["expected_f1"][own], best_by_f1, rtol=1e-5)
    np.testing.assert_allclose(numbers["lead"], leads(candidates, numbers["share"]), rtol=1e-12)


def test_agreement_is_by_the_product_of_what_models_say(candidates):
    said = np.random.default_rng(3).random((len(candidates), 3))
    share, lead = agreement(candidates, np.log(said)).T
    product = said.prod(axis=1) ** (1 / 3)
    for own in rows_of(candidates):
        np.testing.assert_allclose(np.exp(share[own]), product[own] / product[own].sum(), rtol=1e-9)
    np.testing.assert_array_equal(lead, leads(candidates, share))


def test_a_set_that_all_or_one_of_the_models_rule_out_agrees_least(candidates):
    opinions = np.zeros((len(candidates), 2))
    opinions[0, 0] = -np.inf
    opinions[4:9] = -np.inf  # a whole row
    found = agreement(candidates, opinions)
    assert np.isfinite(found).all()
    assert found[0, 0] == found[:3, 0].min() < -1000
    np.testing.assert_allclose(np.exp(found[4:9, 0]), 1 / 5, rtol=1e-12)


def test_the_matrix_has_the_numbers_and_then_the_labels(candidates):
    features = features_of(candidates, SetPrior().fit(candidates.sets))
    matrix = features.matrix(OF_THE_THESIS).toarray()
    np.testing.assert_array_equal(matrix[:, 0], features.score)
    np.testing.assert_array_equal(matrix[:, 1], features.numbers["prior"])
    np.testing.assert_array_equal(matrix[:, 2], features.size)
    np.testing.assert_array_equal(matrix[:, 3:], candidates.sets.toarray())


def test_a_set_that_cannot_be_has_finite_features(candidates):
    score = candidates.score.copy()
    score[0] = -np.inf
    impossible = Candidates(candidates.sets, candidates.row, score, candidates.n_rows)
    matrix = features_of(impossible, SetPrior().fit(candidates.sets)).matrix(tuple(NUMBERS))
    assert np.isfinite(matrix.toarray()).all()
    assert matrix.toarray()[0, 0] == LEAST_SCORE


def test_features_of_some_are_those_that_they_had_among_all(candidates):
    features = features_of(candidates, SetPrior().fit(candidates.sets))
    which = candidates.best(candidates.score)
    taken = features.taken(which)
    for name, values in features.numbers.items():
        np.testing.assert_array_equal(taken.numbers[name], values[which])
    np.testing.assert_array_equal(taken.candidates.row, np.arange(7))
