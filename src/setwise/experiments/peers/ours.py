"""Our default on arrays: what ``setwise fit --model auto`` compares and chooses among.

The command also fits folds for the confidence of what it has chosen; here there is no confidence,
and so all its seconds go into the comparison and the last fit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.base import BaseEstimator

from setwise.data.labels import as_binary_csr
from setwise.decisions import decision_for
from setwise.errors import DataError
from setwise.pipeline.build import RERANKED, RERANKED_FOR, Choice, bare_model
from setwise.pipeline.choose import compare
from setwise.pipeline.settings import FitSettings

TARGETS = ("set_accuracy", "f1", "hamming")


class AutoDefault(BaseEstimator):  # type: ignore[misc]
    """Compares models on held-out training rows, and fits the best for each target to all.

    They are compared once for all targets, and what is best for two of them is fitted once, but for
    rerankers, which learn for a target.
    """

    def __init__(self, targets: Sequence[str] = TARGETS, random_state: int = 0) -> None:
        self.targets = targets
        self.random_state = random_state

    def fit(self, X: Any, Y: Any, groups: Any = None) -> Self:
        """Compare, choose for each target, then fit."""
        # Reranking is tried where the first target is one of its own.
        first = next((one for one in RERANKED_FOR if one in self.targets), self.targets[0])
        settings = FitSettings(target=first, seed=self.random_state)
        labels = as_binary_csr(Y)
        compared = compare(X, labels, groups, settings, n_fits=1)
        self.chosen_ = {}
        self.choices_: dict[str, Choice] = {}
        self.models_: dict[str, Any] = {}
        for target in self.targets:
            choice = compared.chosen(target).choice
            self.chosen_[target] = {"model": choice.name, **choice.options}
            self.choices_[target] = choice
            if _key(choice, target) not in self.models_:
                model = bare_model(choice, replace(settings, target=target))
                self.models_[_key(choice, target)] = model.fit(X, labels, groups=groups)
        return self

    def predict_for(self, X: Any, target: str) -> Any:
        """Sets that are best for the target."""
        if target not in self.choices_:
            known = ", ".join(self.choices_)
            raise DataError(f"sets were chosen for {known}, not for {target}; add it to targets")
        choice = self.choices_[target]
        model = self.models_[_key(choice, target)]
        if choice.name == RERANKED:
            return model.predict(X)
        return decision_for(target).decide(model.predict_dist(X))


def _key(choice: Choice, target: str) -> str:
    """The same for choices that make the same model: a reranker learns for its target."""
    learnt_for = target if choice.name == RERANKED else None
    return json.dumps([choice.name, choice.options, learnt_for], sort_keys=True)
