"""The lightest components of a mixture: what leaving them out saves time, and costs at most."""

from __future__ import annotations

import numpy as np


def light_components(weights: np.ndarray, max_loss: float) -> tuple[np.ndarray, np.ndarray]:
    """Which components each row can do without, bool (n, K), and what they weigh, (n,).

    The lightest ones, as many as weigh ``max_loss`` together at most. Without them, and with the
    others scaled up, no event's probability changes by more than that weight.

    >>> is_light, lost = light_components(np.array([[0.7, 0.2, 0.1]]), max_loss=0.15)
    >>> is_light, lost
    (array([[False, False,  True]]), array([0.1]))
    """
    rising = np.argsort(weights, axis=1, kind="stable")
    running = np.cumsum(np.take_along_axis(weights, rising, axis=1), axis=1)
    is_light = np.empty(weights.shape, dtype=bool)
    np.put_along_axis(is_light, rising, running <= max_loss, axis=1)
    return is_light, np.where(is_light, weights, 0.0).sum(axis=1)
