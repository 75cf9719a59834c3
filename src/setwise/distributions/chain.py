"""Chains of linear conditionals: p(y) = Π_i σ(z_i)^y_i σ(-z_i)^(1 - y_i).

    z_i = logits_i + sum over labels j before i of  y_j weights_ji

What a chain of logistic regressions predicts (Hong, Batal and Hauskrecht 2015, equation 3.3; Read
et al. 2009; Dembczyński et al. 2010): each label depends on x and on the labels before it. Label
sets have exact probabilities, and are drawn label by label. How the likeliest ones are found is
``chain_search``'s matter.

Sums over all sets (marginals, sizes, correlations) are exact up to ``MOST_SUMMED`` labels, by
listing them. Beyond, they are means over ``n_samples`` drawn sets; all rows are drawn by the same
random numbers, so that a row's answers do not depend on the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.distributions.blocks import for_each_block, private_copy, row_blocks
from setwise.distributions.chain_search import ChainSearch, search_chain
from setwise.distributions.search import ModeResult, SearchResult, warn_if_inexact
from setwise.errors import DataError, LabelMismatch

if TYPE_CHECKING:
    from setwise.distributions.support import Support

MOST_SUMMED = 13  # labels up to which sums go over all sets: a third of a millisecond a row
N_SAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Chain(Distribution):
    """Labels that depend on those before them, for each row of a batch.

    Parameters
    ----------
    logits : array (n, L)
        Log-odds of each label where no label before it is on, finite.
    weights : array (L, L)
        ``weights[j, i]`` is what label j, where it is on, adds to the log-odds of label i; zero
        unless j stands before i in the order.
    order : sequence of L label numbers, optional
        The labels in the order of the chain; by column unless given.
    search : ChainSearch
        How ``mode`` and ``top`` look for the likeliest sets.
    allow_empty : bool
        Whether the empty set is possible; if not, all answers are given a non-empty set.
    n_samples : int
        Sets drawn for sums over more than ``MOST_SUMMED`` labels.
    n_jobs : int, optional
        Threads; one per core unless told.

    Examples
    --------
    Two labels that come together or not at all:

    >>> twins = Chain(np.array([[0.4, -3.0]]), np.array([[0.0, 6.0], [0.0, 0.0]]))
    >>> twins.mode()[0]
    array([[1, 1]], dtype=int8)
    >>> round(float(twins.correlation()[0, 0, 1]), 3)
    0.902
    """

    logits: np.ndarray  # (n, L)
    weights: np.ndarray  # (L, L)
    order: Any = None
    search: ChainSearch = field(default_factory=ChainSearch)
    allow_empty: bool = True
    n_samples: int = N_SAMPLES
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.logits.ndim != 2 or self.logits.shape[1] == 0:
            raise DataError(f"expected logits (n, L) of one label or more, got {self.logits.shape}")
        L = self.n_labels
        if self.weights.shape != (L, L):
            raise DataError(
                f"logits have {L} labels, but weights have shape {self.weights.shape}; "
                f"pass one weight for each pair of labels, ({L}, {L})"
            )
        if not (np.isfinite(self.logits).all() and np.isfinite(self.weights).all()):
            raise DataError("log-odds and weights must be finite; clip them, to ±700 if certain")
        if not np.array_equal(np.sort(self._order), np.arange(L)):
            raise DataError(
                f"order must name each of the {L} labels once, by number from 0, not {self.order!r}"
            )
        if np.triu(self._weights).any():
            raise DataError(
                "a label depends on one that does not stand before it; reorder the labels, or set "
                "weights[j, i] = 0 unless j stands before i"
            )
        positive_count(self.n_samples, "n_samples")

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.logits.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.logits.shape[1])

    def rows(self, selection: Rows) -> Chain:
        """The chains of some rows; a slice shares memory."""
        return self._with(logits=self.logits[selection])

    def searching(self, search: ChainSearch) -> Chain:
        """The same distribution, whose likeliest sets are looked for in another way."""
        return self._with(search=search)

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,)."""
        sets = self._dense_sets(Y)
        log_prob = np.empty(self.n_rows)
        weights = self.weights.astype(np.float64)

        def work(rows: slice) -> None:
            y = sets[rows].astype(np.float64)
            z = self.logits[rows] + y @ weights
            log_prob[rows] = -np.logaddexp(0, (1 - 2 * y) * z).sum(axis=1)

        for_each_block(work, row_blocks(self.n_rows, self.n_labels), self.n_jobs)
        if not self.allow_empty:
            log_prob -= self.log_any
            log_prob[~sets.any(axis=1)] = -np.inf
        return log_prob

    def log_prob_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """Log-probability of any number of sets a row, (m,); all of a row at once."""
        from setwise.distributions._chain_list_kernel import score_own

        listed, added = self._listed(sets), self._added
        if listed.shape[0] != len(row):
            raise LabelMismatch(
                f"there are {listed.shape[0]} sets for {len(row)} row numbers; pass one row a set"
            )
        starts = np.searchsorted(row, np.arange(self.n_rows + 1))
        log_prob = np.empty(len(row))

        def work(rows: slice) -> None:
            asked = slice(starts[rows.start], starts[rows.stop])
            ends = listed.indptr[asked.start : asked.stop + 1]
            own = row[asked] - rows.start
            base = private_copy(self.logits, rows)
            score_own(base, *added, ends, listed.indices, own, log_prob[asked])

        for_each_block(work, row_blocks(self.n_rows, self.n_labels), self.n_jobs)
        if not self.allow_empty:
            log_prob -= self.log_any[row]
            log_prob[np.diff(listed.indptr) == 0] = -np.inf
        return log_prob

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L); from draws where labels are many."""
        if self.n_labels <= MOST_SUMMED:
            sums: np.ndarray = self.sizes(self.n_labels)[0].sum(axis=2)
            np.minimum(sums, 1.0, out=sums)
            return sums
        return self._drawn_sums(1)[0]

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets that the search finds, and their log-probabilities, best first.

        As exact as the search is: where one that should be exact runs out of ``max_pops``, a
        ``NotConverged`` warning follows.
        """
        found = self.searched(k)
        if self.search.is_exact:
            warn_if_inexact(found, self.search.max_pops)
        return found.sets, found.log_prob

    def searched(self, k: int) -> SearchResult:
        """The k likeliest sets found, with what any other can exceed the last of them by.

        A gap of 0 is a proof, whatever the search.
        """
        k = positive_count(k, "k")
        found = search_chain(
            self._base, self._weights, k, self.search,
            allow_empty=self.allow_empty, n_jobs=self.n_jobs,
        )  # fmt: skip
        sets = np.empty_like(found.sets)
        sets[:, :, self._order] = found.sets
        log_prob = found.log_prob
        if not self.allow_empty:
            log_prob = log_prob - self.log_any[:, None]
        return SearchResult(sets, log_prob, found.gap, found.pops)

    def mode_certified(self) -> ModeResult:
        """The likeliest set found in each row, with its gap to a proven bound."""
        found = self.searched(1)
        return ModeResult(
            found.sets[:, 0], found.log_prob[:, 0], found.gap, found.exact, found.pops
        )

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        from setwise.distributions._chain_kernel import draw_sets

        size, random = positive_count(size, "size"), as_generator(random_state)
        samples = np.empty((size, self.n_rows, self.n_labels), dtype=np.int8)
        base = self._base
        for rows in row_blocks(self.n_rows, size * (self.n_labels + 1)):
            luck = random.random((rows.stop - rows.start, size, self.n_labels + 1))
            drawn = np.zeros((len(luck), size, self.n_labels), dtype=np.int8)
            draw_sets(base[rows], self._weights, luck, not self.allow_empty, drawn)
            samples[:, rows, self._order] = drawn.transpose(1, 0, 2)
        return samples

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        return self.sizes(max_size)[0]

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        return self.sizes(max_size)[1]

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ``size_marginals`` and ``size_distribution``; from draws where labels are many."""
        from setwise.distributions._chain_kernel import list_sizes

        S = positive_count(max_size, "max_size")
        if self.n_labels > MOST_SUMMED:
            return self._drawn_sums(S)[1:]
        joint = np.zeros((self.n_rows, self.n_labels, S))
        sizes = np.zeros((self.n_rows, S + 1))
        base = self._base
        for_each_block(
            lambda rows: list_sizes(base[rows], self._weights, joint[rows], sizes[rows]),
            row_blocks(self.n_rows, 2**self.n_labels),
            self.n_jobs,
        )
        if not self.allow_empty:
            sizes[:, 0] = 0
            some = np.exp(self.log_any)
            joint /= some[:, None, None]
            sizes /= some[:, None]
        return joint[:, self._place], sizes

    def on_support(self, sets: Any) -> Support:
        """The chain, given that the set is one of ``sets`` (m, L); all of them at once."""
        from setwise.distributions._chain_list_kernel import score_list
        from setwise.distributions.support import Support

        listed = self._listed(sets)
        inner = np.asarray(listed @ self.weights.astype(np.float64))  # (m, L)
        scores = np.empty((self.n_rows, len(inner)))

        def work(rows: slice) -> None:
            base = np.ascontiguousarray(self.logits[rows], dtype=np.float64)
            score_list(base, inner, listed.indptr, listed.indices, scores[rows])

        for_each_block(work, row_blocks(self.n_rows, sum(inner.shape)), self.n_jobs)
        if not self.allow_empty:
            scores -= self.log_any[:, None]
        return Support(listed, scores, allow_empty=self.allow_empty)

    def _covariance(self) -> np.ndarray:
        from setwise.distributions._chain_kernel import draw_pairs, list_pairs

        pairs = np.zeros((self.n_rows, self.n_labels, self.n_labels))
        base, few = self._base, self.n_labels <= MOST_SUMMED

        def work(rows: slice) -> None:
            if few:
                list_pairs(base[rows], self._weights, pairs[rows])
            else:
                draw_pairs(base[rows], self._weights, self._luck, not self.allow_empty, pairs[rows])

        cost = 2**self.n_labels if few else self.n_samples * self.n_labels
        for_each_block(work, row_blocks(self.n_rows, cost), self.n_jobs)
        if few and not self.allow_empty:
            pairs /= np.exp(self.log_any)[:, None, None]
        pairs = pairs[:, self._place][:, :, self._place]
        mean = np.diagonal(pairs, axis1=1, axis2=2)
        centred: np.ndarray = pairs - mean[:, :, None] * mean[:, None, :]
        return centred

    def _drawn_sums(self, S: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Marginals (n, L), and sums by size (n, L, S) and (n, S + 1), from draws."""
        from setwise.distributions._chain_kernel import draw_sums

        n, L = self.n_rows, self.n_labels
        marginals, joint = np.zeros((n, L)), np.zeros((n, L, S))
        sizes, base = np.zeros((n, S + 1)), self._base

        def work(rows: slice) -> None:
            draw_sums(
                base[rows], self._weights, self._luck, not self.allow_empty,
                marginals[rows], joint[rows], sizes[rows],
            )  # fmt: skip

        for_each_block(work, row_blocks(n, self.n_samples * L), self.n_jobs)
        return marginals[:, self._place], joint[:, self._place], sizes

    def _with(self, **changes: Any) -> Chain:
        """A chain of parts that come from this one: they were checked with it."""
        chain = object.__new__(Chain)
        kept = ("logits", "weights", "order", "search", "allow_empty", "n_samples", "n_jobs")
        chain.__dict__.update({name: getattr(self, name) for name in kept} | changes)
        if "_added" in self.__dict__:  # of the weights alone
            chain.__dict__["_added"] = self._added
        return chain

    @cached_property
    def _order(self) -> np.ndarray:
        return np.arange(self.n_labels) if self.order is None else np.asarray(self.order)

    @cached_property
    def _place(self) -> np.ndarray:
        """Where each label stands in the chain, (L,)."""
        return np.argsort(self._order)

    @cached_property
    def _base(self) -> np.ndarray:
        """Log-odds in chain order, C-ordered float64 (n, L)."""
        return np.ascontiguousarray(self.logits[:, self._order], dtype=np.float64)

    @cached_property
    def _weights(self) -> np.ndarray:
        """Weights in chain order, those on one label side by side."""
        turned = self.weights[np.ix_(self._order, self._order)].T
        return np.ascontiguousarray(turned, dtype=np.float64)

    @cached_property
    def _added(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What a label that is on adds to the others: log-odds (L, L), and as ``label_odds``."""
        from setwise.distributions._chain_list_kernel import label_odds

        weights = private_copy(self.weights, slice(None))
        return (weights, *label_odds(weights))

    @cached_property
    def _luck(self) -> np.ndarray:
        return np.random.default_rng(0).random((self.n_samples, self.n_labels + 1))

    @cached_property
    def log_any(self) -> np.ndarray:
        """Log-probability of any label, (n,): that of no label is the product of all σ(-base)."""
        nothing = -np.logaddexp(0, self.logits.astype(np.float64)).sum(axis=1)
        with np.errstate(divide="ignore"):
            log_any: np.ndarray = np.log(-np.expm1(nothing))
        return log_any
