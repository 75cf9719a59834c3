"""The oracle: every answer computed from the list of all 2^L sets and their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp


@dataclass
class Enumeration:
    """All sets (2^L, L) and their log-probabilities (n, 2^L), renormalised if empty is out."""

    log_prob: np.ndarray
    allow_empty: bool = True

    def __post_init__(self):
        self.sets = all_sets(int(np.log2(self.log_prob.shape[1])))
        self.sizes = self.sets.sum(axis=1)
        if not self.allow_empty:
            self.log_prob = self.log_prob.copy()
            self.log_prob[:, 0] = -np.inf
            self.log_prob -= logsumexp(self.log_prob, axis=1, keepdims=True)
        self.p = np.exp(self.log_prob)

    def marginals(self):
        return self.p @ self.sets

    def best(self, k):
        """The k largest log-probabilities, (n, k); -inf where there are fewer sets."""
        falling = -np.sort(-self.log_prob, axis=1)[:, :k]
        missing = k - falling.shape[1]
        return np.pad(falling, ((0, 0), (0, missing)), constant_values=-np.inf)

    def size_marginals(self, S):
        of_size = [self.p[:, self.sizes == s] @ self.sets[self.sizes == s] for s in range(1, S + 1)]
        return np.stack(of_size, axis=2)

    def size_distribution(self, S):
        return np.stack([self.p[:, self.sizes == s].sum(axis=1) for s in range(S + 1)], axis=1)

    def correlation(self):
        L = self.sets.shape[1]
        result = np.zeros((len(self.p), L, L))
        for row, p in enumerate(self.p):
            centred = self.sets - p @ self.sets
            covariance = (centred * p[:, None]).T @ centred
            deviation = np.sqrt(np.diag(covariance))
            scale = np.outer(deviation, deviation)
            np.divide(covariance, scale, out=result[row], where=scale > 1e-18)
            np.fill_diagonal(result[row], 1)
        return result

    def log_prob_of(self, sets):
        """Log-probabilities of sets (n, ..., L)."""
        L = sets.shape[-1]
        index = sets @ (2 ** np.arange(L)[::-1])
        rows = np.arange(len(sets)).reshape(-1, *[1] * (index.ndim - 1))
        return self.log_prob[rows, index]


def all_sets(L):
    return np.array(list(product([0, 1], repeat=L)), dtype=np.int64)


def of_mixture(log_pi, logits, allow_empty=True):
    sets = all_sets(logits.shape[2])
    z = logits.astype(np.float64)
    # log σ(z) for labels that are on, log σ(-z) for those that are off; no cancellation
    on, off = -np.logaddexp(0, -z), -np.logaddexp(0, z)  # (n, K, L)
    log_joint = on @ sets.T.astype(float) + off @ (1.0 - sets.T)  # (n, K, 2^L)
    with np.errstate(divide="ignore"):
        log_prob = logsumexp(log_joint + log_pi[:, :, None], axis=1)
    return Enumeration(log_prob, allow_empty)


@pytest.fixture(scope="session")
def enumerate_mixture():
    return of_mixture


@pytest.fixture(scope="session")
def enumerate_probabilities():
    return Enumeration


@pytest.fixture(scope="session")
def label_sets():
    return all_sets


@pytest.fixture(scope="session")
def draw_mixtures():
    """A function that draws log weights (n, K) and log-odds (n, K, L) of some kind."""

    def draw(seed, kind="plain", n=6, K=4, L=5):
        random = np.random.default_rng(seed)
        log_pi = np.log(random.dirichlet(np.ones(K), n))
        z = random.normal(0, 2, (n, K, L))
        if kind == "ties":  # few different values: many sets are equally likely
            z = random.integers(-1, 2, (n, K, L)).astype(float)
            log_pi[:] = -np.log(K)
        elif kind == "twins":  # components that occur twice
            z[:, K // 2 :] = z[:, : K - K // 2]
        elif kind == "absent" and K > 1:  # a component of weight zero
            log_pi[:, 0] = -np.inf
            log_pi -= logsumexp(log_pi, axis=1, keepdims=True)
        elif kind == "extreme":
            z *= 40
        elif kind == "empty":  # all but certain of no label
            z = -np.abs(z) - 30
        elif kind == "single":
            z, log_pi = z[:, :1], np.zeros((n, 1))
        return log_pi, z

    return draw
