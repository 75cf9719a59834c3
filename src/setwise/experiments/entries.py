"""The experiments, as data: what is run, on which data, and what was published.

Settings are chosen on training rows alone, by ``grid`` and the held-out log-likelihood.
"""

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
    notes: str = ""


#: The measure that each decision is made for, and whether more of it is better.
OWN_MEASURE = {
    "set_accuracy": ("set_accuracy", True),
    "f1": ("instance_f1", True),
    "f1_calibrated": ("instance_f1", True),
    "hamming": ("hamming_loss", False),
    "micro_f1": ("micro_f1", True),
    "macro_f1": ("label_f1", True),
    "f1_threshold": ("instance_f1", True),
    "jaccard": ("instance_jaccard", True),
}

_BINARY_RELEVANCE = ModelSpec(
    "BR",
    "BinaryRelevance",
    parameters={"max_iter": 1000},
    grid={"C": (0.01, 0.1, 1.0, 10.0, 100.0)},
)

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            name="br-decisions",
            title="Binary relevance: each decision on each measure",
            datasets=("scene", "yeast", "medical", "enron", "bibtex", "rcv1sub1", "tmc2007"),
            models=(_BINARY_RELEVANCE,),
            published={
                ("scene", "BR", "set_accuracy"): (0.515, "Li 2016, Table 2"),
                ("rcv1sub1", "BR", "set_accuracy"): (0.404, "Li 2016, Table 2, 103 labels"),
                ("tmc2007", "BR", "set_accuracy"): (0.253, "Li 2016, Table 2, 49,060 features"),
                ("bibtex", "BR", "set_accuracy"): (0.166, "Li 2019, Table 4.3"),
                ("bibtex", "BR", "instance_f1"): (0.359, "Li 2019, Table 4.3"),
            },
            notes="Logistic regression is deterministic here, so one seed says all.",
        ),
        Entry(
            name="br-quick",
            title="Binary relevance on small data, to see the runner at work",
            datasets=("emotions", "flags"),
            models=(ModelSpec("BR", "BinaryRelevance", grid={"C": (0.01, 0.1, 1.0)}),),
        ),
    )
}
