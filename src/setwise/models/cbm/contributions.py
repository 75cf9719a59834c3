"""What features say, where learners are linear: weight times scaled value, summed to log-odds.

A label's contributions are averaged over components by their weights in the row; a component's own
are those of the gate, against the average component. Learners that are not linear have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from setwise.errors import DataError
from setwise.models.cbm.mixture import ConditionalMixture
from setwise.models.cbm.rows import places

LEAST_WEIGHT = 1e-6  # of a component, to be listened to


class Row(NamedTuple):
    """The features of one row that can say something: numbers (D,) of d, and scaled values (D,)."""

    columns: np.ndarray
    values: np.ndarray
    n_features: int

    @classmethod
    def of(cls, x: Any) -> Row:
        """From one scaled row (1, d), an array or CSR."""
        if sparse.issparse(x):
            return cls(x.indices, x.data.astype(np.float64), x.shape[1])
        values = np.asarray(x[0], dtype=np.float64)
        return cls(np.arange(len(values)), values, len(values))


def label_contributions(
    members: Sequence[ConditionalMixture], weights: np.ndarray, row: Row, labels: np.ndarray
) -> np.ndarray | None:
    """What each feature of the row adds to each label's log-odds, (D, m); None if not linear."""
    components = [component for member in members for component in member.components_]
    if not all(is_linear(component.classifiers_) for component in components):
        return None
    found = np.zeros((len(row.columns), len(labels)))
    for weight, component in zip(weights, components, strict=True):
        classifiers: Any = component.classifiers_
        _, here, there = np.intersect1d(labels, classifiers.labels_, return_indices=True)
        if weight < LEAST_WEIGHT or not len(here):
            continue
        known = np.arange(len(row.columns))
        place = row.columns
        if classifiers.columns_ is not None:
            place = places(classifiers.columns_, row.n_features)[row.columns]
            known, place = known[place >= 0], place[place >= 0]
        found[np.ix_(known, here)] += weight * classifiers.weights_[np.ix_(place, there)]
    return found * row.values[:, None]


def gate_contributions(
    members: Sequence[ConditionalMixture], log_pi: np.ndarray, row: Row
) -> np.ndarray | None:
    """What each feature of the row adds to each component's log weight, (D, K), or None.

    Against the average component of its mixture, weighted by π: only differences count.
    """
    if not all(is_linear(member.gate_) for member in members):
        return None
    found, first = [], 0
    for member in members:
        gate: Any = member.gate_
        last = first + len(member.components_)
        pi = np.exp(log_pi[first:last] - np.logaddexp.reduce(log_pi[first:last]))
        weights = gate.weights_[row.columns].astype(np.float64)
        found.append((weights - (weights @ pi)[:, None]) * row.values[:, None])
        first = last
    return np.hstack(found)


def is_linear(learner: Any) -> bool:
    """Whether it has a matrix of weights, a row for each feature."""
    return getattr(getattr(learner, "weights_", None), "ndim", 0) == 2


def feature_names(given: Sequence[str] | None, fitted: Any, n_features: int) -> list[str]:
    """The names that were given, or those the model was fitted with, or numbers."""
    names = given if given is not None else fitted
    if names is None:
        return [f"x{number}" for number in range(n_features)]
    return checked_names(names, n_features, "feature")


def checked_names(names: Sequence[Any], count: int, what: str) -> list[Any]:
    """The names as a list, if there are as many as there should be."""
    if len(names) != count:
        raise DataError(
            f"{what}_names has {len(names)} names, but the model was fitted on {count} {what}s; "
            "pass one name each, in column order"
        )
    return list(names)


def strongest(
    names: Sequence[Any], values: np.ndarray, count: int, least: float
) -> tuple[tuple[Any, float], ...]:
    """The names with the largest values from ``least`` on, largest first.

    >>> strongest(["a", "b", "c"], np.array([0.1, 0.9, 0.5]), 2, 0.2)
    (('b', 0.9), ('c', 0.5))
    """
    order = [number for number in np.argsort(-values, kind="stable")[:count].tolist()]
    return tuple((names[j], float(values[j])) for j in order if values[j] >= least)
