"""Draws: how often each set comes, and that a seed fixes them."""

from __future__ import annotations

import numpy as np
import pytest

from setwise.distributions import BernoulliMixture, Product, Sampled, Support

SIZE = 20_000


def distributions(log_pi, logits, allow_empty, sets):
    """The same few rows as each kind of distribution."""
    mixture = BernoulliMixture(log_pi, logits, allow_empty)
    n = mixture.n_rows
    everything = np.repeat(sets[:, None], n, axis=1)
    log_prob = np.stack([mixture.log_prob(Y) for Y in everything])  # (2^L, n)
    yield mixture
    yield Support(sets, log_prob.T, allow_empty)
    yield Sampled(everything.astype(np.int8), log_prob, allow_empty)


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize("kind", ["plain", "absent", "empty"])
def test_sets_are_drawn_as_often_as_they_are_likely(
    draw_mixtures, enumerate_mixture, label_sets, kind, allow_empty
):
    log_pi, logits = draw_mixtures(0, kind, n=3, L=4)
    truth = enumerate_mixture(log_pi, logits, allow_empty)
    for dist in distributions(log_pi, logits, allow_empty, label_sets(4)):
        drawn = dist.sample(SIZE, random_state=1)
        assert drawn.shape == (SIZE, 3, 4)
        assert drawn.dtype == np.int8
        index = drawn @ (2 ** np.arange(4)[::-1])  # (SIZE, n)
        for row in range(3):
            frequency = np.bincount(index[:, row], minlength=16) / SIZE
            deviation = np.sqrt(truth.p[row] * (1 - truth.p[row]) / SIZE)
            assert (np.abs(frequency - truth.p[row]) <= 5 * deviation + 1e-4).all()


def test_a_seed_fixes_the_draws(draw_mixtures):
    dist = BernoulliMixture(*draw_mixtures(0))
    np.testing.assert_array_equal(dist.sample(5, 3), dist.sample(5, 3))
    np.testing.assert_array_equal(dist.sample(5, np.random.default_rng(3)), dist.sample(5, 3))
    assert (dist.sample(50, 3) != dist.sample(50, 4)).any()


def test_certain_labels_are_always_drawn():
    drawn = Product(np.array([[700.0, -700.0]])).sample(100, 0)
    np.testing.assert_array_equal(drawn, np.tile([1, 0], (100, 1, 1)))
