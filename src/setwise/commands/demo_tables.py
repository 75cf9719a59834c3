"""What ``setwise demo`` prints, laid out for a terminal of 80 columns and more.

Signs beyond ASCII are left to rich, which knows what a terminal can show; what colours say is said
in words too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from setwise.commands.talk import share

MODELS = {
    "binary relevance": "each tag by itself",
    "CBM": "tags that go together",
    "BR-rerank": "sets judged as wholes",
}
WIDTH = 92  # columns, or fewer where the terminal has fewer
BAR = 20
MANY = 8  # tags of a set that are shown
LEAST = 0.005  # an alternative below this is none
GOOD, BAD, NUMBER = "green", "yellow", "bold cyan"


class Progress:
    """The table of models, which fills while they learn; nothing where there is no terminal."""

    def __init__(self, console: Console | None) -> None:
        is_seen = console is not None and console.is_terminal
        self._live = Live(console=console, transient=True) if is_seen else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def now(self, name: str, measured: dict[str, dict[str, float]]) -> None:
        """``name`` is learning ("" before the first), those before it are ``measured``."""
        if self._live is not None:
            self._live.update(models(measured, name))


def start(data: dict[str, Any]) -> RenderableType:
    """What the task is, and how much there is to learn from."""
    words = Text.assemble(
        "Debian's packages carry sets of tags. Three models read the words and tags of some "
        "packages; then each tells the ", ("whole set", "bold"), " of tags of packages it has "
        "never seen, and ", ("how likely that set is right", "bold"), ".\n\n",
        _number(data["train_packages"]), " packages to learn from, ",
        _number(data["test_packages"]), " of other sources to be judged on\n",
        _number(data["tags"]), " tags, ", _number(data["tags_of_a_package"], ".1f"),
        " a package, in ", _number(data["different_sets"]), " different sets",
    )  # fmt: skip
    panel = Panel(words, title="[bold]setwise demo", title_align="left", border_style="cyan")
    return Group("", Constrain(panel, WIDTH))


def models(measured: dict[str, dict[str, float]], learning: str | None = None) -> RenderableType:
    """What each model gets right; ``learning`` says which one is at it."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("model")
    table.add_column("")
    for column in ("whole sets right", "F1", "fitted in"):
        table.add_column(column, justify="right", no_wrap=True)
    best = max((one["set_accuracy"] for one in measured.values()), default=0.0)
    for name, about in MODELS.items():
        label = Text.assemble((name, "bold"), "\n", (about, "dim"))
        if name not in measured:
            waits = Spinner("dots", "learning", style="cyan") if name == learning else ""
            table.add_row(label, waits, "", "", "")
            continue
        one = measured[name]
        is_best = learning is None and one["set_accuracy"] == best
        table.add_row(
            label,
            ProgressBar(1, one["set_accuracy"], width=BAR, complete_style="cyan"),
            Text(share(one["set_accuracy"]), "bold green" if is_best else "bold"),
            f"{one['f1']:.3f}",
            f"{one['seconds']:.1f} s",
        )
    ready = Spinner("dots", "getting ready; the first time, this compiles", style="cyan")
    return _part("What each model gets right", table, *([ready] if learning == "" else []))


def packages(facts: Sequence[dict[str, Any]]) -> RenderableType:
    """Some packages with their sets, how sure the model is, and what else they could be."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for place, one in enumerate(facts):
        if place:
            table.add_row("", "")
        table.add_row(Text(f"{one['confidence']:.0%}", NUMBER), _package(one))
    return _part("New packages, with the confidence of BR-rerank", table)


def _package(one: dict[str, Any]) -> RenderableType:
    said, truth = one["set"], one["truth"]
    wrong = [tag for tag in said if tag not in truth]
    missed = [tag for tag in truth if tag not in said]
    is_right = not wrong and not missed
    lines = [
        Text.assemble(
            (one["package"], "bold"), "  ",
            ("exactly right", GOOD) if is_right else ("not quite", BAD),
        ),
        Text(few(said)),
    ]  # fmt: skip
    lines += [Text(f"wrong: {few(wrong)}", BAD)] if wrong else []
    lines += [Text(f"missed: {few(missed)}", BAD)] if missed else []
    lines += [
        Text(f"or {other['probability']:.0%}: {few(other['set'])}", "dim")
        for other in one["alternatives"]
        if other["probability"] >= LEAST
    ]
    return Group(*lines)


def unread(facts: Sequence[dict[str, Any]]) -> RenderableType:
    """What may go out unread, and whether the promise was kept on the test packages."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for rule in facts:
        table.add_row(Text(f"{rule['target']:.0%} accuracy", "bold"), _promise(rule))
    how = (
        "Counted by source package, as packages of one source are much alike. The promise was "
        "made on the training packages, each judged by a model that had not seen its source."
    )
    return _part("What may be accepted unread", table, Text(how, "dim"))


def _promise(rule: dict[str, Any]) -> Text:
    if not rule["found"]:
        return Text.assemble(
            ("nothing can be promised", BAD), ", so all sets are to be read:\n",
            (f"{rule['message']}", "dim"),
        )  # fmt: skip
    if not rule["accepted"]:
        start = f"from confidence {rule['threshold']:.2f} on a set may be accepted, but "
        return Text(f"{start}no test package is as sure as that")
    return Text.assemble(
        (share(rule["coverage"]), NUMBER), " may be accepted, those with confidence from "
        f"{rule['threshold']:.2f} on; ", (share(rule["accuracy"]), NUMBER),
        f" of these {rule['accepted']:,} were right: the promise is ",
        ("kept", GOOD) if rule["kept"] else ("broken", "bold red"),
    )  # fmt: skip


def end(facts: dict[str, Any]) -> RenderableType:
    """Where the report is, and what to do next."""
    fit = "  setwise fit examples.csv --labels tags --text description --out model.setwise"
    report = Text.assemble(
        "The report is written to ", (facts["out"], NUMBER), ": open it in a browser. All of this "
        f"took {facts['seconds']:.0f} s. Next, a CSV file of your own:",
    )  # fmt: skip
    return _part("More", report, Text(fit, "cyan"))


def few(tags: Sequence[str], many: int = MANY) -> str:
    """The first tags on a line.

    >>> few(["role::program", "uitoolkit::gtk", "x11::applet"], many=2)
    'role::program, uitoolkit::gtk, 1 more'
    """
    more = [f"{len(tags) - many} more"] if len(tags) > many else []
    return ", ".join([*tags[:many], *more]) or "no tag"


def _number(value: float, form: str = ",") -> tuple[str, str]:
    return f"{value:{form}}", NUMBER


def _part(title: str, *body: RenderableType) -> RenderableType:
    rule = Rule(Text(title, "bold"), align="left", style="cyan")
    return Group("", *(Constrain(one, WIDTH) for one in (rule, *body)))
