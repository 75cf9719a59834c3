"""What features say, where learners are linear: weight times scaled value, in log-odds.

The log-odds of a label's marginal m = sum over k of π_k p_k move, with the features, by

    sum over k of  π_k p_k (1 - p_k) / m (1 - m)  times what the label's classifier in k gains
                +  π_k p_k / m (1 - m)            times what log π_k gains

so a feature may speak for a label inside a component, or by choosing components that have it; of
one component only its classifier is left. A component's own contributions are those of the gate,
against the average component. Learners that are not linear have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from setwise.distributions import BernoulliMixture
from setwise.errors import DataError
from setwise.models.cbm.mixture import ConditionalMixture
from setwise.models.cbm.rows import places
from setwise.models.cbm.shared import SharedMixture

Member = ConditionalMixture | SharedMixture
Ranked = tuple[tuple[Any, float], ...]  # names with numbers, the largest first
LEAST_CONTRIBUTION = 0.005  # in log-odds: less is not named
LEAST_SPREAD = 1e-12  # of a label: less cannot be divided by


class Weights(NamedTuple):
    """Linear classifiers of some labels (A,), on some features (D,), None for all: (D, A)."""

    columns: np.ndarray | None
    labels: np.ndarray
    weights: np.ndarray


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


@dataclass(frozen=True, eq=False)
class Features:
    """The strongest features of each label and each component; none if nothing is linear."""

    names: Sequence[str]  # (D,)
    by_label: np.ndarray | None  # (D, m)
    by_component: np.ndarray | None  # (D, K)
    count: int

    @classmethod
    def of(
        cls,
        mixture: BernoulliMixture,
        labels: np.ndarray,
        count: int,
        linear: tuple[Sequence[Member], Any, Sequence[str]] | None,
    ) -> Features:
        """Of the row that the mixture is of; ``linear``: members, scaled row, features' names."""
        if linear is None or count == 0:
            return cls((), None, None, 0)
        members, x, names = linear
        row = Row.of(x)
        return cls(
            [names[column] for column in row.columns],
            label_contributions(members, mixture, row, labels),
            gate_contributions(members, mixture.log_pi[0], row),
            count,
        )

    def for_component(self, k: int) -> Ranked:
        """What speaks for a component."""
        return self._strongest(self.by_component, k, 1)

    def for_label(self, place: int) -> Ranked:
        """What speaks for the label at this place."""
        return self._strongest(self.by_label, place, 1)

    def against_label(self, place: int) -> Ranked:
        """What speaks against it."""
        found = self._strongest(self.by_label, place, -1)
        return tuple((name, -value) for name, value in found)

    def _strongest(self, contributions: np.ndarray | None, column: int, sign: int) -> Ranked:
        if contributions is None:
            return ()
        return strongest(
            self.names, sign * contributions[:, column], self.count, LEAST_CONTRIBUTION
        )


def label_contributions(
    members: Sequence[Member],
    mixture: BernoulliMixture,
    row: Row,
    labels: np.ndarray,
) -> np.ndarray | None:
    """What each feature of the row adds to each label's log-odds, (D, m); None if not linear.

    To first order; ``mixture`` is that of the row.
    """
    banks = [_label_weights(member) for member in members]
    if any(bank is None for bank in banks):
        return None
    pi = np.exp(mixture.log_pi[0].astype(np.float64))[:, None]  # (K, 1)
    p = expit(mixture.logits[0][:, labels].astype(np.float64))  # (K, m)
    marginal = (pi * p).sum(axis=0)
    spread = np.maximum(marginal * (1 - marginal), LEAST_SPREAD)
    inside, found, first = pi * p * (1 - p) / spread, np.zeros((len(row.columns), len(labels))), 0
    for member, parts in zip(members, banks, strict=True):
        last = first + len(member.components_)
        own = inside[first:last]
        if isinstance(member, SharedMixture):  # its classifiers stand for all components
            own = own.sum(axis=0, keepdims=True)
        for shares, bank in zip(own, parts or (), strict=True):
            _add_weights(bank, shares, row, labels, found)
        first = last
    found *= row.values[:, None]
    gate = gate_contributions(members, mixture.log_pi[0], row)
    return found if gate is None else found + gate @ (pi * p / spread)


def gate_contributions(
    members: Sequence[Member], log_pi: np.ndarray, row: Row
) -> np.ndarray | None:
    """What each feature of the row adds to each component's log weight, (D, K), or None.

    Against the average component of its mixture, weighted by π: only differences count.
    """
    found, first = [], 0
    for member in members:
        weights = gate_weights(member, row.n_features)
        if weights is None:
            return None
        last = first + len(member.components_)
        pi = np.exp(log_pi[first:last] - np.logaddexp.reduce(log_pi[first:last]))
        said = weights[row.columns].astype(np.float64)
        found.append((said - (said @ pi)[:, None]) * row.values[:, None])
        first = last
    return np.hstack(found)


def gate_weights(member: Member, n_features: int) -> np.ndarray | None:
    """The weights of a softmax over the components, (d, K); None for any other gate."""
    weights: Any = getattr(member.gate_, "weights_", None)
    # Those of a tree of components have a row for each node.
    if np.shape(weights) != (n_features, len(member.components_)):
        return None
    return weights.toarray() if sparse.issparse(weights) else np.asarray(weights)


def _label_weights(member: Member) -> list[Weights] | None:
    """The classifiers of each component, or the one bank that all share; None if not linear."""
    if isinstance(member, SharedMixture):
        bank: Any = member.labels_
        if not _is_linear(bank):
            return None
        return [Weights(bank.columns_, np.arange(bank.n_labels), bank.weights_)]
    banks: list[Any] = [component.classifiers_ for component in member.components_]
    if not all(map(_is_linear, banks)):
        return None
    return [_weights(bank) for bank in banks]


def _weights(bank: Any) -> Weights:
    """Those of one component, dense on the features that have any."""
    if not sparse.issparse(bank.weights_):
        return Weights(bank.columns_, bank.labels_, bank.weights_)
    columns = np.flatnonzero(np.diff(bank.weights_.indptr))
    return Weights(columns, bank.labels_, bank.weights_[columns].toarray())


def _is_linear(bank: Any) -> bool:
    """Whether it has a matrix of weights, with a row for each of its features."""
    return np.ndim(getattr(bank, "weights_", 0)) == 2 and hasattr(bank, "columns_")


def _add_weights(
    bank: Weights, shares: np.ndarray, row: Row, labels: np.ndarray, found: np.ndarray
) -> None:
    """Add shares (m,) times weights to found (D, m), where the bank has feature and label."""
    _, here, there = np.intersect1d(labels, bank.labels, return_indices=True)
    known, place = np.arange(len(row.columns)), row.columns
    if bank.columns is not None:
        place = places(bank.columns, row.n_features)[row.columns]
        known, place = known[place >= 0], place[place >= 0]
    if len(here):
        found[np.ix_(known, here)] += shares[here] * bank.weights[np.ix_(place, there)]


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


def strongest(names: Sequence[Any], values: np.ndarray, count: int, least: float) -> Ranked:
    """The names with the largest values from ``least`` on, largest first.

    >>> strongest(["a", "b", "c"], np.array([0.1, 0.9, 0.5]), 2, 0.2)
    (('b', 0.9), ('c', 0.5))
    """
    order = np.argsort(-values, kind="stable")[:count].tolist()
    return tuple((names[j], float(values[j])) for j in order if values[j] >= least)
