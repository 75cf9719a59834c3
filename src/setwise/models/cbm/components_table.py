"""The components of a fitted mixture as a table: weights, label clusters, typical features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from setwise.data.labels import Label
from setwise.distributions.batched import BATCH_CELLS
from setwise.errors import MissingDependency
from setwise.models.cbm.contributions import Member, gate_weights, strongest
from setwise.models.cbm.mixture import ConditionalMixture

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

LEAST_RATE = 0.1  # a label that fewer of a component's rows have is not of its cluster
LEAST_TOTAL = 1e-12  # what counts as nothing


@dataclass(frozen=True)
class ComponentRecord:
    """One component.

    ``number`` is its place among all components, ``member`` the mixture it belongs to; ``weight``
    is π_k(x), averaged over the training rows; ``labels`` are its cluster, with the share of its
    rows that have each; ``features`` the gate's largest weights, on scaled features;
    ``n_active_labels`` how many labels have a classifier and not a constant.
    """

    number: int
    member: int
    weight: float
    labels: tuple[tuple[Label, float], ...]
    features: tuple[tuple[str, float], ...]
    n_active_labels: int


@dataclass(frozen=True, repr=False)
class ComponentTable(Sequence[ComponentRecord]):
    """All components, the heaviest first; ``print`` it, ``plot`` it, or take it as a frame."""

    records: tuple[ComponentRecord, ...]

    def __getitem__(self, place: Any) -> Any:
        return self.records[place]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[ComponentRecord]:
        return iter(self.records)

    def to_dict(self) -> list[dict[str, Any]]:
        """A dict of plain values a component, ready for JSON."""
        return [
            {
                key: [list(pair) for pair in value] if isinstance(value, tuple) else value
                for key, value in asdict(record).items()
            }
            for record in self.records
        ]

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row a component; labels and features are names only."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingDependency(
                'to_frame needs pandas; pip install "setwise[pandas]", or use to_dict()'
            ) from None
        columns = [
            asdict(record)
            | {
                "labels": tuple(name for name, _ in record.labels),
                "features": tuple(name for name, _ in record.features),
            }
            for record in self.records
        ]
        return pd.DataFrame(columns).set_index("number")

    def plot(self, figure: Figure | None = None, *, max_components: int = 12) -> Figure:
        """The label clusters of the heaviest components as a figure; needs matplotlib."""
        from setwise.models.cbm.plots import plot_components

        return plot_components(self, figure, max_components)

    def __rich__(self) -> RenderableType:
        from rich.text import Text

        from setwise.models.cbm.explanation_text import listed, table

        has_features = any(record.features for record in self)
        has_members = any(record.member for record in self)
        extra = {"member": "right"} if has_members else {}
        made = table(
            "Components, the heaviest first",
            number="right", **extra, weight="right", active_labels="right", labels="left",
            **({"typical_features": "left"} if has_features else {}),
        )  # fmt: skip
        for record in self:
            words = [listed(record.labels)]
            if has_features:
                words.append(", ".join(name for name, _ in record.features))
            made.add_row(
                str(record.number),
                *([str(record.member)] if has_members else []),
                f"{record.weight:.3f}",
                str(record.n_active_labels),
                *map(Text, words),
            )
        return made

    def __str__(self) -> str:
        from setwise.models.cbm.explanation_text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return f"<ComponentTable of {len(self)} components>"


def mean_weights(members: Sequence[Member], X: Any, row_weight: np.ndarray) -> np.ndarray:
    """π_k(x) of all members' components, averaged over scaled training rows, (K,); sums to one."""
    share = row_weight / row_weight.sum() / len(members)
    return np.concatenate([share @ np.exp(member.log_weights(X)) for member in members])


def label_rates(
    members: Sequence[Member], X: Any, Y: sparse.csr_array, row_weight: np.ndarray
) -> np.ndarray:
    """The share of each component's training rows that have each label, (K, L).

    Rows count as much as the component is responsible for them.
    """
    return np.vstack([_rates(member, X, Y, row_weight) for member in members])


def component_table(
    members: Sequence[Member],
    weights: np.ndarray,
    rates: np.ndarray,
    label_names: Sequence[Label],
    feature_names: Sequence[str],
    n_features: int,
) -> ComponentTable:
    """The components of all members, with ``n_features`` typical features each."""
    records: list[ComponentRecord] = []
    for number, member in enumerate(members):
        gate = gate_weights(member, len(feature_names))
        components: Sequence[Any] = member.components_
        for k, component in enumerate(components):
            place = len(records)
            records.append(
                ComponentRecord(
                    number=place,
                    member=number,
                    weight=float(weights[place]),
                    labels=strongest(label_names, rates[place], rates.shape[1], LEAST_RATE),
                    features=_typical(gate, k, feature_names, n_features),
                    n_active_labels=len(component.labels),
                )
            )
    return ComponentTable(tuple(sorted(records, key=lambda record: -record.weight)))


def _rates(member: Member, X: Any, Y: sparse.csr_array, row_weight: np.ndarray) -> np.ndarray:
    if isinstance(member, ConditionalMixture):
        # The last M-step has left them: constants of all labels, active ones too, smoothed.
        rates: np.ndarray = expit([component.constants_ for component in member.components_])
        return rates
    K, L = len(member.components_), Y.shape[1]
    positive, total, size = np.zeros((K, L)), np.zeros(K), max(1, BATCH_CELLS // (K * L))
    for first in range(0, X.shape[0], size):
        rows = slice(first, first + size)
        shares = _responsibilities(member, X[rows], Y[rows]) * row_weight[rows, None]
        positive += (Y[rows].T @ shares).T
        total += shares.sum(axis=0)
    # A component that is responsible for no row has the labels' overall frequencies.
    overall = Y.T @ row_weight / row_weight.sum()
    found: np.ndarray = np.where(
        total[:, None] > 0, positive / np.maximum(total, LEAST_TOTAL)[:, None], overall
    )
    return found


def _responsibilities(member: Member, X: Any, Y: sparse.csr_array) -> np.ndarray:
    """How much each component is responsible for each row, (n, K): equation 3.6."""
    from setwise.distributions._odds_kernel import fill_log_joint

    log_joint = np.array(member.log_weights(X), dtype=np.float64, order="C")
    Z = np.empty((*log_joint.shape, Y.shape[1]))
    member.fill_logits(X, Z)
    fill_log_joint(Z, Y.toarray().astype(np.int8), log_joint)
    shares: np.ndarray = softmax(log_joint, axis=1)
    return shares


def _typical(
    gate: np.ndarray | None, k: int, names: Sequence[str], count: int
) -> tuple[tuple[str, float], ...]:
    """The features with the largest weights, above those of the average component."""
    if gate is None:
        return ()
    weights = np.asarray(gate[:, k] - gate.mean(axis=1), dtype=np.float64)
    return strongest(names, weights, count, LEAST_TOTAL)
