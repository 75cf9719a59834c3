"""Studies: experiments that are more than models times decisions; each gives its own tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Progress = Callable[[str], None]
#: data set -> what was measured on it, one for each seed
Measured = Mapping[str, Sequence[Any]]


@dataclass
class ResultTable:
    """A table of results, as values that JSON can hold; ``columns`` name what rows hold."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[Any]] = field(default_factory=list)
    notes: str = ""
    #: what may be drawn: name of the picture -> name of the curve -> points (x, y)
    curves: dict[str, dict[str, list[tuple[float, float]]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """What a study is, on which data, how a data set is measured, and how it is told.

    ``measure`` takes a data set, a seed, and a part where a study has parts, and returns values
    that JSON can hold; ``tabulate`` makes tables of what was measured on all of them.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    measure: Callable[..., Any]
    tabulate: Callable[[Measured], list[ResultTable]]
    #: seeds of each data set, or a function of its name
    seeds: tuple[int, ...] | Callable[[str], tuple[int, ...]] = (0,)
    #: what a data set and seed falls into, as models, where that takes long
    parts: tuple[str, ...] = ()
    #: what decides the results, so that changed settings are run again
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: what a quick run has instead, by the names of these fields
    quick: Mapping[str, Any] = field(default_factory=dict)

    def seeds_of(self, dataset: str) -> tuple[int, ...]:
        """The seeds that a data set is measured with."""
        return self.seeds(dataset) if callable(self.seeds) else self.seeds

    def measured(self, dataset: str, seed: int, part: str) -> Any:
        """What one unit measures; ``part`` is empty where there are none."""
        return self.measure(dataset, seed, part) if part else self.measure(dataset, seed)

    def run(self, datasets: Sequence[str], progress: Progress) -> list[ResultTable]:
        """All of it, one after another."""
        measured: dict[str, list[Any]] = {}
        for name in datasets:
            for seed in self.seeds_of(name):
                for part in self.parts or ("",):
                    progress(f"{name}, seed {seed} {part}")
                    measured.setdefault(name, []).append(self.measured(name, seed, part))
        return self.tabulate(measured)


def quick_study(study: Study) -> Study:
    """The study as a run of minutes has it."""
    return replace(study, **{"seeds": (0,)} | dict(study.quick))


@dataclass(frozen=True)
class Figure:
    """A mean over seeds, with its deviation where there are several."""

    mean: float
    deviation: float | None

    def __str__(self) -> str:
        spread = "" if self.deviation is None else f" ± {self.deviation:.4f}"
        return f"{self.mean:.4f}{spread}"


def figure(values: Sequence[float]) -> Figure:
    """The mean of a figure over seeds.

    >>> str(figure([0.5, 0.7]))
    '0.6000 ± 0.1414'
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Figure(float(np.mean(values)), deviation)
