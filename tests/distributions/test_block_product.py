"""Independent blocks of labels against the list of all sets."""

from __future__ import annotations

import numpy as np
import pytest

from setwise.distributions import BlockProduct, Support
from setwise.errors import DataError, LabelMismatch

BLOCKS = [[3, 0], [4], [1, 2]]


def draw(seed, n=6, *, rare=False):
    """Random supports on the blocks, the last of which lacks a set."""
    random = np.random.default_rng(seed)
    parts = []
    for block in BLOCKS:
        sets = np.array([[number >> bit & 1 for bit in range(len(block))] for number in range(4)])
        sets = sets[: 2 ** len(block)]
        sets = sets[:3] if block == BLOCKS[-1] else sets
        scores = random.normal(0, 2, (n, len(sets)))
        scores[:, 0] += 20 * rare
        parts.append(Support(sets, scores))
    return parts


@pytest.fixture(params=[True, False], ids=["empty allowed", "not empty"])
def allow_empty(request):
    return request.param


@pytest.fixture
def oracle(label_sets, enumerate_probabilities):
    def enumerate_blocks(parts, allow_empty=True):
        sets = label_sets(5)
        total = np.zeros((parts[0].n_rows, len(sets)))
        for block, part in zip(BLOCKS, parts):
            for number, y in enumerate(sets):
                total[:, number] += part.log_prob(np.tile(y[block], (part.n_rows, 1)))
        return enumerate_probabilities(total, allow_empty)

    return enumerate_blocks


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_answer_is_that_of_the_list(seed, rare, allow_empty, oracle):
    parts = draw(seed, rare=rare)
    dist, truth = BlockProduct(BLOCKS, parts, allow_empty), oracle(parts, allow_empty)
    rtol = 1e-6 if rare and not allow_empty else 1e-10  # what is divided by is nearly nothing
    for k in (1, 4, 30):
        sets, log_prob = dist.top(k)
        np.testing.assert_allclose(log_prob, truth.best(k), rtol=rtol, atol=rtol)
        found = np.isfinite(log_prob)
        np.testing.assert_allclose(truth.log_prob_of(sets)[found], log_prob[found], rtol=rtol)
        assert not sets[~found].any()
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), rtol=rtol)
    np.testing.assert_allclose(dist.size_marginals(4), truth.size_marginals(4), rtol=rtol)
    np.testing.assert_allclose(
        dist.size_distribution(3), truth.size_distribution(3), rtol=rtol, atol=1e-15
    )
    np.testing.assert_allclose(dist.correlation(), truth.correlation(), atol=100 * rtol)
    for y in truth.sets[[0, 1, 9, 31]]:
        expected = truth.log_prob_of(np.tile(y, (dist.n_rows, 1)))
        got = dist.log_prob(np.tile(y, (dist.n_rows, 1)))
        np.testing.assert_allclose(got, expected, rtol=rtol)


def test_samples_have_the_marginals_and_the_sizes(allow_empty, oracle):
    parts = draw(5)
    dist, truth = BlockProduct(BLOCKS, parts, allow_empty), oracle(parts, allow_empty)
    samples = dist.sample(4000, random_state=0)
    np.testing.assert_allclose(samples.mean(axis=0), truth.marginals(), atol=0.04)
    sizes = samples.sum(axis=2)
    for s in range(6):
        expected = truth.size_distribution(5)[:, s]
        np.testing.assert_allclose((sizes == s).mean(axis=0), expected, atol=0.04)
    assert allow_empty or sizes.min() == 1


def test_some_rows_answer_as_they_did():
    dist = BlockProduct(BLOCKS, draw(1), False)
    np.testing.assert_array_equal(dist[[4, 2]].marginals(), dist.marginals()[[4, 2]])
    np.testing.assert_array_equal(dist[1].mode()[0], dist.mode()[0][1:2])


def test_what_does_not_fit_is_refused():
    parts = draw(0)
    with pytest.raises(DataError, match="each label once"):
        BlockProduct([[3, 0], [3], [1, 2]], parts)
    with pytest.raises(DataError, match="match them"):
        BlockProduct([[3], [4, 0], [1, 2]], parts)
    with pytest.raises(DataError, match="same rows"):
        BlockProduct(BLOCKS, [*parts[:2], parts[2].rows(slice(2))])
    nothing = [Support(np.zeros((1, len(block)), int), np.zeros((2, 1))) for block in BLOCKS]
    with pytest.raises(DataError, match="allow it"):
        BlockProduct(BLOCKS, nothing, allow_empty=False)
    with pytest.raises(LabelMismatch, match="5 labels"):
        BlockProduct(BLOCKS, parts).log_prob(np.zeros((6, 4), dtype=int))
