"""Banks of logistic regressions beside scikit-learn's: ``python benchmarks/banks.py``.

Both sides minimise the same objective on the same rows in one process. Each is given the loosest
tolerance with which its summed objective is within 1e-4 of the optimum, relatively, and its time is
then the least of three. Theirs is a loop over targets, timed on a few and multiplied where it says
so, with threaded BLAS or without, whichever is faster. Kernels are compiled beforehand. Data sets
come from ``$SETWISE_DATA``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits
from timing import least_time

import setwise as sw
from setwise.data import make_large
from setwise.data.sparse_rows import canonical_csr
from setwise.learners.logistic import LogisticBank
from setwise.learners.workers import Workers

GAP = 1e-4
TOLERANCES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7, 1e-8)
THEIR_TARGETS = 5  # that the loop is timed on


@dataclass(frozen=True)
class Case:
    """A bank, the solver it is compared with, and the ratio to reach."""

    name: str
    X: Any
    Y: np.ndarray
    solver: str
    aim: float
    C: float = 1.0


def cases() -> list[Case]:
    """What the comparison is made on."""
    X, Y = make_large(30_000, 120, 100, 10)
    name = "dense 30,000 x 120, 100 targets"
    # Its columns are independent: scikit-learn needs no more steps than we, and runs at the speed
    # of memory. Real features are correlated.
    found = [Case(f"{name}, float32, condition number 1", X, Y.toarray(), "lbfgs", 25)]
    found.append(replace(found[0], name=f"{name}, float64", X=X.astype(np.float64)))
    ill, Y = make_large(30_000, 120, 100, 10, condition_number=100)
    found.append(Case(f"{name}, float32, condition number 100", ill, Y.toarray(), "lbfgs", 25))
    X, Y = make_large(20_000, 48_000, 20, 10, density=100 / 48_000)
    X = canonical_csr(X)  # scikit-learn takes 32-bit indices alone
    found.append(Case("sparse 20,000 x 48,000, 20 targets", X, Y.toarray(), "liblinear", 4))
    if os.environ.get("SETWISE_DATA"):
        found.append(data_case("mediamill_small", "lbfgs", 25))
        found.append(data_case("scene", "lbfgs", 5))
        found.append(data_case("rcv1sub1", "liblinear", 4))
    return found


def data_case(name: str, solver: str, aim: float) -> Case:
    """The training rows of a data set, with the targets that are not constant."""
    data = sw.load_dataset(name)
    X = data.X_train if sparse.issparse(data.X_train) else np.asarray(data.X_train)
    Y = sparse.csr_array(data.Y_train).toarray()
    varied = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)
    shape = f"{X.shape[0]:,} x {X.shape[1]:,}, {varied.sum()} targets"
    return Case(f"{name} {shape}", X, Y[:, varied], solver, aim)


def objectives(case: Case, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """Of given weights (d, m) for the first m targets, in double precision."""
    Z = case.X.astype(np.float64) @ weights.astype(np.float64) + biases
    loss = np.logaddexp(0, Z) - case.Y[:, : Z.shape[1]] * Z
    penalised = weights if case.solver == "lbfgs" else np.vstack([weights, biases])
    squares: np.ndarray = (penalised.astype(np.float64) ** 2).sum(axis=0)
    return case.C * loss.sum(axis=0) + squares / 2


def our_fit(case: Case, tol: float, **options: Any) -> LogisticBank:
    """All targets; liblinear penalises the bias, so then we do."""
    penalise = case.solver == "liblinear"
    bank = LogisticBank(case.C, tol=tol, penalise_bias=penalise, max_iter=1000, **options)
    return bank.fit(case.X, case.Y)


def their_fit(case: Case, tol: float, n_targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (d, m) and biases (m,) of the first targets, one after the other."""
    models = [
        LogisticRegression(C=case.C, solver=case.solver, tol=tol, max_iter=10_000).fit(
            case.X, case.Y[:, target]
        )
        for target in range(n_targets)
    ]
    return np.column_stack([m.coef_[0] for m in models]), np.array(
        [m.intercept_[0] for m in models]
    )


def their_times(case: Case, tol: float, n_targets: int) -> list[float]:
    """With as many BLAS threads as there are cores, and with one: small products prefer one."""
    times = []
    for limit in (None, 1):
        with threadpool_limits(limit):
            times.append(least_time(lambda: their_fit(case, tol, n_targets)))
    return times


def loosest(gap: Callable[[float], float]) -> tuple[float, float]:
    """The largest tolerance with which the gap is small enough, and that gap."""
    for tol in TOLERANCES:
        reached = gap(tol)
        if reached <= GAP:
            return tol, reached
    return tol, reached


def compare(case: Case) -> None:
    best = our_fit(case, 1e-12, dtype=np.float64)
    least = objectives(case, best.weights_, best.biases_)
    rows = []
    for dtype in (np.float32, np.float64):

        def our_gap(tol: float, dtype: type = dtype) -> float:
            bank = our_fit(case, tol, dtype=dtype)
            return float(objectives(case, bank.weights_, bank.biases_).sum() / least.sum() - 1)

        tol, gap = loosest(our_gap)
        seconds = least_time(lambda tol=tol, dtype=dtype: our_fit(case, tol, dtype=dtype))
        rows.append((dtype.__name__, seconds, tol, gap))
    m = min(THEIR_TARGETS, case.Y.shape[1])
    their_tol, their_gap = loosest(
        lambda tol: objectives(case, *their_fit(case, tol, m)).sum() / least[:m].sum() - 1
    )
    share = case.Y.shape[1] / m
    theirs = share * min(their_times(case, their_tol, m))
    note = f" (from {m} targets)" if share > 1 else ""
    print(f"\n{case.name}; aim: {case.aim:g} times as fast")
    print(f"  {case.solver:>20} {theirs:9.3f} s, gap {their_gap:.0e}, tol {their_tol:g}{note}")
    for name, seconds, tol, gap in rows:
        ratio = theirs / seconds
        print(
            f"  {'setwise, ' + name:>20} {seconds:9.3f} s, gap {gap:.0e}, tol {tol:g}: {ratio:.1f}x"
        )


def print_rates() -> None:
    """Of the fused kernel, and of matrix products as they occur beside the machine's best."""
    from setwise.learners._residual_kernel import logistic
    from setwise.learners.design import DenseRows
    from setwise.learners.losses import BankLoss, padded

    random = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        Z = random.normal(size=(512, 104)).astype(dtype)
        arguments = (Z, np.zeros_like(Z), np.ones((512, 1), dtype), np.zeros(104))
        logistic(*arguments)
        seconds = least_time(lambda given=arguments: [logistic(*given) for _ in range(100)], 20)
        print(f"fused kernel, {dtype.__name__}, one core: {100 * Z.size / seconds / 1e9:.2f} G/s")
    n, d, L = 30_000, 120, 104
    X, square = random.random((n, d), np.float32), random.random((3000, 3000), np.float32)
    peak = 2 * 3000**3 / least_time(lambda: square @ square)
    W = np.zeros((d + 1, L), np.float32)
    with Workers() as workers:
        rows = DenseRows(X, bias=True)
        ones = np.ones((n, 1), np.float32)
        penalties = np.ones((d + 1, 1), np.float32)
        targets = padded(np.zeros((n, L), np.float32))
        loss = BankLoss(rows, targets, ones, np.ones(L), penalties, workers)
        loss.evaluate(W)
        whole = least_time(lambda: loss.evaluate(W), 20)
        products = least_time(lambda: _products(rows, W, workers), 20)
    rate = 4 * n * d * L / products
    print(f"float32 products: {rate / 1e9:.0f} GFLOP/s of {peak / 1e9:.0f}; {rate / peak:.2f}")
    print(f"whole evaluations: {4 * n * d * L / whole / 1e9:.0f} GFLOP/s")


def _products(rows: Any, W: np.ndarray, workers: Workers) -> None:
    """The two products of an evaluation, without what stands between them."""
    from setwise.learners.losses import _summed

    n, L = rows.shape[0], W.shape[1]
    nothing = np.zeros((n, L), np.float32)
    _summed(rows, lambda *arguments: None, nothing, nothing, W, workers)


def main() -> None:
    print_rates()
    for case in cases():
        compare(case)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
