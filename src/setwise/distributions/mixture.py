"""Bernoulli mixtures: p(y) = sum over k of π_k times a product of independent labels.

The distribution of conditional Bernoulli mixtures (Li, Wang, Pavlu, Aslam, ICML 2016; thesis,
chapter 3). Components are independent inside, so that everything about one component is a product,
and everything about the mixture a weighted sum of K products:

    π (n, K)     component weights          z (n, K, L)    log-odds of the labels
    p(y) = Σ_k π_k Π_l σ(z_kl)^y_l σ(-z_kl)^(1 - y_l)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logsumexp

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.arrays import check_mixture, log_normalised
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.distributions.blocks import for_each_block, private_copy, row_blocks
from setwise.distributions.nonempty import given_nonempty, log_any_label
from setwise.distributions.pruning import light_components
from setwise.distributions.search import (
    MAX_POPS,
    ModeResult,
    SearchResult,
    search,
    search_nonempty,
    warn_if_inexact,
)

if TYPE_CHECKING:
    from setwise.distributions.support import Support


@dataclass(frozen=True, eq=False)
class BernoulliMixture(Distribution):
    """A mixture of independent labels for each row of a batch.

    Parameters
    ----------
    log_pi : array (n, K)
        Log component weights; each row's weights sum to one. -inf where a component is out.
    logits : array (n, K, L)
        Log-odds of each label in each component, finite; float32 or float64. All arithmetic is in
        float64, on copies of a block of rows at a time.
    allow_empty : bool
        Whether the empty set is possible; if not, all answers are given a non-empty set.
    n_jobs : int, optional
        Threads; one per core unless told.

    Examples
    --------
    Two labels that come together or not at all:

    >>> twins = BernoulliMixture(np.log([[0.6, 0.4]]), np.array([[[3.0, 3.0], [-3.0, -3.0]]]))
    >>> Y, log_prob = twins.mode()
    >>> Y
    array([[1, 1]], dtype=int8)
    >>> round(float(twins.correlation()[0, 0, 1]), 3)
    0.813
    """

    log_pi: np.ndarray  # (n, K)
    logits: np.ndarray  # (n, K, L)
    allow_empty: bool = True
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_mixture(self.log_pi, self.logits)

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.logits.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.logits.shape[2])

    def rows(self, selection: Rows) -> BernoulliMixture:
        """The mixtures of some rows; a slice shares memory."""
        return self._with(self.log_pi[selection], self.logits[selection])

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,)."""
        from setwise.distributions._odds_kernel import fill_log_joint

        sets = self._dense_sets(Y)
        log_weights, logits = self._terms
        log_joint = log_weights.copy()  # (n, K)
        for_each_block(
            lambda rows: fill_log_joint(private_copy(logits, rows), sets[rows], log_joint[rows]),
            self._blocks,
            self.n_jobs,
        )
        if logits is not self.logits:  # lifted: the weights made up for one label only
            gain = logits.max(axis=2) - self.logits.max(axis=2)  # (n, K)
            log_joint -= gain * (sets.sum(axis=1)[:, None] - 1)
        log_prob: np.ndarray = logsumexp(log_joint, axis=1)
        if not self.allow_empty:
            log_prob[~sets.any(axis=1)] = -np.inf
        return log_prob

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        from setwise.distributions._odds_kernel import add_marginals

        log_weights, logits = self._terms
        marginals = np.zeros((self.n_rows, self.n_labels))
        for_each_block(
            lambda rows: add_marginals(
                log_weights[rows], private_copy(logits, rows), marginals[rows]
            ),
            self._blocks,
            self.n_jobs,
        )
        return np.minimum(marginals, 1, out=marginals)

    def mode(self, *, max_pops: int = MAX_POPS) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest set of each row, int8 (n, L), and its log-probability (n,).

        Exact; a row that needs more than ``max_pops`` looks is warned of (``NotConverged``).
        """
        sets, log_prob = self.top(1, max_pops=max_pops)
        return sets[:, 0], log_prob[:, 0]

    def mode_certified(self, *, max_pops: int = MAX_POPS) -> ModeResult:
        """The likeliest set found within ``max_pops`` looks a row, with its gap to a proven bound.

        >>> coin = BernoulliMixture(np.log([[0.5, 0.5]]), np.array([[[2.0, 0.0], [-1.0, 1.0]]]))
        >>> result = coin.mode_certified()
        >>> bool(result.exact[0]), float(result.gap[0])
        (True, 0.0)
        """
        found = self._search(1, max_pops)
        return ModeResult(
            found.sets[:, 0], found.log_prob[:, 0], found.gap, found.exact, found.pops
        )

    def top(self, k: int, *, max_pops: int = MAX_POPS) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first.

        Exact as the mode is; where fewer than k sets exist the rest are empty, with -inf.
        """
        found = self._search(positive_count(k, "k"), max_pops)
        warn_if_inexact(found, max_pops)
        return found.sets, found.log_prob

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        from setwise.distributions.sampling import draw_mixture

        log_weights, logits = self._terms
        if not self.allow_empty:
            log_weights = log_weights + log_any_label(logits, self.n_jobs)
        return draw_mixture(
            log_weights, logits, positive_count(size, "size"), self.allow_empty,
            as_generator(random_state),
        )  # fmt: skip

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        return self.sizes(max_size)[0]

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        return self.sizes(max_size)[1]

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ``size_marginals`` and ``size_distribution``, for the price of one."""
        from setwise.distributions._sizes_kernel import fill_sizes

        S = positive_count(max_size, "max_size")
        log_weights, logits = self._terms
        joint = np.empty((self.n_rows, self.n_labels, S))
        sizes = np.empty((self.n_rows, S + 1))
        for_each_block(
            lambda rows: fill_sizes(
                log_weights[rows], private_copy(logits, rows), joint[rows], sizes[rows]
            ),
            self._blocks,
            self.n_jobs,
        )
        if not self.allow_empty:
            sizes[:, 0] = 0
        return joint, sizes

    def lightened(self, max_loss: float) -> tuple[BernoulliMixture, np.ndarray]:
        """The mixture without its lightest components, and what they weighed in each row."""
        log_weights, logits = self._terms
        if not self.allow_empty:  # a component counts for the sets that it has left
            log_weights = log_weights + log_any_label(logits, self.n_jobs)
        is_light, lost = light_components(np.exp(log_weights), max_loss)
        log_pi = log_normalised(np.where(is_light, -np.inf, self.log_pi))
        return self._with(log_pi, self.logits), lost

    def log_prob_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """Log-probability of any number of sets a row, (m,); all of a row at once."""
        from setwise.distributions._listed_kernel import fill_lists

        listed, log_weights = self._listed(sets), self._log_weights_of_sets
        starts = np.searchsorted(row, np.arange(self.n_rows + 1))
        log_prob = np.empty(len(row))
        for_each_block(
            lambda rows: fill_lists(
                log_weights[rows],
                private_copy(self.logits, rows),
                starts[rows.start : rows.stop + 1],
                listed.indptr,
                listed.indices,
                log_prob,
            ),
            self._blocks,
            self.n_jobs,
        )
        if not self.allow_empty:
            log_prob[np.diff(listed.indptr) == 0] = -np.inf
        return log_prob

    def on_support(self, sets: Any) -> Support:
        """The mixture, given that the set is one of ``sets`` (m, L); all of them at once."""
        from setwise.distributions._listed_kernel import fill_listed
        from setwise.distributions.support import Support

        listed, log_weights = self._listed(sets), self._log_weights_of_sets
        scores = np.empty((self.n_rows, listed.shape[0]))
        for_each_block(
            lambda rows: fill_listed(
                log_weights[rows],
                private_copy(self.logits, rows),
                listed.indptr,
                listed.indices,
                scores[rows],
            ),
            self._blocks,
            self.n_jobs,
        )
        return Support(listed, scores, allow_empty=self.allow_empty)

    def _covariance(self) -> np.ndarray:
        log_weights, logits = self._terms
        mean = self.marginals()
        covariance = np.empty((self.n_rows, self.n_labels, self.n_labels))

        def work(rows: slice) -> None:
            p, weight = expit(logits[rows].astype(np.float64)), np.exp(log_weights[rows])
            m = mean[rows][:, None, :]  # (b, 1, L)
            if self.allow_empty:  # centred first: no digits are lost to small marginals
                p -= m
            np.matmul((p * weight[:, :, None]).transpose(0, 2, 1), p, out=covariance[rows])
            if not self.allow_empty:  # the weights sum to more than one
                covariance[rows] -= m.transpose(0, 2, 1) * m

        for_each_block(work, self._blocks, self.n_jobs)
        return covariance

    def _with(self, log_pi: np.ndarray, logits: np.ndarray) -> BernoulliMixture:
        """A mixture of arrays that come from this one's: they were checked with it."""
        mixture = object.__new__(BernoulliMixture)
        mixture.__dict__.update(
            log_pi=log_pi, logits=logits, allow_empty=self.allow_empty, n_jobs=self.n_jobs
        )
        return mixture

    @cached_property
    def _terms(self) -> tuple[np.ndarray, np.ndarray]:
        """Log weights (n, K) and log-odds (n, K, L) that give each possible set's probability."""
        log_weights = log_normalised(self.log_pi)
        if self.allow_empty:
            return log_weights, self.logits
        return given_nonempty(log_weights, self.logits, self.n_jobs)

    @property
    def _log_weights_of_sets(self) -> np.ndarray:
        """Log weights (n, K) that go with the log-odds as they were given."""
        log_weights, logits = self._terms
        if logits is self.logits:
            return log_weights
        # Lifted: the weights made up for one label only.
        lifted: np.ndarray = log_weights + logits.max(axis=2) - self.logits.max(axis=2)
        return lifted

    @property
    def _blocks(self) -> list[slice]:
        n, K, L = self.logits.shape
        return row_blocks(n, K * L)

    def _search(self, k: int, max_pops: int) -> SearchResult:
        limit = positive_count(max_pops, "max_pops")
        if self.allow_empty:
            return search(*self._terms, k, max_pops=limit, n_jobs=self.n_jobs)
        found = search_nonempty(*self._terms, k, max_pops=limit, n_jobs=self.n_jobs)
        log_weights, logits = self._terms
        if k > 1 and logits is not self.logits:  # lifted: right for sets of one label only
            gain = (logits.max(axis=2) - self.logits.max(axis=2)).astype(np.float64)  # (n, K)
            rows = np.flatnonzero(gain.any(axis=1))
            again = search_nonempty(
                (log_weights + gain)[rows], self.logits[rows], k, max_pops=limit,
                n_jobs=self.n_jobs, in_logs=True,
            )  # fmt: skip
            found.sets[rows], found.log_prob[rows] = again.sets, again.log_prob
            found.gap[rows], found.pops[rows] = again.gap, again.pops
        return found
