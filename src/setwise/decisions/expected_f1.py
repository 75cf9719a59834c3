"""The label set with the largest expected F1 (Li 2019, section 2.2, Algorithm 2.1).

With p_ls = P(y_l = 1, |y| = s), a prediction of k labels has the expected F1

    sum over its labels l of  Δ_lk,     Δ_lk = sum over s of  p_ls · 2 / (s + k),

so the best one of each size k takes the k labels with the largest Δ_lk. The best size may exceed
that of any likely set; the search ends where no larger k can win. True sizes over S are left out of
the sums, which costs at most P(|y| > S), and so are the lightest components of a mixture, which
costs at most what they weigh.

The empty prediction scores P(y empty) where 0/0 counts as 1, and 0 where it counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.decisions.base import Decision, not_tuned, row_batches, rows_that_count
from setwise.distributions.base import Distribution
from setwise.distributions.blocks import for_each_block, row_blocks
from setwise.errors import DataError
from setwise.storage import storable

FIRST_SIZE = 16  # sizes looked at before the tail tells whether more are needed


@dataclass(frozen=True)
class ExpectedF1Answer:
    """The chosen sets, and what is known of them."""

    Y: np.ndarray  # (n, L) int8
    expected_f1: np.ndarray  # (n,) of what was summed; at most ``tail`` below the whole
    tail: np.ndarray  # (n,) what was left out of the sums: the most that may have cost


@storable
class ExpectedF1(Decision):
    """GFM on exact size marginals: best for the instance-averaged F1 (2.40).

    Parameters
    ----------
    max_size : int, optional
        The largest true size looked at, S. By default sizes are added until less than half of
        ``max_tail`` lies beyond them, in each row.
    max_tail : float
        The probability that may be left out: half of it by size, half by light components of a
        mixture. 0 leaves out nothing.
    zero_division : float
        What the metric counts for an empty prediction of an empty set, 0 (as in scikit-learn and in
        ``setwise.metrics``) or 1 (as in the papers' system).
    support : 0/1 matrix (m, L), optional
        The sets that may be true, each once, such as ``distinct_sets(Y_train).sets``: expectations
        are then over these alone (section 3.7.1).

    Examples
    --------
    >>> from setwise.distributions import Product
    >>> answer = ExpectedF1().answer(Product(np.array([[0.0, -0.2, -4.0]])))
    >>> answer.Y, round(float(answer.expected_f1[0]), 3)
    (array([[1, 1, 0]], dtype=int8), 0.556)
    """

    target = "f1"

    def __init__(
        self,
        max_size: int | None = None,
        max_tail: float = 1e-3,
        zero_division: float = 0.0,
        support: Any = None,
    ) -> None:
        self.max_size, self.max_tail, self.zero_division = max_size, max_tail, zero_division
        self.support = support

    def decide(self, distribution: Distribution) -> np.ndarray:
        """The set of each row with the largest expected F1."""
        return self.answer(distribution).Y

    def answer(self, distribution: Distribution) -> ExpectedF1Answer:
        """The sets, a lower bound on their expected F1, and the probability left out."""
        n, L = distribution.n_rows, distribution.n_labels
        Y = np.zeros((n, L), dtype=np.int8)
        expected, tail = np.empty(n), np.empty(n)
        for rows in row_batches(n, L * min(L, self.max_size or FIRST_SIZE)):
            part, lost = self._cheaper(distribution[rows])
            for some, marginals, sizes in self._sizes(part):
                chosen = rows.start + some
                Y[chosen], value = maximise_f1(marginals, sizes, self.zero_division)
                expected[chosen] = (1 - lost[some]) * value
                tail[chosen] = lost[some] + np.maximum(0.0, 1.0 - sizes.sum(axis=1))
        return ExpectedF1Answer(Y, expected, tail)

    def _cheaper(self, distribution: Distribution) -> tuple[Distribution, np.ndarray]:
        """The distribution to sum over, and what of it was left out in each row."""
        if self.support is not None:
            return distribution.on_support(self.support), np.zeros(distribution.n_rows)
        return distribution.lightened(self.max_tail / 2)

    def _sizes(
        self, distribution: Distribution
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Rows, their P(y_l = 1, |y| = s), (b, L, S), and P(|y| = s), (b, S + 1).

        S is as large as a row needs, whatever the other rows do.
        """
        L = distribution.n_labels
        size = min(L, self.max_size or FIRST_SIZE)
        waiting, asked = np.arange(distribution.n_rows), distribution
        while True:
            marginals, sizes = asked.sizes(size)
            is_enough = sizes.sum(axis=1) >= 1 - self.max_tail / 2
            if is_enough.all() or size == L or self.max_size is not None:
                yield waiting, marginals, sizes
                return
            yield waiting[is_enough], marginals[is_enough], sizes[is_enough]
            waiting, size = waiting[~is_enough], min(L, 2 * size)
            asked = distribution.rows(waiting)


def maximise_f1(
    size_marginals: np.ndarray, sizes: np.ndarray, zero_division: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """F1-optimal sets, int8 (n, L), and their expected F1, (n,), by Algorithm 2.1.

    Parameters
    ----------
    size_marginals : array (n, L, S)
        P(y_l = 1, |y| = s) for s = 1 to S.
    sizes : array (n, S + 1)
        P(|y| = s) for s = 0 to S.
    zero_division : float
        What an empty prediction of an empty set counts.
    """
    from setwise.decisions._gfm_kernel import maximise

    if sizes.shape != (size_marginals.shape[0], size_marginals.shape[2] + 1):
        raise DataError(
            f"size marginals of shape {size_marginals.shape} need sizes of shape "
            f"{(size_marginals.shape[0], size_marginals.shape[2] + 1)}, got {sizes.shape}"
        )
    n, L, S = size_marginals.shape
    Y, value = np.zeros((n, L), dtype=np.int8), np.empty(n)
    p, q = (np.ascontiguousarray(a, dtype=np.float64) for a in (size_marginals, sizes))
    empty_value = zero_division * q[:, 0]

    def maximise_block(rows: slice) -> None:
        maximise(p[rows], q[rows], empty_value[rows], Y[rows], value[rows])

    for_each_block(maximise_block, row_blocks(n, L * S))
    return Y, value


@storable
class CalibratedF1(Decision):
    """GFM on size marginals that isotonic regression has calibrated on held-out rows.

    One rising curve a size, shared by all labels, maps P(y_l = 1, |y| = s) to how often it was so.
    The result is then a score: the calibrated numbers need not be those of any distribution.
    """

    target = "f1_calibrated"
    needs_tuning = True

    def __init__(self, max_size: int = 20, zero_division: float = 0.0) -> None:
        self.max_size, self.zero_division = max_size, zero_division

    def tune(
        self, distribution: Distribution, Y: sparse.csr_array, sample_weight: Any = None
    ) -> CalibratedF1:
        """Learn one curve a size from held-out rows, each as often as its weight."""
        from setwise.learners import Isotonic

        rows, weights = rows_that_count(sample_weight, distribution.n_rows)
        size = min(self.max_size, distribution.n_labels)
        predicted = distribution.rows(rows).size_marginals(size)
        dense = Y[rows].toarray()
        own_size = dense.sum(axis=1)
        weight_of_cell = np.repeat(weights, dense.shape[1])
        self.curves_ = [
            Isotonic().fit(
                predicted[:, :, s].ravel(),
                (dense * (own_size == s + 1)[:, None]).ravel(),
                weight_of_cell,
            )
            for s in range(size)
        ]
        return self

    def decide(self, distribution: Distribution) -> np.ndarray:
        """The set of each row with the largest calibrated score."""
        if not hasattr(self, "curves_"):
            raise DataError(not_tuned(self))
        n, L = distribution.n_rows, distribution.n_labels
        Y = np.zeros((n, L), dtype=np.int8)
        for rows in row_batches(n, L * len(self.curves_)):
            marginals, sizes = distribution[rows].sizes(len(self.curves_))
            for s, curve in enumerate(self.curves_):
                marginals[:, :, s] = curve.predict(marginals[:, :, s].ravel()).reshape(-1, L)
            # A set of s labels is counted by each of them. Calibrated, one label may count for more
            # than that share, and the search takes it that none does.
            share = marginals.sum(axis=1) / np.arange(1, len(self.curves_) + 1)
            sizes[:, 1:] = np.maximum(share, marginals.max(axis=1))
            Y[rows], _ = maximise_f1(marginals, sizes, self.zero_division)
        return Y
