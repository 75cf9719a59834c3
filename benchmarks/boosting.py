"""Boosted trees: our bank against a new LightGBM booster per label and scikit-learn's histograms.

    python benchmarks/boosting.py [rows features labels]

Five-leaf trees a second on all cores, binning included, best of a few runs (2,500 x 120 and 100
labels by default). The last column is trees per CPU second: it says what the code costs where other
work on the machine makes the clock unfair. The label-by-label loops run on a few labels only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter, process_time

import lightgbm
import numpy as np
from joblib import cpu_count
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier

from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.boosting import BoostedBank, BoostedSoftmax

N_TREES = 20
LOOPED_LABELS = 5
REPEATS = 3


def main(arguments: list[str]) -> None:
    n, d, L = map(int, arguments) if arguments else (2500, 120, 100)
    X, T, weight = synthetic(n, d, L)
    print(f"{n} x {d}, {L} labels, {N_TREES} trees each, {cpu_count()} cores\n")
    print(f"{'':38} {'trees/s':>8} {'ratio':>6} {'per CPU s':>10}")
    binned = BinnedRows(X)
    few = T[:, :LOOPED_LABELS]
    best = report("bank", lambda: BoostedBank(N_TREES).fit(X.copy(), T, weight), L)
    report("bank, rows binned before", lambda: BoostedBank(N_TREES).fit(binned, T, weight), L, best)
    fine = BinnedRows(X, 63)
    report("  and in 63 bins", lambda: BoostedBank(N_TREES).fit(fine, T, weight), L, best)
    shares = (T + 0.01) / (T + 0.01).sum(axis=1, keepdims=True)
    report("softmax", lambda: BoostedSoftmax(N_TREES).fit(binned, shares, weight), L, best)
    report(
        "a new LightGBM booster per label", lambda: per_label(X, few, weight), few.shape[1], best
    )
    report("HistGradientBoosting per label", lambda: histogram(X, few, weight), few.shape[1], best)


def report(name: str, fit: Callable[[], object], n_labels: int, best: float | None = None) -> float:
    """Print trees a second, how many times the first line is as fast, and trees per CPU second."""
    runs = [timed(fit) for _ in range(REPEATS)]
    seconds, cpu = np.min(runs, axis=0)
    rate = n_labels * N_TREES / seconds
    ratio = f"{best / rate:6.1f}" if best else "     -"
    print(f"{name:38} {rate:8.0f} {ratio} {n_labels * N_TREES / cpu:10.0f}", flush=True)
    return rate


def timed(fit: Callable[[], object]) -> tuple[float, float]:
    clock, cpu = perf_counter(), process_time()
    fit()
    return perf_counter() - clock, process_time() - cpu


def per_label(X: np.ndarray, T: np.ndarray, weight: np.ndarray) -> None:
    parameters = {"objective": "binary", "num_leaves": 5, "max_bin": 31, "verbosity": -1}
    for target in T.T:
        rows = lightgbm.Dataset(X, label=target, weight=weight)
        lightgbm.train(parameters, rows, N_TREES)


def histogram(X: np.ndarray, T: np.ndarray, weight: np.ndarray) -> None:
    for target in T.T:
        model = HistGradientBoostingClassifier(
            max_iter=N_TREES, max_leaf_nodes=5, max_bins=31, early_stopping=False
        )
        model.fit(X, target, weight)


def synthetic(n: int, d: int, L: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, hard targets and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, L)) / 4 - 1.5
    return X, (rng.random((n, L)) < expit(scores)).astype(float), rng.random(n) + 0.5


if __name__ == "__main__":
    main(sys.argv[1:])
