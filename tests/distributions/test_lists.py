"""Distributions that are lists of sets, Support and Sampled, against the list of all sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from setwise.distributions import Sampled, Support
from setwise.errors import DataError

CLOSE = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture(params=[True, False], ids=["empty allowed", "not empty"])
def allow_empty(request):
    return request.param


def index_of(sets):
    return sets @ (2 ** np.arange(sets.shape[-1])[::-1])


def random_support(seed, label_sets, L=5, m=12, n=4):
    """Some sets, the empty one among them, their scores, and log-probabilities of all 2^L."""
    random = np.random.default_rng(seed)
    chosen = np.concatenate([[0], 1 + random.choice(2**L - 1, m - 1, replace=False)])
    scores = random.normal(0, 2, (n, m))
    scores[:, 3] = -np.inf
    everything = np.full((n, 2**L), -np.inf)
    everything[:, chosen] = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return label_sets(L)[chosen], scores, everything


def check_all_answers(dist, truth):
    n, L = truth.p.shape[0], truth.sets.shape[1]
    for index, Y in enumerate(truth.sets):
        asked = np.repeat(Y[None], n, axis=0)
        np.testing.assert_allclose(dist.log_prob(asked), truth.log_prob[:, index], **CLOSE)
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), **CLOSE)
    np.testing.assert_allclose(dist.size_marginals(L), truth.size_marginals(L), **CLOSE)
    np.testing.assert_allclose(dist.size_distribution(2), truth.size_distribution(2), **CLOSE)
    np.testing.assert_allclose(dist.correlation(), truth.correlation(), rtol=1e-8, atol=1e-8)
    for k in (1, 3, 40):
        sets, log_prob = dist.top(k)
        np.testing.assert_allclose(log_prob, truth.best(k), **CLOSE)
        found = log_prob > -np.inf
        np.testing.assert_allclose(truth.log_prob_of(sets)[found], log_prob[found], **CLOSE)
        assert not sets[~found].any()
    np.testing.assert_array_equal(dist.mode()[0], dist.top(1)[0][:, 0])
    np.testing.assert_array_equal(dist[1:3].marginals(), dist.marginals()[1:3])


@pytest.mark.parametrize("seed", range(5))
def test_support_answers_as_the_list_does(seed, label_sets, enumerate_probabilities, allow_empty):
    sets, scores, log_prob = random_support(seed, label_sets)
    dist = Support(sparse.csr_array(sets.astype(np.int8)), scores, allow_empty)
    check_all_answers(dist, enumerate_probabilities(log_prob, allow_empty))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_samples_answer_as_their_frequencies_do(
    seed, weighted, enumerate_probabilities, allow_empty
):
    random = np.random.default_rng(seed)
    S, n, L = 30, 4, 4
    samples = (random.random((S, n, L)) < 0.4).astype(np.int8)
    log_weights = random.normal(0, 1, (S, n)) if weighted else np.zeros((S, n))
    total = np.zeros((n, 2**L))
    np.add.at(total, (np.arange(n)[None], index_of(samples)), np.exp(log_weights))
    with np.errstate(divide="ignore"):
        truth = enumerate_probabilities(np.log(total / total.sum(axis=1, keepdims=True)))
        if not allow_empty:
            truth = enumerate_probabilities(truth.log_prob, allow_empty)
    dist = Sampled(samples, log_weights if weighted else None, allow_empty)
    check_all_answers(dist, truth)


def test_a_label_that_never_varies_is_uncorrelated():
    dist = Sampled(np.array([[[1, 0]], [[1, 1]]], dtype=np.int8))
    np.testing.assert_array_equal(dist.correlation(), np.eye(2)[None])


@pytest.mark.parametrize(
    ("sets", "scores", "allow_empty", "message"),
    [
        ([[0, 1]], [[0.0, 0.0]], True, "1 sets but log_scores"),
        ([[0, 1], [0, 1]], [[0.0, 0.0]], True, "must differ"),
        ([[0, 0], [0, 1]], [[0.0, -np.inf]], False, "possible in row 0"),
    ],
)
def test_lists_that_are_no_support_are_refused(sets, scores, allow_empty, message):
    with pytest.raises(DataError, match=message):
        Support(np.array(sets), np.array(scores), allow_empty)


def test_arrays_that_are_no_samples_are_refused():
    with pytest.raises(DataError, match="expected samples"):
        Sampled(np.zeros((3, 2), dtype=np.int8))
    with pytest.raises(DataError, match="hold 0 and 1"):
        Sampled(np.full((3, 2, 1), 0.5))
    with pytest.raises(DataError, match="hold 0 and 1"):
        Sampled(np.full((3, 2, 1), -1, dtype=np.int8))
    with pytest.raises(DataError, match="one weight a sample"):
        Sampled(np.zeros((3, 2, 1), dtype=np.int8), np.zeros((2, 3)))
    with pytest.raises(DataError, match="no sample of row 0 is possible"):
        Sampled(np.zeros((3, 2, 1), dtype=np.int8), allow_empty=False)
