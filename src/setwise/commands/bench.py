"""``setwise bench``: tables of results, printed by one command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from setwise.commands.bench_tables import print_results
from setwise.data.formats.files import write_atomically
from setwise.errors import DataError
from setwise.experiments.records import Results
from setwise.experiments.registry import order_of, places_of
from setwise.experiments.runner import experiments, find, run_tasks, told
from setwise.experiments.sources import is_path
from setwise.experiments.unit import Experiment, Unit, units_of


def list_entries(console: Console) -> None:
    """The experiments there are."""
    table = Table(
        "paper", "table", "name", "what", "data sets", title="Experiments", title_justify="left"
    )
    known = experiments()
    previous = None
    for name in sorted(known, key=order_of):
        places = places_of(name)
        paper = places[0][0] if places else "our own"
        if previous not in (None, paper):
            table.add_section()
        table.add_row(
            "" if paper == previous else paper,
            ", ".join(place[1] for place in places),
            name,
            known[name].title,
            ", ".join(known[name].datasets),
        )
        previous = paper
    console.print(table)


def run_named(
    console: Console,
    names: Sequence[str],
    datasets: Sequence[str],
    json_path: str | None,
    *,
    results: str = "setwise-results",
    quick: bool = False,
    jobs: int | None = None,
    fresh: bool = False,
    models: Sequence[str] = (),
) -> None:
    """Run experiments, print their tables, and write the results as JSON if asked.

    Without names all are run that know one of the data sets; with ``models``, only these of them.
    """
    chosen = {name: find(name, quick) for name in names or experiments()}
    units = {}
    for name, experiment in chosen.items():
        allowed = (*find(name).datasets, *(experiment.datasets if quick else ()))
        fitting = _fitting(name, allowed, datasets, is_named=bool(names))
        if fitting or not datasets:
            units[name] = units_of(experiment, fitting)
    units = _of_models(units, models) if models else units
    tasks = [(chosen[name], unit) for name, some in units.items() for unit in some]
    store = Results(results)
    records = _with_progress(console, tasks, store, jobs, fresh)
    told_all = {}
    for name, some in units.items():
        told_all[name] = told(chosen[name], [records[unit] for unit in some])
        print_results(console, told_all[name])
    if json_path is not None:
        one_or_all = told_all[names[0]] if len(names) == 1 else told_all
        with write_atomically(json_path) as stream:
            stream.write(json.dumps(one_or_all, indent=1).encode())


def _of_models(units: dict[str, list[Unit]], models: Sequence[str]) -> dict[str, list[Unit]]:
    """The units of some models; each of these must be in one of the experiments."""
    known = {unit.model for some in units.values() for unit in some if unit.model}
    odd = [model for model in models if model not in known]
    if odd:
        raise DataError(
            f"there is no model {odd[0]!r} to run; there are: {', '.join(sorted(known))}"
        )
    chosen = {name: [u for u in some if u.model in models] for name, some in units.items()}
    return {name: some for name, some in chosen.items() if some}


def _fitting(
    name: str, allowed: Sequence[str], datasets: Sequence[str], is_named: bool
) -> list[str]:
    """Which of the data sets an experiment is run on; one that is named must know them all."""
    odd = [data for data in datasets if data not in allowed and not is_path(data)]
    if odd and is_named:
        raise DataError(
            f"{name} is not run on {odd[0]!r}, but on {', '.join(allowed)}; "
            "data of your own are told by their path, as ./mine"
        )
    return [data for data in datasets if data not in odd]


def _with_progress(
    console: Console,
    tasks: Sequence[tuple[Experiment, Unit]],
    store: Results,
    jobs: int | None,
    fresh: bool,
) -> dict[Unit, dict[str, Any]]:
    """Run what is missing; a bar shows how much, and about how long it will take."""
    before = 0
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        bar = progress.add_task("starting", total=len(tasks))

        def started(unit: Unit) -> None:
            progress.update(bar, description=f"{unit.experiment}: {unit}")

        def ended(unit: Unit, record: dict[str, Any], was_done: bool) -> None:
            nonlocal before
            if was_done:  # or the time left would be told by what took none
                before += 1
                progress.update(bar, total=len(tasks) - before)
                return
            progress.advance(bar)
            started(unit)
            if record["status"] == "failed":
                progress.console.print(
                    f"failed: {unit.experiment}, {unit}: {record['reason']}", markup=False
                )

        records = run_tasks(
            tasks, results=store, jobs=jobs, started=started, ended=ended, fresh=fresh
        )
    if before:
        console.print(f"{before} of {len(tasks)} parts were there already, in {store.folder}")
    return {unit: record for (_, unit), record in zip(tasks, records, strict=True)}
