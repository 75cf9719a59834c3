"""A softmax over hundreds or thousands of classes of sparse rows: ``python benchmarks/classes.py``.

A step of learning a power set: the loss and its gradient at given weights, for rows of one class
each, in single precision, with all threads. Ours goes through tiles of classes; theirs is the loss
that scikit-learn's multinomial regression minimises, on scipy's sparse products. The last columns
are our own way for few classes, stripes of the rows with a gradient each, and how many times ours
it takes. All must agree.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn._loss import HalfMultinomialLoss
from sklearn.linear_model._linear_loss import LinearModelLoss
from timing import fastest

from setwise.data import load_dataset
from setwise.data.labels import as_binary_csr, distinct_sets
from setwise.learners.design import SparseRows
from setwise.learners.losses import SoftmaxLoss
from setwise.learners.tiled import TiledRows
from setwise.learners.workers import Workers

AGREE = 1e-3  # relative: theirs adds up 40 million squares in single precision


def compared(name: str, X: sparse.csr_array, classes: np.ndarray) -> None:
    """One line: a step at random weights."""
    n, d = X.shape
    K = int(classes.max()) + 1
    W = np.random.default_rng(0).normal(0, 0.1, size=(d + 1, K)).astype(np.float32)
    penalties = np.append(np.ones(d), 0)[:, None].astype(np.float32)
    weight = np.ones((n, 1), np.float32)
    with Workers() as workers:
        tiles, stripes = (
            SoftmaxLoss(rows, classes, weight, 1.0, penalties, workers)
            for rows in (TiledRows(X, bias=True, n_classes=K), SparseRows(X, bias=True))
        )
        tiles.evaluate(W)  # compiles
        ours, (loss, G) = fastest(lambda: tiles.evaluate(W))
        before, (other_loss, other_G) = fastest(lambda: stripes.evaluate(W))
    their_loss = LinearModelLoss(base_loss=HalfMultinomialLoss(n_classes=K), fit_intercept=True)
    coefficients = np.asfortranarray(W.T)
    target = classes.astype(np.float32)
    theirs, (value, gradient) = fastest(
        lambda: their_loss.loss_gradient(
            coefficients, X, target, l2_reg_strength=1 / n, n_threads=workers.count
        )
    )
    for found, found_G in ((other_loss, other_G), ([n * value], n * gradient.T)):
        np.testing.assert_allclose(found, loss, rtol=AGREE)
        np.testing.assert_allclose(found_G, G, rtol=0, atol=AGREE * np.abs(G).max())
    case = f"{name}: {n:,} x {d:,}, {K:,} classes"
    numbers = f"{ours:8.3f}{theirs:8.3f}{theirs / ours:7.1f}{before:10.3f}{before / ours:7.1f}"
    print(f"{case:<44}{numbers}", flush=True)


def random_rows(n: int, d: int, K: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows of some fifty words each, and a class of K for each."""
    random = np.random.default_rng(1)
    X = sparse.random_array((n, d), density=50 / d, format="csr", dtype=np.float32, rng=random)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, np.append(np.arange(K), random.integers(0, K, n - K))


def main() -> None:
    """All comparisons."""
    print(
        f"{'seconds of a step':<44}{'ours':>8}{'theirs':>8}{'ratio':>7}{'stripes':>10}{'times':>7}"
    )
    data = load_dataset("debtags")
    X = sparse.csr_array(data.X_train, dtype=np.float32)
    compared("debtags", X, distinct_sets(as_binary_csr(data.Y_train)).inverse)
    compared("made", *random_rows(5_000, 2_000, 2_000))
    compared("made", *random_rows(5_000, 2_000, 200))


if __name__ == "__main__":
    main()
