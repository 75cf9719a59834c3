"""What a solver hands back."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from setwise.errors import NotConverged


class Solution(NamedTuple):
    """Weights of a bank or a softmax, and how they were reached."""

    weights: np.ndarray  # (d + 1, L), the biases last
    values: np.ndarray  # (L,) objectives
    converged: np.ndarray  # (L,) bool
    n_iter: int

    def replaced(self, targets: np.ndarray, part: Solution) -> Solution:
        """The solution with some of its targets replaced by those of a part."""
        weights, values = self.weights.copy(), self.values.copy()
        converged = self.converged.copy()
        weights[:, targets] = part.weights
        values[targets] = part.values
        converged[targets] = part.converged
        return Solution(weights, values, converged, self.n_iter + part.n_iter)


def warn_if_short(converged: np.ndarray, *, n_iter: int, tol: float, what: str) -> None:
    """Warn if something has not converged, unless ``tol`` is 0: then nobody asked for it."""
    short = int((~converged).sum())
    if tol > 0 and short:
        warnings.warn(
            f"{short} of {len(converged)} {what} had not converged after {n_iter} iterations; "
            "raise max_iter, scale the features to similar size, or lower C",
            NotConverged,
            stacklevel=3,
        )
