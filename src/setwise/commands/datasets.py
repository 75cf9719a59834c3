"""``setwise datasets``: what is on this machine, and what it looks like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from setwise.data.registry import DATA_VARIABLE, KNOWN, list_datasets, load_dataset

_WIDE = 110  # columns of text: a narrower terminal shows numbers only, all of them

_STATISTICS = {
    "n_rows": "rows",
    "n_features": "features",
    "n_labels": "labels",
    "cardinality": "labels per row (cardinality)",
    "density": "cardinality / labels (density)",
    "mean_label_frequency": "rows per label, mean",
    "median_label_frequency": "rows per label, median",
    "mode_label_frequency": "rows per label, mode",
    "n_distinct_sets": "distinct label sets",
    "mean_set_frequency": "rows per label set, mean",
    "unique_set_proportion": "rows with a label set of their own",
    "n_empty_rows": "rows without labels",
    "n_absent_labels": "labels without rows",
    "max_set_size": "largest label set",
    "feature_sparsity": "zeros among the features",
}


def list_known(
    console: Console, names: Sequence[str], *, data_home: str | None, as_json: bool
) -> None:
    """One line a data set, from what is known without reading it."""
    here = list_datasets(data_home)
    facts = {name: asdict(KNOWN[name]) if name in KNOWN else {} for name in here}
    if as_json:
        console.print_json(json.dumps(facts))
        return
    table = Table(
        title="Data sets on this machine",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("name", style="bold", no_wrap=True)
    is_wide = console.width >= _WIDE
    if is_wide:
        table.add_column("what", overflow="ellipsis", no_wrap=True)
    for column in ("rows", "features", "labels", "per row", "sets", "train / test"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in here:
        table.add_row(name, *_line(name)[0 if is_wide else 1 :])
    console.print(table)
    console.print(
        f"setwise datasets NAME measures one in full; ${DATA_VARIABLE} is the folder to look in.",
        style="dim",
    )


def measure(
    console: Console, names: Sequence[str], *, data_home: str | None, as_json: bool
) -> None:
    """All statistics of some data sets, one column each, measured now."""
    datasets = [load_dataset(name, data_home=data_home) for name in names]
    measured = [dataset.statistics().to_dict() for dataset in datasets]
    if as_json:
        console.print_json(json.dumps(dict(zip(names, measured, strict=True))))
        return
    table = Table("", *names, title="Statistics, all parts together", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for key, words in _STATISTICS.items():
        table.add_row(words, *(_shown(facts[key]) for facts in measured))
    console.print(table)


def _line(name: str) -> list[str]:
    known = KNOWN.get(name)
    if known is None:
        return ["not measured", *["-"] * 6]
    split = f"{known.n_train:,} / {known.n_test:,}" if known.n_test is not None else "-"
    counts = (known.n_rows, known.n_features, known.n_labels)
    return [
        known.about,
        *map(_shown, counts),
        f"{known.cardinality:.2f}",
        _shown(known.n_distinct_sets),
        split,
    ]


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
