"""Boosted trees: our bank against a new LightGBM booster per label and scikit-learn's histograms.

    python benchmarks/boosting.py [rows features labels]

Five-leaf trees a second on all cores, binning included, best and median of a few runs (2,500 x 120
and 100 labels by default). The last column is trees per CPU second: it says what the code costs
where other work on the machine makes the clock unfair. The label-by-label loops run on a few labels
only. "Rounds of EM" adds a tree per label at a time on kept scores, with other weights and another
fifth of the rows left out each time. Below, the log-loss on as many other rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import lightgbm
import numpy as np
from joblib import cpu_count
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier

from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.boosting import BoostedBank, BoostedSoftmax

N_TREES = 20
LOOPED_LABELS = 5
REPEATS = 5
LOOPED_REPEATS = 2


def main(arguments: list[str]) -> None:
    n, d, L = map(int, arguments) if arguments else (2500, 120, 100)
    X, T, weight = synthetic(2 * n, d, L)
    others, X, T, weight = (X[n:], T[n:]), X[:n], T[:n], weight[:n]
    print(f"{n} x {d}, {L} labels, {N_TREES} trees each, {cpu_count()} cores\n")
    print(f"{'':38} {'trees/s':>8} {'median':>8} {'ratio':>6} {'per CPU s':>10}")
    binned, fine = BinnedRows(X), BinnedRows(X, 63)
    few = T[:, :LOOPED_LABELS]
    shares = (T + 0.01) / (T + 0.01).sum(axis=1, keepdims=True)
    bank = BoostedBank(N_TREES)
    quantized = BoostedBank(N_TREES, quantized=True)
    best = report("bank", lambda: bank.fit(X.copy(), T, weight), L)
    report("bank, rows binned before", lambda: bank.fit(binned, T, weight), L, best)
    report("  and rounded gradients", lambda: quantized.fit(binned, T, weight), L, best)
    report("  and in 63 bins", lambda: BoostedBank(N_TREES).fit(fine, T, weight), L, best)
    report("rounds of EM", lambda: rounds(binned, T, weight), L, best)
    report("softmax", lambda: BoostedSoftmax(N_TREES).fit(binned, shares, weight), L, best)
    loops = {
        "a new LightGBM booster per label": lambda: per_label(X, few, weight),
        "HistGradientBoosting per label": lambda: histogram(X, few, weight),
    }
    for name, loop in loops.items():
        report(name, loop, few.shape[1], best, LOOPED_REPEATS)
    words = synthetic_words(n, 2000)  # columns that are not kept sparse are seven times as slow
    spare = BoostedBank(N_TREES)
    best = report("bank on sparse words", lambda: spare.fit(words, few, weight), few.shape[1])
    report("  a new booster per label", lambda: per_label(words, few, weight), few.shape[1], best)
    theirs = np.column_stack(
        [booster.predict(others[0], raw_score=True) for booster in per_label(X, few, weight)]
    )
    print(f"\nlog-loss of {few.shape[1]} labels on other rows")
    for name, scores in (
        ("bank", bank.logits(others[0])),
        ("bank, rounded gradients", quantized.logits(others[0])),
        ("a new LightGBM booster per label", theirs),
    ):
        print(f"{name:38} {log_loss(scores[:, :LOOPED_LABELS], others[1]):8.5f}")


def report(
    name: str,
    fit: Callable[[], object],
    n_labels: int,
    best: float | None = None,
    repeats: int = REPEATS,
) -> float:
    """Print trees a second, how many times the first line is as fast, and trees per CPU second."""
    runs = n_labels * N_TREES / np.array([timed(fit) for _ in range(repeats)])
    (rate, cpu), median = runs.max(axis=0), np.median(runs[:, 0])
    ratio = f"{best / rate:6.1f}" if best else "     -"
    print(f"{name:38} {rate:8.0f} {median:8.0f} {ratio} {cpu:10.0f}", flush=True)
    return float(rate)


def rounds(binned: BinnedRows, T: np.ndarray, weight: np.ndarray) -> None:
    """A tree at a time, and the scores of all rows after each."""
    bank, numbers = BoostedBank(1), np.arange(len(weight))
    for number in range(N_TREES):
        bank.add_trees(binned, T, np.where(numbers % 5 == number % 5, 0, weight))
        bank.scores(binned)


def log_loss(scores: np.ndarray, T: np.ndarray) -> float:
    return float((np.logaddexp(0, scores) - T[:, : scores.shape[1]] * scores).mean())


def timed(fit: Callable[[], object]) -> tuple[float, float]:
    clock, cpu = perf_counter(), process_time()
    fit()
    return perf_counter() - clock, process_time() - cpu


def per_label(X: Any, T: np.ndarray, weight: np.ndarray) -> list[lightgbm.Booster]:
    parameters = {"objective": "binary", "num_leaves": 5, "max_bin": 31, "verbosity": -1}
    return [
        lightgbm.train(parameters, lightgbm.Dataset(X, label=target, weight=weight), N_TREES)
        for target in T.T
    ]


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


def synthetic_words(n: int, d: int) -> sparse.csr_matrix:
    """Rows of words, three in a hundred of which a row has; of the kind that LightGBM reads."""
    return sparse.random(n, d, density=0.03, format="csr", random_state=0)


if __name__ == "__main__":
    main(sys.argv[1:])
