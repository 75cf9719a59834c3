"""One sentence for every option whose value is not among those it can take."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from setwise.errors import DataError


def check_choice(option: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a ``value`` of an ``option`` that is not one of ``choices``."""
    choices = list(choices)
    if value not in choices:
        raise DataError(f"{option} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_positive(option: str, value: Any) -> None:
    """Refuse a ``value`` of an ``option`` that is not 1, 2, 3, ..."""
    if not isinstance(value, Integral) or int(value) < 1:
        raise DataError(f"{option} must be a whole number of at least 1; got {value!r}")
