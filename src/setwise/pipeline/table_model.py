"""A model that reads tables: from rows of named columns to label sets with confidence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from setwise import storage
from setwise.calibration import AutoAccept, Reranker, SetCalibrator
from setwise.data.formats.files import StrPath
from setwise.errors import FormatError
from setwise.pipeline.label_columns import LabelColumns
from setwise.pipeline.table import Table
from setwise.pipeline.table_encoder import TableEncoder
from setwise.storage import storable

LEVEL = 0.95  # how sure the promise of an accept rule is


@dataclass(frozen=True)
class Predictions:
    """What is predicted for some rows.

    ``sets`` are the predicted label names of each row, ``confidence`` (n,) how likely each set is
    exactly right, ``alternatives`` the next likely sets with their probabilities, and
    ``probabilities`` (n, L), where asked for, those of single labels.
    """

    sets: list[tuple[str, ...]]
    confidence: np.ndarray
    alternatives: list[list[tuple[tuple[str, ...], float]]]
    probabilities: np.ndarray | None


@storable
class TableModel:
    """What ``setwise fit`` writes and all other commands read.

    Parameters
    ----------
    settings : dict
        What the fit was asked to do, by the names of ``FitSettings``.

    Attributes
    ----------
    encoder_ : ``TableEncoder``; labels_ : ``LabelColumns``; model_ : ``SetCalibrator`` or
    ``Reranker``; judged_confidence_, judged_correct_, judged_groups_ : (m,) of rows that were kept
    apart, which accept rules are made of; is_exact_ : bool, whether these were kept from the
    calibrator too; facts_ : dict, how it came about: data, roles of columns, trials of models,
    measures, versions.
    """

    encoder_: TableEncoder
    labels_: LabelColumns
    model_: SetCalibrator
    judged_confidence_: np.ndarray
    judged_correct_: np.ndarray
    judged_groups_: np.ndarray | None
    is_exact_: bool
    facts_: dict[str, Any]

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels, in the order of their columns."""
        return self.labels_.names_

    @property
    def note(self) -> str:
        """What to know of the model's confidence, if there is anything."""
        return str(self.facts_.get("note", ""))

    def features(self, table: Table) -> Any:
        """X of rows."""
        return self.encoder_.transform(table)

    def predict(self, table: Table, *, top: int = 1, probabilities: bool = False) -> Predictions:
        """Sets, confidences and, for ``top`` over one, so many sets in all."""
        X = self.features(table)
        single = self.label_probabilities(X) if probabilities else None
        if not len(table):
            return Predictions([], np.empty(0), [], single)
        if isinstance(self.model_, Reranker) and top > 1:
            ranked = self.model_.predict_candidates(X)
            named = [[(self._named(labels), p) for labels, p in row[:top]] for row in ranked]
            return Predictions(
                [row[0][0] for row in named],
                np.array([row[0][1] for row in named]),
                [row[1:] for row in named],
                single,
            )
        Y, confidence = self.model_.predict_with_confidence(X)
        sets = self._names_of(sparse.csr_array(Y))
        others = self._others(X, sets, top) if top > 1 else [[] for _ in sets]
        return Predictions(sets, confidence, others, single)

    def predict_matrix(self, table: Table) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
        """Predicted sets (n, L), their confidence (n,), and probabilities of labels (n, L)."""
        X = self.features(table)
        Y, confidence = self.model_.predict_with_confidence(X)
        return sparse.csr_array(Y).astype(np.int8), confidence, self.label_probabilities(X)

    def label_probabilities(self, X: Any) -> np.ndarray:
        """The probability of each label by itself, calibrated, (n, L).

        Those of the first stage: a reranker's own are zero for labels that none of its few
        candidates has.
        """
        return self.model_.stages_[0].distribution(X).marginals()

    def accept_rule(self, accuracy: float, level: float = LEVEL) -> AutoAccept:
        """From which confidence on a set may be accepted unread, with the promise of accuracy."""
        rule = AutoAccept(accuracy, level, random_state=self.settings.get("seed", 0))
        return rule.fit(
            self.judged_confidence_,
            self.judged_correct_,
            self.judged_groups_,
            out_of_fold=not self.is_exact_,
        )

    def save(self, path: StrPath) -> None:
        """Write the model as one file that cannot run code."""
        storage.save(self, path)

    def _others(
        self, X: Any, sets: list[tuple[str, ...]], top: int
    ) -> list[list[tuple[tuple[str, ...], float]]]:
        """The likeliest sets but for the predicted one."""
        found, log_prob = self.model_.predict_dist(X).top(top)
        n, k, L = found.shape
        names = self._names_of(sparse.csr_array(found.reshape(n * k, L)))
        p = np.exp(log_prob).ravel().tolist()
        rows = [
            [(names[j], p[j]) for j in range(i * k, i * k + k) if p[j] > 0 and names[j] != chosen]
            for i, chosen in enumerate(sets)
        ]
        return [row[: top - 1] for row in rows]

    def _named(self, numbers: tuple[Any, ...]) -> tuple[str, ...]:
        return tuple(map(self.labels_.names_.__getitem__, numbers))

    def _names_of(self, Y: sparse.csr_array) -> list[tuple[str, ...]]:
        names = np.array(self.labels_.names_, dtype=object)
        Y.sort_indices()
        flat, ends = names[Y.indices].tolist(), Y.indptr.tolist()
        return [tuple(flat[a:b]) for a, b in pairwise(ends)]


def load_model(path: str) -> TableModel:
    """The model that ``setwise fit`` wrote."""
    model = storage.load(path)
    if not isinstance(model, TableModel):
        raise FormatError(
            path,
            f"a {type(model).__name__} that was saved from Python, which knows no columns",
            remedy="use a file that `setwise fit` wrote, or setwise.load in Python",
        )
    return model
