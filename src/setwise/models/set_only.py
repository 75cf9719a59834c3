"""What models share that name a set and nothing else: no score of theirs is a probability.

Such a model implements ``_learn`` and ``_choose``. Whatever would need p(y|x), its marginals
included, is refused in a sentence, and ``hasattr`` says that it is not there.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn

import numpy as np

from setwise.decisions import Decision
from setwise.decisions.base import row_batches
from setwise.distributions.base import Distribution
from setwise.errors import NoProbability
from setwise.models.base import SetClassifier
from setwise.storage import storable


class _Refused:
    """A method that a model cannot have: asking for it raises a sentence that says why."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, kind: type[SetClassifier]) -> NoReturn:
        about = getattr(kind, "about", None)
        why = about.why_not if about else "it names a set and no probability"
        raise NoProbability(
            f"{kind.__name__} has no {self._name}: {why}; use predict, or a model that "
            "list_models() shows with a joint probability"
        )


class SetOnlyClassifier(SetClassifier):
    """Base of the models that predict sets without a probability."""

    predict_dist = _Refused()
    predict_proba = _Refused()

    @abstractmethod
    def _choose(self, X: Any) -> np.ndarray:
        """The predicted sets, int8 (n, L), for rows of checked features."""

    def _distribution(self, X: Any) -> Distribution:
        return self.predict_dist  # which refuses

    def _decision(self) -> Decision:
        return OwnChoice()

    def _decided(self, X: Any) -> np.ndarray:
        X = self._features(X)
        n, L = X.shape[0], len(self.label_names_)
        parts = [self._choose(X[rows]) for rows in row_batches(n, L)]
        return np.concatenate([np.zeros((0, L), dtype=np.int8), *parts])


@storable
class OwnChoice(Decision):
    """Stands where other models keep their rule: here the model itself picks the set."""

    target = "own"

    def decide(self, distribution: Distribution) -> np.ndarray:
        """Refused: there is no distribution to decide on."""
        raise NoProbability("the model picks its sets by itself, not from a distribution")


def without_empty(chosen: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The sets (n, L), where empty ones get the label with the highest score (n, L).

    >>> without_empty(np.array([[0, 0], [1, 0]], np.int8), np.array([[0.1, 0.2], [3.0, 4.0]]))
    array([[0, 1],
           [1, 0]], dtype=int8)
    """
    empty = np.flatnonzero(~chosen.any(axis=1))
    chosen[empty, scores[empty].argmax(axis=1)] = 1
    return chosen
