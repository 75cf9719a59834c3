"""Benchmarks of speed, run together: what the scripts print is kept, ratios go to a history.

Scripts print tables with columns ``ours``, ``theirs`` and ``ratio``, or sentences such as
"published 24 s, ratio 48" and "13.2 times ours"; both are found here, so that a script stays one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from setwise.errors import DataError
from setwise.experiments.records import machine, versions

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_HEADS = {
    "ours": re.compile(r"\b(?:ours|setwise)(?: m?s)?\b"),
    "theirs": re.compile(r"\b(?:theirs|sklearn)(?: m?s)?\b"),
    "ratio": re.compile(r"\bratio\b"),
}
_RATIOS = (
    re.compile(r"\bratio:? (\d+(?:\.\d+)?)"),
    re.compile(r"\b(\d+(?:\.\d+)?) times\b"),
    re.compile(r": (\d+(?:\.\d+)?)x\b"),
)
#: what runs the others, and what they share
NOT_RUN = ("all", "timing")


@dataclass(frozen=True)
class Line:
    """A comparison that a script has printed."""

    case: str
    ours: float | None
    theirs: float | None
    ratio: float
    line: str


def comparisons(output: Iterable[str]) -> Iterator[Line]:
    """The lines of a script's output that tell a ratio.

    >>> text = ["case     ours  theirs  ratio", "small     2.0     5.0    2.5", "so 3.5 times ours"]
    >>> [(one.case, one.ours, one.theirs, one.ratio) for one in comparisons(text)]
    [('small', 2.0, 5.0, 2.5), ('so 3.5 times ours', None, None, 3.5)]
    """
    places: dict[str, int] = {}
    for line in output:
        heads = {name: pattern.search(line) for name, pattern in _HEADS.items()}
        if heads["ratio"] and not _numbers(line):
            places = {name: head.end() for name, head in heads.items() if head}
            continue
        found = _in_columns(line, places) or _in_words(line)
        if found is not None:
            yield found
        if not line.strip():
            places = {}


def run_scripts(
    folder: Path, names: Sequence[str], history: Path, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Run each script by itself, say what it prints, and add its ratios to the history."""
    told = []
    for script in scripts_of(folder, names):
        say(f"\n== {script.name}")
        begin = time.perf_counter()
        output: list[str] = []
        with subprocess.Popen(
            [sys.executable, "-u", str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "COLUMNS": "140"},
        ) as running:
            for line in running.stdout or ():
                output.append(line.rstrip("\n"))
                say(output[-1])
        say(f"-- {script.name}: {time.perf_counter() - begin:.0f} s, code {running.returncode}")
        entries = _entries(script.stem, output, running.returncode)
        _append(history, entries)
        told += entries
    return told


def scripts_of(folder: Path, names: Sequence[str]) -> list[Path]:
    """The scripts to run, in the order of their names."""
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}; run this in a checkout, or pass --scripts")
    known = {path.stem: path for path in sorted(folder.glob("*.py")) if path.stem not in NOT_RUN}
    odd = [name for name in names if name not in known]
    if odd:
        raise DataError(f"there is no benchmark {odd[0]!r}; there are: {', '.join(known)}")
    return [known[name] for name in names or known]


def _entries(script: str, output: Sequence[str], code: int) -> list[dict[str, Any]]:
    about = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "script": script,
        "version": versions()["setwise"],
        "machine": machine(),
    }
    found = [about | asdict(line) for line in comparisons(output)]
    if code:
        found.append(about | {"case": "failed", "ratio": None, "line": "\n".join(output[-5:])})
    return found


def _append(history: Path, entries: Sequence[dict[str, Any]]) -> None:
    history.parent.mkdir(parents=True, exist_ok=True)
    with history.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(entry) + "\n" for entry in entries)


def _in_columns(line: str, places: dict[str, int]) -> Line | None:
    """Numbers that end where the heads of columns end."""
    if "ratio" not in places:
        return None
    values: dict[str, float] = {}
    first = len(line)
    for number in _numbers(line):
        for name, end in places.items():
            if abs(number.end() - end) <= 1:
                values[name] = float(number.group().replace(",", ""))
                first = min(first, number.start())
    if "ratio" not in values:
        return None
    case = " ".join(line[:first].split())
    return Line(case, values.get("ours"), values.get("theirs"), values["ratio"], line.strip())


def _in_words(line: str) -> Line | None:
    """The ratio of a sentence."""
    for pattern in _RATIOS:
        found = pattern.search(line)
        if found:
            case = line.strip().split(":")[0] if ":" in line else line.strip()
            return Line(case, None, None, float(found.group(1)), line.strip())
    return None


def _numbers(line: str) -> list[re.Match[str]]:
    return list(_NUMBER.finditer(line))
