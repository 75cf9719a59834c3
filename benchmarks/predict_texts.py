"""Texts a second that ``setwise predict`` handles, from its start to a written file.

    python benchmarks/predict_texts.py [--model MODEL.setwise ...] [--rows 50000]

Goemotions (from $SETWISE_DATA): a model of its training texts predicts its test texts, repeated.
Without ``--model``, BRRerank and CBM learn from some training texts first, as ``setwise fit`` does.
The command is run as people run it, in a process of its own; the least of several times counts.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from setwise.pipeline import FitSettings, Table, fit_table

LEARNT = 8000  # rows
FITTED = {"BRRerank": {"C": 1.0, "n_candidates": 5}, "CBM": {"n_components": 20}}


def goemotions(part: str) -> dict[str, list[str]]:
    folder = Path(os.environ["SETWISE_DATA"]) / "goemotions"
    names = (folder / "labels.txt").read_text(encoding="utf-8").split()
    with open(folder / f"{part}.tsv", encoding="utf-8", newline="") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream]
    emotions = [",".join(names[int(number)] for number in row[1].split(",")) for row in rows]
    return {"text": [row[0] for row in rows], "emotions": emotions}


def fitted(name: str, folder: Path) -> Path:
    columns = {key: cells[:LEARNT] for key, cells in goemotions("train").items()}
    settings = FitSettings(
        labels=("emotions",), text=("text",), model=name, options=FITTED[name], folds=3
    )
    path = folder / f"{name}.setwise"
    fit_table(Table(columns, range(LEARNT)), settings).save(path)
    return path


def written(path: Path, n_rows: int) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text"])
        writer.writerows([text] for text in islice(cycle(goemotions("test")["text"]), n_rows))
    return path


def seconds(model: Path, texts: Path, out: Path, repeats: int) -> tuple[float, float]:
    """By the clock, and of processors: on a busy machine, the second says more."""
    command = [sys.executable, "-m", "setwise", "predict", model, texts, "--out", out, "--quiet"]
    times = []
    for _ in range(repeats):
        begin, used = time.perf_counter(), _processor_seconds()
        subprocess.run(list(map(str, command)), check=True)
        times.append((time.perf_counter() - begin, _processor_seconds() - used))
    return min(clock for clock, _ in times), min(processor for _, processor in times)


def _processor_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", nargs="*", type=Path, help="files that `setwise fit` wrote")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many = written(folder / "texts.csv", options.rows)
        one = written(folder / "one.csv", 1)
        for model in options.model or [fitted(kind, folder) for kind in FITTED]:
            start, _ = seconds(model, one, folder / "out.csv", options.repeats)
            whole, used = seconds(model, many, folder / "out.csv", options.repeats)
            print(
                f"{model.stem}: {options.rows:,} texts in {whole:.2f} s, "
                f"{options.rows / whole:,.0f} a second; {start:.2f} s of it to start, "
                f"{(options.rows - 1) / (whole - start):,.0f} a second after that; "
                f"{used:.2f} s of processors in all",
                flush=True,
            )


if __name__ == "__main__":
    main()
