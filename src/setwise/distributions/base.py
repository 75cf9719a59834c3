"""What every distribution over label sets answers.

A distribution object stands for a *batch*: n rows, each with its own p(y | x) over the 2^L label
sets. Models return one; decisions ask it. What a class cannot answer exactly it says so in its own
documentation, and what it cannot answer at all it refuses in a sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from setwise.data.labels import as_binary_csr, binary_csr
from setwise.data.randomness import Seed
from setwise.distributions.blocks import row_blocks
from setwise.errors import DataError, LabelMismatch

if TYPE_CHECKING:
    from setwise.distributions.product import Product
    from setwise.distributions.support import Support

# What `rows` takes: anything that numpy takes along one axis, and keeps the axis.
Rows = slice | np.ndarray | list[int]


class Distribution(ABC):
    """p(y | x) for a batch of rows.

    With ``allow_empty=False`` every answer is conditional on a set with at least one label: the
    empty set has probability zero, and everything else is divided by what is left.
    """

    allow_empty: bool

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows the batch has."""

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """How many labels there are."""

    @abstractmethod
    def rows(self, selection: Rows) -> Distribution:
        """The distribution of some rows: a slice, a mask, or row numbers."""

    @abstractmethod
    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,); -inf where it cannot be."""

    def log_prob_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """Log-probability of any number of sets a row, (m,): of ``sets`` (m, L), each for its row.

        ``row`` (m,) rises. Costs one ``log_prob`` for each set of the row that has the most, unless
        a class knows better.
        """
        starts = np.searchsorted(row, np.arange(self.n_rows + 1))
        log_prob = np.empty(len(row))
        for batch in row_blocks(self.n_rows, self.n_labels):
            asked = np.unique(row[starts[batch.start] : starts[batch.stop]])
            part, counts = self.rows(asked), np.diff(starts)[asked]
            for place in range(counts.max(initial=0)):  # a row that has no more: of its last again
                number = starts[asked] + np.minimum(place, counts - 1)
                log_prob[number] = part.log_prob(sets[number])
        return log_prob

    @abstractmethod
    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""

    @abstractmethod
    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first.

        Where fewer than k sets can be, the rest are empty with log-probability -inf. Of sets that
        are equally likely any may come first, the same one in every run.
        """

    @abstractmethod
    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""

    @abstractmethod
    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size); s stands at s - 1."""

    @abstractmethod
    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ``size_marginals`` and ``size_distribution``, at once where that is cheaper."""
        return self.size_marginals(max_size), self.size_distribution(max_size)

    def lightened(self, max_loss: float) -> tuple[Distribution, np.ndarray]:
        """A cheaper distribution, and by how much each row's probabilities may be off, (n,).

        No row is off by more than ``max_loss``; by default nothing is made cheaper.
        """
        return self, np.zeros(self.n_rows)

    def on_support(self, sets: Any) -> Support:
        """The same distribution, given that the set is one of ``sets`` (m, L), each once.

        Support inference (Li 2019, section 3.7.1) passes the sets seen in training. Costs one
        ``log_prob`` a set, unless a class knows better.
        """
        from setwise.distributions.support import Support

        listed = self._listed(sets)
        columns = [
            self.log_prob(listed[np.full(self.n_rows, number)]) for number in range(listed.shape[0])
        ]
        return Support(listed, np.stack(columns, axis=1), allow_empty=self.allow_empty)

    def opinions_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """``log_prob_of`` by each of several models that were averaged, (m, M).

        M is 0 for the answer of a single model.
        """
        return np.empty((len(row), 0))

    def independent_places(self) -> tuple[int, ...]:
        """Which of several models that were averaged have independent labels; 0 for a product."""
        return ()

    def independent_marginals(self, place: int) -> np.ndarray:
        """P(y_l = 1), (n, L), of the model at one of the ``independent_places``.

        These are its labels' own probabilities, whether or not the set may be empty.
        """
        raise DataError("labels are not independent here; ask for marginals()")

    def with_labels(self, curves: Callable[[Product], Product], place: int) -> Distribution:
        """The same, the labels at a place changed by ``curves``; as it is if they are not there."""
        return self

    @abstractmethod
    def _covariance(self) -> np.ndarray:
        """Covariances of the labels, (n, L, L); the diagonal is not used."""

    def mode(self) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest set of each row, int8 (n, L), and its log-probability (n,)."""
        sets, log_prob = self.top(1)
        return sets[:, 0], log_prob[:, 0]

    def correlation(self) -> np.ndarray:
        """Pearson's correlation of the labels, (n, L, L).

        A label that never varies has none; it is counted as uncorrelated, 0, with every other
        label. The diagonal is 1 throughout.
        """
        mean = self.marginals()
        deviation = np.sqrt(np.clip(mean * (1 - mean), 0, None))  # (n, L)
        scale = deviation[:, :, None] * deviation[:, None, :]
        correlation = self._covariance()
        np.divide(correlation, scale, out=correlation, where=scale > 0)
        correlation[scale == 0] = 0
        np.clip(correlation, -1, 1, out=correlation)
        diagonal = np.arange(self.n_labels)
        correlation[:, diagonal, diagonal] = 1
        return correlation

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, selection: int | Rows) -> Distribution:
        if isinstance(selection, int | np.integer):
            number = range(self.n_rows)[selection]  # raises IndexError, counts from the end
            selection = slice(number, number + 1)
        return self.rows(selection)

    def _listed(self, sets: Any) -> sparse.csr_array:
        """A list of sets over these labels, as CSR (m, L)."""
        listed = binary_csr(sets)
        if listed.shape[1] != self.n_labels:
            raise LabelMismatch(
                f"the sets have {listed.shape[1]} labels, but the distribution has "
                f"{self.n_labels}; pass sets over the same labels"
            )
        return listed

    def _dense_sets(self, Y: Any) -> np.ndarray:
        """One label set a row as int8 (n, L); refuses any other shape."""
        if _is_ours(Y) and Y.shape == (self.n_rows, self.n_labels):
            return np.ascontiguousarray(Y)  # of one layout, or kernels are compiled for others
        sets = as_binary_csr(Y)
        if sets.shape != (self.n_rows, self.n_labels):
            raise LabelMismatch(
                f"Y has shape {sets.shape}, but the distribution has {self.n_rows} rows and "
                f"{self.n_labels} labels; pass one label set a row, over the same labels"
            )
        dense: np.ndarray = sets.toarray()
        return dense


def _is_ours(Y: Any) -> bool:
    """Whether it is 0/1 as distributions give it, so that nothing has to be converted."""
    if not isinstance(Y, np.ndarray) or Y.dtype != np.int8:
        return False
    return Y.size == 0 or bool(Y.min() >= 0 and Y.max() <= 1)


def positive_count(value: int, name: str) -> int:
    """The value as an int of at least one."""
    if int(value) != value or value < 1:
        raise DataError(f"{name} is a whole number from 1 on, got {value!r}")
    return int(value)
