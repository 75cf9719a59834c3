"""All benchmarks, one after another: ``python benchmarks/all.py [names]``.

What they print is shown as it comes. Ours, theirs and their ratio are added to
``benchmarks/history.jsonl`` with the date, the version and the class of the machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from setwise.commands.bench_speed import run_scripts

if __name__ == "__main__":
    folder = Path(__file__).parent
    run_scripts(Console(), str(folder), sys.argv[1:], str(folder / "history.jsonl"))
