"""Looking into a topic model: words of labels, labels of topics, labels of words.

Tables 1 and 2 of Rubin et al. 2012, and the explaining away of its Figure 3: which words of a
document speak for which label, given all its other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.data.labels import Label
from setwise.errors import DataError, LabelMismatch
from setwise.models.topics.attribution import Attribution
from setwise.models.topics.documents import word_counts


@dataclass(frozen=True)
class TopicOfLabels:
    """A topic: how much of the training labels it covers, and its likeliest labels."""

    weight: float
    labels: tuple[tuple[Label, float], ...]


class Inspection:
    """What the topic models show of themselves."""

    words_: Any
    topics_: Any
    label_names_: tuple[Label, ...]

    def top_words(
        self,
        n_words: int = 10,
        *,
        labels: Iterable[Label] | None = None,
        words: Sequence[Any] | None = None,
    ) -> dict[Label, list[tuple[Any, float]]]:
        """The likeliest words of each label with their probabilities, best first (Table 1).

        ``words`` names the columns of X; by default those of a DataFrame, or their numbers.
        """
        names = self._word_names(words)
        columns, floor = self.words_.columns, self.words_.floor
        chosen = {}
        for number in self._label_numbers(labels):
            part = slice(columns.indptr[number], columns.indptr[number + 1])
            excess, rows = columns.data[part], columns.indices[part]
            best = np.lexsort((rows, -excess))[:n_words]
            chosen[self.label_names_[number]] = [
                (names[rows[i]], float(excess[i] + floor[number])) for i in best
            ]
        return chosen

    def top_labels(self, n_labels: int = 10, *, topic_set: int = 0) -> list[TopicOfLabels]:
        """The likeliest labels of each topic of one set, heaviest topic first (Table 2)."""
        if self.topics_ is None:
            raise DataError("Flat-LDA has no topics of labels; use DependencyLDA")
        if not 0 <= topic_set < self.topics_.n_sets:
            raise DataError(
                f"there are {self.topics_.n_sets} sets of topics, from 0 on; got {topic_set!r}"
            )
        phi, weights = self.topics_.dense(topic_set), self.topics_.weights(topic_set)
        best = np.argsort(-phi, axis=1, kind="stable")[:, :n_labels]
        return [
            TopicOfLabels(
                float(weights[t]), tuple((self.label_names_[c], float(phi[t, c])) for c in best[t])
            )
            for t in np.argsort(-weights, kind="stable")
        ]

    def attribute(
        self,
        X: Any,
        *,
        n_labels: int = 5,
        words: Sequence[Any] | None = None,
        label_names: Sequence[Label] | None = None,
    ) -> list[Attribution]:
        """Which words speak for which label, for each document and its ``n_labels`` best labels.

        ``label_names`` names the labels, where the model was given a matrix without names.
        """
        names = self._word_names(words)
        labels = self.label_names_ if label_names is None else tuple(label_names)
        inferred, counts = self._attributed(word_counts(self._features(X)))  # type: ignore[attr-defined]
        found = []
        for d, theta in enumerate(inferred.theta):
            entries = slice(counts.indptr[d], counts.indptr[d + 1])
            best = np.argsort(-theta, kind="stable")[:n_labels]
            found.append(
                Attribution(
                    tuple(names[w] for w in counts.indices[entries]),
                    counts.data[entries],
                    tuple(labels[c] for c in best),
                    inferred.by_entry[entries][:, best],
                )
            )
        return found

    def _attributed(self, counts: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _word_names(self, words: Sequence[Any] | None) -> Sequence[Any]:
        n_words = self.words_.excess.shape[0]
        names = getattr(self, "feature_names_in_", range(n_words)) if words is None else words
        if len(names) != n_words:
            raise DataError(
                f"{len(names)} words are named, but X had {n_words} columns; name each column"
            )
        return names

    def _label_numbers(self, labels: Iterable[Label] | None) -> list[int]:
        if labels is None:
            return list(range(len(self.label_names_)))
        numbers = {label: number for number, label in enumerate(self.label_names_)}
        unknown = [label for label in labels if label not in numbers]
        if unknown:
            raise LabelMismatch(f"no label {unknown[0]!r} was seen in training; see label_names_")
        return [numbers[label] for label in labels]
