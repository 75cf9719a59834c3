"""What the studies of confidence share: data with their splits, and cross-fitted binary relevance.

Where the thesis splits at random, its figures stand beside ours as orientation only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from setwise.calibration.candidates import Candidates
from setwise.calibration.confidence import Confidence, rightness, weights_of
from setwise.calibration.cross_fit import CrossFitted, TrainingRows, cross_fit
from setwise.calibration.features import CandidateFeatures
from setwise.calibration.first_stage import FirstStage
from setwise.calibration.kinds import Judged, make_kind
from setwise.calibration.noise import NO_NOISE
from setwise.calibration.set_calibrator import FEATURES
from setwise.data.sparse_rows import canonical_csr
from setwise.experiments.encoding import as_numbers
from setwise.experiments.protocol import PUBLISHED, RANDOM, part_of
from setwise.experiments.sources import shown
from setwise.models import BinaryRelevance

N_FOLDS = 5
SPLIT_ANEW = {"tmc2007"}  # its published split is shifted: out of fold .338, on test .286
TFIDF = {"debtags"}
LARGE = {"tmc2007", "debtags"}


@dataclass(frozen=True, eq=False)
class SplitData:
    """Training rows and test rows."""

    name: str
    train: TrainingRows
    X_test: Any
    Y_test: sparse.csr_array
    groups_test: np.ndarray | None


def shown_name(name: str) -> str:
    """The name of a data set in tables, with what is special about its split."""
    return f"{name}, random split" if name in SPLIT_ANEW else shown(name)


def seeds_for(name: str) -> tuple[int, ...]:
    """Seeds of folds and trees; fewer where a run takes long."""
    return (0, 1) if name in LARGE else (0, 1, 2)


def split_data(name: str, seed: int, *, anew: bool = False) -> SplitData:
    """A data set as the studies use it; the seed matters where the split is made anew."""
    anew = anew or name in SPLIT_ANEW
    return _split(name, seed if anew else 0, anew)


@lru_cache(maxsize=1)
def _split(name: str, seed: int, anew: bool) -> SplitData:
    dataset = as_numbers(part_of(name, RANDOM if anew else PUBLISHED, seed, None))
    X, Xt = dataset.X_train, dataset.X_test
    Y, Yt = (dataset.labels.encode(part) for part in (dataset.Y_train, dataset.Y_test))
    train = TrainingRows(X, Y, None, dataset.groups_train)
    test = TrainingRows(Xt, Yt, None, dataset.groups_test)
    if name in TFIDF:
        learnt = TfidfTransformer(sublinear_tf=True).fit(train.X)
        train, test = (
            replace(part, X=canonical_csr(learnt.transform(part.X))) for part in (train, test)
        )
    return SplitData(name, train, test.X, test.Y, test.groups)


@dataclass(frozen=True)
class Crossed:
    """A cross-fitted model with what it says of test rows."""

    data: SplitData
    fits: CrossFitted

    @cached_property
    def distribution(self) -> Any:
        """What the model of all rows says of the test rows, not calibrated."""
        return self.fits.model.predict_dist(self.data.X_test)

    def judged(self, template: FirstStage, target: str = "set_accuracy") -> Judged:
        """Training candidates with how right they are."""
        features = self.fits.features(template)
        candidates = features.candidates
        right = rightness(candidates, self.data.train.Y, target)
        return Judged(features, right, weights_of(candidates, None), NO_NOISE)

    def test_features(self, template: FirstStage) -> CandidateFeatures:
        """Candidates of the test rows."""
        stage = self.fits.final(template)
        return stage.features(stage.calibrated(self.distribution))

    def right(self, candidates: Candidates, target: str = "set_accuracy") -> np.ndarray:
        """How right candidates of the test rows are."""
        return rightness(candidates, self.data.Y_test, target)


def cross_fitted(
    data: SplitData,
    seed: int,
    *,
    estimator: Any = None,
    allow_empty: bool | None = None,
    label_calibration: str | None = "isotonic",
) -> Crossed:
    """Binary relevance, its C chosen on training rows, or another model, fitted by folds."""
    rows = data.train
    if estimator is None:
        estimator = BinaryRelevance(C=chosen_C(data), max_iter=1000, random_state=seed)
    has_empty = bool((np.diff(rows.Y.indptr) == 0).any())
    fits = cross_fit(
        estimator,
        rows,
        n_folds=N_FOLDS,
        label_calibration=label_calibration,
        allow_empty=has_empty if allow_empty is None else allow_empty,
        random_state=seed,
    )
    return Crossed(data, fits)


@lru_cache(maxsize=1)
def chosen_C(data: SplitData) -> float:
    """The strength of binary relevance's penalty that held-out training rows like best."""
    rows = data.train
    model = BinaryRelevance(C="auto", max_iter=1000)
    return float(model.with_chosen_C(rows.X, rows.Y, rows.weight, rows.groups).C)


def calibrator(
    crossed: Crossed,
    judged: Judged,
    seed: int,
    *,
    kind: str = "boosting",
    objective: str = "squared",
    monotone: bool = False,
    features: str = "all",
) -> Confidence:
    """A calibrator of that kind, cross-fitted to judged candidates."""

    def make() -> Any:
        return make_kind(kind, FEATURES[features], monotone, objective, seed)

    return Confidence().fit(make, judged, crossed.fits.part)
