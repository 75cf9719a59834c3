"""Units: the smallest parts of an experiment that are run, written and resumed by themselves."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from setwise.experiments.entry import Entry, ModelSpec
from setwise.experiments.sources import is_path, stamp
from setwise.experiments.study import Study

Experiment = Entry | Study


@dataclass(frozen=True)
class Unit:
    """One data set, one model (or part of a study), one seed, and one fold where there are folds.

    ``fingerprint`` changes with the settings, so that changed ones are run again.
    """

    experiment: str
    dataset: str
    model: str
    seed: int
    fold: int | None
    fingerprint: str

    def __str__(self) -> str:
        fold = "" if self.fold is None else f", part {self.fold + 1}"
        model = f"{self.model} on " if self.model else ""
        return f"{model}{self.dataset}, seed {self.seed}{fold}"

    @property
    def file(self) -> str:
        """Where its result stands, below the folder of results."""
        fold = "" if self.fold is None else f"-part{self.fold}"
        last = f"{_slug(self.model) or 'all'}-seed{self.seed}{fold}-{self.fingerprint}.json"
        return f"{_slug(self.experiment)}/{_slug(self.dataset)}/{last}"

    @property
    def place(self) -> tuple[str, str, int, int | None]:
        """What it measures, whatever its settings."""
        return self.dataset, self.model, self.seed, self.fold


def units_of(experiment: Experiment, datasets: Sequence[str] = ()) -> list[Unit]:
    """All units, those of one data set together."""
    names = tuple(datasets) or experiment.datasets
    if isinstance(experiment, Study):
        return [
            unit_of(experiment, name, part, seed)
            for name in names
            for seed in experiment.seeds_of(name)
            for part in experiment.parts or ("",)
        ]
    return [
        unit_of(experiment, name, spec.name, seed, number)
        for name in names
        for spec in experiment.models
        if name in spec.datasets or not spec.datasets or is_path(name)
        for seed in experiment.seeds
        for number in experiment.protocol.numbers
    ]


def unit_of(
    experiment: Experiment, dataset: str, model: str, seed: int, fold: int | None = None
) -> Unit:
    """One unit with the fingerprint of its settings."""
    told = settings_of(experiment, dataset, model)
    text = json.dumps([dataset, stamp(dataset), seed, fold, told], sort_keys=True)
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:10]
    return Unit(experiment.name, dataset, model, seed, fold, fingerprint)


def settings_of(experiment: Experiment, dataset: str, model: str) -> dict[str, Any]:
    """What decides the result of a unit, as values that JSON can hold."""
    if isinstance(experiment, Study):
        found: dict[str, Any] = plain(experiment.settings)
        return found
    spec = spec_of(experiment, model, dataset)
    return {
        "model": plain(spec),
        "decisions": list(experiment.decisions),
        "protocol": asdict(experiment.protocol),
        "features": experiment.features.get(dataset),
        "zero_division": experiment.zero_division,
        "certify": experiment.certify,
    }


def spec_of(entry: Entry, model: str, dataset: str) -> ModelSpec:
    """The model of that name in an entry, as it is run on a data set."""
    return next(spec.on(dataset) for spec in entry.models if spec.name == model)


def plain(value: Any) -> Any:
    """Settings as JSON can hold them; other objects by their description."""
    if isinstance(value, ModelSpec):
        return {name: plain(part) for name, part in vars(value).items() if part}
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return " ".join(repr(value).split())


def _slug(text: str) -> str:
    """The text as a name of a file; two texts that become alike are told apart by a number.

    >>> _slug("BR-rerank"), _slug("CBM, reranked")
    ('BR-rerank', 'CBM-reranked-7e8f')
    """
    short = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")
    return short if short == text else f"{short}-{hashlib.sha256(text.encode()).hexdigest()[:4]}"
