"""Why a conditional Bernoulli mixture predicts what it predicts, for one row.

As in the example of Li 2019, section 3.3: the components that count and their labels (figure 3.5),
the marginals, the correlations that lift a label into the likeliest set or keep it out, the best
sets, and, for linear learners, the features that speak for and against a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count, check_counts
from setwise.data.labels import Label
from setwise.distributions import BernoulliMixture
from setwise.errors import DataError
from setwise.models.cbm import reasons
from setwise.models.cbm.contributions import Features, Member, Ranked, strongest
from setwise.models.cbm.reasons import LabelReason, LabelSet, label_reasons, named

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

__all__ = [
    "ComponentPart",
    "Explanation",
    "LabelReason",
    "Limits",
    "Ranked",
    "explain_row",
    "one_row",
]

LEAST_PROBABILITY = 0.01  # of a label, to be shown in a component or among the marginals
NEAR = 0.1  # a label with this marginal is near the likeliest set


@dataclass(frozen=True)
class ComponentPart:
    """One component in one row: a bar chart of figure 3.5.

    ``weight`` is π_k(x), ``share`` how much of the likeliest set's probability comes from it;
    ``features`` speak for this component, against the average one.
    """

    number: int
    weight: float
    share: float
    labels: Ranked
    features: Ranked


@dataclass(frozen=True, repr=False)
class Explanation:
    """What is behind one prediction; ``print`` it, ``plot`` it, or take it as a dict.

    Attributes
    ----------
    predicted : the set that the model predicts for its ``target``
    sets : the likeliest sets, with probabilities; the first is the mode
    components : the heaviest components
    labels : the labels of the likeliest and of the predicted set, and those near it
    correlation : Pearson's correlations of ``labels``, a row each
    marginals : all labels with a probability of at least 0.01, the likeliest first
    """

    predicted: tuple[Label, ...]
    sets: tuple[LabelSet, ...]
    components: tuple[ComponentPart, ...]
    labels: tuple[LabelReason, ...]
    correlation: tuple[tuple[float, ...], ...]
    marginals: Ranked

    @property
    def lifted(self) -> tuple[LabelReason, ...]:
        """The labels that correlation brought into the likeliest set."""
        return tuple(reason for reason in self.labels if reason.verdict == "lifted")

    @property
    def sunk(self) -> tuple[LabelReason, ...]:
        """The labels that correlation kept out of it."""
        return tuple(reason for reason in self.labels if reason.verdict == "sunk")

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, strings and numbers, ready for JSON."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def plot(self, figure: Figure | None = None) -> Figure:
        """Components, marginals, best sets and correlations as a figure; needs matplotlib."""
        from setwise.models.cbm.plots import plot_explanation

        return plot_explanation(self, figure)

    def __rich__(self) -> RenderableType:
        from setwise.models.cbm.explanation_text import render_explanation

        return render_explanation(self)

    def __str__(self) -> str:
        from setwise.models.cbm.explanation_text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        best = self.sets[0]
        return f"<Explanation of {best.labels!r}, probability {best.probability:.3g}>"


@dataclass(frozen=True)
class Limits:
    """How much is told."""

    n_components: int = 4
    n_sets: int = 5
    n_near: int = 5  # labels beyond those of the likeliest and of the predicted set
    n_features: int = 5

    def __post_init__(self) -> None:
        check_counts(n_components=self.n_components, n_sets=self.n_sets)
        check_count("n_near", self.n_near, at_least=0)
        check_count("n_features", self.n_features, at_least=0)


def explain_row(
    mixture: BernoulliMixture,
    predicted: np.ndarray,
    label_names: Sequence[Label],
    limits: Limits,
    linear: tuple[Sequence[Member], Any, Sequence[str]] | None = None,
) -> Explanation:
    """What is behind the prediction (L,) of one row.

    ``linear`` is for the features behind it: the members, the scaled row and the features' names.
    """
    sets, log_prob = mixture.top(limits.n_sets)
    mode, parts, marginals = sets[0, 0], reasons.parts(mixture), mixture.marginals()[0]
    labels = _labels_to_explain(sets[0], predicted, marginals, limits.n_near)
    correlation = reasons.correlations(mixture, labels)
    features = Features.of(mixture, labels, limits.n_features, linear)
    heaviest = np.argsort(-parts.weights, kind="stable")[: limits.n_components].tolist()
    shares = reasons.shares_of_set(mixture, mode)
    found = [
        named(chosen, value, label_names)
        for chosen, value in zip(sets[0], log_prob[0], strict=True)
    ]
    return Explanation(
        predicted=named(predicted, 0.0, label_names).labels,
        sets=tuple(one for one in found if one.probability > 0),
        components=tuple(
            ComponentPart(
                k,
                float(parts.weights[k]),
                float(shares[k]),
                strongest(label_names, parts.probabilities[k], len(marginals), LEAST_PROBABILITY),
                features.for_component(k),
            )
            for k in heaviest
        ),
        labels=label_reasons(mixture, mode, marginals, labels, correlation, label_names, features),
        correlation=tuple(map(tuple, correlation.tolist())),
        marginals=strongest(label_names, marginals, len(marginals), LEAST_PROBABILITY),
    )


def one_row(x: Any) -> Any:
    """One row as a table of one: from a vector of features, a pandas Series, or such a table."""
    if len(getattr(x, "shape", ())) == 1:
        if sparse.issparse(x):
            return sparse.csr_array(x.reshape(1, -1))
        return x.to_frame().T if hasattr(x, "to_frame") else x.reshape(1, -1)
    if not hasattr(x, "shape"):
        x = np.asarray(x)
        return x.reshape(1, -1) if x.ndim == 1 else one_row(x)
    if x.shape[0] != 1:
        raise DataError(f"explain takes one row, got {x.shape[0]}; explain_rows takes several")
    return x


def _labels_to_explain(
    sets: np.ndarray, predicted: np.ndarray, marginals: np.ndarray, n_near: int
) -> np.ndarray:
    """Labels of the mode and of the prediction, then near ones, each likeliest first, (m,)."""
    inside = (sets[0] > 0) | (predicted > 0)
    near = ~inside & ((marginals >= NEAR) | sets.any(axis=0))
    order = np.argsort(-marginals, kind="stable")
    beyond = order[near[order]]
    # A label above one half that is not in the set always needs a word.
    return np.concatenate(
        [order[inside[order]], beyond[: max(n_near, (marginals[beyond] > 0.5).sum())]]
    )


def _plain(value: Any) -> Any:
    """Tuples as lists, numpy's scalars as Python's."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
