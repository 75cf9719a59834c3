"""Small fields of four labels, whose sets can all be listed."""

from itertools import product

import numpy as np
import pytest
from scipy.special import log_softmax

from setwise.learners.workers import Workers

EVERY = np.array(list(product([0, 1], repeat=4)))


def made_rows(n=90, seed=0):
    """Four labels; the second follows the first, the last two exclude each other, mostly."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    Y = (X @ random.normal(size=(3, 4)) + random.normal(size=(n, 4)) > 0.2).astype(int)
    Y[:, 1] = Y[:, 0] ^ (random.random(n) < 0.1)
    Y[:, 3] *= 1 - Y[:, 2] * (random.random(n) < 0.9)
    return X, Y


def probabilities_by_hand(fitted, X, sets=EVERY):
    """Log-probabilities (n, m) over listed sets, from the formula with four weights a pair."""
    theta = fitted.pair_weights_
    scores = sets @ (X @ fitted.weights_ + fitted.biases_).T  # (m, n)
    L = sets.shape[1]
    for first in range(L):
        for second in range(first + 1, L):
            scores = scores + theta[first, second, sets[:, first], sets[:, second]][:, None]
    return log_softmax(scores.T, axis=1)


def told(fitted, X, sets):
    """Log-probabilities (n, m) of sets, as the model tells them."""
    dist = fitted.predict_dist(X)
    return np.column_stack([dist.log_prob(np.tile(one, (len(X), 1))) for one in sets])


def evaluated(likelihood, Z, interactions):
    with Workers(1) as workers:
        return likelihood.evaluate(Z, interactions, workers)


@pytest.fixture
def rows():
    """Makes X (n, 3) and Y (n, 4)."""
    return made_rows


@pytest.fixture
def every():
    """All sets of four labels, (16, 4)."""
    return EVERY


@pytest.fixture
def by_hand():
    """Tells log-probabilities by the formula."""
    return probabilities_by_hand


@pytest.fixture
def answers():
    """Tells log-probabilities by the model."""
    return told


@pytest.fixture
def loss_of():
    """Evaluates a likelihood and its gradients."""
    return evaluated
