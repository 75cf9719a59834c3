"""Learners by name: what models take as ``learner=``."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Protocol, Self

import numpy as np

from setwise.errors import DataError
from setwise.learners.adapt import AdaptedBank
from setwise.learners.boosting import BoostedBank
from setwise.learners.elastic import ElasticNetBank
from setwise.learners.logistic import LogisticBank


class Bank(Protocol):
    """Many binary problems that share X."""

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from targets T (n, L) in [0, 1], with weights (n,) or (n, L)."""

    def logits(self, X: Any) -> np.ndarray:
        """Log-odds of each target, (n, L)."""


BANKS = ("logistic", "elastic", "boosting")


def make_bank(
    learner: Any, *, C: float, max_iter: int, random_state: int | None, n_jobs: int | None
) -> Bank:
    """A new bank: by name, a copy of a learner object, or around a scikit-learn classifier."""
    name = learner if isinstance(learner, str) else None
    if name == "logistic":
        return LogisticBank(C=C, max_iter=max_iter, random_state=random_state, n_jobs=n_jobs)
    if name == "elastic":
        return ElasticNetBank(C=C, max_iter=max_iter, n_jobs=n_jobs)
    if name == "boosting":
        return BoostedBank(n_trees=max_iter, random_state=random_state, n_jobs=n_jobs)
    if isinstance(learner, type):
        raise DataError(f"learner is the class {learner.__name__}; pass an object: call it first")
    if hasattr(learner, "logits"):
        bank: Bank = deepcopy(learner)
        return bank
    if hasattr(learner, "predict_proba"):
        return AdaptedBank(learner, n_jobs=n_jobs)
    raise DataError(
        f"learner must be one of {', '.join(BANKS)}, a learner object, or a scikit-learn "
        f"classifier with predict_proba; got {learner!r}"
    )
