"""Seeds of any kind as one generator."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None


def as_generator(random_state: Seed) -> np.random.Generator:
    """A generator: seeded by an int, fresh for None, itself, or drawn from a RandomState.

    >>> int(as_generator(0).integers(100))
    85
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
