"""The first stage: a model, its label curves and the sets it knows, which together give candidates.

Everything that a training candidate is judged by comes from one of these stages, fitted without the
fold that the candidate's row is in: model, label calibrator and counts of sets alike. Otherwise the
calibrator would learn to trust scores that are better than those of new rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.calibration.candidates import (
    Candidates,
    found_in,
    listed_candidates,
    merged,
    opinions_of,
    rescored,
    scored,
    top_candidates,
)
from setwise.calibration.features import CandidateFeatures, features_of
from setwise.calibration.labelwise import LabelCalibrator
from setwise.calibration.prior import SetPrior
from setwise.data.labels import rows_equal
from setwise.decisions import decision_for
from setwise.distributions.base import Distribution
from setwise.storage import storable


@storable
class FirstStage:
    """Candidates with their features for rows of X.

    Parameters
    ----------
    n_candidates : int
        The likeliest sets of the model's distribution that are looked at.
    n_training_sets : int
        The likeliest sets seen in training that are added to them.
    for_f1 : bool
        Add the set of highest expected F1, which may be larger than any likely one.
    own_only : bool
        Give the model's own answer alone; the others are only its rivals.

    Attributes
    ----------
    model_ : the fitted model; prior_ : ``SetPrior``; labels_ : ``LabelCalibrator``, or None, of the
    model's own labels or, of an average of models, of those of the model at ``place_``.
    """

    model_: Any
    labels_: LabelCalibrator | None
    place_: int
    prior_: SetPrior

    def __init__(
        self,
        n_candidates: int = 10,
        n_training_sets: int = 0,
        *,
        for_f1: bool = False,
        own_only: bool = False,
    ) -> None:
        self.n_candidates = n_candidates
        self.n_training_sets = n_training_sets
        self.for_f1 = for_f1
        self.own_only = own_only

    def distribution(self, X: Any) -> Distribution:
        """What the model says, its labels calibrated."""
        return self.calibrated(self.model_.predict_dist(X))

    def calibrated(self, distribution: Distribution) -> Distribution:
        """A distribution of the model with its labels calibrated, if they are to be."""
        if self.labels_ is None:
            return distribution
        return distribution.with_labels(self.labels_.calibrated, self.place_)

    def features(self, distribution: Distribution) -> CandidateFeatures:
        """The candidates of a calibrated distribution, and what a calibrator looks at."""
        lists = self._lists(distribution)
        if not self.own_only:
            return self._judgeable(distribution, merged(*lists))
        own = scored(distribution, self.model_.decision_.decide(distribution))
        features = self._judgeable(distribution, merged(own, *lists))
        return features.taken(_places(features.candidates, own.sets))

    def features_of_answers(
        self, distribution: Distribution, answers: Candidates
    ) -> CandidateFeatures:
        """Features of answers that may be other models', among this one's candidates."""
        together = merged(rescored(distribution, answers), *self._lists(distribution))
        features = self._judgeable(distribution, together)
        wanted = found_in(answers, np.ones(len(answers)), together)
        return features.taken(np.flatnonzero(wanted))

    def _judgeable(self, distribution: Distribution, candidates: Candidates) -> CandidateFeatures:
        """Candidates with all that is known of them."""
        return features_of(candidates, self.prior_, opinions_of(distribution, candidates))

    def _lists(self, distribution: Distribution) -> list[Candidates]:
        lists = [top_candidates(distribution, self.n_candidates)]
        if self.n_training_sets:
            known = self.prior_.sets_
            lists.append(listed_candidates(distribution, known, self.n_training_sets))
        if self.for_f1:
            lists.append(scored(distribution, decision_for("f1").decide(distribution)))
        return lists


def _places(candidates: Candidates, own: sparse.csr_array) -> np.ndarray:
    """Where the given set of each row stands among its candidates, (n,)."""
    return np.flatnonzero(rows_equal(candidates.sets, own[candidates.row]))


def place_of_labels(distributions: Iterable[Distribution]) -> int | None:
    """Where all distributions have independent labels, so that better ones make a better whole.

    The place of a model in an average, which may leave models out; None where there is none.
    """
    common = set.intersection(*(set(one.independent_places()) for one in distributions))
    return min(common, default=None)


@dataclass(frozen=True)
class FoldAnswer:
    """What a model that has not seen some rows says of them."""

    model: Any
    rows: np.ndarray
    distribution: Distribution


def marginals_of(answers: list[FoldAnswer], n: int, place: int = 0) -> np.ndarray:
    """Independent marginals of all rows, each by the model that has not seen it, (n, L)."""
    marginals = np.empty((n, answers[0].distribution.n_labels))
    for answer in answers:
        marginals[answer.rows] = answer.distribution.independent_marginals(place)
    return marginals


def folds_of(part: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows outside and inside of each fold, given the fold of each row."""
    for number in range(part.max() + 1):
        yield np.flatnonzero(part != number), np.flatnonzero(part == number)
