"""Calibration of single labels: P(y_l = 1) made honest one label at a time.

The thesis takes this for granted before sets are calibrated (Li 2019, section 4.2): isotonic
regression or Platt scaling of each label's own log-odds. Calibrated labels do not make calibrated
sets: that is what ``SetCalibrator`` is for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import logit

from setwise.data.labels import as_binary_csr
from setwise.distributions import Product
from setwise.distributions.base import Distribution
from setwise.errors import DataError
from setwise.learners.isotonic import IsotonicBank
from setwise.learners.platt import PlattBank
from setwise.storage import storable

KINDS = ("isotonic", "platt")
EPSILON = 1e-12  # how near to 0 and 1 a probability may come before its log-odds are taken


def check_kind(kind: Any) -> None:
    """Refuse a way to calibrate labels that there is not."""
    if kind not in KINDS:
        raise DataError(f"labels are calibrated by one of {KINDS}, not {kind!r}")


@storable
class LabelCalibrator:
    """A curve for each label, from what a model says to how often it is right.

    Parameters
    ----------
    kind : "isotonic" or "platt"
        Any rising curve, or a sigmoid of the log-odds, which needs fewer rows.

    Attributes
    ----------
    bank_ : the fitted curves of all labels.

    Examples
    --------
    >>> claimed = np.repeat([[0.1], [0.9]], 50, axis=0)
    >>> truth = np.repeat([[0], [1], [0], [1]], [40, 10, 20, 30], axis=0)
    >>> LabelCalibrator().fit(claimed, truth).predict([[0.1], [0.9]]).round(1).ravel().tolist()
    [0.2, 0.6]
    """

    bank_: Any

    def __init__(self, kind: str = "isotonic") -> None:
        self.kind = kind

    def fit(self, marginals: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Learn from probabilities (n, L) of rows that their model has not seen, and their sets."""
        check_kind(self.kind)
        bank = IsotonicBank(probabilities=True) if self.kind == "isotonic" else PlattBank()
        truth = as_binary_csr(Y).toarray()
        self.bank_ = bank.fit(_log_odds(marginals), truth, sample_weight)
        return self

    def predict(self, marginals: Any) -> np.ndarray:
        """Calibrated probabilities, (n, L)."""
        probabilities: np.ndarray = self.bank_.predict(_log_odds(marginals))
        return probabilities

    def calibrated(self, distribution: Distribution) -> Product:
        """Independent labels with the calibrated marginals of any distribution."""
        if isinstance(distribution, Product):  # which stays of its kind
            z = _log_odds(self.predict(distribution.independent_marginals()))
            return replace(distribution, logits=z)
        z = _log_odds(self.predict(distribution.marginals()))
        return Product(z, distribution.allow_empty, getattr(distribution, "n_jobs", None))


def _log_odds(marginals: Any) -> np.ndarray:
    p = np.asarray(marginals, dtype=np.float64)
    if p.ndim != 2 or not ((p >= 0) & (p <= 1)).all():
        raise DataError(
            f"expected probabilities between 0 and 1, one a row and label, got shape {p.shape}; "
            "pass predict_proba(X)"
        )
    log_odds: np.ndarray = logit(np.clip(p, EPSILON, 1 - EPSILON))
    return log_odds
