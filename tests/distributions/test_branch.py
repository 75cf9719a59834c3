"""Branch and bound: the likeliest set and a certain bound, whatever steps it is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from setwise.distributions import BernoulliMixture
from setwise.distributions._branch_kernel import branch, new_tree


def draw(seed, K, L, spread=1.0):
    random = np.random.default_rng(seed)
    return np.log(random.dirichlet(np.ones(K))), random.normal(0, spread, (K, L))


def branched(log_pi, z, least, max_steps):
    """What the kernel finds and bounds, in a problem that nothing was taken from."""
    less, is_on = np.exp(-np.abs(z)), z > 0
    mode = np.exp(log_pi - np.log1p(less).sum(axis=1))
    on, off = (np.where(likelier, 1.0, less).T.copy() for likelier in (is_on, ~is_on))
    K, L = z.shape
    chosen = np.zeros(L, np.int8)
    found, upper = branch(new_tree(K, L), mode, on, off, K, L, least, max_steps, chosen)
    return found, upper, chosen


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("L", [1, 4, 9])
def test_with_steps_enough_the_best_set_is_found(enumerate_mixture, seed, L):
    log_pi, z = draw(seed, 5, L)
    truth = enumerate_mixture(log_pi[None], z[None])
    found, upper, chosen = branched(log_pi, z, 0.0, 2 ** (L + 1))
    np.testing.assert_allclose([found, upper], truth.p.max(), rtol=1e-12)
    np.testing.assert_allclose(np.exp(truth.log_prob_of(chosen[None])), found, rtol=1e-12)


@pytest.mark.parametrize("max_steps", [0, 1, 5, 12, 40])
def test_cut_short_it_bounds_every_set(enumerate_mixture, max_steps):
    n_open = 0
    for seed in range(40):
        log_pi, z = draw(seed, 6, 9, spread=0.5)
        truth = enumerate_mixture(log_pi[None], z[None])
        best, good = truth.p.max(), np.sort(truth.p[0])[-3]
        found, upper, chosen = branched(log_pi, z, good, max_steps)
        assert upper >= best * (1 - 1e-12)
        assert found == 0 or found > good
        if found:
            np.testing.assert_allclose(np.exp(truth.log_prob_of(chosen[None])), found, rtol=1e-12)
        n_open += upper > best * (1 + 1e-9)
    assert n_open > 0 or max_steps >= 12


def test_what_is_not_better_is_not_found(enumerate_mixture):
    log_pi, z = draw(0, 5, 8)
    best = enumerate_mixture(log_pi[None], z[None]).p.max()
    found, upper, _ = branched(log_pi, z, best, 1000)
    assert (found, upper) == (0.0, best)


@pytest.mark.parametrize("max_pops", [1, 2, 5, 40])
def test_modes_cut_short_are_certified(enumerate_mixture, max_pops):
    random = np.random.default_rng(max_pops)
    log_pi = np.log(random.dirichlet(np.ones(12), 100))
    logits = random.normal(0, 0.3, (100, 12, 12))
    best = enumerate_mixture(log_pi, logits).best(1)[:, 0]
    result = BernoulliMixture(log_pi, logits).mode_certified(max_pops=max_pops)
    assert (best <= result.log_prob + result.gap + 1e-12).all()
    np.testing.assert_allclose(result.log_prob[result.exact], best[result.exact], rtol=1e-12)
    if max_pops == 1:
        assert not result.exact.all()


def test_twenty_doubtful_labels_in_every_component_are_decided():
    """A threshold search alone leaves a fifth of such rows open after ten thousand looks."""
    random = np.random.default_rng(0)
    n, K, L = 50, 30, 60
    logits = random.normal(-4, 1, (n, K, L))
    logits[:, :, :20] = random.uniform(-1, 1, (n, 1, 20)) + random.normal(0, 0.5, (n, K, 20))
    log_pi = np.log(random.dirichlet(np.ones(K), n))
    dist = BernoulliMixture(log_pi, logits)
    result = dist.mode_certified()
    assert result.exact.all()
    np.testing.assert_allclose(dist.log_prob(result.Y), result.log_prob, rtol=1e-12)
    for label in range(20):  # no neighbour is likelier
        flipped = result.Y.copy()
        flipped[:, label] ^= 1
        assert (dist.log_prob(flipped) <= result.log_prob + 1e-10).all()
