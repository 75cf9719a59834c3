"""The likeliest of some sampled sets (Li 2019, section 3.6.1).

The simplest way to look for the mode: it needs nothing of a distribution but samples and their
probabilities, finds the mode of a row with probability 1 - (1 - p)^S, where p is that of the mode
itself, and gives no sign where it does not.
"""

from __future__ import annotations

import numpy as np

from setwise.data.arguments import check_count
from setwise.data.randomness import Seed, as_generator
from setwise.decisions.base import Decision, row_batches
from setwise.distributions.base import Distribution
from setwise.storage import storable


@storable
class SampledMode(Decision):
    """The likeliest of ``n_samples`` sampled sets, for set accuracy.

    Parameters
    ----------
    n_samples : int
        Sets drawn for each row.
    random_state : int, None, RandomState or Generator
        Seeds the draws.

    Examples
    --------
    >>> from setwise.distributions import Product
    >>> SampledMode(20).decide(Product(np.array([[2.0, -2.0, 3.0]])))
    array([[1, 0, 1]], dtype=int8)
    """

    target = "set_accuracy"

    def __init__(self, n_samples: int = 1000, random_state: Seed = 0) -> None:
        self.n_samples, self.random_state = n_samples, random_state

    def decide(self, distribution: Distribution) -> np.ndarray:
        """The best set that was drawn for each row."""
        check_count("n_samples", self.n_samples, at_least=1)
        n, L = distribution.n_rows, distribution.n_labels
        random = as_generator(self.random_state)
        chosen = np.zeros((n, L), dtype=np.int8)
        for rows in row_batches(n, self.n_samples * L):
            part = distribution[rows]
            chosen[rows] = _likeliest(part, part.sample(self.n_samples, random))
        return chosen


def _likeliest(distribution: Distribution, samples: np.ndarray) -> np.ndarray:
    """The best of samples (S, n, L) for each row, int8 (n, L); of equals, any, but the same one."""
    rows, sets = _distinct(samples)
    n = distribution.n_rows
    # As many pairs at a time as there are rows: no more memory than the distribution itself.
    blocks = [slice(first, first + n) for first in range(0, len(rows), n)]
    log_prob = np.concatenate(
        [distribution.rows(rows[block]).log_prob(sets[block]) for block in blocks]
    )
    order = np.lexsort((-log_prob, rows))
    first_of_row = np.searchsorted(rows[order], np.arange(n))
    best: np.ndarray = sets[order[first_of_row]]
    return best


def _distinct(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row's samples without repetition: row numbers (m,), and the sets, int8 (m, L)."""
    S, n, L = samples.shape
    packed = np.packbits(samples.astype(bool), axis=2)  # (S, n, bytes)
    numbers = np.broadcast_to(np.arange(n, dtype=">i8"), (S, n))
    prefix = np.ascontiguousarray(numbers).view(np.uint8).reshape(S, n, 8)
    keys = np.concatenate([prefix, packed], axis=2).reshape(S * n, -1)
    _, first = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True)
    return first % n, samples.reshape(S * n, L)[first]
