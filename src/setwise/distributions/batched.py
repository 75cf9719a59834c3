"""A distribution whose rows are made when they are asked about, a batch at a time.

A mixture of K components over L labels holds K L numbers a row: for a corpus that is too much to
keep. Here a function makes the distribution of any rows; every answer is put together from answers
about batches, each forgotten before the next is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.randomness import Seed, as_generator
from setwise.distributions.base import Distribution, Rows
from setwise.distributions.product import Product
from setwise.distributions.search import MAX_POPS, ModeResult
from setwise.distributions.support import Support

BATCH_CELLS = 2**24  # numbers that the distribution of a batch may hold: 64 MB as float32


@dataclass(frozen=True, eq=False)
class Batched(Distribution):
    """Rows of a distribution, made by ``make`` from their numbers.

    Parameters
    ----------
    make : function from an array of row numbers to their ``Distribution``
    numbers : array (n,)
        Which rows these are.
    labels : int
        How many labels there are.
    batch_size : int
        Rows that are made at a time.
    allow_empty : bool
        As in what ``make`` returns.

    Examples
    --------
    >>> from setwise.distributions import Product
    >>> z = np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    >>> lazy = Batched(lambda rows: Product(z[rows]), np.arange(3), labels=2, batch_size=2)
    >>> lazy.mode()[0].tolist()
    [[1, 0], [1, 1], [0, 1]]
    """

    make: Callable[[np.ndarray], Distribution]
    numbers: np.ndarray
    labels: int
    batch_size: int
    allow_empty: bool = True

    @property
    def n_rows(self) -> int:
        """How many rows the batch has."""
        return len(self.numbers)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return self.labels

    def rows(self, selection: Rows) -> Distribution:
        """The distribution of some rows; few of them are made at once."""
        chosen = self.numbers[selection]
        if len(chosen) <= self.batch_size:
            return self.make(chosen)
        return replace(self, numbers=chosen)

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log-probability of one label set a row, (n,)."""
        sets = self._dense_sets(Y)
        return np.concatenate([part.log_prob(sets[rows]) for rows, part in self._parts()])

    def log_prob_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """Log-probability of any number of sets a row, (m,)."""
        return self._of_each(sets, row, lambda part, *asked: part.log_prob_of(*asked))

    def marginals(self) -> np.ndarray:
        """P(y_l = 1), (n, L)."""
        return np.concatenate([part.marginals() for _, part in self._parts()])

    def mode(self, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest set of each row, int8 (n, L), and its log-probability (n,)."""
        return _joined([part.mode(**options) for _, part in self._parts()])

    def mode_certified(self, *, max_pops: int = MAX_POPS) -> ModeResult:
        """The likeliest sets with their gaps to a proven bound, where the parts know them."""
        found: list[ModeResult] = []
        part: Any
        for _, part in self._parts():
            found.append(part.mode_certified(max_pops=max_pops))
        columns = {
            field.name: np.concatenate([getattr(result, field.name) for result in found])
            for field in fields(ModeResult)
        }
        return ModeResult(**columns)

    def top(self, k: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """The k likeliest sets, int8 (n, k, L), and their log-probabilities (n, k), best first."""
        return _joined([part.top(k, **options) for _, part in self._parts()])

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """``size`` independent sets of each row, int8 (size, n, L)."""
        random = as_generator(random_state)
        return np.concatenate([part.sample(size, random) for _, part in self._parts()], axis=1)

    def size_marginals(self, max_size: int) -> np.ndarray:
        """P(y_l = 1, |y| = s) for s = 1 to ``max_size``, (n, L, max_size)."""
        return self.sizes(max_size)[0]

    def size_distribution(self, max_size: int) -> np.ndarray:
        """P(|y| = s) for s = 0 to ``max_size``, (n, max_size + 1)."""
        return np.concatenate([part.size_distribution(max_size) for _, part in self._parts()])

    def sizes(self, max_size: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ``size_marginals`` and ``size_distribution``."""
        return _joined([part.sizes(max_size) for _, part in self._parts()])

    def lightened(self, max_loss: float) -> tuple[Distribution, np.ndarray]:
        """A cheaper distribution, and by how much each row's probabilities may be off, (n,)."""
        lost = [part.lightened(max_loss)[1] for _, part in self._parts()]
        light = replace(self, make=lambda numbers: self.make(numbers).lightened(max_loss)[0])
        return light, np.concatenate(lost)

    def opinions_of(self, sets: sparse.csr_array, row: np.ndarray) -> np.ndarray:
        """``log_prob_of`` by each averaged model, (m, M)."""
        return self._of_each(sets, row, lambda part, *asked: part.opinions_of(*asked))

    def independent_places(self) -> tuple[int, ...]:
        """Which of several models have independent labels: the same in all batches."""
        return self.rows(slice(0, 1)).independent_places()

    def independent_marginals(self, place: int) -> np.ndarray:
        """P(y_l = 1), (n, L), of the model at one of the ``independent_places``."""
        return np.concatenate([part.independent_marginals(place) for _, part in self._parts()])

    def with_labels(self, curves: Callable[[Product], Product], place: int) -> Batched:
        """The same with the labels at a place changed, when they are made."""
        return replace(self, make=lambda numbers: self.make(numbers).with_labels(curves, place))

    def on_support(self, sets: Any) -> Support:
        """The same distribution, given that the set is one of ``sets`` (m, L), each once."""
        parts = [part.on_support(sets) for _, part in self._parts()]
        scores = np.concatenate([part.log_scores for part in parts])
        return Support(self._listed(sets), scores, allow_empty=self.allow_empty)

    def _covariance(self) -> np.ndarray:
        return np.concatenate([part._covariance() for _, part in self._parts()])

    def _of_each(
        self, sets: sparse.csr_array, row: np.ndarray, ask: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """What each batch says of the sets (m, L) of its rows, behind one another."""
        said = []
        for rows, part in self._parts():
            begin, end = np.searchsorted(row, [rows.start, rows.stop])
            said.append(ask(part, sets[begin:end], row[begin:end] - rows.start))
        return np.concatenate(said)

    def _parts(self) -> Iterator[tuple[slice, Distribution]]:
        """Batches of rows with their distributions, one at a time."""
        for start in range(0, max(self.n_rows, 1), self.batch_size):
            rows = slice(start, start + self.batch_size)
            yield rows, self.make(self.numbers[rows])


def _joined(pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    first, second = zip(*pairs, strict=True)
    return np.concatenate(first), np.concatenate(second)
