"""What models are worth on each test row: two of them beside each other, as a paired test wants it.

Where all runs test on the same rows, a row is worth its mean over seeds. Random splits have a test
part for each seed: parts are put one after another, those that both models have. Two parts share
some rows by chance, which err alike in both: errors are larger than those of as many other rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.experiments.entry import Entry
from setwise.experiments.packing import unpacked
from setwise.experiments.protocol import shared_error

Key = tuple[str, str, str, str]  # data set, model, decision, measure
Parts = dict[int, np.ndarray]  # by seed; by 0 where all runs test on the same rows


@dataclass(frozen=True)
class Pair:
    """The same rows, (n,), by two models, with the rows' groups where they have any.

    ``inflation``: how many times as large an error of means is as rows that differ would have it.
    """

    ours: np.ndarray
    theirs: np.ndarray
    groups: np.ndarray | None
    inflation: float


@dataclass(frozen=True)
class RowsByModel:
    """Values of rows for each model, and for each data set the numbers of its rows' groups."""

    values: Mapping[Key, Parts]
    groups: Mapping[str, Parts]

    @classmethod
    def of(cls, entry: Entry, records: Sequence[dict[str, Any]]) -> RowsByModel:
        """What is in an entry's records."""
        is_random = entry.protocol.kind == "random"
        done = [record for record in records if record["status"] == "done"]
        return cls(_values(done, is_random), _groups(done, is_random))

    def pair(self, ours: Key, theirs: Key) -> Pair | None:
        """Two models on the rows that both were tested on; None where there are none."""
        parts = self.values.get(ours, {}), self.values.get(theirs, {})
        both = sorted(parts[0].keys() & parts[1].keys())
        if not both or any(len(parts[0][part]) != len(parts[1][part]) for part in both):
            return None
        one, other = (np.concatenate([some[part] for part in both]) for some in parts)
        groups = self.groups.get(ours[0])
        return Pair(
            one,
            other,
            apart([groups[part] for part in both]) if groups else None,
            shared_error(len(both)),
        )


def apart(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Numbers of groups, part after part, none of them in two parts.

    >>> apart([np.array([0, 0, 1]), np.array([0, 1])]).tolist()
    [0, 0, 1, 2, 3]
    """
    ends = np.cumsum([0, *(part.max() + 1 for part in parts[:-1])])
    return np.concatenate([part + end for part, end in zip(parts, ends, strict=True)])


def _values(records: Sequence[dict[str, Any]], is_random: bool) -> dict[Key, Parts]:
    """Values of the test rows; folds of one seed one after another, as those of all models are."""
    found: dict[Key, dict[int, list[np.ndarray]]] = {}
    for record in records:
        unit, result = record["unit"], record["result"]
        for decision, rows in result["rows"].items():
            for measure, text in rows.items():
                values = unpacked(text, result["n_test"], measure == "set_accuracy")
                key = (unit["dataset"], unit["model"], decision, measure)
                found.setdefault(key, {}).setdefault(unit["seed"], []).append(values)
    told: dict[Key, Parts] = {}
    for key, seeds in found.items():
        joined = {seed: np.concatenate(seeds[seed]) for seed in sorted(seeds)}
        if is_random:
            told[key] = joined
        elif len({len(values) for values in joined.values()}) == 1:
            told[key] = {0: np.mean(list(joined.values()), axis=0)}
    return told


def _groups(records: Sequence[dict[str, Any]], is_random: bool) -> dict[str, Parts]:
    """The number of each test row's group, where rows have groups."""
    found: dict[str, Parts] = {}
    for record in records:
        if record["result"].get("groups"):
            unit = record["unit"]
            part = unit["seed"] if is_random else 0
            found.setdefault(unit["dataset"], {})[part] = np.array(record["result"]["groups"])
    return found
