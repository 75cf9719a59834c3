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
from setwise.models.cbm.contributions import (
    Member,
    Row,
    gate_contributions,
    label_contributions,
    strongest,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

LEAST_PROBABILITY = 0.01  # of a label, to be shown in a component or among the marginals
NEAR = 0.1  # a label with this marginal is near the likeliest set
LEAST_PULL = 0.05  # a correlation that is worth a name
LEAST_CONTRIBUTION = 0.005  # in log-odds

Ranked = tuple[tuple[Any, float], ...]  # names with numbers, the largest first


@dataclass(frozen=True)
class LabelSet:
    """A set of labels and its probability."""

    labels: tuple[Label, ...]
    probability: float


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


@dataclass(frozen=True)
class Partner:
    """A label that lifts or sinks another, by being in the set (``present``) or not."""

    label: Label
    correlation: float
    present: bool


@dataclass(frozen=True)
class LabelReason:
    """Why a label is in the likeliest set (``present``), or is not.

    ``verdict`` is "lifted" if it is in although its marginal is below one half, "sunk" if it is not
    although the marginal is above, and else empty; ``partners`` did it, the strongest first.
    ``beside_others`` is its probability given all others as in the likeliest set; ``correlations``
    are those with the set's other labels.
    """

    label: Label
    marginal: float
    present: bool
    verdict: str
    beside_others: float
    partners: tuple[Partner, ...]
    correlations: Ranked
    best_with: LabelSet
    best_without: LabelSet
    features_for: Ranked
    features_against: Ranked


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
    voices = _Features.of(mixture, labels, limits.n_features, linear)
    heaviest = np.argsort(-parts.weights, kind="stable")[: limits.n_components].tolist()
    shares = reasons.shares_of_set(mixture, mode)
    found = [
        _named(chosen, value, label_names)
        for chosen, value in zip(sets[0], log_prob[0], strict=True)
    ]
    return Explanation(
        predicted=_named(predicted, 0.0, label_names).labels,
        sets=tuple(one for one in found if one.probability > 0),
        components=tuple(
            ComponentPart(
                k,
                float(parts.weights[k]),
                float(shares[k]),
                strongest(label_names, parts.probabilities[k], len(marginals), LEAST_PROBABILITY),
                voices.for_component(k),
            )
            for k in heaviest
        ),
        labels=_label_reasons(mixture, mode, marginals, labels, correlation, label_names, voices),
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


@dataclass(frozen=True, eq=False)
class _Features:
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
    ) -> _Features:
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
        return self._strongest(self.by_component, k, 1)

    def for_label(self, place: int) -> Ranked:
        return self._strongest(self.by_label, place, 1)

    def against_label(self, place: int) -> Ranked:
        found = self._strongest(self.by_label, place, -1)
        return tuple((name, -value) for name, value in found)

    def _strongest(self, contributions: np.ndarray | None, column: int, sign: int) -> Ranked:
        if contributions is None:
            return ()
        return strongest(
            self.names, sign * contributions[:, column], self.count, LEAST_CONTRIBUTION
        )


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


def _label_reasons(
    mixture: BernoulliMixture,
    mode: np.ndarray,
    marginals: np.ndarray,
    labels: np.ndarray,
    correlation: np.ndarray,
    names: Sequence[Label],
    voices: _Features,
) -> tuple[LabelReason, ...]:
    if not len(labels):
        return ()
    best = _named(mode, float(reasons.log_prob(mixture, mode[None])[0]), names)
    sets, log_prob = reasons.best_otherwise(mixture, mode, labels)
    beside = reasons.beside_the_others(mixture, mode, labels)
    found = []
    for place, label in enumerate(labels.tolist()):
        is_in = bool(mode[label])
        otherwise = _named(sets[place], float(log_prob[place]), names)
        verdict = _verdict(is_in, float(marginals[label]))
        partners = _partners(verdict, place, labels, correlation[place], mode, names)
        inside = np.array([j for j, other in enumerate(labels) if mode[other] and j != place], int)
        order = inside[np.argsort(-np.abs(correlation[place, inside]), kind="stable")]
        found.append(
            LabelReason(
                names[label],
                float(marginals[label]),
                is_in,
                verdict,
                float(beside[place]),
                partners,
                tuple((names[labels[j]], float(correlation[place, j])) for j in order),
                best if is_in else otherwise,
                otherwise if is_in else best,
                voices.for_label(place),
                voices.against_label(place),
            )
        )
    return tuple(found)


def _verdict(is_in: bool, marginal: float) -> str:
    if is_in:
        return "lifted" if marginal < 0.5 else ""
    return "sunk" if marginal > 0.5 else ""


def _partners(
    verdict: str,
    place: int,
    labels: np.ndarray,
    correlation: np.ndarray,
    mode: np.ndarray,
    names: Sequence[Label],
) -> tuple[Partner, ...]:
    """Who lifts or sinks the label: a label that is there pulls by its correlation, one that is
    not by the negative of it.
    """
    if not verdict:
        return ()
    pull = np.where(mode[labels] > 0, correlation, -correlation)
    pull = pull if verdict == "lifted" else -pull
    pull[place] = -np.inf
    order = [j for j in np.argsort(-pull, kind="stable").tolist() if pull[j] >= LEAST_PULL]
    return tuple(
        Partner(names[labels[j]], float(correlation[j]), bool(mode[labels[j]])) for j in order
    )


def _named(chosen: np.ndarray, log_prob: float, names: Sequence[Label]) -> LabelSet:
    labels = tuple(names[label] for label in np.flatnonzero(chosen).tolist())
    return LabelSet(labels, float(np.exp(log_prob)))


def _plain(value: Any) -> Any:
    """Tuples as lists, numpy's scalars as Python's."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
