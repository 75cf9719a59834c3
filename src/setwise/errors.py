"""What can go wrong, as one small tree.

    SetwiseError
    ├── DataError (also a ValueError)      the data cannot be used as it is
    │   ├── FormatError                    a file cannot be read; names the file and the line
    │   └── LabelMismatch                  labels do not fit the label space, or each other
    ├── DatasetNotFound (also a LookupError)
    ├── DownloadError (also an OSError)    a data set could not be fetched
    ├── StorageError (also a ValueError)   a model cannot be written, or must not be read
    ├── NoProbability (also an AttributeError)  a model has no such probability by its nature
    ├── NotConverged (a UserWarning)       a solver stopped at its cap; says what to try
    └── MissingDependency (also an ImportError)

Each message says what was expected, what came, and what to do about it.
"""

from __future__ import annotations

from functools import partial
from os import PathLike, fspath


class SetwiseError(Exception):
    """Base of every error that setwise raises on purpose."""


class DataError(SetwiseError, ValueError):
    """Data that cannot be used as it is."""


class FormatError(DataError):
    """A file that cannot be read: where, what is wrong, and what would help.

    ``unit`` is what ``line`` counts: lines, or rows where a file has no lines.

    >>> str(FormatError("songs.arff", "5 values, 7 declared", line=12, remedy="add the other two"))
    'songs.arff, line 12: 5 values, 7 declared; add the other two'
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        *,
        line: int | None = None,
        remedy: str = "",
        unit: str = "line",
    ) -> None:
        problem = _shortened(problem)
        self.path, self.problem, self.line = fspath(path), problem, line
        self.remedy, self.unit = remedy, unit
        place = f"{self.path}, {unit} {line}" if line is not None else self.path
        super().__init__(f"{place}: {problem}" + (f"; {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[object, ...]:
        rebuild = partial(FormatError, line=self.line, remedy=self.remedy, unit=self.unit)
        return rebuild, (self.path, self.problem)


def _shortened(problem: str) -> str:
    """The sentence without its middle, where a file's own words make it too long to read."""
    return problem if len(problem) <= 400 else f"{problem[:250]} [...] {problem[-120:]}"


class LabelMismatch(DataError):
    """Labels that do not fit the label space, or two label matrices that do not fit each other."""


class DatasetNotFound(SetwiseError, LookupError):
    """A data set that is neither bundled, nor in ``$SETWISE_DATA``, nor on OpenML."""


class DownloadError(SetwiseError, OSError):
    """A data set that exists but could not be fetched, or arrived damaged."""


class MissingDependency(SetwiseError, ImportError):
    """An optional package that this call needs."""


class NoProbability(SetwiseError, AttributeError):
    """A probability that a model cannot give by its nature; the message says why."""


class StorageError(SetwiseError, ValueError):
    """A model that cannot be written safely, or a file that must not be read."""


class NotConverged(UserWarning):
    """A solver stopped at its iteration cap; the message says what to try."""
