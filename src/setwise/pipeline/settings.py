"""Everything that decides what a fit does: from the command line, from a TOML file, and stored."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from setwise.decisions import DECISIONS
from setwise.errors import DataError, FormatError

PROMISES = ("auto", "exact", "approximate")


@dataclass(frozen=True)
class FitSettings:
    """Settings of ``setwise fit``, by the names of its options.

    Parameters
    ----------
    labels : tuple of str
        One column of separated names, or several 0/1 columns.
    text, number, category, ignore : tuple of str
        What columns are for; the others are guessed.
    groups : str, optional
        A column; rows with the same value in it are never separated.
    label_separator : str, optional
    model : str
        A name of ``build.model_names()``, or "auto".
    options : dict
        Parameters of the model, such as ``{"n_components": 30}``.
    target : str
        What predictions are best for, see ``setwise.decisions``.
    promise : {"auto", "exact", "approximate"}
        Where the accept rule comes from: rows kept from the model ("exact"), or rows that models
        of the folds had not seen, so that all rows train ("approximate"); "auto" is exact where
        there are enough rows for both.
    held_out : float
        The share of rows that "exact" keeps.
    budget : float
        Seconds that "auto" may take about, comparison and last fit together.
    keep_rows : bool
        Whether the model's file may hold training rows, as those of neighbours and kernels do.
    max_words, min_rows, ngrams : int
        Of text columns, see ``TextColumn``.
    folds : int, optional
        Of the calibrator's cross-fitting; by default 5, and 3 where there are many rows.
    seed : int
    jobs : int, optional
        Threads.
    """

    labels: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    groups: str | None = None
    label_separator: str | None = None
    model: str = "auto"
    options: dict[str, Any] = field(default_factory=dict)
    target: str = "set_accuracy"
    promise: str = "auto"
    held_out: float = 0.2
    budget: float = 600.0
    keep_rows: bool = True
    max_words: int = 50_000
    min_rows: int = 2
    ngrams: int = 1
    folds: int | None = None
    seed: int = 0
    jobs: int | None = None

    def __post_init__(self) -> None:
        for name, kinds, words in _EXPECTED:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise DataError(f"{name} is {words}, not {value!r}; correct it")
        if not isinstance(self.keep_rows, bool):
            raise DataError(f"keep_rows is true or false, not {self.keep_rows!r}; correct it")
        for name in ("labels", "text", "number", "category", "ignore"):
            if not all(isinstance(part, str) for part in getattr(self, name)):
                raise DataError(f"{name} is a list of columns' names, not {getattr(self, name)!r}")
        if self.target not in DECISIONS:
            raise DataError(f"target is one of {', '.join(DECISIONS)}, not {self.target!r}")
        if self.promise not in PROMISES:
            raise DataError(f"promise is one of {', '.join(PROMISES)}, not {self.promise!r}")
        if not 0 < self.held_out < 0.9:
            raise DataError(f"held_out is a share between 0 and 0.9, not {self.held_out!r}")
        if not self.budget > 0:
            raise DataError(f"budget is a number of seconds, not {self.budget!r}")
        for name, least in (("max_words", 1), ("min_rows", 1), ("ngrams", 1), ("folds", 2)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise DataError(f"{name} is a whole number from {least} up; correct it")

    def to_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)

    @classmethod
    def of(cls, given: Mapping[str, Any], source: str = "the settings") -> FitSettings:
        """Settings from plain values, as TOML has them; an unknown name gets a sentence."""
        known = {f.name for f in fields(cls)}
        plain: dict[str, Any] = {}
        for key, value in given.items():
            name = key.replace("-", "_")
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {sorted(known)}"
                raise DataError(f"{source}: there is no setting {key!r}; {hint}")
            is_list = name in ("labels", "text", "number", "category", "ignore")
            if is_list and isinstance(value, str):
                value = (value,)
            plain[name] = tuple(value) if is_list and isinstance(value, list) else value
        return cls(**plain)


_EXPECTED: tuple[tuple[str, Any, str], ...] = (
    *((name, tuple, "a list of columns") for name in ("labels", "text", "number", "category")),
    ("ignore", tuple, "a list of columns"),
    ("groups", str | None, "the name of a column"),
    ("label_separator", str | None, "a text"),
    ("model", str, "a name"),
    ("options", dict, "a table of the model's parameters"),
    ("target", str, "a name"),
    ("promise", str, "a name"),
    ("held_out", int | float, "a share"),
    ("budget", int | float, "a number of seconds"),
    *((name, int, "a whole number") for name in ("max_words", "min_rows", "ngrams", "seed")),
    *((name, int | None, "a whole number") for name in ("folds", "jobs")),
)


def read_settings(path: str) -> dict[str, Any]:
    """The settings in a TOML file, as they stand there."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        raise FormatError(path, "no such file of settings", remedy="check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(path, f"not TOML ({error})", remedy="correct it") from None
