"""Our default on arrays: what ``setwise fit --model auto`` compares, chooses and fits.

As there, numbers in a table are standardised; whether sparse rows are brought to length one, as
texts are there, held-out training rows say. The command is given one target; here one comparison
serves three.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.base import BaseEstimator

from setwise.data.labels import as_binary_csr
from setwise.decisions import decision_for
from setwise.errors import DataError
from setwise.pipeline.build import RERANKED_FOR, RERANKERS, Choice, bare_model
from setwise.pipeline.choose import compare
from setwise.pipeline.fitting import folds_for
from setwise.pipeline.row_scale import LikeliestScale
from setwise.pipeline.settings import FitSettings

TARGETS = ("set_accuracy", "f1", "hamming")


class AutoDefault(BaseEstimator):  # type: ignore[misc]
    """Compares models on held-out training rows, and fits the best for each target to all.

    They are compared once for all targets, and what is best for several of them is fitted once: a
    reranker that chooses for F1 and is sure of whole sets knows the best of both.
    """

    def __init__(
        self, targets: Sequence[str] = TARGETS, keep_rows: bool = True, random_state: int = 0
    ) -> None:
        self.targets = targets
        self.keep_rows = keep_rows
        self.random_state = random_state

    def fit(self, X: Any, Y: Any, groups: Any = None) -> Self:
        """Compare, choose for each target, then fit."""
        begin = time.perf_counter()
        labels = as_binary_csr(Y)
        self.scale_ = LikeliestScale(self.random_state).fit(X, labels, groups)
        X = self.scale_.transform(X)
        # Reranking is tried where the first target is one of its own.
        first = next((one for one in RERANKED_FOR if one in self.targets), self.targets[0])
        settings = FitSettings(
            target=first,
            keep_rows=self.keep_rows,
            folds=folds_for(X.shape[0]),
            seed=self.random_state,
            budget=max(FitSettings.budget - (time.perf_counter() - begin), 1.0),
        )
        compared = compare(X, labels, groups, settings)
        self.choices_ = {target: compared.chosen(target).choice for target in self.targets}
        rows = {"rows": "of length one"} if self.scale_.length_one_ else {}
        self.chosen_ = {
            target: {"model": choice.name, **choice.options, **rows}
            for target, choice in self.choices_.items()
        }
        self.models_: dict[str, Any] = {}
        # F1 comes first: what reranks for it also serves set accuracy, but not the other way round.
        for target, choice in sorted(self.choices_.items(), key=lambda item: item[0] != "f1"):
            if _key(choice) not in self.models_:
                model = bare_model(choice, replace(settings, target=target))
                self.models_[_key(choice)] = model.fit(X, labels, groups=groups)
        return self

    def predict_for(self, X: Any, target: str) -> Any:
        """Sets that are best for the target."""
        if target not in self.choices_:
            known = ", ".join(self.choices_)
            raise DataError(f"sets were chosen for {known}, not for {target}; add it to targets")
        choice = self.choices_[target]
        model = self.models_[_key(choice)]
        X = self.scale_.transform(X)
        if choice.name in RERANKERS and target == "f1":
            return model.predict(X)
        return decision_for(target).decide(model.predict_dist(X))


def _key(choice: Choice) -> str:
    """The same for choices that make the same model."""
    return json.dumps([choice.name, choice.options], sort_keys=True)
