"""Trees of labels: p(y) = Π_l σ(z_l)^y_l σ(-z_l)^(1 - y_l), z_l = logits[y_parent(l), l].

What conditional tree-structured Bayesian networks predict (Batal, Hong and Hauskrecht 2013; Hong,
Batal and Hauskrecht 2015, section 3): each label depends on x and on one other label at most. Every
answer is exact: marginals from parents to children, the likeliest sets by max-product and Lawler's
partition, sizes by polynomials in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.distributions.blocks import for_each_block, row_blocks
from setwise.errors import DataError


@dataclass(frozen=True, eq=False)
class LabelTree(Distribution):
    """Labels that depend on one parent each, for each row of a batch.

    Parameters
    ----------
    logits : array (n, 2, L)
        Log-odds of each label where its parent is off, and where it is on, finite. Of a label
        without a parent only the first count.
    parents : array (L,)
        The number of each label's parent, -1 where it has none; without cycles.
    allow_empty : bool
        Whether the empty set is possible; if not, all answers are given a non-empty set.
    n_jobs : int, optional
        Threads; one per core unless told.

    Examples
    --------
    Two labels that come together or not at all:

    >>> twins = LabelTree(np.array([[[0.4, -3.0], [0.0, 3.0]]]), np.array([-1, 0]))
    >>> twins.mode()[0]
    array([[1, 1]], dtype=int8)
    >>> round(float(twins.correlation()[0, 0, 1]), 3)
    0.902
    """

    logits: np.ndarray  # (n, 2, L)
    parents: np.ndarray  # (L,)
    allow_empty: bool = True
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        shape = self.logits.shape
        if len(shape) != 3 or shape[1] != 2 or shape[2] == 0:
            raise DataError(f"expected logits (n, 2, L) of one label or more, got {shape}")
        if np.shape(self.parents) != (shape[2],):
            raise DataError(
                f"logits have {shape[2]} labels, but parents have shape {np.shape(self.parents)}; "
                "pass one parent a label, -1 where it has none"
            )
        if not np.isfinite(self.logits).all():
            raise DataError("log-odds must be finite; clip them, to ±700 if a label is certain")
        self._order  # noqa: B018 - finds cycles

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.logits.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.logits.shape[2])

    def rows(self, selection: Rows) -> LabelTree:
        """The trees of some rows; a slice shares memory."""
        tree = object.__new__(LabelTree)
        tree.__dict__.update(
            logits=self.logits[selection], parents=self.parents,
            allow_empty=self.allow_empty, n_jobs=self.n_jobs,
        )  # fmt: skip
        return tree

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,)."""
        sets = self._dense_sets(Y)
        has_parent = np.asarray(self.parents) >= 0
        given = sets[:, np.maximum(self.parents, 0)] * has_parent  # (n, L)
        z = np.where(given > 0, self.logits[:, 1], self.logits[:, 0]).astype(np.float64)
        log_prob: np.ndarray = -np.logaddexp(0, (1 - 2 * sets.astype(np.float64)) * z).sum(axis=1)
        if not self.allow_empty:
            log_prob -= self.log_any
            log_prob[~sets.any(axis=1)] = -np.inf
        return log_prob

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        from setwise.distributions._label_tree_kernel import fill_marginals

        marginals = np.empty((self.n_rows, self.n_labels))
        self._each_block(lambda z, rows: fill_marginals(z, self._above, marginals[rows]))
        if not self.allow_empty:
            marginals /= np.exp(self.log_any)[:, None]
        return np.minimum(marginals[:, self._place], 1)

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first."""
        k = positive_count(k, "k")
        if self.allow_empty:
            return self._top(k)
        sets, log_prob = self._top(k + 1)  # of which one at most is empty
        is_empty = (log_prob > -np.inf) & ~sets.any(axis=2)
        out = np.where(is_empty.any(axis=1), is_empty.argmax(axis=1), k)
        kept = np.arange(k) + (np.arange(k) >= out[:, None])  # (n, k)
        chosen = np.take_along_axis(sets, kept[:, :, None], axis=1)
        return chosen, np.take_along_axis(log_prob, kept, axis=1) - self.log_any[:, None]

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        from setwise.distributions._label_tree_kernel import draw_rows

        size, random = positive_count(size, "size"), as_generator(random_state)
        samples = np.empty((size, self.n_rows, self.n_labels), dtype=np.int8)
        for rows in row_blocks(self.n_rows, size * (self.n_labels + 1)):
            z = self._arranged(rows)
            luck = random.random((len(z), size, self.n_labels + 1))
            drawn = np.empty((len(z), size, self.n_labels), dtype=np.int8)
            draw_rows(z, self._above, luck, not self.allow_empty, drawn)
            samples[:, rows, self._order] = drawn.transpose(1, 0, 2)
        return samples

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        return self.sizes(max_size)[0]

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        return self.sizes(max_size)[1]

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ``size_marginals`` and ``size_distribution``, for the price of one."""
        from setwise.distributions._label_tree_kernel import fill_sizes

        S = positive_count(max_size, "max_size")
        joint = np.empty((self.n_rows, self.n_labels, S))
        sizes = np.empty((self.n_rows, S + 1))
        self._each_block(lambda z, rows: fill_sizes(z, self._above, joint[rows], sizes[rows]), S)
        if not self.allow_empty:
            some = np.exp(self.log_any)
            sizes[:, 0] = 0
            sizes /= some[:, None]
            joint /= some[:, None, None]
        return joint[:, self._place], sizes

    def _covariance(self) -> np.ndarray:
        from setwise.distributions._label_tree_kernel import fill_pairs

        pairs = np.empty((self.n_rows, self.n_labels, self.n_labels))
        self._each_block(lambda z, rows: fill_pairs(z, self._above, pairs[rows]), self.n_labels)
        if not self.allow_empty:
            pairs /= np.exp(self.log_any)[:, None, None]
        pairs = pairs[:, self._place][:, :, self._place]
        mean = np.diagonal(pairs, axis1=1, axis2=2)
        centred: np.ndarray = pairs - mean[:, :, None] * mean[:, None, :]
        return centred

    def _top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        from setwise.distributions._label_tree_kernel import top_rows

        sets = np.zeros((self.n_rows, k, self.n_labels), dtype=np.int8)
        log_prob = np.full((self.n_rows, k), -np.inf)
        self._each_block(
            lambda z, rows: top_rows(z, self._above, sets[rows], log_prob[rows]), max(1, k // 8)
        )
        return sets[:, :, self._place], log_prob

    def _each_block(self, work: Any, cost: int = 1) -> None:
        """Call ``work`` with the arranged log-odds of blocks of rows, and where these stand."""
        for_each_block(
            lambda rows: work(self._arranged(rows), rows),
            row_blocks(self.n_rows, 2 * self.n_labels * cost),
            self.n_jobs,
        )

    def _arranged(self, rows: slice) -> np.ndarray:
        """Log-odds with parents first, C-ordered float64."""
        return np.ascontiguousarray(self.logits[rows][:, :, self._order], dtype=np.float64)

    @cached_property
    def _order(self) -> np.ndarray:
        """The labels, parents first, (L,)."""
        return parents_first(np.asarray(self.parents))

    @cached_property
    def _place(self) -> np.ndarray:
        """Where each label stands in that order, (L,)."""
        return np.argsort(self._order)

    @cached_property
    def _above(self) -> np.ndarray:
        """The place of the parent of each place, (L + 1,); 0 is the root, and of itself."""
        place = np.append(self._place, -1)  # what has no parent hangs on the root
        return np.append(0, 1 + place[np.asarray(self.parents)[self._order]])

    @cached_property
    def log_any(self) -> np.ndarray:
        """Log-probability of any label, (n,): where none is on, all parents are off."""
        nothing = -np.logaddexp(0, self.logits[:, 0].astype(np.float64)).sum(axis=1)
        with np.errstate(divide="ignore"):
            log_any: np.ndarray = np.log(-np.expm1(nothing))
        return log_any


def parents_first(parents: np.ndarray) -> np.ndarray:
    """The labels in an order with each after its parent.

    >>> parents_first(np.array([2, -1, 1])).tolist()
    [1, 2, 0]
    """
    L = len(parents)
    if not np.isin(parents, np.arange(-1, L)).all():
        raise DataError(f"parents are label numbers below {L}, or -1 for none, not {parents}")
    depth = np.full(L, -1)
    depth[parents < 0] = 0
    for _ in range(L):
        waiting = (depth < 0) & (depth[parents] >= 0) & (parents >= 0)
        depth[waiting] = depth[parents[waiting]] + 1
    if (depth < 0).any():
        label = int(np.flatnonzero(depth < 0)[0])
        raise DataError(f"label {label} hangs on a cycle of parents; a tree has none")
    return np.argsort(depth, kind="stable")
