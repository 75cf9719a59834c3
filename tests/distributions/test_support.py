"""Lists of sets: the likeliest of them, in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setwise.distributions.support import largest_first


@given(st.integers(0, 10**6), st.integers(1, 15), st.booleans())
def test_the_largest_come_first_and_of_equal_ones_the_first(seed, k, has_ties):
    random = np.random.default_rng(seed)
    values = random.integers(0, 12, (6, 40)).astype(float) if has_ties else random.random((6, 40))
    values[values == 0] = -np.inf
    expected = np.argsort(-values, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(largest_first(values, k), expected)
