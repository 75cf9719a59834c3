"""One runner for all experiments: units that are missing are run, then summed up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from setwise.errors import DataError
from setwise.experiments.entries import ENTRIES
from setwise.experiments.entry import Entry, quick_variant
from setwise.experiments.pool import run_in_processes
from setwise.experiments.records import Results, run_unit
from setwise.experiments.studies import STUDIES
from setwise.experiments.study import Study, quick_study
from setwise.experiments.summary import summarised, wins
from setwise.experiments.unit import Experiment, Unit, plain, units_of

Progress = Callable[[str], None]
#: told of each unit as it ends: its record, and whether it was done before
Ended = Callable[[Unit, dict[str, Any], bool], None]


def experiments() -> dict[str, Experiment]:
    """All there are, by name."""
    return {**ENTRIES, **STUDIES}


def find(name: str, quick: bool = False) -> Experiment:
    """The experiment of that name."""
    known = experiments()
    if name not in known:
        raise DataError(f"there is no experiment {name!r}; there are: {', '.join(known)}")
    found = known[name]
    if not quick:
        return found
    return quick_study(found) if isinstance(found, Study) else quick_variant(found)


def run(
    name: str,
    progress: Progress = lambda text: None,
    datasets: Sequence[str] = (),
    *,
    quick: bool = False,
    results: Results | None = None,
) -> dict[str, Any]:
    """Run an experiment, on some of its data sets if told, as values that JSON can hold."""
    experiment = find(name, quick)
    tasks = [(experiment, unit) for unit in units_of(experiment, datasets)]
    records = run_tasks(tasks, results=results, started=lambda unit: progress(str(unit)))
    return told(experiment, records)


def run_tasks(
    tasks: Sequence[tuple[Experiment, Unit]],
    *,
    results: Results | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    started: Callable[[Unit], None] = lambda unit: None,
    ended: Ended = lambda unit, record, before: None,
) -> list[dict[str, Any]]:
    """The records of all units, in their order; those in ``results`` are not run again.

    ``jobs`` processes share the cores; None runs one unit after another in this process, with all
    of them. Failed units are tried again the next time, and ``fresh`` tries all.
    """
    found: dict[Unit, dict[str, Any]] = {}
    missing = []
    for experiment, unit in tasks:
        record = results.done(unit) if results is not None and not fresh else None
        if record is None:
            missing.append((experiment, unit))
        else:
            found[unit] = record
            ended(unit, record, True)

    def done(unit: Unit, record: dict[str, Any]) -> None:
        found[unit] = record
        if results is not None:
            results.write(unit, record)
        ended(unit, record, False)

    if jobs is None:
        for experiment, unit in missing:
            started(unit)
            done(unit, run_unit(experiment, unit))
    elif missing:
        run_in_processes(missing, jobs, done)
    return [found[unit] for _, unit in tasks]


def told(experiment: Experiment, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What an experiment's records say, for tables and for JSON."""
    failed = [
        {"unit": record["unit"], "reason": record["reason"]}
        for record in records
        if record["status"] == "failed"
    ]
    if isinstance(experiment, Entry):
        rows = summarised(experiment, records)
        about = {
            key: plain(value)
            for key, value in vars(experiment).items()
            if key not in ("published", "reference", "quick")
        }
        about["protocol"] = str(experiment.protocol)
        return {"entry": about, "rows": rows, "wins": wins(experiment, rows), "failed": failed}
    measured: dict[str, list[Any]] = {}
    for record in records:
        if record["status"] == "done":
            measured.setdefault(record["unit"]["dataset"], []).append(record["result"])
    tables = [asdict(table) for table in experiment.tabulate(measured)]
    return {"study": experiment.name, "tables": tables, "failed": failed}
