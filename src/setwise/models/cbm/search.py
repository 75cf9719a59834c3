"""The number of rounds that held-out rows like best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from setwise.models.cbm.checkpoint import Checkpoint
from setwise.models.cbm.fit import Fitted, Settings, fit_mixture
from setwise.models.cbm.progress import Report
from setwise.models.cbm.stopping import HeldOut, Score, best_rounds, mean_log_likelihood
from setwise.models.held_out import held_out_parts


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
