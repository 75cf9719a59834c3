"""A few sets a row with their probabilities, and what is left for all others.

What a reranker predicts: candidates, each with the probability that it is the right set, which
together need not make one. ``rest`` is the probability that none of them is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from setwise.distributions.base import Rows
from setwise.distributions.sampled import Sampled
from setwise.errors import DataError


@dataclass(frozen=True, eq=False)
class Shortlist(Sampled):
    """Candidate sets of each row; ``log_prob``, ``mode`` and ``top`` leave room for others.

    Marginals, sizes, samples and correlations are those given that one of the listed sets is
    right: of the others nothing is known but what they weigh.

    Parameters
    ----------
    samples : array (k, n, L) of 0 and 1
        The sets of each row, each once; any filling where ``log_weights`` is -inf.
    log_weights : array (k, n)
        Logs of their weights; each row is normalised.
    rest : array (n,)
        The probability that none of them is right.

    Examples
    --------
    >>> sets = np.array([[[1, 0]], [[1, 1]]], dtype=np.int8)
    >>> dist = Shortlist(sets, np.log([[3.0], [1.0]]), rest=np.array([0.2]))
    >>> np.exp(dist.top(2)[1]).round(2).tolist(), dist.marginals().tolist()
    ([[0.6, 0.2]], [[1.0, 0.25]])
    """

    rest: Any = None  # (n,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.shape(self.rest) != (self.n_rows,):
            raise DataError(
                f"rest has shape {np.shape(self.rest)} but there are {self.n_rows} rows; "
                "pass one probability a row"
            )
        if not ((self.rest >= 0) & (self.rest < 1)).all():
            raise DataError("rest is a probability under one: some listed set must be possible")

    def rows(self, selection: Rows) -> Shortlist:
        """The lists of some rows."""
        weights = None if self.log_weights is None else self.log_weights[:, selection]
        return Shortlist(
            self.samples[:, selection], weights, self.allow_empty, self.rest[selection]
        )

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one set a row, (n,); -inf for one that is not listed."""
        return np.asarray(super().log_prob(Y) + self._log_listed)

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest listed sets, int8 (n, k, L), and their log-probabilities (n, k)."""
        sets, log_prob = super().top(k)
        return sets, log_prob + self._log_listed[:, None]

    @cached_property
    def _log_listed(self) -> np.ndarray:
        return np.asarray(np.log1p(-self.rest))
