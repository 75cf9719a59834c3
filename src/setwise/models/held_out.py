"""Rows kept apart, to judge what was learnt from the others."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from setwise.data.split import holdout
from setwise.errors import DataError
from setwise.models.folds import n_units


def held_out_parts(
    Y: sparse.csr_array,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    share: float,
    random_state: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers to learn from, and to hold out."""
    counts = np.arange(Y.shape[0]) if weight is None else np.flatnonzero(weight)
    if not 0 < share < 1:
        raise DataError(f"validation_share is between 0 and 1, not {share!r}; try 0.2")
    if n_units(weight, groups, Y.shape[0]) < 2:
        kind = "row" if groups is None else "group of rows"
        raise DataError(
            'what is "auto", and the number of rounds, is found on held-out rows, but there is '
            f'only one {kind} with weight; give numbers (and stopping="bound")'
        )
    parts = holdout(
        Y[counts],
        test_size=share,
        groups=None if groups is None else groups[counts],
        random_state=random_state,
    )
    return counts[parts[0]], counts[parts[1]]
