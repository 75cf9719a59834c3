"""Chains of conditionals of any kind, asked for one label at a time.

    p(y) = Π_i σ(z_i)^y_i σ(-z_i)^(1 - y_i),   z_i = conditional(i, row, y_1 ... y_{i-1})

For classifiers that are not linear, such as trees: nothing bounds what a label can do to another,
so that exact searches widen a beam until no prefix that it dropped is likelier than what it found.
Sums over all sets are exact up to ``MOST_LISTED`` labels, by listing them; beyond, they are means
over drawn sets, drawn by the same random numbers in all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.distributions.chain_search import ChainSearch
from setwise.distributions.sampled import Sampled
from setwise.distributions.search import SearchResult
from setwise.errors import DataError, NotConverged

MOST_LISTED = 8  # labels up to which sums go over all sets
WIDEST = 1024  # beam of an exact search
PREFIXES = 2**16  # that are followed at a time

Conditional = Callable[[int, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class StepChain(Distribution):
    """Labels that depend on those before them in any way, for each row of a batch.

    Parameters
    ----------
    conditional : function
        Of a place i in the chain, row numbers (m,) and the values (m, i) of the labels before it:
        the log-odds (m,) of the label there.
    numbers : array (n,)
        Which rows these are.
    order : array (L,)
        The labels in the order of the chain.
    search : ChainSearch
        "greedy", "beam", "exhaustive", or one that is exact.
    allow_empty : bool
        Whether the empty set is possible; if not, all answers are given a non-empty set.
    n_samples : int
        Sets drawn for sums over more than ``MOST_LISTED`` labels.

    Examples
    --------
    >>> def conditional(place, rows, before):
    ...     return np.full(len(rows), 0.4) if place == 0 else 6.0 * before[:, 0] - 3.0
    >>> twins = StepChain(conditional, np.arange(1), np.arange(2))
    >>> twins.mode()[0]
    array([[1, 1]], dtype=int8)
    >>> round(float(twins.correlation()[0, 0, 1]), 3)
    0.902
    """

    conditional: Conditional
    numbers: np.ndarray
    order: np.ndarray
    search: ChainSearch = field(default_factory=ChainSearch)
    allow_empty: bool = True
    n_samples: int = 200

    def __post_init__(self) -> None:
        if len(self.order) == 0 or sorted(self.order) != list(range(len(self.order))):
            raise DataError(f"order must name each label once, by number from 0: {self.order!r}")
        if self.search.kind == "epsilon":
            raise DataError(
                'search="epsilon" is for linear chains; use "beam", "greedy" or "a_star"'
            )
        if self.search.kind == "exhaustive" and self.n_labels > 2 * MOST_LISTED:
            raise DataError(
                f"an exhaustive search over {self.n_labels} labels asks for 2^{self.n_labels} "
                'probabilities; use search="a_star" or "beam"'
            )

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return len(self.numbers)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.order)

    def rows(self, selection: Rows) -> StepChain:
        """The chains of some rows."""
        return replace(self, numbers=self.numbers[selection])

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,)."""
        sets = self._dense_sets(Y)[:, self.order]
        log_prob = np.zeros(self.n_rows)
        for i in range(self.n_labels):
            z = self.conditional(i, self.numbers, sets[:, :i])
            log_prob -= np.logaddexp(0, np.where(sets[:, i] > 0, -z, z))
        if not self.allow_empty:
            log_prob -= self._log_any
            log_prob[~sets.any(axis=1)] = -np.inf
        return log_prob

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L); from draws where labels are many."""
        return self._sums.marginals()

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets that the search finds, and their log-probabilities, best first."""
        found = self.searched(k)
        short = int((found.gap > 0).sum())
        if self.search.is_exact and short:
            warnings.warn(
                f"the likeliest sets of {short} of {self.n_rows} rows are the best of a beam of "
                f'{WIDEST}, not proven best; search="beam" asks for no proof',
                NotConverged,
                stacklevel=2,
            )
        return found.sets, found.log_prob

    def searched(self, k: int) -> SearchResult:
        """The k likeliest sets found, with what any other can exceed the last of them by."""
        k = positive_count(k, "k")
        kind = self.search.kind
        if kind == "greedy" and k > 1:
            raise DataError(
                f"the greedy search finds one set a row, but {k} are asked for; "
                'use search="beam" or "a_star"'
            )
        wanted = k if self.allow_empty else k + 1
        width = {"greedy": 1, "exhaustive": 2**self.n_labels}.get(kind, self.search.width)
        found = self._beam(wanted, max(width, wanted))
        while self.search.is_exact and (found.gap > 0).any() and width < WIDEST:
            width = min(4 * width, WIDEST)
            open_ = np.flatnonzero(found.gap > 0)
            more = self.rows(open_)._beam(wanted, max(width, wanted))
            found.sets[open_], found.log_prob[open_] = more.sets, more.log_prob
            found.gap[open_] = more.gap
        return found if self.allow_empty else self._nonempty(found, k)

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        size, random = positive_count(size, "size"), as_generator(random_state)
        luck = random.random((size, self.n_rows, self.n_labels + 1))
        return self._drawn(luck)

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        return self._sums.size_marginals(max_size)

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        return self._sums.size_distribution(max_size)

    def _covariance(self) -> np.ndarray:
        return self._sums._covariance()

    def _beam(self, k: int, width: int) -> SearchResult:
        """The best of the ``width`` likeliest prefixes at each label, all rows at once."""
        n, L = self.n_rows, self.n_labels
        width = min(width, 2 ** min(L, 30))
        result = SearchResult(
            np.zeros((n, k, L), np.int8), np.full((n, k), -np.inf), np.zeros(n),
            np.zeros(n, np.int64),
        )  # fmt: skip
        step = max(1, PREFIXES // width)
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            sets, score, dropped = self._followed(self.numbers[rows], width)
            m = min(k, sets.shape[1])
            result.sets[rows, :m] = sets[:, :m]
            result.log_prob[rows, :m] = score[:, :m]
            result.gap[rows] = np.maximum(dropped - score[:, m - 1], 0)
        return result

    def _followed(
        self, numbers: np.ndarray, width: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sets (b, size, L) by falling log-probability (b, size), and the best dropped (b,)."""
        b, L = len(numbers), self.n_labels
        prefix, score = np.zeros((b, 1, 0), np.int8), np.zeros((b, 1))
        dropped = np.full(b, -np.inf)
        for i in range(L):
            size = prefix.shape[1]
            z = self.conditional(i, np.repeat(numbers, size), prefix.reshape(b * size, i))
            z = z.reshape(b, size)
            both = np.concatenate([score - np.logaddexp(0, z), score - np.logaddexp(0, -z)], axis=1)
            order = np.argsort(-both, axis=1, kind="stable")
            if 2 * size > width:
                best_out = np.take_along_axis(both, order[:, width : width + 1], axis=1)[:, 0]
                dropped = np.maximum(dropped, best_out)
            kept = order[:, :width]
            score = np.take_along_axis(both, kept, axis=1)
            old = np.take_along_axis(prefix, (kept % size)[:, :, None], axis=1)
            value = (kept >= size).astype(np.int8)
            prefix = np.concatenate([old, value[:, :, None]], axis=2)
        sets = np.empty_like(prefix)
        sets[:, :, self.order] = prefix
        return sets, score, dropped

    def _nonempty(self, found: SearchResult, k: int) -> SearchResult:
        is_empty = (found.log_prob > -np.inf) & ~found.sets.any(axis=2)
        out = np.where(is_empty.any(axis=1), is_empty.argmax(axis=1), k)
        kept = np.arange(k) + (np.arange(k) >= out[:, None])
        sets = np.take_along_axis(found.sets, kept[:, :, None], axis=1)
        log_prob = np.take_along_axis(found.log_prob, kept, axis=1) - self._log_any[:, None]
        return SearchResult(sets, log_prob, found.gap, found.pops)

    def _drawn(self, luck: np.ndarray) -> np.ndarray:
        """Sets by uniform numbers (S, n or 1, L + 1), label by label, int8 (S, n, L)."""
        S, n, L = len(luck), self.n_rows, self.n_labels
        luck = np.broadcast_to(luck, (S, n, L + 1))
        values = np.zeros((S * n, L), np.int8)
        numbers = np.tile(self.numbers, S)
        first = np.full((S, n), -1)
        if not self.allow_empty:  # all labels before the first are off
            reached = -np.expm1(self._log_off.cumsum(axis=1))  # (n, L)
            first = (luck[:, :, -1:] * reached[:, -1:] >= reached).sum(axis=2).clip(max=L - 1)
        for i in range(L):
            p = expit(self.conditional(i, numbers, values[:, :i])).reshape(S, n)
            on = (luck[:, :, i] < p) & (i > first)
            values[:, i] = (on | (i == first)).ravel()
        samples = np.empty((S, n, L), np.int8)
        samples[:, :, self.order] = values.reshape(S, n, L)
        return samples

    @cached_property
    def _sums(self) -> Sampled:
        """All sets with their weights, or draws."""
        if self.n_labels > MOST_LISTED or self.n_rows == 0:
            luck = np.random.default_rng(0).random((self.n_samples, 1, self.n_labels + 1))
            return Sampled(self._drawn(luck), allow_empty=self.allow_empty)
        every = replace(self, allow_empty=True)._beam(2**self.n_labels, 2**self.n_labels)
        return Sampled(every.sets.swapaxes(0, 1), every.log_prob.T, allow_empty=self.allow_empty)

    @cached_property
    def _log_off(self) -> np.ndarray:
        """Log-probability that each label of the chain is off where all before it are, (n, L)."""
        nothing = np.zeros((self.n_rows, self.n_labels), np.int8)
        columns = [
            -np.logaddexp(0, self.conditional(i, self.numbers, nothing[:, :i]))
            for i in range(self.n_labels)
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def _log_any(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            log_any: np.ndarray = np.log(-np.expm1(self._log_off.sum(axis=1)))
        return log_any
