"""Our default on arrays: what ``setwise fit --model auto`` chooses and fits."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from setwise.data.labels import as_binary_csr
from setwise.pipeline.build import bare_model
from setwise.pipeline.choose import choose
from setwise.pipeline.settings import FitSettings


class AutoDefault(BaseEstimator):  # type: ignore[misc]
    """Compares models on held-out training rows, and fits the best of them to all."""

    def __init__(self, target: str = "set_accuracy", random_state: int = 0) -> None:
        self.target = target
        self.random_state = random_state

    def fit(self, X: Any, Y: Any, groups: Any = None) -> Self:
        """Choose for ``target``, then fit."""
        settings = FitSettings(target=self.target, seed=self.random_state)
        labels = as_binary_csr(Y)
        chosen = choose(X, labels, groups, settings, n_fits=1)
        self.chosen_ = {"model": chosen.choice.name, **chosen.choice.options}
        self.model_ = bare_model(chosen.choice, settings).fit(X, labels, groups=groups)
        return self

    def predict(self, X: Any) -> Any:
        """Sets that are best for the target."""
        return self.model_.predict(X)
