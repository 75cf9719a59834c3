"""p(y|x) of fitted mixtures, all their components side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from setwise.distributions import BernoulliMixture, Distribution
from setwise.distributions.batched import BATCH_CELLS, Batched


class Member(Protocol):
    """A mixture that was fitted."""

    @property
    def components_(self) -> Sequence[Any]:
        """The components."""

    def log_weights(self, X: Any) -> np.ndarray:
        """Log π_k(x), (n, K)."""

    def fill_logits(self, X: Any, Z: np.ndarray, takes_part: np.ndarray | None = None) -> None:
        """Z (n, K, L) = log-odds of each label in each component."""


def distribution_of(
    members: Sequence[Member],
    X: Any,
    n_labels: int,
    *,
    allow_empty: bool,
    n_jobs: int | None,
    transform: Callable[[Any], Any] = lambda rows: rows,
) -> Distribution:
    """The average of the members' p(y|x), made a batch of rows at a time where there are many.

    ``transform`` turns rows of X into what the members know.
    """

    def mixture(rows: Any) -> BernoulliMixture:
        return _mixture(members, transform(rows), n_labels, allow_empty, n_jobs)

    n, K = X.shape[0], sum(len(member.components_) for member in members)
    size = max(1, BATCH_CELLS // (K * n_labels))
    if n <= size:
        return mixture(X)
    return Batched(lambda rows: mixture(X[rows]), np.arange(n), n_labels, size, allow_empty)


def _mixture(
    members: Sequence[Member], X: Any, n_labels: int, allow_empty: bool, n_jobs: int | None
) -> BernoulliMixture:
    log_pi = np.hstack([member.log_weights(X) for member in members]) - np.log(len(members))
    Z = np.zeros((X.shape[0], log_pi.shape[1], n_labels), X.dtype)
    first = 0
    for member in members:
        last = first + len(member.components_)
        member.fill_logits(X, Z[:, first:last], log_pi[:, first:last] > -np.inf)
        first = last
    return BernoulliMixture(log_pi, Z, allow_empty, n_jobs)
