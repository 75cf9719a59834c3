"""How cost grows with rows, features, labels and components: ``python benchmarks/growth.py``.

For each of n, d, L and K the others stay as they are. Times are those of the fastest round of EM,
of a whole fit, or of predicting the likeliest sets. The exponent is the slope of a straight line
through the logarithms: 1 is in proportion. ``growth.png`` has them as log-log plots.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import least_time

import setwise as sw
from setwise.data import make_large

BASE = {"n": 10_000, "d": 100, "L": 50, "K": 20}
STEPS = {
    "n": (5_000, 10_000, 20_000, 40_000),
    "d": (50, 100, 200, 400),
    "L": (25, 50, 100, 200),
    "K": (10, 20, 40, 80),
}
NAMES = {"n": "rows", "d": "features", "L": "labels", "K": "components"}


def rows(n: int, d: int, L: int, K: int) -> tuple[Any, Any]:
    """Made rows of a shape; the components that make them are always 20."""
    return make_large(n, d, L, 20, condition_number=1000, labels_per_row=3)


def cbm_round(n: int, d: int, L: int, K: int) -> float:
    """Seconds of a round of EM."""
    X, Y = rows(n, d, L, K)
    history = sw.CBM(K, max_iter=4, tol=-1).fit(X, Y).history_
    return float(min(done["seconds"] for done in history[1:]))


def cbm_mode(n: int, d: int, L: int, K: int) -> float:
    """Seconds of predicting the likeliest sets of all rows."""
    X, Y = rows(n, d, L, K)
    model = sw.CBM(K, max_iter=2).fit(X[:3000], Y[:3000])
    return least_time(lambda: model.predict(X))


def binary_relevance(n: int, d: int, L: int, K: int) -> float:
    """Seconds of a fit of binary relevance."""
    X, Y = rows(n, d, L, K)
    return least_time(lambda: sw.BinaryRelevance().fit(X, Y))


TASKS: dict[str, tuple[Callable[..., float], str]] = {
    "CBM, a round of EM": (cbm_round, "ndLK"),
    "CBM, likeliest sets": (cbm_mode, "ndLK"),
    "binary relevance, a fit": (binary_relevance, "ndL"),
}


def exponent(x: Any, y: Any) -> float:
    """The slope in logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def measured() -> dict[tuple[str, str], list[float]]:
    """(task, what grows) -> seconds at each step; prints exponents as they are known."""
    found = {}
    for task, (seconds, letters) in TASKS.items():
        seconds(**BASE | {"n": 1000})  # compile
        for letter in letters:
            times = [seconds(**BASE | {letter: value}) for value in STEPS[letter]]
            found[task, letter] = times
            told = ", ".join(f"{value:.3g}" for value in times)
            slope = exponent(STEPS[letter], times)
            print(f"{task}: exponent {slope:.2f} in {NAMES[letter]} ({told} s)", flush=True)
    return found


def draw(found: dict[tuple[str, str], list[float]], path: str) -> None:
    """One log-log plot for each thing that grows."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(STEPS), figsize=(16, 3.8), layout="constrained")
    for axis, (letter, steps) in zip(axes, STEPS.items(), strict=True):
        for (task, grown), times in found.items():
            if grown == letter:
                slope = exponent(steps, times)
                axis.loglog(steps, times, "o-", label=f"{task}: {slope:.2f}")
        axis.set(xlabel=NAMES[letter], ylabel="seconds")
        axis.legend(fontsize=7)
    figure.savefig(path, dpi=120)
    print(f"see {path}")


def main() -> None:
    """Measure, print, draw."""
    warnings.simplefilter("ignore")
    draw(measured(), sys.argv[1] if len(sys.argv) > 1 else "growth.png")


if __name__ == "__main__":
    main()
