"""What a decision is: from a distribution over label sets to one set a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.distributions.base import Distribution
from setwise.errors import DataError

BATCH_CELLS = 2**21  # answers are asked for in batches of rows that hold about so many numbers


class Decision(ABC):
    """A rule that picks, for each row, the label set that is best for a metric.

    ``target`` is the metric's name. A rule with ``needs_tuning`` must see held-out rows first:
    their distribution, and their true labels.
    """

    target: ClassVar[str]
    needs_tuning: ClassVar[bool] = False

    @abstractmethod
    def decide(self, distribution: Distribution) -> np.ndarray:
        """The chosen label sets, int8 (n, L)."""

    def tune(
        self, distribution: Distribution, Y: sparse.csr_array, sample_weight: Any = None
    ) -> Decision:
        """Learn from held-out rows, each as often as its weight; nothing to learn by default."""
        return self


def row_batches(n_rows: int, cells_per_row: int) -> Iterator[slice]:
    """Slices of rows whose answers hold about ``BATCH_CELLS`` numbers, at least one row each."""
    step = max(1, BATCH_CELLS // max(1, cells_per_row))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def rows_that_count(sample_weight: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and weights of the rows with a weight over zero; the others are as if absent.

    >>> rows_that_count([2, 0, 1], 3)
    (array([0, 2]), array([2., 1.]))
    """
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise DataError(
            f"sample_weight has shape {weights.shape}, but there are {n} held-out rows; "
            "pass one a row"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise DataError("sample_weight must be finite and not negative; mend or leave out the rows")
    rows = np.flatnonzero(weights)
    if n and not rows.size:
        raise DataError("sample_weight is zero for all held-out rows; give some row a weight")
    return rows, weights[rows]


def not_tuned(decision: Any) -> str:
    """What to say of a rule that is asked before it was tuned."""
    return (
        f"the decision for {decision.target!r} learns from held-out rows; "
        "call tune(distribution, Y) first"
    )
