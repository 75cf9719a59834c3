"""What sparse sets save in a field over listed sets: ``python benchmarks/fields.py``.

A step of learning adds up scores and probabilities over all sets that training has. Ours adds the
labels of each set; theirs multiplies by the list as a dense matrix, as one would write it first.
Both run on one thread, in single precision, on the sets of debtags and on lists like those of other
data; they must agree.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from timing import fastest

from setwise.data import load_dataset
from setwise.data.labels import as_binary_csr, distinct_sets
from setwise.learners.workers import Workers
from setwise.models.crf.listed import OnList

AGREE = 1e-3  # relative, in single precision


def dense_step(Z: np.ndarray, S: np.ndarray, pairs: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The gradient by the scores Z (n, L), in batches of as many cells as ours."""
    R = np.empty_like(Z)
    size = max(1, 2**18 // len(S))
    for start in range(0, len(Z), size):
        rows = slice(start, start + size)
        P = Z[rows] @ S.T + pairs
        P -= P.max(axis=1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(axis=1, keepdims=True)
        R[rows] = P @ S - S[which[rows]]
    return R


def compared(name: str, Y: sparse.csr_array) -> None:
    """One line: a step on random scores of rows with these sets."""
    support = distinct_sets(Y)
    S = support.sets.astype(np.float32)
    n, L = Y.shape
    Z = np.random.default_rng(0).normal(size=(n, L)).astype(np.float32)
    nothing = np.zeros((L, L), np.float32)
    likelihood = OnList(S, support.inverse, np.ones(n))
    with Workers(1) as workers:
        ours, (_, R, _) = fastest(lambda: likelihood.evaluate(Z, nothing, workers))
        dense, pairs = S.toarray(), np.zeros(len(support), np.float32)
        theirs, plain = fastest(lambda: dense_step(Z, dense, pairs, support.inverse))
    np.testing.assert_allclose(R, plain, rtol=AGREE, atol=AGREE)
    case = f"{name}: {n:,} rows, {L} labels, {len(support):,} sets"
    print(f"{case:<52}{ours:8.3f}{theirs:8.3f}{theirs / ours:7.1f}", flush=True)


def random_sets(n: int, L: int, size: float) -> sparse.csr_array:
    """Rows with so many labels on average, common ones more often."""
    random = np.random.default_rng(1)
    chance = 1 / np.arange(1, L + 1)
    chance *= size / chance.sum()
    return as_binary_csr((random.random((n, L)) < np.minimum(chance, 0.9)).astype(np.int8))


def main() -> None:
    """All comparisons."""
    print(f"{'seconds of a step':<52}{'ours':>8}{'theirs':>8}{'ratio':>7}")
    compared("debtags", as_binary_csr(load_dataset("debtags").Y_train)[:8000])
    compared("as bibtex", random_sets(4900, 159, 2.4))
    compared("as yeast", random_sets(1500, 14, 4.2))


if __name__ == "__main__":
    main()
