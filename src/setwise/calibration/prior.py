"""How often each label set was seen: the prior of a candidate (Li 2019, section 4.4)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from setwise.data.labels import as_binary_csr, distinct_sets
from setwise.data.set_index import SetIndex
from setwise.storage import storable


@storable
class SetPrior:
    """The share of rows that have a set; zero for a set that was never seen.

    Attributes
    ----------
    sets_ : csr_array (m, L), each set once; shares_ : (m,) their shares of the weight;
    half_row_ : half the share of one row, for logs of sets that were never seen.

    Examples
    --------
    >>> prior = SetPrior().fit(np.array([[1, 0], [1, 0], [0, 1], [1, 1]]))
    >>> prior.shares(np.array([[1, 0], [0, 0]])).tolist()
    [0.5, 0.0]
    """

    sets_: sparse.csr_array
    shares_: np.ndarray
    half_row_: float

    def fit(self, Y: Any, sample_weight: Any = None) -> Self:
        """Count the sets of rows Y (n, L); rows without weight are as if absent."""
        Y = as_binary_csr(Y)
        n = Y.shape[0]
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        seen, counted = distinct_sets(Y[weight > 0]), weight[weight > 0]
        self.sets_ = seen.sets
        self.shares_ = np.bincount(seen.inverse, counted, minlength=len(seen)) / counted.sum()
        self.half_row_ = 0.5 / max(len(counted), 1)
        return self

    def shares(self, sets: Any) -> np.ndarray:
        """The shares of some sets (m, L), (m,)."""
        place = SetIndex(self.sets_).find(sets)
        found: np.ndarray = np.append(self.shares_, 0.0)[place]  # the last for none, -1
        return found

    def log_shares(self, sets: Any) -> np.ndarray:
        """Their logs, (m,); a set that was never seen counts as half a row."""
        return np.asarray(np.log(self.shares(sets) + self.half_row_))
