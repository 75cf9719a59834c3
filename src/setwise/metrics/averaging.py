"""Row weights, ratios that may be 0/0, and the mean that leaves out what is undefined."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.errors import DataError


def checked_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """``sample_weight`` as floats (n,), or None where every row counts once."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight needs one number for each of the {n_rows} rows, "
            f"but has shape {weights.shape}; pass as many weights as rows"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"sample_weight must be finite and not negative, but row {wrong[0]} has "
            f"{weights[wrong[0]]}; leave a row out by giving it weight 0"
        )
    if not weights.any():
        raise DataError("every sample_weight is 0, so no row counts; give one a positive weight")
    return weights


def mean_of_defined(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The weighted mean of the values that are not nan; nan where none is left.

    >>> mean_of_defined(np.array([1.0, np.nan, 0.0]))
    0.5
    """
    defined = ~np.isnan(values)
    if weights is None:
        weights = np.ones(len(values))
    total = weights[defined].sum()
    if total == 0:
        return float("nan")
    # Not a dot product: waking the threads of a BLAS library costs more than the sum itself.
    return float((weights[defined] * values[defined]).sum() / total)


def divided(
    numerator: np.ndarray, denominator: np.ndarray, zero_division: float = np.nan
) -> np.ndarray:
    """The quotient, and ``zero_division`` where the denominator is 0."""
    quotient = np.full(len(denominator), float(zero_division))
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient
