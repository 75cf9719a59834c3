"""``setwise bench``: tables of results, printed by one command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from setwise.data.formats.files import write_atomically
from setwise.errors import DataError
from setwise.experiments.entries import ENTRIES, OWN_MEASURE, Entry
from setwise.experiments.runner import run
from setwise.experiments.studies import STUDIES
from setwise.experiments.study import ResultTable, Study

_WORDS = {
    "set_accuracy": "set accuracy",
    "instance_f1": "F1",
    "hamming_loss": "Hamming loss",
    "label_f1": "label F1",
    "micro_f1": "micro F1",
    "instance_jaccard": "Jaccard",
}


def list_entries(console: Console) -> None:
    """The experiments there are."""
    table = Table("name", "what", "data sets", title="Experiments", title_justify="left")
    for entry in _experiments().values():
        table.add_row(entry.name, entry.title, ", ".join(entry.datasets))
    console.print(table)


def run_named(
    console: Console, names: Sequence[str], datasets: Sequence[str], json_path: str | None
) -> None:
    """Run experiments, print their tables, and write the results as JSON if asked."""
    known = _experiments()
    for name in names:
        if name not in known:
            raise DataError(f"there is no experiment {name!r}; there are: {', '.join(known)}")
        _check_datasets(known[name], datasets)
    results = {}
    for name in names:
        run_one = _run_study if name in STUDIES else _run_entry
        results[name] = run_one(console, name, datasets)
    if json_path is not None:
        told = results[names[0]] if len(names) == 1 else results
        with write_atomically(json_path) as stream:
            stream.write(json.dumps(told, indent=1).encode())


def _experiments() -> dict[str, Entry | Study]:
    return {**ENTRIES, **STUDIES}


def _check_datasets(experiment: Entry | Study, datasets: Sequence[str]) -> None:
    odd = [data for data in datasets if data not in experiment.datasets]
    if odd:
        raise DataError(
            f"{experiment.name} is not run on {odd[0]!r}, but on {', '.join(experiment.datasets)}"
        )


def _run_entry(console: Console, name: str, datasets: Sequence[str]) -> dict[str, Any]:
    with console.status("starting") as status:
        results = run(name, progress=status.update, datasets=tuple(datasets))
    console.print(results_table(results))
    _print_wins(console, results)
    _print_certificates(console, results)
    if results["entry"]["notes"]:
        console.print(results["entry"]["notes"], style="dim")
    return results


def _run_study(console: Console, name: str, datasets: Sequence[str]) -> dict[str, Any]:
    study = STUDIES[name]
    with console.status("starting") as status:
        tables = study.run(tuple(datasets) or study.datasets, status.update)
    for table in tables:
        console.print(_study_table(table))
        console.print(table.notes, style="dim")
    return {"study": study.name, "tables": [asdict(table) for table in tables]}


def _study_table(results: ResultTable) -> Table:
    """A table of a study; a line before each new data set."""
    table = Table(title=results.title, title_justify="left")
    for number, column in enumerate(results.columns):
        table.add_column(column, justify="left" if number < 2 else "right")
    previous = None
    for row in results.rows:
        if previous not in (None, row[0]):
            table.add_section()
        table.add_row("" if row[0] == previous else str(row[0]), *map(str, row[1:]))
        previous = row[0]
    return table


def results_table(results: dict[str, Any]) -> Table:
    """One line a data set and decision; each decision's own measure in bold where it is best."""
    entry = results["entry"]
    own = [OWN_MEASURE[decision][0] for decision in entry["decisions"]]
    measures = list(dict.fromkeys([*own, *entry["also"]]))
    table = Table(title=entry["title"], title_justify="left")
    for column in ("data", "model", "decided for"):
        table.add_column(column, no_wrap=True)
    has_reference = any(row["reference"] for row in results["rows"])
    extra = ["reference", "published"] if has_reference else ["published"]
    columns = (*map(_WORDS.__getitem__, measures), "standard error", "log-likelihood", "seconds")
    for column in (*columns, *extra):
        table.add_column(column, justify="right")
    previous = None
    for row in results["rows"]:
        is_new = (row["dataset"], row["model"]) != previous
        previous = (row["dataset"], row["model"])
        table.add_row(
            row["dataset"] if is_new else "",
            row["model"] if is_new else "",
            row["decision"].replace("_", " "),
            *(_shown(row, measure, results) for measure in measures),
            _error(row),
            f"{row['log_prob']:.3f}" if is_new else "",
            f"{row['seconds']:.1f}" if is_new else "",
            *([_reference(row, is_new)] if has_reference else []),
            "; ".join(f"{value:.4g} ({where})" for value, where in row["published"].values()),
        )
        if row["decision"] == entry["decisions"][-1]:
            table.add_section()
    return table


def _shown(row: dict[str, Any], measure: str, results: dict[str, Any]) -> str:
    value, deviation = row["mean"][measure], row["deviation"][measure]
    text = f"{value:.4f}" + (f" ± {deviation:.4f}" if len(row["settings"]) > 1 else "")
    rivals = [
        other["mean"][measure]
        for other in results["rows"]
        if (other["dataset"], other["model"]) == (row["dataset"], row["model"])
    ]
    best = min(rivals) if measure == "hamming_loss" else max(rivals)
    return f"[bold]{text}[/]" if value == best else text


def _error(row: dict[str, Any]) -> str:
    """How far chance in the test rows may move the decision's own measure."""
    own = OWN_MEASURE[row["decision"]][0]
    return f"{row['error'][own]:.4f}" if own in row["error"] else ""


def _reference(row: dict[str, Any], is_new: bool) -> str:
    """What the reference reaches on the decision's own measure, and by its likelihood, once."""
    told = [
        f"{value:.4g}" if measure != "log_prob" else f"log-likelihood {value:.3f}"
        for measure, value in row["reference"].items()
        if measure != "log_prob" or is_new
    ]
    return ", ".join(told)


def _print_certificates(console: Console, results: dict[str, Any]) -> None:
    for row in results["rows"]:
        if row["certified"] and row["decision"] == "set_accuracy":
            told = row["certified"]
            console.print(
                f"{row['model']} on {row['dataset']}: {told['proven']:.1%} of the modes are proven "
                f"best; others may fall short of the best by {told['largest_gap']:.3g} in log "
                f"probability at most ({told['mean_gap']:.3g} in the mean of all rows)"
            )


def _print_wins(console: Console, results: dict[str, Any]) -> None:
    entry = results["entry"]
    total = len({row["dataset"] for row in results["rows"]}) * len(entry["models"])
    for decision, count in results["wins"].items():
        measure = _WORDS[OWN_MEASURE[decision][0]]
        name = decision.replace("_", " ")
        console.print(f"the decision for {name} has the best {measure} on {count} of {total}")
