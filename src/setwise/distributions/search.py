"""The likeliest sets of a Bernoulli mixture, exactly.

Li et al. 2016, section 4, and the thesis, section 3.6: each component lists its sets in decreasing
probability, a set's probability under the whole mixture is computed when it first appears, and the
threshold algorithm (Algorithm 3.3) stops when the best found reaches the sum over components of
their next terms, which bounds every set not yet seen. Four things make it fast:

- a component's list comes from a heap with two successors a set (``_flips_kernel.py``);
- labels are fixed beforehand on which the answers can be shown to agree, and again when better
  sets are known: most rows are decided before any list is opened (``narrow``);
- the component with the largest next term is asked, not each in turn;
- where one set is sought and the first few looks do not settle it, branch and bound over the open
  labels mostly does (``_branch_kernel.py``).

Rows whose k-th set is far less likely than the first are searched again in logs.

The search may take exponential time where components are many and unsure. ``max_pops`` bounds the
number of sets looked at; beyond it the best found are returned with a gap that is certain.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from setwise.distributions.blocks import for_each_block, private_copy, row_blocks
from setwise.errors import NotConverged

# A hundredth of a second for the hardest rows; trained models rarely need fifty. 48 bytes each.
MAX_POPS = 10_000
# Sets e^-FAR times as likely as the first are left to the search in logs; floats end at e^-708.
FAR = 600.0


@dataclass(frozen=True)
class SearchResult:
    """The best sets found in each row, and how certain it is that there are no better ones."""

    sets: np.ndarray  # (n, k, L) int8, best first
    log_prob: np.ndarray  # (n, k)    -inf where there is no further set
    gap: np.ndarray  # (n,)      no other set exceeds log_prob[:, -1] by more
    pops: np.ndarray  # (n,)      sets looked at

    @property
    def exact(self) -> np.ndarray:
        """Whether the sets are the likeliest, up to 1e-12 of their probability; bool (n,)."""
        exact: np.ndarray = self.gap == 0
        return exact


@dataclass(frozen=True)
class ModeResult:
    """The best set found in each row, and how certain it is that there is no better one."""

    Y: np.ndarray  # (n, L) int8
    log_prob: np.ndarray  # (n,)
    gap: np.ndarray  # (n,)   no set exceeds log_prob by more; 0 where exact
    exact: np.ndarray  # (n,)   bool
    pops: np.ndarray  # (n,)   sets looked at


def search(
    log_weights: np.ndarray,
    logits: np.ndarray,
    k: int,
    *,
    max_pops: int = MAX_POPS,
    n_jobs: int | None = None,
    in_logs: bool = False,
) -> SearchResult:
    """The k likeliest sets of each row of a mixture; the weights need not sum to one."""
    from setwise.distributions._search_kernel import search_rows

    n, K, L = logits.shape
    result = SearchResult(
        np.zeros((n, k, L), dtype=np.int8), np.full((n, k), -np.inf), np.zeros(n),
        np.zeros(n, np.int64),
    )  # fmt: skip

    def work(block: slice) -> None:
        search_rows(
            private_copy(log_weights, block),
            private_copy(logits, block),
            max_pops,
            result.sets[block],
            result.log_prob[block],
            result.gap[block],
            result.pops[block],
        )

    far = np.arange(n)
    if not in_logs:
        for_each_block(work, row_blocks(n, K * L), n_jobs)
        far = _rows_out_of_range(result)
    if len(far):
        _search_in_logs(log_weights, logits, far, max_pops, n_jobs, result)
    return result


def _rows_out_of_range(result: SearchResult) -> np.ndarray:
    """Numbers of the rows whose last set underflowed, or may have."""
    k, L = result.sets.shape[1:]
    last = min(k, 2 ** min(L, 62)) - 1  # of the sets that there are
    is_near = result.log_prob[:, last] >= result.log_prob[:, 0] - FAR
    return np.flatnonzero(~is_near & (result.gap < np.inf))  # without end: too few were looked at


def _search_in_logs(
    log_weights: np.ndarray,
    logits: np.ndarray,
    rows: np.ndarray,
    max_pops: int,
    n_jobs: int | None,
    result: SearchResult,
) -> None:
    """Search some rows again, from the sets that were found there, with ``max_pops`` anew."""
    from setwise.distributions._log_search_kernel import search_rows_in_logs

    def work(block: slice) -> None:
        some = rows[block]
        z = private_copy(logits[some], slice(None))
        weights = private_copy(log_weights[some], slice(None))
        parts = [a[some] for a in (result.sets, result.log_prob, result.gap, result.pops)]
        search_rows_in_logs(weights, z, max_pops, *parts)
        result.sets[some], result.log_prob[some], result.gap[some], result.pops[some] = parts

    for_each_block(work, row_blocks(len(rows), logits[0].size), n_jobs)


def search_nonempty(
    log_weights: np.ndarray,
    logits: np.ndarray,
    k: int,
    *,
    max_pops: int = MAX_POPS,
    n_jobs: int | None = None,
    in_logs: bool = False,
) -> SearchResult:
    """The k likeliest sets with at least one label: the empty set is found and left out.

    Rows where it is found are searched again for one set more, with ``max_pops`` anew.
    """
    first = search(log_weights, logits, k, max_pops=max_pops, n_jobs=n_jobs, in_logs=in_logs)
    with_empty = ((first.log_prob > -np.inf) & ~first.sets.any(axis=2)).any(axis=1)  # (n,)
    rows = np.flatnonzero(with_empty)
    if len(rows):
        more = search(
            log_weights[rows], logits[rows], k + 1, max_pops=max_pops, n_jobs=n_jobs,
            in_logs=in_logs,
        )  # fmt: skip
        first.sets[rows], first.log_prob[rows] = _without_empty(more)
        first.gap[rows] = more.gap
        first.pops[rows] += more.pops
    return first


def _without_empty(result: SearchResult) -> tuple[np.ndarray, np.ndarray]:
    """The sets but the empty one, which stands among the k + 1 of each row, and their logs."""
    is_empty = (result.log_prob > -np.inf) & ~result.sets.any(axis=2)  # (n, k + 1)
    # A search cut short may have missed the empty set, or found fewer: the last goes then.
    out = np.where(is_empty.any(axis=1), is_empty.argmax(axis=1), is_empty.shape[1] - 1)
    ranks = np.arange(is_empty.shape[1] - 1)
    kept = ranks + (ranks >= out[:, None])  # (n, k)
    sets = np.take_along_axis(result.sets, kept[:, :, None], axis=1)
    return sets, np.take_along_axis(result.log_prob, kept, axis=1)


def warn_if_inexact(result: SearchResult, max_pops: int) -> None:
    """Say in how many rows the search was cut short."""
    n_open = int((~result.exact).sum())
    if n_open:
        warnings.warn(
            f"the likeliest sets of {n_open} of {len(result.gap)} rows are the best of "
            f"{max_pops} looked at, not proven best; mode_certified() gives the gaps, "
            "a larger max_pops closes them",
            NotConverged,
            stacklevel=3,
        )
