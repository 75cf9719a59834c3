"""Training rows as EM sees them: features, label sets and weights, and pieces of each."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from threading import Lock, get_ident
from typing import Any

import numpy as np
from scipy import sparse

from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.losses import padded_width
from setwise.learners.sparse_softmax import Bordered, bordered

_BINNING = Lock()  # components are improved side by side, and only the first is to bin


class Scratch:
    """Arrays that a thread uses again and again: memory is asked for once, and not scattered."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, str], np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, int], dtype: Any) -> np.ndarray:
        """An array of any content, until the same thread asks for the name again."""
        size, key = shape[0] * shape[1], (get_ident(), name)
        flat = self._arrays.get(key)
        if flat is None or flat.size < size or flat.dtype != dtype:
            self._arrays.pop(key, None)  # the old one makes room for the new one
            flat = self._arrays[key] = np.empty(size, dtype)
        return flat[:size].reshape(shape)

    def clear(self) -> None:
        """Forget the arrays of all threads."""
        self._arrays.clear()


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """n rows with their label sets; X is an array, or a canonical CSR array."""

    X: Any  # (n, d), in the precision to work in; in the coordinates of a basis, maybe
    Y: sparse.csr_array  # (n, L)
    weight: np.ndarray  # (n,) above zero
    plain: Any = None  # (n, d) X without the basis; None where that is X itself
    scratch: Scratch = field(default_factory=Scratch, repr=False)

    def seen_by(self, learner: Any) -> Any:
        """The rows as a learner wants them: some gain by the basis, others would lose."""
        return self.X if learner.in_basis else self.features

    @property
    def features(self) -> Any:
        """The rows without the basis, (n, d)."""
        return self.X if self.plain is None else self.plain

    @cached_property
    def bordered(self) -> Bordered:
        """Sparse rows as a softmax regression takes them: made once, for all rounds."""
        return bordered(self.X)

    def binned(self) -> BinnedRows:
        """The features as trees take them, binned once for all learners."""
        with _BINNING:
            return self._binned

    @cached_property
    def _binned(self) -> BinnedRows:
        return BinnedRows(self.features)

    def give_back_memory(self) -> None:
        """Drop scratch arrays, and return what is free to the system where that is worth it."""
        self.scratch.clear()
        give_back_memory(self.X)

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.Y.shape[1])

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def frequency(self) -> np.ndarray:
        """The share of rows with each label, never quite 0 or 1, (L,)."""
        frequency = (self.Y.T @ self.weight + 0.5) / (self.total + 1)
        clipped: np.ndarray = np.clip(frequency, CERTAIN, 1 - CERTAIN)
        return clipped

    def positive(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """How much of the rows' weight (m,) has each label, (L,)."""
        spread = np.zeros(len(self.weight))
        spread[rows] = weight
        positive: np.ndarray = self.Y.T @ spread
        return positive

    def targets(self, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Some labels of some rows as an array of 0 and 1 in the precision of X."""
        T = np.zeros((len(rows), len(labels)), self.X.dtype)
        self._fill_targets(rows, labels, T)
        return T

    def targets_with_prior(self, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The same with a last row of overall frequencies, and padded as solvers want it.

        In a scratch array: it is gone when the same thread asks for others.
        """
        shape = (len(rows) + 1, padded_width(len(labels)))
        T = self.scratch.array("targets", shape, self.X.dtype)
        T[:] = 0
        self._fill_targets(rows, labels, T)
        T[-1, : len(labels)] = self.frequency[labels]
        return T

    def _fill_targets(self, rows: np.ndarray, labels: np.ndarray, T: np.ndarray) -> None:
        from setwise.models.cbm._likelihood_kernel import fill_targets

        fill_targets(self.Y.indptr, self.Y.indices, rows, places(labels, self.n_labels), T)

    def log_likelihood(self, rows: np.ndarray, labels: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Log-probabilities of what the rows have of the labels, (m,), by logits Z (m, A)."""
        from setwise.models.cbm._likelihood_kernel import fill_log_likelihood

        found = np.empty(len(rows))
        place = places(labels, self.n_labels)
        fill_log_likelihood(Z, self.Y.indptr, self.Y.indices, rows, place, found)
        return found


def give_back_memory(X: Any) -> None:
    """Return what is free to the system, if X is so large that this is worth the time."""
    numbers = X.data if sparse.issparse(X) else X
    if numbers.nbytes >= WORTH_GIVING_BACK:
        _malloc_trim()(0)


@cache
def _malloc_trim() -> Callable[[int], Any]:
    """The C library's; one that does nothing where it has none.

    That of Linux keeps freed memory, in holes and at the end of each thread's heap, up to twice the
    largest array it has seen: without this, a fit would hold on to more than it ever uses.
    """
    try:
        found: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda _: None
    return found


WORTH_GIVING_BACK = 2**22  # bytes of X
CERTAIN = 1e-12  # how far from 0 and 1 frequencies stay, however much the rows weigh
PIECE = 2**10  # rows: few enough that some copies of them are nothing beside X


def row_pieces(n: int) -> Iterator[slice]:
    """All rows, a piece at a time.

    >>> len(list(row_pieces(20_000)))
    20
    """
    return (slice(start, min(start + PIECE, n)) for start in range(0, n, PIECE))


def places(items: np.ndarray, total: int) -> np.ndarray:
    """At which place each of ``total`` numbers stands in ``items``, or -1.

    >>> places(np.array([3, 1]), 4).tolist()
    [-1, 1, -1, 0]
    """
    place = np.full(total, -1, dtype=np.int32)
    place[items] = np.arange(len(items), dtype=np.int32)
    return place


def log_prior(log_odds: np.ndarray, frequency: np.ndarray) -> float:
    """What one row with the labels' overall frequencies says of probabilities: a Beta prior."""
    z = log_odds.astype(np.float64)
    return float((frequency * z - np.logaddexp(0, z)).sum())
