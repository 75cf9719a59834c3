"""What BR-rerank costs beyond the five-fold binary relevance under it.

One thread. To reach: under 5 s on bibtex and rcv1sub1 and under 40 s on debtags for everything but
the binary relevance; and 10 candidates for 10,000 rows with 100 labels scored in seconds.

    python benchmarks/rerank.py [bibtex rcv1sub1 debtags scoring]
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import setwise as sw
from setwise.calibration import cross_fit
from setwise.experiments.calibration_data import split_data

C = {"bibtex": 0.1, "rcv1sub1": 10.0, "debtags": 10.0}
LIMITS = {"bibtex": 5, "rcv1sub1": 5, "debtags": 40}


def time_fit(name: str) -> None:
    """The whole fit, and of it the fits of binary relevance."""
    rows = split_data(name, seed=0).train
    inside, plain = [], cross_fit.fitted

    def timed(*arguments: object) -> object:
        start = time.perf_counter()
        model = plain(*arguments)
        inside.append(time.perf_counter() - start)
        return model

    cross_fit.fitted = timed
    try:
        for n_training_sets in (0, 10):
            inside.clear()
            start = time.perf_counter()
            sw.BRRerank(C=C[name], n_training_sets=n_training_sets, n_jobs=1).fit(
                rows.X, rows.Y, groups=rows.groups
            )
            total = time.perf_counter() - start
            beyond = total - sum(inside)
            print(
                f"{name:10} {n_training_sets:2d} training sets: binary relevance, five folds and "
                f"all rows {sum(inside):6.1f} s; beyond it {beyond:5.1f} s "
                f"(to reach {LIMITS[name]}); ratio {beyond / sum(inside):.2f}"
            )
    finally:
        cross_fit.fitted = plain


def time_scoring() -> None:
    """10 candidates for 10,000 rows with 100 labels."""
    random = np.random.default_rng(0)
    n, d, L = 12_000, 50, 100
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, L)) * 0.5 + random.normal(size=(n, L)) > 4.5).astype(np.int8)
    model = sw.BRRerank(C=1.0, n_folds=3, n_jobs=1).fit(X[:2000], sparse.csr_array(Y[:2000]))
    start = time.perf_counter()
    model.predict_with_confidence(X[2000:])
    print(f"10,000 rows, 100 labels, 10 candidates each: {time.perf_counter() - start:.1f} s")


def main() -> None:
    with threadpool_limits(1):
        for name in sys.argv[1:] or [*C, "scoring"]:
            time_scoring() if name == "scoring" else time_fit(name)


if __name__ == "__main__":
    main()
