"""What every command does when something goes wrong: one sentence, and a code that says which.

Errors are told on standard error, red on a terminal. A traceback is shown with ``--debug`` only.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.console import Console
from rich.text import Text

from setwise.errors import SetwiseError

UNEXPECTED, WRONG, REFUSED, STOPPED, ENDED = 1, 2, 3, 130, 143
_REFUSALS = {
    errno.ENOSPC: "the disk is full; free some space, or write to another disk",
    errno.EDQUOT: "your share of the disk is used up; free some space, or write elsewhere",
    errno.EFBIG: "the file would be larger than is allowed; write to another disk",
    errno.EACCES: "permission denied; check who may read and write it",
    errno.EPERM: "permission denied; check who may read and write it",
    errno.EROFS: "the disk can only be read; write to another one",
    errno.EMFILE: "too many files are open; close some programs",
}


def run_politely(run: Callable[[], Any], *, debug: bool = False) -> int:
    """The exit code of a command, whatever happens in it."""
    try:
        with _stopped_by_signals(), _warnings_as_sentences(debug):
            run()
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SetwiseError as error:
        return _failed(str(error), WRONG, debug)
    except KeyboardInterrupt:
        return _failed("stopped; nothing half written is left behind", STOPPED, debug)
    except _Stopped as stopped:
        by_user = stopped.number == signal.SIGINT
        words = "stopped" if by_user else "ended by the system"
        code = STOPPED if by_user else ENDED
        return _failed(f"{words}; nothing half written is left behind", code, debug)
    except MemoryError:
        return _failed("memory ran out; use fewer rows, words or labels", REFUSED, debug)
    except OSError as error:
        return _failed(_refusal(error), REFUSED, debug)
    except Exception as error:
        sentence = (
            f"something went wrong that should not have ({type(error).__name__}: {error}); "
            "run it again with --debug, and report what it shows"
        )
        return _failed(sentence, UNEXPECTED, debug)
    return 0


class _Stopped(BaseException):
    """A signal as an exception: what is half written is removed on the way out.

    No KeyboardInterrupt, which some models take as a wish to end early and keep what they have.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can listen
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _warnings_as_sentences(debug: bool) -> Iterator[None]:
    """Warnings of setwise as sentences; those of other libraries only for who debugs."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if debug or category.__module__.startswith("setwise"):
            _print(str(message), "yellow")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _refusal(error: OSError) -> str:
    known = _REFUSALS.get(error.errno or 0)
    if known is None:
        return f"{error}; check the path and the disk"
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{known}"


def _failed(sentence: str, code: int, debug: bool) -> int:
    if debug:
        Console(stderr=True).print_exception()
    _print(sentence, "bold red")
    if code == REFUSED:
        _let_go_of_output()
    return code


def _let_go_of_output() -> None:
    """Keep the interpreter from trying again, at its end, to write to a disk that is full."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(sentence: str, style: str) -> None:
    text = " ".join(sentence.split("\n"))
    Console(stderr=True).print(Text(f"setwise: {text}"), style=style, soft_wrap=True)
