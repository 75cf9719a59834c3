"""The scale of features that come as arrays, as ``setwise fit`` gives it to the columns of tables.

Columns of numbers are standardised. Sparse rows mostly count words; the command brings its own to
length one, so that long texts do not speak louder than short ones. What comes as an array may have
been weighed by somebody already, or be so sparse that length itself tells something: training rows
choose between the two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler, normalize

from setwise.calibration.cross_fit import TrainingRows
from setwise.learners.bank_problem import in_single_precision
from setwise.models import BinaryRelevance
from setwise.models.strength import mean_log_prob
from setwise.pipeline.choose import judging_folds
from setwise.storage import storable


@storable
class LikeliestScale(BaseEstimator):  # type: ignore[misc]
    """Standardises dense columns; brings sparse rows to length one where that is likelier.

    Likelier is the scale with which binary relevance, its penalty chosen for it, gives held-out
    training rows the higher probability.

    Attributes
    ----------
    mean_, spread_ : (d,) of dense columns, which are standardised by them; or None
    length_one_ : bool, whether rows are brought to length one
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, Y: sparse.csr_array, groups: Any = None) -> Self:
        """Measure dense columns, or try both scales of sparse rows."""
        self.mean_, self.spread_, self.length_one_ = None, None, False
        if not sparse.issparse(X):
            standard = StandardScaler().fit(X)
            self.mean_, self.spread_ = standard.mean_, standard.scale_
        elif not _is_of_length_one(X := in_single_precision(X)):
            rows = TrainingRows(X, Y, None, groups)
            as_they_are, of_length_one = (
                self._log_prob(replace(rows, X=scaled)) for scaled in (X, normalize(X))
            )
            self.length_one_ = of_length_one > as_they_are
        return self

    def transform(self, X: Any) -> Any:
        """The same rows on the scale that was found."""
        if self.mean_ is not None:
            own_kind = np.result_type(X.dtype, np.float32)
            return ((X - self.mean_) / self.spread_).astype(own_kind, copy=False)
        return normalize(X) if self.length_one_ else X

    def _log_prob(self, rows: TrainingRows) -> float:
        """The mean log-probability that binary relevance gives to held-out rows."""
        fold = judging_folds(rows.Y, rows.groups, self.random_state)[0]
        some = rows.taken(fold.train)
        model = BinaryRelevance(C="auto", random_state=self.random_state)
        model.fit(some.X, some.Y, groups=some.groups)
        return mean_log_prob(model.predict_dist(rows.X[fold.judges]).log_prob(rows.Y[fold.judges]))


def _is_of_length_one(X: Any) -> bool:
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    return bool(np.allclose(length[length > 0], 1, atol=1e-4))
