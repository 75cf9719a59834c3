"""How right candidates are, and calibrators cross-fitted to it.

A calibrator of any kind is fitted once for each fold of rows, without it; the answer for new rows
is the mean of all. The fold left out says when to stop growing trees, and what each copy says of
its own fold is confidence that is out of fold, which ``AutoAccept`` may use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from setwise.calibration.candidates import Candidates
from setwise.calibration.features import CandidateFeatures
from setwise.calibration.first_stage import folds_of
from setwise.calibration.kinds import Judged, Kind
from setwise.data.labels import rows_equal
from setwise.errors import DataError
from setwise.learners.in_threads import in_threads
from setwise.metrics.counts import Overlap
from setwise.storage import storable

TARGETS = ("set_accuracy", "f1")


def check_target(target: Any) -> None:
    """Refuse what confidence cannot be about."""
    if not isinstance(target, str) or target not in TARGETS:
        raise DataError(
            f'confidence can be that of "set_accuracy" or "f1", not of {target!r}; choose one of '
            "them"
        )


def rightness(candidates: Candidates, Y: sparse.csr_array, target: str) -> np.ndarray:
    """How right each candidate is for its row's true set, in [0, 1], (m,).

    Exactly right or not for "set_accuracy"; for "f1" the F1, 1 where both sets are empty.
    """
    check_target(target)
    truth = Y[candidates.row]
    if target == "set_accuracy":
        return rows_equal(candidates.sets, truth).astype(np.float64)
    return Overlap(truth, candidates.sets).by_instance().f1(1.0)


@storable
class Confidence:
    """Copies of a calibrator, each fitted without one fold of rows.

    Attributes
    ----------
    copies_ : list of the fitted calibrators.
    """

    copies_: list[Kind]

    def fit(
        self, make: Callable[[], Kind], judged: Judged, part: np.ndarray, n_jobs: int | None = None
    ) -> Self:
        """Learn from judged candidates, given the fold of each row, (n,).

        Candidates without weight are as if absent: not even the bins of trees see them.
        """
        fold = part[judged.features.candidates.row]
        pairs = [(outside, inside) for outside, inside in folds_of(fold) if len(inside)]

        def copy(number: int) -> Kind:
            outside, inside = pairs[number]
            outside = outside[judged.weight[outside] > 0]
            return make().fit(judged.taken(outside), judged.taken(inside))

        self.copies_ = in_threads(copy, len(pairs), n_jobs)
        return self

    def of(self, features: CandidateFeatures) -> np.ndarray:
        """The mean of what the copies say of new candidates, (m,)."""
        said = [copy.confidence(features) for copy in self.copies_]
        return np.asarray(np.mean(said, axis=0))

    def out_of_fold(self, features: CandidateFeatures, part: np.ndarray) -> np.ndarray:
        """What each training candidate's own copy says, which has not learnt from it, (m,)."""
        fold = part[features.candidates.row]
        confidence = np.empty(len(fold))
        pairs = [inside for _, inside in folds_of(fold) if len(inside)]
        for copy, inside in zip(self.copies_, pairs, strict=True):
            confidence[inside] = copy.confidence(features.taken(inside))
        return confidence


def weights_of(candidates: Candidates, weight: Any) -> np.ndarray:
    """What each candidate counts: as much as its row."""
    return np.ones(len(candidates)) if weight is None else np.asarray(weight)[candidates.row]
