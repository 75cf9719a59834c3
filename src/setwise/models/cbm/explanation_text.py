"""Explanations and tables of components in words, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from setwise.models.cbm.explain import Explanation, LabelReason, Ranked

WIDTH = 100  # columns of plain text
MANY = 6  # names on a line


def as_text(thing: Any) -> str:
    """What rich would show, as plain text."""
    console = Console(file=StringIO(), width=WIDTH, color_system=None)
    console.print(thing)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in written.splitlines()).strip("\n")


def render_explanation(explanation: Explanation) -> RenderableType:
    """The explanation from the sets down to the features."""
    best = explanation.sets[0]
    blocks: list[RenderableType] = [_sets(explanation), _components(explanation)]
    if explanation.labels:
        blocks.append(_labels(explanation))
    blocks += [_sentence(reason) for reason in (*explanation.lifted, *explanation.sunk)]
    if any(reason.features_for or reason.features_against for reason in explanation.labels):
        blocks.append(_features(explanation))
    if explanation.predicted != best.labels:
        told = f"Predicted for the target: {braced(explanation.predicted)}"
        blocks.insert(1, Text(told + ", which is not the likeliest set.\n"))
    return Group(*blocks)


def braced(labels: Sequence[Any]) -> str:
    """A set as it is written in formulas.

    >>> braced(["lake", "water"])
    '{lake, water}'
    """
    return "{" + ", ".join(map(str, labels)) + "}"


def listed(ranked: Ranked, form: str = ".2f") -> str:
    """The first names with their numbers on one line.

    >>> listed((("lake", 0.5), ("water", 0.25)), "+.2f")
    'lake +0.50, water +0.25'
    """
    more = f", {len(ranked) - MANY} more" if len(ranked) > MANY else ""
    return ", ".join(f"{name} {value:{form}}" for name, value in ranked[:MANY]) + more


def table(title: str, **columns: Any) -> Table:
    """An empty table; a column's value says how it is justified."""
    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, justify in columns.items():
        is_word = name in ("label", "probability")
        made.add_column(name.replace("_", " ").strip(), justify=justify, no_wrap=is_word)
    return made


def _sets(explanation: Explanation) -> Table:
    made = table("Likeliest sets", probability="right", set="left")
    for one in explanation.sets:
        made.add_row(probability_text(one.probability), Text(braced(one.labels)))
    return made


def _components(explanation: Explanation) -> Table:
    has_features = any(part.features for part in explanation.components)
    extra = {"because_of": "left"} if has_features else {}
    made = table(
        "Components that count most (share: of the likeliest set's probability)",
        number="right", weight="right", share="right", labels="left", **extra,
    )  # fmt: skip
    for part in explanation.components:
        cells = [str(part.number), f"{part.weight:.2f}", f"{part.share:.2f}"]
        words = [listed(part.labels), listed(part.features, "+.2f")]
        made.add_row(*cells, *(Text(word) for word in words[: 2 if has_features else 1]))
    return made


def _labels(explanation: Explanation) -> Table:
    made = table(
        "Labels of the likeliest set (*), and near it",
        _="left", label="left", marginal="right", beside_the_others="right",
        best_with="right", best_without="right", correlations_with_the_set="left",
    )  # fmt: skip
    for reason in explanation.labels:
        made.add_row(
            "*" if reason.present else "",
            Text(str(reason.label)),
            f"{reason.marginal:.2f}",
            f"{reason.beside_others:.2f}",
            probability_text(reason.best_with.probability),
            probability_text(reason.best_without.probability),
            Text(listed(reason.correlations[:3], "+.2f")),
        )
    return made


def probability_text(value: float) -> str:
    """A probability with two digits that say something.

    >>> probability_text(0.25), probability_text(0.0123), probability_text(0.00001)
    ('0.25', '0.012', '1e-05')
    """
    return f"{value:.2f}" if value >= 0.095 else f"{value:.2g}"


def _sentence(reason: LabelReason) -> Text:
    """As section 3.3 tells of the reflection."""
    there = [(p.label, p.correlation) for p in reason.partners if p.present]
    absent = [(p.label, p.correlation) for p in reason.partners if not p.present]
    by = [listed(tuple(there), "+.2f")] if there else []
    by += ["the absence of " + listed(tuple(absent), "+.2f")] if absent else []
    where = "in" if reason.present else "not in"
    text = Text(str(reason.label), style="bold")
    text.append(
        f" is {where} the likeliest set although its marginal is {reason.marginal:.2f}: "
        f"{reason.verdict} by {', and by '.join(by) or 'many weak correlations'}. "
        f"Beside the others of the set it has {reason.beside_others:.2f}; the best set with it has "
        f"probability {probability_text(reason.best_with.probability)}, without it "
        f"{probability_text(reason.best_without.probability)}.\n",
        style="not bold",
    )
    return text


def _features(explanation: Explanation) -> Table:
    made = table(
        "Features behind the labels (what they add to log-odds)",
        label="left", speak_for_it="left", speak_against_it="left",
    )  # fmt: skip
    for reason in explanation.labels:
        made.add_row(
            Text(str(reason.label)),
            Text(listed(reason.features_for, "+.2f")),
            Text(listed(reason.features_against, "+.2f")),
        )
    return made
