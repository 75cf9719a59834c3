"""Results of experiments as tables in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from setwise.experiments.pages.compare import WORDS
from setwise.experiments.pages.markdown import number
from setwise.experiments.summary import LESS_IS_BETTER, OWN_MEASURE


def print_results(console: Console, results: dict[str, Any]) -> None:
    """The tables of an experiment, with its notes and with what has failed."""
    if "study" in results:
        for table in results["tables"]:
            console.print(_study_table(table))
            console.print(table["notes"], style="dim")
    elif results["rows"]:
        console.print(results_table(results))
        _print_wins(console, results)
        _print_certificates(console, results)
        if results["entry"]["notes"]:
            console.print(results["entry"]["notes"], style="dim")
    for one in results["failed"]:
        unit = one["unit"]
        what = " on ".join(filter(None, (unit["model"], unit["dataset"])))
        console.print(f"failed: {what}, seed {unit['seed']}: {one['reason']}", markup=False)


def _study_table(results: dict[str, Any]) -> Table:
    """A table of a study; a line before each new data set."""
    table = Table(title=results["title"], title_justify="left")
    for place, column in enumerate(results["columns"]):
        table.add_column(column, justify="left" if place < 2 else "right")
    previous = None
    for row in results["rows"]:
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
    columns = (*map(WORDS.__getitem__, measures), "standard error", "log-likelihood", "seconds")
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
            f"{row['log_prob']:.3f}" if is_new and row["log_prob"] is not None else "",
            f"{row['seconds']:.1f}" if is_new else "",
            *([_reference(row, is_new)] if has_reference else []),
            _published(row),
        )
        if row["decision"] == entry["decisions"][-1]:
            table.add_section()
    return table


def _shown(row: dict[str, Any], measure: str, results: dict[str, Any]) -> str:
    if measure not in row["mean"]:
        return "-"
    value, deviation = row["mean"][measure], row["deviation"][measure]
    spread = f" ± {number(deviation, measure)}" if len(row["settings"]) > 1 else ""
    text = f"{number(value, measure)}{spread}"
    rivals = [
        other["mean"][measure]
        for other in results["rows"]
        if (other["dataset"], other["model"]) == (row["dataset"], row["model"])
    ]
    best = min(rivals) if measure in LESS_IS_BETTER else max(rivals)
    return f"[bold]{text}[/]" if value == best else text


def _published(row: dict[str, Any]) -> str:
    """Published values with deviations and places; measures are named if there are several."""
    several = len(row["published"]) > 1
    return "; ".join(
        (f"{WORDS[measure]} " if several else "")
        + f"{value:.4g}"
        + (f" ± {spread[0]:.4g}" if spread else "")
        + f" ({where})"
        for measure, (value, where, *spread) in row["published"].items()
    )


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
    if len(entry["decisions"]) == 1:
        return
    total = len({(row["dataset"], row["model"]) for row in results["rows"]})
    for decision, count in results["wins"].items():
        measure = WORDS[OWN_MEASURE[decision][0]]
        name = decision.replace("_", " ")
        console.print(f"the decision for {name} has the best {measure} on {count} of {total}")
