"""What must not change the answers of a Bernoulli mixture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.distributions import BernoulliMixture

KINDS = ["plain", "ties", "twins", "absent", "extreme", "empty", "single"]

mixtures = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 6), st.sampled_from(KINDS)
)


def answers(dist):
    """What stays in its place whatever happens to the sets: log-probabilities and sizes."""
    return dist.top(4)[1], dist.size_distribution(3)


@settings(max_examples=60, deadline=None)
@given(case=mixtures, allow_empty=st.booleans())
def test_permuting_labels_permutes_answers(draw_mixtures, case, allow_empty):
    seed, K, L, kind = case
    log_pi, logits = draw_mixtures(seed, kind, K=K, L=L)
    order = np.random.default_rng(seed).permutation(L)
    dist = BernoulliMixture(log_pi, logits, allow_empty)
    permuted = BernoulliMixture(log_pi, logits[:, :, order], allow_empty)
    close = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(permuted.marginals(), dist.marginals()[:, order], **close)
    np.testing.assert_allclose(
        permuted.size_marginals(3), dist.size_marginals(3)[:, order], **close
    )
    for a, b in zip(answers(permuted), answers(dist)):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(case=mixtures, allow_empty=st.booleans())
def test_a_component_in_two_halves_changes_nothing(draw_mixtures, case, allow_empty):
    seed, K, L, kind = case
    log_pi, logits = draw_mixtures(seed, kind, K=K, L=L)
    halves = np.concatenate([log_pi, log_pi[:, :1]], axis=1)
    halves[:, [0, -1]] -= np.log(2)
    dist = BernoulliMixture(log_pi, logits, allow_empty)
    split = BernoulliMixture(halves, np.concatenate([logits, logits[:, :1]], axis=1), allow_empty)
    np.testing.assert_allclose(split.marginals(), dist.marginals(), rtol=1e-9, atol=1e-12)
    for a, b in zip(answers(split), answers(dist)):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), allow_empty=st.booleans())
def test_rows_in_blocks_or_alone_answer_the_same(draw_mixtures, seed, allow_empty):
    log_pi, logits = draw_mixtures(seed, n=7)
    dist = BernoulliMixture(log_pi, logits, allow_empty, n_jobs=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setwise.distributions.blocks.BLOCK_ELEMENTS", 1)  # a row a block
        alone = [*answers(dist), dist.marginals(), dist.mode()[0], dist.sample(3, seed)]
    together = [*answers(dist), dist.marginals(), dist.mode()[0], dist.sample(3, seed)]
    for a, b in zip(alone, together):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(dist[2:5].marginals(), dist.marginals()[2:5])
    np.testing.assert_array_equal(dist[-1].marginals(), dist.marginals()[-1:])
    assert len(dist[np.array([0, 3])]) == 2
