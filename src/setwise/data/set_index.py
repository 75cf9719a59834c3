"""Where label sets stand in a list of them, found again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.data.labels import binary_csr, distinct_sets, row_hashes, rows_equal
from setwise.errors import LabelMismatch


class SetIndex:
    """A list of label sets that knows where each of them stands.

    Sets are looked up by a 64-bit hash and then compared entry by entry, so that answers are exact;
    a question costs O(nnz + n log m).

    Parameters
    ----------
    sets : sparse array or array (m, L) of 0 and 1

    Attributes
    ----------
    sets : CSR array (m, L)
    has_repeats : bool, whether a set stands in the list twice

    Examples
    --------
    >>> index = SetIndex(np.array([[1, 0], [1, 1]]))
    >>> index.find(np.array([[1, 1], [0, 0], [1, 0]]))
    array([ 1, -1,  0])
    """

    def __init__(self, sets: Any) -> None:
        self.sets = binary_csr(sets)
        self.has_repeats = False
        for self._seed in range(64):
            hashes = row_hashes(self.sets, self._seed)
            self._order = np.argsort(hashes, kind="stable")
            self._hashes = hashes[self._order]
            if (self._hashes[1:] != self._hashes[:-1]).all():
                return
            if len(distinct_sets(self.sets)) < len(self):  # no hash tells these apart
                self.has_repeats = True
                return
        raise AssertionError("64 hashes in a row collided")  # pragma: no cover

    def __len__(self) -> int:
        return int(self.sets.shape[0])

    def find(self, Y: Any) -> np.ndarray:
        """The place of each asked set, (n,), of the first that is equal; -1 where there is none."""
        asked = binary_csr(Y)
        if asked.shape[1] != self.sets.shape[1]:
            raise LabelMismatch(
                f"Y has {asked.shape[1]} labels, but the sets it is looked up in have "
                f"{self.sets.shape[1]}; pass sets over the same labels"
            )
        if len(self) == 0:
            return np.full(asked.shape[0], -1)
        near = np.searchsorted(self._hashes, row_hashes(asked, self._seed))
        place = self._order[np.minimum(near, len(self) - 1)]
        found: np.ndarray = np.where(rows_equal(asked, self.sets[place]), place, -1)
        return found


def as_index(sets: Any) -> SetIndex:
    """The sets with an index; one that has it already as it is."""
    return sets if isinstance(sets, SetIndex) else SetIndex(sets)
