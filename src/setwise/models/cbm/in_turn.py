"""Several fits, one after the other, that Ctrl-C may cut short."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

from setwise.errors import NotConverged
from setwise.models.cbm.fit import Fitted


class Members(NamedTuple):
    """What was fitted, and whether that is all of it."""

    fitted: list[Fitted]
    are_all: bool


def fit_in_turn(fits: Iterable[Callable[[], Fitted]], instead: Fitted | None = None) -> Members:
    """Results of the fits; after Ctrl-C those that there are by then.

    ``instead`` is a mixture to fall back on where there is none yet. Where there is neither, the
    KeyboardInterrupt goes on to the caller.
    """
    done: list[Fitted] = []
    for fit in fits:
        try:
            done.append(fit())
        except KeyboardInterrupt:
            if not done and instead is None:
                raise
            _warn(len(done))
            return Members(done or [instead], False)  # type: ignore[list-item]
        if done[-1].was_interrupted:
            return Members(done, False)
    return Members(done, True)


def _warn(count: int) -> None:
    kept = (
        f"the model has the {count} mixtures that were fitted by then"
        if count
        else "the model is the one that was fitted without the held-out rows, to find the number "
        "of rounds"
    )
    warnings.warn(f"interrupted before the fit was finished; {kept}", NotConverged, stacklevel=3)
