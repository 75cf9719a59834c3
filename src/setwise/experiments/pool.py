"""Units in several processes, each with its share of the cores; one that dies takes no other along.

A pool of the standard library gives up when a process is killed, as the system does where memory
runs out. Here its unit is recorded as failed and a new process goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from joblib import cpu_count

from setwise.experiments.records import lost, run_unit
from setwise.experiments.unit import Experiment, Unit

Task = tuple[Experiment, Unit]
#: What libraries ask for the number of threads; LOKY's is what ``n_jobs=-1`` means to joblib.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def run_in_processes(
    tasks: Sequence[Task], jobs: int, done: Callable[[Unit, dict[str, Any]], None]
) -> None:
    """Run all, at most ``jobs`` at a time; ``done`` is told of each as it ends."""
    waiting = list(reversed(tasks))
    threads = max(1, cpu_count() // jobs)
    busy: dict[Any, _Worker] = {}
    idle: list[_Worker] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                worker = idle.pop() if idle else _Worker(threads)
                worker.give(waiting.pop())
                busy[worker.connection] = worker
            for connection in wait(list(busy)):
                worker = busy.pop(connection)
                record = worker.answer()
                done(worker.task[1], record)
                if worker.process.is_alive():
                    idle.append(worker)
    finally:
        for worker in [*idle, *busy.values()]:
            worker.end()


class _Worker:
    """A process that runs one unit after another."""

    task: Task

    def __init__(self, threads: int) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        with _environment(threads):
            self.process = context.Process(target=_serve, args=(theirs,))
            self.process.start()
        theirs.close()  # so that the end of the process is noticed here

    def give(self, task: Task) -> None:
        """Send a unit."""
        self.task = task
        self.connection.send(task)

    def answer(self) -> dict[str, Any]:
        """The record of the unit, also where the process has died of it."""
        try:
            record: dict[str, Any] = self.connection.recv()
            return record
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            reason = f"its process ended with code {code}" + (
                "; memory may have run out" if code == -9 else ""
            )
            return lost(*self.task, reason)

    def end(self) -> None:
        """Stop it, whatever it does."""
        self.connection.close()
        self.process.terminate()
        self.process.join()


def _serve(connection: Connection) -> None:
    """Answer units until there are no more."""
    try:
        while True:
            experiment, unit = connection.recv()
            connection.send(run_unit(experiment, unit))
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        return


@contextmanager
def _environment(threads: int) -> Iterator[None]:
    """Processes that start meanwhile have so many threads; libraries look only as they load."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
