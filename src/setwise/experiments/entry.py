"""What an experiment is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from setwise.experiments.protocol import PUBLISHED, Protocol

#: A published value, where it stands, and its deviation if the paper gives one.
Value = tuple[float, str] | tuple[float, str, float]


@dataclass(frozen=True)
class ModelSpec:
    """A model by the name of its class, with what is fixed and what is tuned."""

    name: str
    model: str  # of setwise, or "module:Class"
    #: a value may be a ModelSpec again, of a model inside
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: what the grid is judged by on held-out training rows: "log_prob" or a set measure
    tuned_by: str = "log_prob"
    #: whether the grid is judged on one fifth of these, as a validation set, instead of by folds
    validated: bool = False
    #: whether it is fitted for each decision, its ``target``, and predicts sets by itself
    refit: bool = False
    #: the decisions it can make, if not all of the entry's
    decisions: tuple[str, ...] = ()
    #: the data sets it is run on, if not all of the entry's
    datasets: tuple[str, ...] = ()
    #: data set -> parameters that are other there
    by_dataset: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def on(self, dataset: str) -> ModelSpec:
        """The model as it is run on a data set."""
        parameters = dict(self.parameters) | dict(self.by_dataset.get(dataset, {}))
        return replace(self, parameters=parameters, datasets=(), by_dataset={})


@dataclass(frozen=True)
class Entry:
    """One table: data sets and models, the decisions compared, and published values beside."""

    name: str
    title: str
    datasets: tuple[str, ...]
    models: tuple[ModelSpec, ...]
    decisions: tuple[str, ...] = ("set_accuracy", "f1", "hamming")
    seeds: tuple[int, ...] = (0,)
    #: which rows teach and which test
    protocol: Protocol = PUBLISHED
    #: (data set, model, measure), of the decision made for it or else of the first one, or
    #: (data set, model, decision, measure) -> (value, where it was published[, its deviation])
    published: Mapping[Any, Value] = field(default_factory=dict)
    #: (data set, measure) -> what the authors' own system reaches on the same split
    reference: Mapping[tuple[str, str], float] = field(default_factory=dict)
    #: data set -> how its features are made, if not as they are: "tfidf"
    features: Mapping[str, str] = field(default_factory=dict)
    #: measures that are shown although no decision is made for them, as "cll_loss"
    also: tuple[str, ...] = ()
    zero_division: float = 0.0  # what F1 is where nothing is relevant and nothing predicted
    #: whether to tell how many modes are proven best, and how far the others may be off
    certify: bool = False
    notes: str = ""
    #: a model and its rivals: the page compares it with the best of them, row by row
    contrast: tuple[str, tuple[str, ...]] | None = None
    #: what a quick run has instead, by the names of these fields
    quick: Mapping[str, Any] = field(default_factory=dict)


def quick_variant(entry: Entry) -> Entry:
    """The entry as a run of minutes has it: what ``quick`` says, one seed, three folds at most."""
    protocol = replace(entry.protocol, count=min(entry.protocol.count, 3))
    few: dict[str, Any] = {"seeds": entry.seeds[:1], "protocol": protocol}
    if protocol != entry.protocol:  # a loss that is summed over larger folds is no longer theirs
        kept = {key: value for key, value in entry.published.items() if key[-1] != "cll_loss"}
        few["published"] = kept
    return replace(entry, **few | dict(entry.quick))
