"""What an experiment is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ModelSpec:
    """A model by the name of its class, with what is fixed and what is tuned."""

    name: str
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """One table: data sets and models, the decisions compared, and published values beside."""

    name: str
    title: str
    datasets: tuple[str, ...]
    models: tuple[ModelSpec, ...]
    decisions: tuple[str, ...] = ("set_accuracy", "f1", "hamming")
    seeds: tuple[int, ...] = (0,)
    #: (data set, model, measure) -> (value, where it was published)
    published: Mapping[tuple[str, str, str], tuple[float, str]] = field(default_factory=dict)
    #: (data set, measure) -> what the authors' own system reaches on the same split
    reference: Mapping[tuple[str, str], float] = field(default_factory=dict)
    #: data set -> how its features are made, if not as they are: "tfidf"
    features: Mapping[str, str] = field(default_factory=dict)
    #: measures that are shown although no decision is made for them
    also: tuple[str, ...] = ()
    zero_division: float = 0.0  # what F1 is where nothing is relevant and nothing predicted
    #: whether to tell how many modes are proven best, and how far the others may be off
    certify: bool = False
    notes: str = ""
