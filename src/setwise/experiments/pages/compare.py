"""An entry's records as tables like those of a paper: models down, data sets across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from setwise.experiments.entry import Entry
from setwise.experiments.pages.paired import RowsByModel
from setwise.experiments.pages.statistics import (
    noise_of,
    noise_of_parts,
    paired_bootstrap,
    ranks,
    rows_differ,
    runs_differ,
)
from setwise.experiments.sources import shown
from setwise.experiments.summary import (
    LESS_IS_BETTER,
    OWN_MEASURE,
    measures_of,
    spread,
    summarised,
)

WORDS = {
    "set_accuracy": "set accuracy",
    "instance_f1": "F1",
    "hamming_loss": "Hamming loss",
    "label_f1": "label F1",
    "micro_f1": "micro F1",
    "instance_jaccard": "Jaccard",
    "cll_loss": "CLL-loss, summed",
    "fit_seconds": "seconds to fit",
    "predict_seconds": "seconds to predict",
}
ROW_MEASURES = ("set_accuracy", "hamming_loss", "instance_f1", "instance_jaccard")
SECONDS = ("fit_seconds", "predict_seconds")


@dataclass
class Cell:
    """What we have, what was published, and how the two compare."""

    mean: float
    deviation: float
    n_runs: int
    published: float | None = None
    published_deviation: float | None = None
    mark: str = ""  # "better" or "worse" than published, by more than chance
    is_best: bool = False  # or not told apart from the best by a paired test


@dataclass
class Pivot:
    """One measure: rows are models (and what they decide for), columns data sets."""

    measure: str
    title: str
    less_is_better: bool
    datasets: list[str]
    rows: dict[str, dict[str, Cell]]
    ranks: dict[str, Any] | None = None
    published_ranks: dict[str, float] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    @property
    def mean_ranks(self) -> dict[str, float]:
        """Model -> mean rank, of the models that have all data sets."""
        ranks = self.ranks
        return dict(zip(ranks["models"], ranks["mean"], strict=True)) if ranks else {}


def pivots(entry: Entry, records: Sequence[dict[str, Any]]) -> list[Pivot]:
    """A table for each measure of an entry.

    On one test part, or the few of random splits, models are compared row by row, on several folds
    part by part.
    """
    rows = summarised(entry, records)
    by_row = entry.protocol.kind in ("published", "random")
    by_rows = RowsByModel.of(entry, records if by_row else [])
    found = []
    for measure in measures_of(entry):
        chosen = [row for row in rows if _belongs(entry, row, measure)]
        if chosen:
            found.append(_pivot(entry, measure, chosen, by_rows))
    return found


def contrasts(entry: Entry, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The model of ``contrast`` beside the best of its rivals, by a paired bootstrap over rows.

    Where rows have groups, whole groups are drawn.
    """
    if entry.contrast is None:
        return []
    ours, rivals = entry.contrast
    by_rows = RowsByModel.of(entry, records)
    told = {
        (row["dataset"], row["model"], row["decision"]): row for row in summarised(entry, records)
    }
    found = []
    for dataset in dict.fromkeys(key[0] for key in by_rows.values):
        for decision in entry.decisions:
            measure, more = OWN_MEASURE[decision]
            if (
                measure not in ROW_MEASURES
                or (dataset, ours, decision, measure) not in by_rows.values
            ):
                continue
            sign, own_key = 1 if more else -1, (dataset, ours, decision, measure)
            there = [
                told[dataset, name, decision]
                for name in rivals
                if by_rows.pair(own_key, (dataset, name, decision, measure))
            ]
            if not there:
                continue
            own = told[dataset, ours, decision]
            best = max(there, key=lambda row: sign * row["mean"][measure])
            pair = by_rows.pair(own_key, (dataset, best["model"], decision, measure))
            assert pair is not None  # as it is among those that are there
            gap, low, high = paired_bootstrap(pair.ours, pair.theirs, pair.groups)
            above, below = (low > 0, high < 0) if more else (high < 0, low > 0)
            found.append(
                {
                    "dataset": shown(dataset),
                    "measure": WORDS[measure],
                    "ours": (own["mean"][measure], spread(own, measure)),
                    "rival": best["model"],
                    "theirs": (best["mean"][measure], spread(best, measure)),
                    "gap": gap,
                    "low": low,
                    "high": high,
                    "verdict": "better" if above else "worse" if below else "not told apart",
                }
            )
    return found


def _belongs(entry: Entry, row: Mapping[str, Any], measure: str) -> bool:
    """Whether a decision is shown in the table of a measure."""
    if measure not in row["mean"]:
        return False
    owners = [name for name in entry.decisions if OWN_MEASURE[name][0] == measure]
    if row["decision"] in (owners or entry.decisions[:1]):
        return True
    return any(
        len(key) == 4 and key[2:] == (row["decision"], measure) and key[1] == row["model"]
        for key in entry.published
    )


def _pivot(
    entry: Entry,
    measure: str,
    rows: list[dict[str, Any]],
    by_rows: RowsByModel,
) -> Pivot:
    less = measure in LESS_IS_BETTER
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    decisions = {row["decision"] for row in rows}
    table: dict[str, dict[str, Cell]] = {}
    sources: list[str] = []
    for row in rows:
        name = row["model"]
        if len(decisions) > 1:
            name += f", for {WORDS[OWN_MEASURE[row['decision']][0]]}"
        cell = _cell(entry, row, measure, less)
        table.setdefault(name, {})[shown(row["dataset"])] = cell
        if measure in row["published"]:
            sources.append(row["published"][measure][1])
    if measure not in SECONDS:
        _mark_best(table, rows, measure, less, by_rows, len(decisions) > 1)
    pivot = Pivot(
        measure,
        WORDS.get(measure, measure),
        less,
        [shown(name) for name in datasets],
        table,
        sources=list(dict.fromkeys(sources)),
    )
    _add_ranks(pivot)
    return pivot


def _cell(entry: Entry, row: Mapping[str, Any], measure: str, less: bool) -> Cell:
    value, *more = row["published"].get(measure, (None, ""))
    cell = Cell(row["mean"][measure], row["deviation"][measure], len(row["runs"][measure]), value)
    if value is None or measure in SECONDS:
        return cell
    is_folds = entry.protocol.kind == "folds"
    error = None if is_folds else row["error"].get(measure)
    if entry.protocol.kind == "random":
        noise = noise_of_parts(cell.deviation, cell.n_runs, error)
    else:
        noise = noise_of(cell.deviation, cell.n_runs, error)
    if len(more) > 1:
        cell.published_deviation = more[1]
        noise = float(np.hypot(noise, more[1] / np.sqrt(entry.protocol.count)))
    else:
        noise = float(np.sqrt(2) * noise)  # theirs has as much chance in it as ours
    gap = (cell.mean - value) * (-1 if less else 1)
    if abs(gap) > 2 * noise and noise > 0:
        cell.mark = "better" if gap > 0 else "worse"
    return cell


def _mark_best(
    table: dict[str, dict[str, Cell]],
    rows: list[dict[str, Any]],
    measure: str,
    less: bool,
    by_rows: RowsByModel,
    several: bool,
) -> None:
    """The best model of each data set, and those that a paired test does not tell from it."""
    sign = -1 if less else 1
    for dataset in {row["dataset"] for row in rows}:
        some = [row for row in rows if row["dataset"] == dataset]
        best = max(some, key=lambda row: sign * row["mean"][measure])
        for row in some:
            name = row["model"]
            if several:
                name += f", for {WORDS[OWN_MEASURE[row['decision']][0]]}"
            is_best = row is best or not _differ(row, best, measure, by_rows)
            table[name][shown(dataset)].is_best = is_best and len(some) > 1


def _differ(row: Any, best: Any, measure: str, by_rows: RowsByModel) -> bool:
    keys = [(one["dataset"], one["model"], one["decision"], measure) for one in (row, best)]
    pair = by_rows.pair(*keys)
    if pair is not None:
        return rows_differ(pair.ours, pair.theirs, pair.groups, pair.inflation)
    ours, theirs = row["runs"][measure], best["runs"][measure]
    return runs_differ(ours, theirs) if len(ours) == len(theirs) else True


def _add_ranks(pivot: Pivot) -> None:
    """Mean ranks over the data sets that all models have; published ones over the same cells."""
    full = [name for name in pivot.rows if set(pivot.rows[name]) == set(pivot.datasets)]
    values = [[pivot.rows[name][data].mean for name in full] for data in pivot.datasets]
    found = ranks(
        full, np.array(values).reshape(len(pivot.datasets), len(full)), pivot.less_is_better
    )
    if found is None:
        return
    pivot.ranks = asdict(found)
    known = [n for n in full if all(c.published is not None for c in pivot.rows[n].values())]
    theirs = [[pivot.rows[name][data].published for name in known] for data in pivot.datasets]
    if len(known) > 2:
        told = ranks(known, np.array(theirs, dtype=float), pivot.less_is_better)
        if told is not None:
            pivot.published_ranks = dict(zip(told.models, told.mean, strict=True))
