"""What is kept of a unit: its settings, versions, times, memory, and what was measured, or why not.

A folder of results has one JSON for each unit; it is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import cpu_count

from setwise.data.formats.files import write_atomically
from setwise.errors import SetwiseError
from setwise.experiments.measuring import run_once
from setwise.experiments.protocol import part_of
from setwise.experiments.study import Study
from setwise.experiments.unit import Experiment, Unit, plain, settings_of, spec_of

PACKAGES = ("setwise", "numpy", "scipy", "scikit-learn", "numba", "lightgbm")


def run_unit(experiment: Experiment, unit: Unit) -> dict[str, Any]:
    """The record of a unit; one that fails is a record too, with its reason."""
    begin, cpu = time.time(), time.process_time()
    _forget_peak()
    record: dict[str, Any] = {
        "unit": vars(unit),
        "settings": settings_of(experiment, unit.dataset, unit.model),
        "versions": versions(),
        "machine": machine(),
        "threads": int(cpu_count()),
    }
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            record["result"] = plain(measured(experiment, unit))
        record["warnings"] = sorted({str(warning.message)[:300] for warning in said})
        record["status"] = "done"
    except Exception as problem:
        name = "" if isinstance(problem, SetwiseError) else f"{type(problem).__name__}: "
        record |= {
            "status": "failed",
            "reason": f"{name}{problem}",
            "traceback": traceback.format_exc(),
        }
    return record | {
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": time.time() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "peak_megabytes": _peak(),
    }


def measured(experiment: Experiment, unit: Unit) -> Any:
    """What a unit measures."""
    if isinstance(experiment, Study):
        return experiment.measured(unit.dataset, unit.seed, unit.model)
    dataset = part_of(unit.dataset, experiment.protocol, unit.seed, unit.fold)
    return run_once(experiment, spec_of(experiment, unit.model, unit.dataset), dataset, unit.seed)


def lost(experiment: Experiment, unit: Unit, reason: str) -> dict[str, Any]:
    """The record of a unit whose process ended before it could answer."""
    return {
        "unit": vars(unit),
        "settings": settings_of(experiment, unit.dataset, unit.model),
        "versions": versions(),
        "machine": machine(),
        "status": "failed",
        "reason": reason,
        "traceback": "",
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


class Results:
    """A folder of records."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def done(self, unit: Unit) -> dict[str, Any] | None:
        """The record of a unit that was finished before, if there is one that can be read."""
        record = _read(self.folder / unit.file)
        return record if record is not None and record["status"] == "done" else None

    def write(self, unit: Unit, record: dict[str, Any]) -> None:
        """Keep a record."""
        path = self.folder / unit.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as stream:
            stream.write(json.dumps(record, indent=1).encode())

    def records(self) -> Iterator[dict[str, Any]]:
        """All that can be read."""
        for path in sorted(self.folder.glob("*/*/*.json")):
            record = _read(path)
            if record is not None:
                yield record


@cache
def versions() -> dict[str, str]:
    """Of Python, of the packages that decide results, and of our own source, by a short hash."""
    found = {"python": platform.python_version(), "source": source()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


@cache
def source() -> str:
    """A few letters that change with any line of the package: a version has many of them.

    >>> len(source())
    10
    """
    package = Path(__file__).parents[1]
    summed = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        summed.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return summed.hexdigest()[:10]


@cache
def machine() -> dict[str, Any]:
    """What class of machine this is; nothing that would tell one from another of its kind."""
    cores = os.cpu_count() or 1
    has_sizes = hasattr(os, "sysconf")  # Windows has not
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if has_sizes else 0
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores,
        "memory_gigabytes": round(pages / 2**30) or "unknown",
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _read(path: Path) -> dict[str, Any] | None:
    """A record, or None where there is none, or one that someone cut short."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and {"unit", "status"} <= set(record) else None


def _forget_peak() -> None:
    """Where Linux allows it, let the peak be that of this unit, not of the whole process."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak() -> float | None:
    """The most memory that was resident, in megabytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        try:
            from resource import RUSAGE_SELF, getrusage
        except ImportError:  # Windows
            return None
        peak = getrusage(RUSAGE_SELF).ru_maxrss
        return peak / 2**20 if sys.platform == "darwin" else peak / 1024
