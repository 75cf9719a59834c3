"""Small problems on which calibration can be checked."""

import numpy as np
import pytest


def linear_rows(n, seed=0, *, d=5, L=4, noise=1.0, empty=True):
    """Labels that follow a few features, the last one often with the first."""
    weights = np.random.default_rng(99).normal(size=(d, L))
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ weights + noise * random.normal(size=(n, L)) > 0.8).astype(int)
    Y[:, -1] |= Y[:, 0] & (random.random(n) < 0.7)
    if not empty:
        Y[Y.sum(axis=1) == 0, 0] = 1
    return X, Y


@pytest.fixture(scope="session")
def make_rows():
    return linear_rows


@pytest.fixture(scope="session")
def data():
    return linear_rows(240)


@pytest.fixture(scope="session")
def new_rows():
    return linear_rows(2000, seed=1)
