"""Learners by name: what models take as ``learner=``."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Protocol, Self

import numpy as np

from setwise.errors import DataError
from setwise.learners.adapt import AdaptedBank, AdaptedGate
from setwise.learners.boosting import BoostedBank, BoostedSoftmax
from setwise.learners.elastic import ElasticNetBank
from setwise.learners.elastic_softmax import ElasticNetSoftmax
from setwise.learners.logistic import LogisticBank
from setwise.learners.softmax import SoftmaxRegression


class Bank(Protocol):
    """Many binary problems that share X."""

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from targets T (n, L) in [0, 1], with weights (n,) or (n, L)."""

    def logits(self, X: Any) -> np.ndarray:
        """Log-odds of each target, (n, L)."""


class Gate(Protocol):
    """One softmax over classes."""

    def fit(self, X: Any, T: Any, sample_weight: Any = None) -> Self:
        """Learn from distributions T (n, K), with weights (n,)."""

    def log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities, (n, K)."""


LEARNERS = ("logistic", "elastic", "boosting")


def make_bank(
    learner: Any, *, C: float, max_iter: int, random_state: int | None, n_jobs: int | None
) -> Bank:
    """A new bank: by name, a copy of a learner object, or around a scikit-learn classifier."""
    name = learner if isinstance(learner, str) else None  # arrays compare entry by entry
    if name == "logistic":
        return LogisticBank(C=C, max_iter=max_iter, random_state=random_state, n_jobs=n_jobs)
    if name == "elastic":
        return ElasticNetBank(C=C, max_iter=max_iter, n_jobs=n_jobs)
    if name == "boosting":
        return BoostedBank(n_trees=max_iter, random_state=random_state, n_jobs=n_jobs)
    _check_object(learner, "logits")
    if hasattr(learner, "logits"):
        bank: Bank = deepcopy(learner)
        return bank
    return AdaptedBank(learner, n_jobs=n_jobs)


def make_gate(
    learner: Any, *, C: float, max_iter: int, random_state: int | None, n_jobs: int | None
) -> Gate:
    """A new softmax: by name, a copy of a learner object, or around a scikit-learn classifier."""
    name = learner if isinstance(learner, str) else None  # arrays compare entry by entry
    if name == "logistic":
        return SoftmaxRegression(C=C, max_iter=max_iter, n_jobs=n_jobs)
    if name == "elastic":
        return ElasticNetSoftmax(C=C, max_iter=max_iter)
    if name == "boosting":
        return BoostedSoftmax(n_trees=max_iter, random_state=random_state, n_jobs=n_jobs)
    _check_object(learner, "log_proba")
    if hasattr(learner, "log_proba"):
        gate: Gate = deepcopy(learner)
        return gate
    return AdaptedGate(learner)


def _check_object(learner: Any, method: str) -> None:
    """Refuse what is neither a learner of ours, with that method, nor of scikit-learn."""
    if isinstance(learner, type):
        raise DataError(f"learner is the class {learner.__name__}; pass an object: call it first")
    if isinstance(learner, str) or not (
        hasattr(learner, method) or hasattr(learner, "predict_proba")
    ):
        raise DataError(
            f"learner must be one of {', '.join(LEARNERS)}, a learner object, or a scikit-learn "
            f"classifier with predict_proba; got {learner!r}"
        )
