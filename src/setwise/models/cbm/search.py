"""The number of rounds that held-out rows like best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from setwise.data.split import holdout
from setwise.errors import DataError
from setwise.models.cbm.checkpoint import Checkpoint
from setwise.models.cbm.fit import Fitted, Settings, fit_mixture
from setwise.models.cbm.progress import Report
from setwise.models.cbm.stopping import HeldOut, Score, best_rounds, mean_log_likelihood


class Search(NamedTuple):
    """What came of it."""

    fitted: Fitted  # on the rows that were not held out
    curve: list[float]  # the held-out score after each round

    @property
    def rounds(self) -> int:
        """How many rounds were best."""
        return best_rounds(self.curve)


def find_rounds(
    X: Any,
    Y: sparse.csr_array,
    weight: np.ndarray,
    groups: np.ndarray | None,
    settings: Settings,
    *,
    score: Score = mean_log_likelihood,
    patience: int,
    share: float,
    allow_empty: bool,
    report: Report | None = None,
    checkpoint: Checkpoint | None = None,
) -> Search:
    """EM on all rows but a share of them, which are held out and score each round.

    Rows of one group are never separated; rows without weight take no part.
    """
    train, test = held_out_parts(Y, weight, groups, share, settings.random_state)
    held_out = judges(X, Y, weight, test, score, patience, allow_empty, settings.n_jobs)
    fitted = fit_mixture(
        X[train], Y[train], weight[train], settings,
        report=report, checkpoint=checkpoint, held_out=held_out,
    )  # fmt: skip
    return Search(fitted, [done["held_out"] for done in fitted.history])


def judges(
    X: Any,
    Y: sparse.csr_array,
    weight: np.ndarray,
    rows: np.ndarray,
    score: Score,
    patience: int,
    allow_empty: bool,
    n_jobs: int | None,
) -> HeldOut:
    """Those rows as what judges a mixture."""
    has_empty = bool((np.diff(Y[rows].indptr) == 0).any())
    # A set that cannot be has no log-likelihood; where one is there, the empty set must be able to.
    possible = allow_empty or (score is mean_log_likelihood and has_empty)
    return HeldOut(X[rows], Y[rows], weight[rows], score, patience, possible, n_jobs)


def held_out_parts(
    Y: sparse.csr_array,
    weight: np.ndarray,
    groups: np.ndarray | None,
    share: float,
    random_state: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers to learn from, and to hold out."""
    counts = np.flatnonzero(weight)
    if not 0 < share < 1:
        raise DataError(f"validation_share is between 0 and 1, not {share!r}; try 0.2")
    if len(counts) < 2:
        raise DataError(
            'what is "auto", and the number of rounds, is found on held-out rows, but there is '
            'only one row with weight; give numbers, and stopping="bound"'
        )
    parts = holdout(
        Y[counts],
        test_size=share,
        groups=None if groups is None else groups[counts],
        random_state=random_state,
    )
    return counts[parts[0]], counts[parts[1]]
