"""What happens to a row that cannot be read: an error, or a skip that is counted and reported."""

from __future__ import annotations

import warnings

from setwise.data.formats.files import StrPath
from setwise.errors import DataError, FormatError


class SkippedRows(UserWarning):
    """Rows were left out of a data set, as ``bad_rows="skip"`` asked."""


class BadRows:
    """The policy for one file, and the rows it has skipped.

    Parameters
    ----------
    path : path
        The file, for messages.
    policy : {"error", "skip"}
        Raise at the first bad row, or leave bad rows out, count them and warn once.
    unit : str
        What rows are counted by: lines, or rows where a file has no lines.
    """

    def __init__(self, path: StrPath, policy: str = "error", unit: str = "line") -> None:
        if policy not in ("error", "skip"):
            raise DataError(f'bad_rows must be "error" or "skip", got {policy!r}')
        self.path, self.unit = path, unit
        self.skips = policy == "skip"
        self.skipped: list[tuple[int, str]] = []  # (line, problem), in the order found

    def report(self, line: int, problem: str, remedy: str = "correct it") -> None:
        """Raise, or note that the row in this line is skipped."""
        if not self.skips:
            remedy = f'{remedy}, or pass bad_rows="skip"'
            raise FormatError(self.path, problem, line=line, remedy=remedy, unit=self.unit)
        self.skipped.append((line, problem))

    def warn(self) -> None:
        """Say how many rows were skipped, if any were."""
        lines = sorted(dict(self.skipped).items())
        if lines:
            (line, problem), count = lines[0], len(lines)
            warnings.warn(
                f"{self.path}: {count} row{'s' * (count > 1)} skipped; "
                f"the first is {self.unit} {line}: "
                f"{problem}",
                SkippedRows,
                stacklevel=3,
            )
