"""MLkNN beside scikit-multilearn-ng's: the same posteriors, and how long each takes.

    python benchmarks/mlknn.py [rows] [features] [labels]

The peer is not needed by anything else here; install it with ``pip install scikit-multilearn-ng``.
It counts a training row as its own neighbour, so that ours is asked to do so too. Times are the
least of several runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import setwise as sw

REPEATS = 5  # of ours; the peer takes long enough for one


def data(n: int, d: int, L: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    scores = X @ random.normal(size=(d, L)) / np.sqrt(d) + random.normal(size=(n, L))
    return X, (scores > 1.5).astype(int)


def least_seconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main(n: int = 5000, d: int = 200, L: int = 100) -> None:
    try:
        from skmultilearn.adapt import MLkNN as Peer
    except ImportError:
        raise SystemExit("the peer is missing: pip install scikit-multilearn-ng") from None
    X, Y = data(n + 200, d, L)
    X_test, X, Y = X[n:], X[:n], Y[:n]
    ours, theirs = sw.MLkNN(10, count_self=True, allow_empty=True), Peer(k=10)
    ours.fit(X[:100], Y[:100])  # kernels are compiled
    own = least_seconds(lambda: ours.fit(X, Y), REPEATS)
    peer = least_seconds(lambda: theirs.fit(X, Y), 1)
    print(f"{n} x {d}, {L} labels; setwise, scikit-multilearn-ng, ratio")
    print(f"fit     {own:8.3f} s {peer:8.3f} s {peer / own:6.0f}")
    own = least_seconds(lambda: ours.predict_proba(X_test), REPEATS)
    peer = least_seconds(lambda: theirs.predict_proba(X_test), 1)
    print(f"predict {own:8.3f} s {peer:8.3f} s {peer / own:6.0f}")
    gap = np.abs(ours.predict_proba(X_test) - theirs.predict_proba(X_test).toarray()).max()
    print(f"largest difference of posteriors: {gap:.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
