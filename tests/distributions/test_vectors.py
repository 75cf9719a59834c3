"""Eight doubles as one value do what numpy does with arrays of eight."""

from __future__ import annotations

import numpy as np

from setwise.compiling import kernel
from setwise.distributions._vectors_kernel import WIDTH, load, spread, store


@kernel
def _recurrence(a, b, x, steps, out):
    v = load(a, 0)
    for s in range(steps):
        v = spread(x) - v * load(b, s * WIDTH)
        store(load(out, s * WIDTH) + v, out, s * WIDTH)


def test_a_recurrence_in_registers_equals_numpy():
    random = np.random.default_rng(0)
    a, b = random.normal(size=WIDTH), random.normal(size=(3, WIDTH))
    out = random.normal(size=(3, WIDTH))
    expected, v = out.copy(), a
    for s in range(3):
        v = 0.7 - v * b[s]
        expected[s] += v
    flat = out.ravel().copy()
    _recurrence(a, b.ravel(), 0.7, 3, flat)
    np.testing.assert_allclose(flat.reshape(3, WIDTH), expected, rtol=1e-13, atol=1e-14)
