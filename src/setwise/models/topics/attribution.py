"""Which words of a document speak for which label (Rubin et al. 2012, Figure 3), to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from setwise.data.labels import Label

COLOURS = ("#ffd6a5", "#bde0fe", "#caffbf", "#ffc6ff", "#fdffb6", "#d0bfff")
INK = "#222222"  # dark on all of them, whatever the page is like


@dataclass(frozen=True, eq=False)
class Attribution:
    """Which words of a document speak for which label.

    ``tokens[i, j]`` of the ``counts[i]`` tokens of ``words[i]`` speak for ``labels[j]``.

    Examples
    --------
    >>> told = Attribution(("sea", "of"), np.array([2, 1]), ("water",), np.array([[1.8], [0.1]]))
    >>> told.speaks_for
    [0, None]
    >>> told.to_html().partition("</p>")[2]
    '<p><mark style="background:#ffd6a5;color:#222222" title="water 0.90">sea</mark> of</p></div>'
    """

    words: tuple[Any, ...]
    counts: np.ndarray
    labels: tuple[Label, ...]
    tokens: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """Of each word's tokens, the share that speaks for each label, (words, labels)."""
        shares: np.ndarray = self.tokens / self.counts[:, None]
        return shares

    @property
    def speaks_for(self) -> list[int | None]:
        """The number of the label that each word speaks for most; None where others have it."""
        if not self.labels:
            return [None] * len(self.words)
        best, most = self.shares.argmax(axis=1), self.shares.max(axis=1)
        least = 1 / (len(self.labels) + 1)
        return [int(j) if p >= least else None for j, p in zip(best, most, strict=True)]

    def to_html(self) -> str:
        """The words, each in the colour of the label that it speaks for most."""
        legend = " ".join(_mark(label, j, "") for j, label in enumerate(self.labels))
        shown = []
        for word, share, j in zip(self.words, self.shares, self.speaks_for, strict=True):
            title = "" if j is None else f"{self.labels[j]} {share[j]:.2f}"
            shown.append(escape(str(word)) if j is None else _mark(word, j, title))
        return f'<div class="attribution"><p>{legend}</p><p>{" ".join(shown)}</p></div>'

    def to_dict(self) -> dict[str, Any]:
        """The same as values that JSON can hold; ``from_dict`` reads it."""
        return {
            "labels": [str(label) for label in self.labels],
            "words": [str(word) for word in self.words],
            "counts": self.counts.tolist(),
            "tokens": self.tokens.round(4).tolist(),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Attribution:
        """What ``to_dict`` wrote."""
        shape = len(told["words"]), len(told["labels"])
        return cls(
            tuple(told["words"]),
            np.array(told["counts"]),
            tuple(told["labels"]),
            np.array(told["tokens"], dtype=np.float64).reshape(shape),
        )


def colour_of(number: int) -> str:
    """The colour of a label by its number."""
    return COLOURS[number % len(COLOURS)]


def _mark(text: Any, number: int, title: str) -> str:
    told = f' title="{escape(title)}"' if title else ""
    style = f"background:{colour_of(number)};color:{INK}"
    return f'<mark style="{style}"{told}>{escape(str(text))}</mark>'
