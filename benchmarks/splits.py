"""Stratified folds: balance and time against the package iterative-stratification.

    python benchmarks/splits.py [dataset ...]

For each data set and number of folds: label distribution, examples and label-fold pairs without a
positive (see ``setwise.data.balance``; smaller is better), averaged over seeds, and the time of a
split, the minimum over seeds, with compiled kernels. The time to compile them is printed first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import astuple
from time import perf_counter

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from scipy import sparse

from setwise import load_dataset
from setwise.data.balance import fold_balance
from setwise.data.split import IterativeKFold

SEEDS = range(10)
MEASURES = ("label distribution", "examples", "empty pairs", "seconds")
Folds = list[np.ndarray]


def main(names: list[str]) -> None:
    print(f"compile or load kernels: {compile_seconds():.1f} s\n")
    print(f"{'data':8} {'folds':>5}  {'measure':18} {'ours':>10} {'theirs':>10} {'ratio':>6}")
    for name in names or ["yeast", "bibtex"]:
        dataset = load_dataset(name)
        Y = sparse.vstack([sparse.csr_array(dataset.Y_train), sparse.csr_array(dataset.Y_test)])
        for n_splits in (5, 10):
            compare(name, Y.toarray(), n_splits)


def compare(name: str, Y: np.ndarray, n_splits: int) -> None:
    ours = measure(Y, lambda seed: IterativeKFold(n_splits, random_state=seed))
    theirs = measure(
        Y, lambda seed: MultilabelStratifiedKFold(n_splits, shuffle=True, random_state=seed)
    )
    for what, a, b in zip(MEASURES, ours, theirs, strict=True):
        ratio = f"{a / b:6.2f}" if b else "     -"
        print(f"{name:8} {n_splits:5}  {what:18} {a:10.3g} {b:10.3g} {ratio}")


def measure(Y: np.ndarray, splitter: Callable[[int], object]) -> list[float]:
    """The three measures of balance, averaged over seeds, and the shortest time."""
    runs = [timed_folds(splitter(seed), Y) for seed in SEEDS]
    balance = np.mean([astuple(fold_balance(Y, folds)) for folds, _ in runs], axis=0)
    return [*balance, min(seconds for _, seconds in runs)]


def timed_folds(splitter: object, Y: np.ndarray) -> tuple[Folds, float]:
    start = perf_counter()
    folds = [test for _, test in splitter.split(Y, Y)]
    return folds, perf_counter() - start


def compile_seconds() -> float:
    """The time of a first split; short where the kernels were compiled by an earlier run."""
    return timed_folds(IterativeKFold(2), np.eye(4, dtype=np.int8))[1]


if __name__ == "__main__":
    main(sys.argv[1:])
