"""Compiled kernels: one decorator with the project's settings, and a word when compiling is slow.

Kernel modules (``_*_kernel.py``) are imported inside the functions that call them, so that
``import setwise`` neither loads numba nor compiles anything. Compiled code is cached on disk,
beside the package or in numba's user-wide cache; a first call that must compile for more than a
second says so through the ``setwise`` logger.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

logger = logging.getLogger("setwise")

SLOW_COMPILE_SECONDS = 1.0


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` compiled on its first call: cached, without the GIL, with numpy's division."""
    return _cached(function, nogil=True, error_model="numpy")


def _cached(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    compiled: Callable[..., Any]
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in can be written to: compile in each process
        compiled = numba.njit(**options)(function)
    return compiled


# Fused multiply-adds, and no care for NaN, infinity or the sign of zero: what lets loops over
# lanes vectorise without changing the order of any sum.
LANE_MATH = frozenset({"contract", "nsz", "nnan", "ninf"})


def lane_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A ``kernel`` for arithmetic on many lanes at once; its numbers must be finite."""
    return _cached(function, nogil=True, error_model="numpy", fastmath=set(LANE_MATH))


def lane_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for the inner loops of lane kernels: always inlined, lest they stay scalar."""
    compiled: Callable[..., Any] = numba.njit(
        nogil=True, error_model="numpy", fastmath=set(LANE_MATH), forceinline=True
    )(function)
    return compiled


class _SlowCompileNotice(event.Listener):  # type: ignore[misc]
    """Says once that kernels are being compiled, when one of ours has taken over a second."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._depth = 0
        self.said = False

    def on_start(self, started: event.Event) -> None:
        self._depth += 1
        ours = started.data["dispatcher"].py_func.__module__.startswith("setwise")
        if self._depth == 1 and ours and not self.said:
            self._timer = threading.Timer(SLOW_COMPILE_SECONDS, self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, ended: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _say(self) -> None:
        self.said = True
        logger.warning(
            "setwise is compiling its kernels for this machine; this happens once, "
            "later runs load them from disk"
        )


slow_compile_notice = _SlowCompileNotice()
event.register("numba:compile", slow_compile_notice)
