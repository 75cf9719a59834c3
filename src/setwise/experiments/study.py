"""Studies: experiments that are more than models times decisions; each gives its own tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Progress = Callable[[str], None]


@dataclass
class ResultTable:
    """A table of results, as values that JSON can hold; ``columns`` name what rows hold."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[Any]] = field(default_factory=list)
    notes: str = ""


@dataclass(frozen=True)
class Study:
    """What a study is, on which data, and how it is run."""

    name: str
    title: str
    datasets: tuple[str, ...]
    run: Callable[[Sequence[str], Progress], list[ResultTable]]


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
    '0.6000 ± 0.1000'
    """
    deviation = float(np.std(values)) if len(values) > 1 else None
    return Figure(float(np.mean(values)), deviation)
