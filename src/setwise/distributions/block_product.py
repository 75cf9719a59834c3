"""Blocks of labels, independent of each other, each with a list of possible sets.

    p(y) = Π_b p_b(y restricted to block b)

What power sets of disjoint label subsets predict (RAkELd). Each answer is put together from those
of the blocks, exactly: sizes by convolution, the k best sets from the k best of each block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.distributions.support import Support
from setwise.errors import DataError


@dataclass(frozen=True, eq=False)
class BlockProduct(Distribution):
    """Independent supports over disjoint labels.

    Parameters
    ----------
    blocks : sequence of integer arrays
        The label numbers of each block; together each label once.
    parts : sequence of Support
        The distribution of each block, over its labels in that order, of the same rows.
    allow_empty : bool
        Whether the empty set is possible; if not, all answers are given a non-empty set.

    Examples
    --------
    >>> part = Support(np.array([[0, 0], [1, 1]]), np.log([[0.4, 0.6]]))
    >>> single = Support(np.array([[0], [1]]), np.log([[0.7, 0.3]]))
    >>> dist = BlockProduct([[0, 2], [1]], [part, single])
    >>> dist.mode()[0].tolist(), round(float(np.exp(dist.mode()[1][0])), 2)
    ([[1, 0, 1]], 0.42)
    """

    blocks: Sequence[Any]
    parts: Sequence[Support]
    allow_empty: bool = True

    def __post_init__(self) -> None:
        labels = np.concatenate([np.asarray(block, dtype=np.int64) for block in self.blocks])
        if sorted(labels.tolist()) != list(range(len(labels))):
            raise DataError("blocks must name each label once, by number from 0")
        widths = [part.n_labels for part in self.parts]
        if widths != [len(block) for block in self.blocks]:
            raise DataError(f"the parts have {widths} labels, other than their blocks; match them")
        if len({part.n_rows for part in self.parts}) != 1:
            raise DataError("the parts differ in their rows; pass parts of the same rows")
        if not self.allow_empty and not (self._log_empty < 0).all():
            raise DataError("a row has no possible set but the empty one; allow it")

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return self.parts[0].n_rows

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return sum(len(block) for block in self.blocks)

    def rows(self, selection: Rows) -> BlockProduct:
        """The distributions of some rows."""
        return BlockProduct(
            self.blocks, [part.rows(selection) for part in self.parts], self.allow_empty
        )

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,); -inf where a block does not list it."""
        sets = self._dense_sets(Y)
        own = [part.log_prob(sets[:, block]) for block, part in self._pairs()]
        log_prob: np.ndarray = np.sum(own, axis=0) - self._log_any
        if not self.allow_empty:
            log_prob[~sets.any(axis=1)] = -np.inf
        return log_prob

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        return np.asarray(self._free_marginals / self._any[:, None])

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first."""
        k = positive_count(k, "k")
        wanted = k if self.allow_empty else k + 1
        sets = np.zeros((self.n_rows, 1, self.n_labels), dtype=np.int8)
        log_prob = np.zeros((self.n_rows, 1))
        for block, part in self._pairs():
            own_sets, own = part.top(min(wanted, part.log_scores.shape[1]))
            both = (log_prob[:, :, None] + own[:, None, :]).reshape(self.n_rows, -1)
            best = np.argsort(-both, axis=1, kind="stable")[:, :wanted]
            before, of_block = np.divmod(best, own.shape[1])
            sets = np.take_along_axis(sets, before[:, :, None], axis=1)
            sets[:, :, block] = np.take_along_axis(own_sets, of_block[:, :, None], axis=1)
            log_prob = np.take_along_axis(both, best, axis=1)
        if not self.allow_empty:
            log_prob = np.where(sets.any(axis=2), log_prob - self._log_any[:, None], -np.inf)
        order = np.argsort(-log_prob, axis=1, kind="stable")[:, :k]
        listed = np.zeros((self.n_rows, k, self.n_labels), dtype=np.int8)
        found = np.full((self.n_rows, k), -np.inf)
        found[:, : order.shape[1]] = np.take_along_axis(log_prob, order, axis=1)
        listed[:, : order.shape[1]] = np.take_along_axis(sets, order[:, :, None], axis=1)
        listed[found == -np.inf] = 0
        return listed, found

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        random, size = as_generator(random_state), positive_count(size, "size")
        samples = np.zeros((size, self.n_rows, self.n_labels), dtype=np.int8)
        first = self._first_block(random.random((size, self.n_rows)))
        for number, (block, part) in enumerate(self._pairs()):
            drawn = part.sample(size, random)
            if not self.allow_empty:
                is_first = first == number
                if is_first.any():  # this block has a label, those before it have none
                    rows = np.flatnonzero(is_first.any(axis=0))
                    some = Support(part.sets, part.log_scores[rows], allow_empty=False)
                    drawn[:, rows] = np.where(
                        is_first[:, rows, None], some.sample(size, random), drawn[:, rows]
                    )
                drawn[first > number] = 0
            samples[:, :, block] = drawn
        return samples

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        S = positive_count(max_size, "max_size")
        own = [part.size_distribution(S) for part in self.parts]
        before, after = [_nothing(self.n_rows, S)], [_nothing(self.n_rows, S)]
        for sizes in own:
            before.append(_convolved(before[-1], sizes))
        for sizes in own[::-1]:
            after.append(_convolved(after[-1], sizes))
        joint = np.zeros((self.n_rows, self.n_labels, S))
        for number, (block, part) in enumerate(self._pairs()):
            others = _convolved(before[number], after[len(own) - 1 - number])  # (n, S + 1)
            with_label = part.size_marginals(min(S, len(block)))
            for s in range(with_label.shape[2]):
                joint[:, block, s:] += with_label[:, :, s, None] * others[:, None, : S - s]
        joint /= self._any[:, None, None]
        return joint

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        S = positive_count(max_size, "max_size")
        sizes = _nothing(self.n_rows, S)
        for part in self.parts:
            sizes = _convolved(sizes, part.size_distribution(S))
        if not self.allow_empty:
            sizes[:, 0] = 0
        sizes /= self._any[:, None]
        return sizes

    def _covariance(self) -> np.ndarray:
        """Given a non-empty set, E[y_i y_j] is divided by the probability of one."""
        free = self._free_marginals
        together: np.ndarray = free[:, :, None] * free[:, None, :]
        for block, part in self._pairs():
            square = np.ix_(np.arange(self.n_rows), block, block)
            together[square] += part._covariance()
        mean = self.marginals()
        together /= self._any[:, None, None]
        together -= mean[:, :, None] * mean[:, None, :]
        return together

    def _pairs(self) -> zip[tuple[Any, Support]]:
        return zip(self.blocks, self.parts, strict=True)

    def _first_block(self, luck: np.ndarray) -> np.ndarray:
        """The first block with a label, by uniform numbers (size, n), given that there is one."""
        # P(one of the blocks up to here has a label), (n, B).
        reached = -np.expm1(self._log_empties.cumsum(axis=1))
        first: np.ndarray = (luck[:, :, None] * reached[None, :, -1:] >= reached).sum(axis=2)
        return first.clip(max=len(self.parts) - 1)

    @cached_property
    def _free_marginals(self) -> np.ndarray:
        """P(y_l = 1) where the empty set is possible, (n, L)."""
        marginals = np.empty((self.n_rows, self.n_labels))
        for block, part in self._pairs():
            marginals[:, block] = part.marginals()
        return marginals

    @cached_property
    def _log_empties(self) -> np.ndarray:
        """Log-probability that a block has no label, (n, B)."""
        columns = [
            part.log_prob(sparse.csr_array((self.n_rows, part.n_labels), dtype=np.int8))
            for part in self.parts
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def _log_empty(self) -> np.ndarray:
        return np.asarray(self._log_empties.sum(axis=1))

    @cached_property
    def _any(self) -> np.ndarray:
        """What all answers are divided by: P(any label), or one where none is possible, (n,)."""
        return np.ones(self.n_rows) if self.allow_empty else -np.expm1(self._log_empty)

    @cached_property
    def _log_any(self) -> np.ndarray:
        return np.asarray(np.log(self._any))


def _nothing(n: int, S: int) -> np.ndarray:
    """The sizes of no labels at all: zero for sure, (n, S + 1)."""
    sizes = np.zeros((n, S + 1))
    sizes[:, 0] = 1
    return sizes


def _convolved(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The distribution of the sum of two sizes, (n, S + 1), as far as S."""
    S = left.shape[1] - 1
    total = np.zeros_like(left)
    for s in range(S + 1):
        if right[:, s].any():
            total[:, s:] += left[:, : S + 1 - s] * right[:, s, None]
    return total
