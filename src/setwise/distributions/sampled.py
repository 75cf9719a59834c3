"""The empirical distribution of samples: what a model gives that can only be drawn from.

Every answer is that of the samples taken as the whole truth: a set that was not drawn has
probability zero. Answers are exact for this distribution and approximate its source with an error
of order 1 / sqrt(number of samples).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.base import Distribution, Rows, positive_count
from setwise.errors import DataError


@dataclass(frozen=True, eq=False)
class Sampled(Distribution):
    """The sets drawn for each row of a batch, each with its weight.

    Parameters
    ----------
    samples : array (S, n, L) of 0 and 1
        S sets for each of n rows.
    log_weights : array (S, n), optional
        Logs of what the samples count; each row is normalised. All alike unless given.
    allow_empty : bool
        Whether the empty set is possible; if not, samples of it count for nothing.

    Examples
    --------
    >>> dist = Sampled(np.array([[[1, 0]], [[1, 1]], [[1, 0]], [[0, 0]]], dtype=np.int8))
    >>> Y, log_prob = dist.mode()
    >>> float(np.exp(log_prob[0]))
    0.5
    """

    samples: np.ndarray  # (S, n, L)
    log_weights: np.ndarray | None = None  # (S, n)
    allow_empty: bool = True

    def __post_init__(self) -> None:
        if self.samples.ndim != 3 or 0 in self.samples.shape[::2]:
            raise DataError(
                f"expected samples (S, n, L), one or more of one label or more, got shape "
                f"{self.samples.shape}"
            )
        extremes = self.samples.min(initial=0), self.samples.max(initial=0)
        if self.samples.dtype.kind not in "biu" or extremes[0] < 0 or extremes[1] > 1:
            raise DataError("samples hold 0 and 1, as integers or booleans; pass (samples > 0)")
        if self.log_weights is not None and self.log_weights.shape != self.samples.shape[:2]:
            raise DataError(
                f"samples have shape {self.samples.shape} but log_weights "
                f"{self.log_weights.shape}; pass one weight a sample and row, (S, n)"
            )
        bad = np.flatnonzero(~np.isfinite(self._log_w.max(axis=1)))
        if len(bad):
            raise DataError(
                f"no sample of row {bad[0]} is possible; draw more, or allow the empty set"
            )

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return int(self.samples.shape[1])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.samples.shape[2])

    def rows(self, selection: Rows) -> Sampled:
        """The samples of some rows."""
        weights = None if self.log_weights is None else self.log_weights[:, selection]
        return Sampled(self.samples[:, selection], weights, self.allow_empty)

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log of the weight of the samples that equal the row's set, (n,); -inf if none does."""
        equal = (self.samples == self._dense_sets(Y)).all(axis=2)  # (S, n)
        log_prob = np.full(self.n_rows, -np.inf)
        drawn = (equal.T & (self._log_w > -np.inf)).any(axis=1)
        matching = np.where(equal.T, self._log_w, -np.inf)[drawn]
        log_prob[drawn] = logsumexp(matching, axis=1)
        return log_prob

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        return np.asarray(np.einsum("ns,snl->nl", self._w, self.samples))

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k heaviest sets, int8 (n, k, L), and their log-probabilities (n, k), best first."""
        k = positive_count(k, "k")
        sets = np.zeros((self.n_rows, k, self.n_labels), dtype=np.int8)
        log_prob = np.full((self.n_rows, k), -np.inf)
        for row in range(self.n_rows):
            first, weight = self._distinct(row)
            best = np.argsort(-weight, kind="stable")[:k]
            sets[row, : len(best)] = self.samples[first[best], row]
            log_prob[row, : len(best)] = np.log(weight[best])
        return sets, log_prob

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` of the samples of each row, drawn with replacement, int8 (size, n, L)."""
        random = as_generator(random_state)
        size = positive_count(size, "size")
        chosen = [random.choice(len(w), size, p=w) for w in self._w]
        drawn = [self.samples[which, row] for row, which in enumerate(chosen)]
        return np.stack(drawn, axis=1).astype(np.int8)

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        S = positive_count(max_size, "max_size")
        joint = np.empty((self.n_rows, self.n_labels, S))
        for s in range(1, S + 1):
            weight = self._w * (self._sizes == s)
            joint[:, :, s - 1] = np.einsum("ns,snl->nl", weight, self.samples)
        return joint

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        S = positive_count(max_size, "max_size")
        columns = [(self._w * (self._sizes == s)).sum(axis=1) for s in range(S + 1)]
        return np.stack(columns, axis=1)

    def _covariance(self) -> np.ndarray:
        mean = self.marginals()
        covariance = np.empty((self.n_rows, self.n_labels, self.n_labels))
        for row in range(self.n_rows):
            centred = self.samples[:, row] - mean[row]  # (S, L)
            covariance[row] = (centred * self._w[row][:, None]).T @ centred
        return covariance

    def _distinct(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The first sample of each possible set of a row, and the set's weight."""
        packed = np.packbits(self.samples[:, row].astype(bool), axis=1)  # (S, bytes)
        keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        weight = np.bincount(group, self._w[row])
        return first[weight > 0], weight[weight > 0]

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Labels of each sample, (n, S)."""
        sizes: np.ndarray = self.samples.sum(axis=2, dtype=np.int64).T
        return sizes

    @cached_property
    def _log_w(self) -> np.ndarray:
        """Normalised log weights, (n, S)."""
        given = self.log_weights
        weights = np.zeros(self.samples.shape[:2]) if given is None else given
        scores = weights.astype(np.float64).T
        if not self.allow_empty:
            scores = np.where(self._sizes == 0, -np.inf, scores)
        with np.errstate(invalid="ignore"):  # a row without a possible sample is refused later
            normalised: np.ndarray = scores - logsumexp(scores, axis=1, keepdims=True)
        return normalised

    @cached_property
    def _w(self) -> np.ndarray:
        weight = np.exp(self._log_w)
        normalised: np.ndarray = weight / weight.sum(axis=1, keepdims=True)
        return normalised
