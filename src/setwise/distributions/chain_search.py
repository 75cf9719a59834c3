"""How the likeliest sets of a chain are looked for.

================  ==================================================================================
``"greedy"``      each label by its likelier value, in turn (classifier chains, Read et al. 2009)
``"beam"``        the ``width`` likeliest prefixes at each label (Kumar et al. 2013)
``"exhaustive"``  all 2^L sets (probabilistic classifier chains, Dembczyński et al. 2010)
``"epsilon"``     every prefix that is likelier than ``epsilon``, and greedily on from where none is
                  (Dembczyński et al. 2012): finds the mode if its probability exceeds ``epsilon``
``"uniform_cost"``  the likeliest prefix first: exact
``"a_star"``      the prefix first that could become the likeliest set: exact (Mena et al. 2015)
================  ==================================================================================

A prefix can become no likelier than its own probability times, for each label to come, the larger
of σ(highest log-odds) and σ(-lowest log-odds), where a parent not yet decided adds its weight or
nothing, whichever is the more. Chains are linear, so that these extremes are sums.

Best-first searches go from one label that is on to each that may be the next: labels that are off
change no odds, so that a row of them is passed at once. They start from the sets of a beam, drop
what cannot be better than the k-th set found, and end when nothing else is left. A beam that has
dropped no prefix likelier than its last set has proven it already: most rows need no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise.data.arguments import check_count
from setwise.distributions.blocks import for_each_block, row_blocks
from setwise.distributions.search import MAX_POPS, SearchResult
from setwise.errors import DataError

SEARCHES = ("greedy", "beam", "exhaustive", "epsilon", "uniform_cost", "a_star")
EXACT = ("exhaustive", "uniform_cost", "a_star")
MOST_LISTED = 24  # labels whose sets are listed: 16 million of them
FIRST_WIDTH = 8  # of the beam that an exact search starts from


@dataclass(frozen=True)
class ChainSearch:
    """A way to search, and its settings.

    Parameters
    ----------
    kind : one of ``SEARCHES``
    width : int
        Prefixes that a beam keeps; more where more sets are asked for.
    epsilon : float
        The least probability of a prefix that "epsilon" follows.
    max_pops : int
        Prefixes, each up to a label that is on, that a best-first search may look at in a row, and
        for each of them eight that wait; beyond it the best found are returned with a gap that is
        certain.
    """

    kind: str = "a_star"
    width: int = 15
    epsilon: float = 0.25
    max_pops: int = MAX_POPS

    def __post_init__(self) -> None:
        if self.kind not in SEARCHES:
            raise DataError(f"search is one of {', '.join(SEARCHES)}, not {self.kind!r}")
        check_count("width", self.width, at_least=1)
        check_count("max_pops", self.max_pops, at_least=1)
        if not 0 < self.epsilon <= 1:
            raise DataError(f"epsilon is a probability over 0, not {self.epsilon!r}; try 0.25")

    @property
    def is_exact(self) -> bool:
        """Whether the sets found are proven to be the likeliest."""
        return self.kind in EXACT


def search_chain(
    base: np.ndarray,
    weights: np.ndarray,
    k: int,
    how: ChainSearch,
    *,
    allow_empty: bool = True,
    n_jobs: int | None = None,
) -> SearchResult:
    """The k likeliest sets of each row that the search finds, in chain order.

    ``base`` (n, L) are log-odds where no label is on; ``weights[i, j]`` is what label j adds to
    those of label i. Log-probabilities are those of the chain, the empty set included.
    """
    L = base.shape[1]
    if how.kind == "greedy" and k > 1:
        raise DataError(
            f"the greedy search finds one set a row, but {k} are asked for; "
            'use search="beam" or "a_star"'
        )
    if how.kind == "exhaustive" and L > MOST_LISTED:
        raise DataError(
            f"an exhaustive search over {L} labels looks at 2^{L} sets; "
            'use search="a_star", which is exact, or "beam"'
        )
    if allow_empty:
        return _searched(base, weights, k, how, n_jobs)
    return _without_the_empty(base, weights, k, how, n_jobs)


def _without_the_empty(
    base: np.ndarray, weights: np.ndarray, k: int, how: ChainSearch, n_jobs: int | None
) -> SearchResult:
    """The k likeliest sets with a label: of k + 1 sets one at most is empty."""
    if how.kind == "greedy":  # two prefixes, where one ends without a label
        how = ChainSearch("beam", width=1)
    more = _searched(base, weights, k + 1, how, n_jobs)
    is_empty = (more.log_prob > -np.inf) & ~more.sets.any(axis=2)  # (n, k + 1)
    out = np.where(is_empty.any(axis=1), is_empty.argmax(axis=1), k)
    ranks = np.arange(k)
    kept = ranks + (ranks >= out[:, None])  # (n, k)
    sets = np.take_along_axis(more.sets, kept[:, :, None], axis=1)
    return SearchResult(sets, np.take_along_axis(more.log_prob, kept, axis=1), more.gap, more.pops)


def _searched(
    base: np.ndarray, weights: np.ndarray, k: int, how: ChainSearch, n_jobs: int | None
) -> SearchResult:
    from setwise.distributions._chain_search_kernel import list_rows

    n, L = base.shape
    if how.kind == "exhaustive":
        found = _nothing(n, k, L)
        for_each_block(
            lambda rows: list_rows(base[rows], weights, found.sets[rows], found.log_prob[rows]),
            row_blocks(n, 2**L),
            n_jobs,
        )
        return found
    width = {"greedy": 1, "beam": how.width, "epsilon": 1}.get(how.kind, FIRST_WIDTH)
    found = _beam(base, weights, k, max(width, k), n_jobs)
    if how.kind in ("greedy", "beam"):
        return found
    _improve(base, weights, how, found, n_jobs)
    return found


def _beam(
    base: np.ndarray, weights: np.ndarray, k: int, width: int, n_jobs: int | None
) -> SearchResult:
    from setwise.distributions._chain_search_kernel import beam_rows

    n, L = base.shape
    width = min(width, 2 ** min(L, 62))
    found = _nothing(n, k, L)
    # A rank beyond the number of sets that there are stays without one.
    part = min(k, width)
    sets, log_prob = np.zeros((n, part, L), np.int8), np.full((n, part), -np.inf)

    def work(rows: slice) -> None:
        beam_rows(base[rows], weights, width, sets[rows], log_prob[rows], found.gap[rows])

    for_each_block(work, row_blocks(n, width * L), n_jobs)
    found.sets[:, :part], found.log_prob[:, :part] = sets, log_prob
    return found


def _improve(
    base: np.ndarray,
    weights: np.ndarray,
    how: ChainSearch,
    found: SearchResult,
    n_jobs: int | None,
) -> None:
    """Search on, best first, in the rows whose sets are not proven yet."""
    from setwise.distributions._chain_search_kernel import best_first_rows

    rows = np.flatnonzero(found.gap > 0)
    low, high = tails(weights)
    log_epsilon = float(np.log(how.epsilon)) if how.kind == "epsilon" else -np.inf

    def work(block: slice) -> None:
        some = rows[block]
        parts = [a[some] for a in (found.sets, found.log_prob, found.gap, found.pops)]
        best_first_rows(
            base[some], weights, low, high, log_epsilon, how.kind == "a_star", how.max_pops, *parts
        )
        found.sets[some], found.log_prob[some], found.gap[some], found.pops[some] = parts

    for_each_block(work, row_blocks(len(rows), 64 * base.shape[1]), n_jobs)


def tails(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most that labels from i on add to the log-odds of label m, (L + 1, L).

    >>> low, high = tails(np.array([[0.0, 0.0], [-2.0, 0.0]]))
    >>> float(low[0, 1]), float(high[0, 1]), float(low[1, 1])
    (-2.0, 0.0, 0.0)
    """
    L = len(weights)
    low, high = np.zeros((L + 1, L)), np.zeros((L + 1, L))
    low[:L] = np.minimum(weights, 0)[:, ::-1].cumsum(axis=1)[:, ::-1].T
    high[:L] = np.maximum(weights, 0)[:, ::-1].cumsum(axis=1)[:, ::-1].T
    return low, high


def _nothing(n: int, k: int, L: int) -> SearchResult:
    return SearchResult(
        np.zeros((n, k, L), dtype=np.int8), np.full((n, k), -np.inf), np.zeros(n),
        np.zeros(n, np.int64),
    )  # fmt: skip
