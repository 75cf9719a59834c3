"""Mixtures of distributions of any kind: p(y) = sum over k of π_k p_k(y).

What a mixture of experts predicts (Hong, Batal and Hauskrecht 2015, equation 4.4), and what chains
give together whose probabilities are averaged (EPCC, Dembczyński et al. 2010). Probabilities, sums
and draws are those of the experts, weighted. The likeliest sets are looked for

- by the threshold algorithm: every expert lists its own likeliest sets; the lists grow until no set
  beyond their ends can be better, which proves the answer if the experts' own lists are exact; or
- by simulated annealing (section 4.4) from the best of the experts' modes, never ending below it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from setwise.data.arguments import check_count
from setwise.data.labels import binary_csr
from setwise.data.randomness import Seed, as_generator
from setwise.distributions.arrays import log_normalised
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.distributions.blocks import BLOCK_ELEMENTS, row_blocks
from setwise.distributions.product import Product
from setwise.distributions.search import SearchResult
from setwise.distributions.support import Support
from setwise.errors import DataError, NotConverged

FIRST_LISTED = 4  # sets that each expert lists before the bound is looked at
MOST_LISTED = 256
LISTED_BLOCKS = 128  # so that sets which are listed at a time have 32 MB
TOLERANCE = 1e-12
FIRST_HEAT, LAST_HEAT = 1.0, 0.05  # temperatures of the annealing, of log-probabilities


@dataclass(frozen=True, eq=False)
class Experts(Distribution):
    """A weighted mixture of distributions over the same labels, for each row of a batch.

    Parameters
    ----------
    log_pi : array (n, K)
        Log weights of the experts; each row is normalised.
    experts : sequence of K distributions of n rows each
        All of them allow the empty set, or none does; see ``given_any_label``.
    annealing : int
        Steps of simulated annealing that the mode is looked for by; 0: the threshold algorithm.
    most_listed : int
        The longest lists of the threshold algorithm.
    warn : bool
        Whether ``top`` warns of rows that need longer lists; ``searched`` tells in any case.

    Examples
    --------
    >>> from setwise.distributions import Product
    >>> twins = [Product(np.array([[3.0, 3.0]])), Product(np.array([[-3.0, -3.0]]))]
    >>> mixture = Experts(np.log([[0.6, 0.4]]), twins)
    >>> mixture.mode()[0]
    array([[1, 1]], dtype=int8)
    >>> round(float(mixture.correlation()[0, 0, 1]), 3)
    0.813
    """

    log_pi: np.ndarray  # (n, K)
    experts: Any
    annealing: int = 0
    most_listed: int = MOST_LISTED
    warn: bool = True

    def __post_init__(self) -> None:
        n, K = self.log_pi.shape if self.log_pi.ndim == 2 else (-1, 0)
        if K == 0 or len(self.experts) != K or any(e.n_rows != n for e in self.experts):
            raise DataError(
                f"expected log_pi (n, K) and K experts of n rows each, got {self.log_pi.shape} and "
                f"{len(self.experts)} experts"
            )
        if len({(e.n_labels, e.allow_empty) for e in self.experts}) > 1:
            raise DataError("the experts must have the same labels, and agree on the empty set")
        check_count("annealing", self.annealing, at_least=0)
        check_count("most_listed", self.most_listed, at_least=1)

    @property
    def allow_empty(self) -> bool:  # type: ignore[override]
        """Whether the empty set is possible."""
        return bool(self.experts[0].allow_empty)

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.log_pi.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.experts[0].n_labels)

    def rows(self, selection: Rows) -> Experts:
        """The mixtures of some rows."""
        parts = [expert.rows(selection) for expert in self.experts]
        return replace(self, log_pi=self.log_pi[selection], experts=parts)

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,)."""
        sets = self._dense_sets(Y)
        terms = np.stack([expert.log_prob(sets) for expert in self.experts], axis=1)
        return _log_sums(self._log_weights + terms)

    def log_prob_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """Log-probability of any number of sets a row, (m,)."""
        terms = np.stack([expert.log_prob_of(sets, row) for expert in self.experts], axis=1)
        return _log_sums(self._log_weights[row] + terms)

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        return self._mean([expert.marginals() for expert in self.experts])

    def mode(self) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest set found in each row, int8 (n, L), and its log-probability (n,)."""
        if self.annealing:
            return self.annealed(self.annealing)
        sets, log_prob = self.top(1)
        return sets[:, 0], log_prob[:, 0]

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first.

        By the threshold algorithm; rows that are not settled are told by ``NotConverged``.
        """
        found = self.searched(k)
        short = int((found.gap > 0).sum())
        if short and self.warn:
            warnings.warn(
                f"the likeliest sets of {short} of {self.n_rows} rows are the best among "
                f"{self.most_listed} of each expert, not proven best; searched() gives the gaps, "
                "a larger most_listed closes them",
                NotConverged,
                stacklevel=2,
            )
        return found.sets, found.log_prob

    def searched(self, k: int) -> SearchResult:
        """The k likeliest sets found, and what any that was not listed can exceed the last by.

        The gap holds as far as the experts' own lists are exact.
        """
        k = positive_count(k, "k")
        n, L = self.n_rows, self.n_labels
        result = SearchResult(
            np.zeros((n, k, L), np.int8), np.full((n, k), -np.inf), np.zeros(n),
            np.zeros(n, np.int64),
        )  # fmt: skip
        limit = max(k, self.most_listed)
        waiting, listed = np.arange(n), min(max(k, FIRST_LISTED), limit)
        if limit < 2 * listed:  # most rows would come back for the little that is left
            listed = limit
        while len(waiting):
            for block in row_blocks(len(waiting), self._listing_cost(listed)):
                some = waiting[block]
                parts = self.rows(some)._listed_best(k, listed)
                result.sets[some], result.log_prob[some], result.gap[some] = parts
                result.pops[some] = listed * len(self.experts)
            if listed == limit:
                break
            waiting, listed = waiting[result.gap[waiting] > 0], min(4 * listed, limit)
        return result

    def _listing_cost(self, listed: int) -> int:
        """Numbers a row, by which blocks of rows are made while sets are listed.

        Listed sets are bytes: of fewer rows at a time a step would cost more than its work. Experts
        that are made when they are asked must be made as a whole, or they are made again and again.
        """
        cost = len(self.experts) * listed * self.n_labels // LISTED_BLOCKS
        sizes = [int(e.batch_size) for e in self.experts if hasattr(e, "batch_size")]
        return max(cost, *(-(-BLOCK_ELEMENTS // size) for size in sizes), 1)

    def _listed_best(self, k: int, listed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best k of what the experts list, with gaps (n,)."""
        lists = [expert.top(listed) for expert in self.experts]
        ends = np.stack([log_prob[:, -1] for _, log_prob in lists], axis=1)  # (n, K)
        bound = _log_sums(self._log_weights + ends)
        sets = np.concatenate([part for part, _ in lists], axis=1)  # (n, K * listed, L)
        there = np.concatenate([log_prob for _, log_prob in lists], axis=1) > -np.inf
        there &= ~_seen_before(sets)
        scores = np.full(there.shape, -np.inf)
        scores[there] = self.log_prob_of(binary_csr(sets[there]), np.nonzero(there)[0])
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        values = np.take_along_axis(scores, best, axis=1)
        chosen = np.take_along_axis(sets, best[:, :, None], axis=1)
        chosen[values == -np.inf] = 0
        missing = k - values.shape[1]
        values = np.pad(values, ((0, 0), (0, missing)), constant_values=-np.inf)
        chosen = np.pad(chosen, ((0, 0), (0, missing), (0, 0)))
        with np.errstate(invalid="ignore"):
            gap = np.where(bound > values[:, -1] + TOLERANCE, bound - values[:, -1], 0.0)
        return chosen, values, gap

    def annealed(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """The best set of a random walk from the best of the experts' modes, never below it.

        All rows walk by the same random numbers, so that none depends on the others.
        """
        starts = np.stack([expert.mode()[0] for expert in self.experts])  # (K, n, L)
        values = np.stack([self.log_prob(start) for start in starts])
        chosen, rows = values.argmax(axis=0), np.arange(self.n_rows)
        now, value = starts[chosen, rows].copy(), values[chosen, rows]
        best, highest = now.copy(), value.copy()
        random = np.random.default_rng(0)
        heats = np.geomspace(FIRST_HEAT, LAST_HEAT, steps)
        for heat, label, luck in zip(
            heats, random.integers(self.n_labels, size=steps), random.random(steps), strict=True
        ):
            now[:, label] ^= 1
            there = self.log_prob(now)
            with np.errstate(over="ignore"):
                taken = luck < np.exp((there - value) / heat)
            now[~taken, label] ^= 1
            value = np.where(taken, there, value)
            better = value > highest
            best[better], highest[better] = now[better], value[better]
        return best, highest

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        size, random = positive_count(size, "size"), as_generator(random_state)
        limits = np.exp(self._log_weights).cumsum(axis=1)  # (n, K)
        luck = random.random((size, self.n_rows))
        chosen = (luck[:, :, None] * limits[:, -1:] >= limits).sum(axis=2)  # (size, n)
        chosen = np.minimum(chosen, len(self.experts) - 1)
        samples = np.zeros((size, self.n_rows, self.n_labels), dtype=np.int8)
        for k, expert in enumerate(self.experts):
            own = chosen == k
            samples[own] = expert.sample(size, random)[own]
        return samples

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        return self.sizes(max_size)[0]

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        return self.sizes(max_size)[1]

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ``size_marginals`` and ``size_distribution``."""
        parts = [expert.sizes(max_size) for expert in self.experts]
        return self._mean([joint for joint, _ in parts]), self._mean([sizes for _, sizes in parts])

    def on_support(self, sets: Any) -> Support:
        """The mixture, given that the set is one of ``sets`` (m, L); each expert in its own way."""
        listed = self._listed(sets)
        terms = (
            self._log_weights[:, k, None] + expert.on_support(listed).log_scores
            for k, expert in enumerate(self.experts)
        )
        return Support(listed, reduce(np.logaddexp, terms), allow_empty=self.allow_empty)

    def _covariance(self) -> np.ndarray:
        means = [expert.marginals() for expert in self.experts]
        pairs = [
            expert._covariance() + mean[:, :, None] * mean[:, None, :]
            for expert, mean in zip(self.experts, means, strict=True)
        ]
        mean = self._mean(means)
        centred: np.ndarray = self._mean(pairs) - mean[:, :, None] * mean[:, None, :]
        return centred

    def _mean(self, answers: list[np.ndarray]) -> np.ndarray:
        """The experts' answers (n, ...) by their weights."""
        weights = np.exp(self._log_weights)
        shape = (-1, *[1] * (answers[0].ndim - 1))
        total: np.ndarray = weights[:, 0].reshape(shape) * answers[0]
        for k, answer in enumerate(answers[1:], start=1):
            total += weights[:, k].reshape(shape) * answer
        return total

    @property
    def _log_weights(self) -> np.ndarray:
        return log_normalised(self.log_pi)


@dataclass(frozen=True, eq=False)
class OpinionPool(Experts):
    """A mixture whose experts are whole models, each with an opinion that counts by itself.

    Where they disagree a calibrator may know better than their average whom to believe.

    Parameters
    ----------
    n_models : int
        How many models there were, some of which may have been left out.
    places : tuple of int
        Which of them the experts are, so that an opinion keeps its place whoever was left out.
    """

    n_models: int = 0
    places: tuple[int, ...] = ()

    def opinions_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """``log_prob_of`` by each model, (m, M).

        Models that were left out are of the others' opinion.
        """
        told = np.stack([model.log_prob_of(sets, row) for model in self.experts], axis=1)
        together = _log_sums(self._log_weights[row] + told)
        opinions = np.tile(together[:, None], (1, self.n_models))
        opinions[:, list(self.places)] = told
        return opinions

    def independent_places(self) -> tuple[int, ...]:
        """Which of the models have independent labels."""
        pairs = zip(self.places, self.experts, strict=True)
        return tuple(place for place, part in pairs if part.independent_places() == (0,))

    def independent_marginals(self, place: int) -> np.ndarray:
        """P(y_l = 1), (n, L), by one of the models whose labels are independent."""
        marginals: np.ndarray = self.experts[self.places.index(place)].independent_marginals(0)
        return marginals

    def with_labels(self, curves: Callable[[Product], Product], place: int) -> OpinionPool:
        """The same with the labels of one model changed; as it is if that was left out."""
        if place not in self.independent_places():
            return self
        parts = list(self.experts)
        number = self.places.index(place)
        parts[number] = parts[number].with_labels(curves, 0)
        return replace(self, experts=parts)


def given_any_label(log_pi: np.ndarray, log_any: np.ndarray) -> np.ndarray:
    """Log weights (n, K) of experts given a non-empty set.

    ``log_any`` (n, K) are the experts' log-probabilities of any label: one that is sure of none
    counts for less.
    """
    return log_normalised(log_pi + log_any)


def _seen_before(sets: np.ndarray) -> np.ndarray:
    """Which of the sets (n, m, L) stand in their row a second time, bool (n, m)."""
    n, m, _ = sets.shape
    packed = np.packbits(sets.astype(bool), axis=2)  # (n, m, bytes)
    numbers = np.broadcast_to(np.arange(n, dtype=">i8")[:, None], (n, m))
    prefix = np.ascontiguousarray(numbers).view(np.uint8).reshape(n, m, 8)
    keys = np.ascontiguousarray(np.concatenate([prefix, packed], axis=2)).reshape(n * m, -1)
    _, first = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True)
    seen = np.ones(n * m, dtype=bool)
    seen[first] = False
    return seen.reshape(n, m)


def _log_sums(terms: np.ndarray) -> np.ndarray:
    """Logs of sums over the last axis, -inf where all terms are."""
    sums: np.ndarray = logsumexp(terms, axis=1)
    return sums
