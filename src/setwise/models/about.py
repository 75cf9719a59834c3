"""What each model is, in a line: its paper, what it can say, what it learns by and what it costs.

Costs are those of a fit, of an iteration where a solver iterates, in n rows, d features, L labels
and K components, experts, chains or neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from setwise.errors import MissingDependency

COLUMNS = ("name", "paper", "joint", "learners", "cost")
WIDTHS = (23, 20, 26, 25, 24)  # of the columns as text
GAP = "  "

# What several models say of themselves.
ANY_LEARNER = "logistic, elastic net, boosting, any of scikit-learn"
LABELS_APART = "the product of its labels"


@dataclass(frozen=True)
class About:
    """A model in a line.

    Attributes
    ----------
    paper : who described it, and when
    joint : whether it has a probability for each set of labels that is not a mere product
    learners : what it can be made of
    cost : of a fit, in n, d, L and K
    why_not : where there is no joint probability, why
    keeps_rows : whether a fitted model, and so its file, may hold training rows themselves, all of
        them or, as centres that stand for one row alone, some

    Examples
    --------
    >>> About("Zhang 2007", False, "neighbours", "n² d", why_not="labels apart").said["joint"]
    'no: labels apart'
    """

    paper: str
    joint: bool
    learners: str
    cost: str
    why_not: str = ""
    keeps_rows: bool = False

    def __post_init__(self) -> None:
        if self.joint == bool(self.why_not):
            raise ValueError("say why_not where joint is False, and only there")

    @property
    def said(self) -> dict[str, str]:
        """The columns of the table beside the name, as words."""
        joint = "yes" if self.joint else f"no: {self.why_not}"
        return {"paper": self.paper, "joint": joint, "learners": self.learners, "cost": self.cost}


class ModelTable(list[str]):
    """The names of models; printed, or as a data frame, a table of what they are.

    Examples
    --------
    >>> table = ModelTable({"Mean": About("nobody", False, "none", "n L", why_not="no x")})
    >>> table  # doctest: +ELLIPSIS
    name                     paper                 joint                       ...
    Mean                     nobody                no: no x                    ...
    >>> table == ["Mean"], table.rows[0]["cost"]
    (True, 'n L')
    """

    def __init__(self, models: dict[str, About]) -> None:
        super().__init__(sorted(models))
        self.rows = [{"name": name, **models[name].said} for name in self]

    def to_frame(self) -> Any:
        """The table as a pandas data frame, the names as its index."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise MissingDependency(
                "a data frame needs pandas; pip install 'setwise[pandas]', or take .rows"
            ) from error
        return DataFrame(self.rows, columns=list(COLUMNS)).set_index("name")

    def __repr__(self) -> str:
        header: dict[str, str] = dict(zip(COLUMNS, COLUMNS, strict=True))
        return "\n".join(line for row in (header, *self.rows) for line in _lines(row.values()))

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row.values()) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _lines(cells: Iterable[str]) -> list[str]:
    """A row of the table, each cell wrapped to the width of its column."""
    wrapped = [wrap(cell, width) for cell, width in zip(cells, WIDTHS, strict=True)]
    return [
        GAP.join(part.ljust(width) for part, width in zip(parts, WIDTHS, strict=True)).rstrip()
        for parts in zip_longest(*wrapped, fillvalue="")
    ]
