"""Gibbs sampling from full conditionals: many chains for many rows at once.

A sweep draws each label in turn given x and all other labels. With y_l = 1 where the log-odds of
label l exceed the logit of a uniform number, the random numbers of a chain can be drawn beforehand.
All rows share them: what a row is told then depends on nothing but the row, and differences between
rows are theirs, not chance's. Linear conditionals are sampled by a compiled kernel, others by
asking their learners label by label, for all rows and chains together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.blocks import for_each_block, row_blocks
from setwise.distributions.step_chain import Conditional


@dataclass(frozen=True)
class Luck:
    """The random numbers of all chains, as limits that log-odds must exceed."""

    limits: np.ndarray  # (chains, 1 + sweeps, L); the first are for where a chain begins
    start: np.ndarray  # (L,) log-odds of the labels there
    burn_in: int  # sweeps that are not kept

    @property
    def n_samples(self) -> int:
        """Sets that are kept for each row."""
        chains, turns, _ = self.limits.shape
        return int(chains * (turns - 1 - self.burn_in))


def draw_luck(
    start: np.ndarray, *, n_chains: int, burn_in: int, n_samples: int, random_state: Seed
) -> Luck:
    """Luck for at least ``n_samples`` sets a row, as many from each chain."""
    kept = -(-n_samples // n_chains)
    uniform = as_generator(random_state).random((n_chains, 1 + burn_in + kept, len(start)))
    return Luck(logit(np.maximum(uniform, np.finfo(float).tiny)), start, burn_in)


def linear_samples(
    base: np.ndarray,
    weights: np.ndarray,
    order: np.ndarray,
    luck: Luck,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Sets drawn for rows with log-odds ``base`` (n, L), int8 (S, n, L).

    ``weights[j, i]`` is what label j adds to the log-odds of label i; ``order`` (L,) are the labels
    in the order of their turns. The limits of ``luck`` are by turn, its start by label.
    """
    from setwise.models.dependency._gibbs_kernel import gibbs

    n, L = base.shape
    turned = np.ascontiguousarray(base[:, order], np.float64)
    among = np.ascontiguousarray(weights[np.ix_(order, order)], np.float64)
    start = luck.start[order]
    samples = np.empty((n, luck.n_samples, L), np.int8)

    def block(rows: slice) -> None:
        gibbs(turned[rows], among, start, luck.limits, luck.burn_in, samples[rows])

    for_each_block(block, row_blocks(n, luck.n_samples * L), n_jobs)
    return by_label(samples.swapaxes(0, 1), order)


def step_samples(
    conditional: Conditional, numbers: np.ndarray, order: np.ndarray, luck: Luck
) -> np.ndarray:
    """Sets drawn for rows by number, int8 (S, n, L), by a function of any kind.

    ``conditional(i, rows, others)`` gives the log-odds of the label whose turn is i, for rows by
    number, given the other labels in the order of their turns.
    """
    chains, turns, L = luck.limits.shape
    n, kept = len(numbers), turns - 1 - luck.burn_in
    rows = np.tile(numbers, chains)
    limits = np.repeat(luck.limits, n, axis=0)  # (chains n, turns, L)
    y = (limits[:, 0] < luck.start[order]).astype(np.int8)
    samples = np.empty((chains, kept, n, L), np.int8)
    for turn in range(1, turns):
        for i in range(L):
            y[:, i] = limits[:, turn, i] < conditional(i, rows, np.delete(y, i, axis=1))
        if turn > luck.burn_in:
            samples[:, turn - 1 - luck.burn_in] = y.reshape(chains, n, L)
    return by_label(samples.reshape(chains * kept, n, L), order)


def by_label(samples: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Samples (S, n, L) whose columns are turns, with labels as columns."""
    labelled: np.ndarray = samples[:, :, np.argsort(order)]
    return labelled


def without_empty_rows(samples: np.ndarray, likeliest: np.ndarray) -> np.ndarray:
    """Samples (S, n, L) in which every row has a set that is not empty.

    A row whose draws are all empty gets its ``likeliest`` label (n,) as one more of its sets, in
    place of the last, so that something is possible where the empty set is not.
    """
    bare = np.flatnonzero(~samples.any(axis=(0, 2)))
    samples[-1, bare, likeliest[bare]] = 1
    return samples
