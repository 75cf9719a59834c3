"""Exact modes and size marginals of Bernoulli mixtures: rows a second, and against the papers'.

    python benchmarks/distributions.py [n_rows]

K = 50 components, L = 100 labels, in two regimes. A CBM of 50 components trained on mediamill has
|log-odds| from 3 to 12 (first and ninth decile), 3 labels a component within ±1, about 6 on, and
5 components with more than a twentieth of the weight:

    sure     log-odds ±U(3, 10), three labels on, three within ±1.5; three components share the
             weight up to e^-1.5, the others lie at e^-12, give or take e^3
    unsure   every component has the same 10 labels within ±1, give or take a normal 0.5, and the
             others at -U(2, 6) give or take 1; weights are a softmax of N(0, 2²)

"theirs" is Algorithm 3.3 of the thesis on the plain queue of Algorithm 3.2 (all L flips of a popped
set, and a table of those seen), compiled by the same compiler and run in as many threads; it works
on fewer rows, for it is slow. Answers are compared. Rates are rows a second, the best of three
runs; "free" is the rate that CPU time alone would allow, on a machine with nothing else to do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter, process_time

import joblib
import numpy as np
from scipy.special import log_softmax

from setwise.decisions import ExpectedF1
from setwise.distributions import BernoulliMixture
from setwise.distributions.published import published_mode

K, L, MAX_SIZE = 50, 100, 20
N_ROWS, N_PLAIN_ROWS = 4000, 200
CORES = joblib.cpu_count()


def main(n_rows: int) -> None:
    print(f"{CORES} cores, K = {K}, L = {L}, {n_rows} rows")
    print(f"compile or load kernels: {compile_seconds():.1f} s\n")
    print(f"{'rows a second':30} {'ours':>8} {'free':>8} {'theirs':>8} {'ratio':>6} {'target':>7}")
    for name, draw, target in (("sure", sure, 20_000), ("unsure", unsure, 8_000)):
        compare_modes(name, draw, n_rows, target)
    for name, draw in (("sure", sure), ("unsure", unsure)):
        dist = BernoulliMixture(*draw(n_rows, seed=1))
        show(f"{name}: top(5)", rates(lambda d=dist: d.top(5), n_rows))
        show(f"{name}: marginals", rates(dist.marginals, n_rows))
        show(f"{name}: sizes to {MAX_SIZE}", rates(lambda d=dist: d.sizes(MAX_SIZE), n_rows))
        for max_tail in (1e-3, 0.0):
            decide = ExpectedF1(max_size=MAX_SIZE, max_tail=max_tail).decide
            what = f"{name}: F1 decision, tail {max_tail:g}"
            show(what, rates(lambda d=dist, decide=decide: decide(d), n_rows), 20_000)


def compare_modes(name: str, draw: Callable, n_rows: int, target: int) -> None:
    log_pi, logits = draw(n_rows, seed=0)
    dist = BernoulliMixture(log_pi, logits)
    result = dist.mode_certified()
    show(f"{name}: mode", rates(dist.mode_certified, n_rows), target)
    print(f"    {result.pops.mean():.1f} sets looked at, {result.exact.mean():.1%} exact")
    few = dist[:N_PLAIN_ROWS]
    ours = rates(few.mode_certified, N_PLAIN_ROWS)
    for rule in ("threshold", "pruning"):
        theirs, answer = timed(lambda rule=rule: published_mode(few.log_pi, few.logits, rule=rule))
        _, log_prob, pops = answer
        known = ~np.isnan(log_prob)  # in the other rows its queues outgrew the memory
        apart = np.abs(log_prob - result.log_prob[:N_PLAIN_ROWS])[known].max()
        assert apart < 1e-9, f"answers differ by {apart}"
        show(f"{name}: mode, plain, {rule}", ours, theirs=N_PLAIN_ROWS / theirs)
        print(f"    {pops.mean():.1f} sets looked at, {known.mean():.1%} exact")


def show(
    what: str, ours: tuple[float, float], target: int | None = None, theirs: float | None = None
) -> None:
    versus = f"{theirs:8.0f} {ours[0] / theirs:6.1f}" if theirs else " " * 15
    print(f"{what:30} {ours[0]:8.0f} {ours[1]:8.0f} {versus} {target or '':>7}")


def rates(work: Callable[[], object], n_rows: int) -> tuple[float, float]:
    """Rows a second by the clock, and by CPU time if every core were ours alone."""
    elapsed, used = [], []
    for _ in range(3):
        start = process_time()
        elapsed.append(timed(work)[0])
        used.append(process_time() - start)
    return n_rows / min(elapsed), n_rows * CORES / min(used)


def sure(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    logits = -random.uniform(3, 10, (n, K, L))
    for low, high in [(3, 10)] * 3 + [(-1.5, 1.5)] * 3:
        label = random.integers(0, L, (n, K, 1))
        np.put_along_axis(logits, label, random.uniform(low, high, (n, K, 1)), axis=2)
    gate = random.normal(-12, 3, (n, K))
    for _ in range(3):
        active = random.integers(0, K, (n, 1))
        np.put_along_axis(gate, active, random.uniform(-1.5, 0, (n, 1)), axis=1)
    return as_single(gate, logits)


def unsure(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    doubtful = random.permuted(np.tile(np.arange(L) < 10, (n, 1, 1)), axis=2)  # (n, 1, L)
    near = random.uniform(-1, 1, (n, 1, L)) + random.normal(0, 0.5, (n, K, L))
    far = -random.uniform(2, 6, (n, 1, L)) + random.normal(0, 1, (n, K, L))
    return as_single(random.normal(0, 2, (n, K)), np.where(doubtful, near, far))


def as_single(gate: np.ndarray, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return log_softmax(gate, axis=1).astype(np.float32), logits.astype(np.float32)


def timed(work: Callable) -> tuple[float, object]:
    start = perf_counter()
    answer = work()
    return perf_counter() - start, answer


def compile_seconds() -> float:
    """The time of first calls; short where an earlier run has compiled the kernels."""
    log_pi, logits = np.zeros((2, 1), np.float32), np.ones((2, 1, 3), np.float32)

    def call_each() -> None:
        dist = BernoulliMixture(log_pi, logits)
        dist.mode(), dist.marginals(), dist.sizes(2), published_mode(log_pi, logits)

    return timed(call_each)[0]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N_ROWS)
