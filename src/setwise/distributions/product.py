"""Independent labels: p(y) = Π_l σ(z_l)^y_l σ(-z_l)^(1 - y_l).

What binary relevance predicts. It is a Bernoulli mixture of one component and answers as one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.randomness import Seed
from setwise.distributions.base import Distribution, Rows
from setwise.distributions.mixture import BernoulliMixture
from setwise.distributions.support import Support
from setwise.errors import DataError


@dataclass(frozen=True, eq=False)
class Product(Distribution):
    """Independent labels for each row of a batch.

    Parameters
    ----------
    logits : array (n, L)
        Log-odds of each label, finite.
    allow_empty : bool
        Whether the empty set is possible; if not, all answers are given a non-empty set.
    n_jobs : int, optional
        Threads; one per core unless told.

    Examples
    --------
    >>> dist = Product(np.log([[0.9 / 0.1, 0.4 / 0.6]]))
    >>> sets, log_prob = dist.top(2)
    >>> sets[0]
    array([[1, 0],
           [1, 1]], dtype=int8)
    >>> round(float(np.exp(log_prob[0, 0])), 3)
    0.54
    """

    logits: np.ndarray  # (n, L)
    allow_empty: bool = True
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.logits.ndim != 2 or self.logits.shape[1] == 0:
            raise DataError(f"expected logits (n, L) of one label or more, got {self.logits.shape}")
        self._mixture  # noqa: B018 - checks the values

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.logits.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.logits.shape[1])

    def rows(self, selection: Rows) -> Product:
        """The distributions of some rows; a slice shares memory."""
        return Product(self.logits[selection], self.allow_empty, self.n_jobs)

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,)."""
        return self._mixture.log_prob(Y)

    def log_prob_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """Log-probability of any number of sets a row, (m,)."""
        return self._mixture.log_prob_of(sets, row)

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        return self._mixture.marginals()

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first.

        A single component lists its sets in order: k + 1 looks suffice, whatever k is.
        """
        return self._mixture.top(k, max_pops=16 * (k + 1))

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        return self._mixture.sample(size, random_state)

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        return self._mixture.size_marginals(max_size)

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        return self._mixture.size_distribution(max_size)

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ``size_marginals`` and ``size_distribution``, for the price of one."""
        return self._mixture.sizes(max_size)

    def on_support(self, sets: Any) -> Support:
        """The product, given that the set is one of ``sets`` (m, L); all of them at once."""
        return self._mixture.on_support(sets)

    def independent_places(self) -> tuple[int, ...]:
        """All labels are independent."""
        return (0,)

    def independent_marginals(self, place: int = 0) -> np.ndarray:
        """The labels' own probabilities, (n, L): conditions on the whole set do not count."""
        return Product(self.logits, n_jobs=self.n_jobs).marginals()

    def with_labels(self, curves: Callable[[Product], Product], place: int = 0) -> Product:
        """The product with its labels changed."""
        return curves(self)

    def _covariance(self) -> np.ndarray:
        return self._mixture._covariance()

    @cached_property
    def _mixture(self) -> BernoulliMixture:
        return BernoulliMixture(
            np.zeros((self.n_rows, 1)), self.logits[:, None, :], self.allow_empty, self.n_jobs
        )
